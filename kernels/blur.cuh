// What the box and the Gaussian share: the terms that they sum, the border, exact division, and, for the kernels that
// take what the fast ones do not, the division of a band into chunks.
//
// Those work in two passes, down the columns, then along the rows, with what the first made in scratch memory. It lies
// there in planes: plane c holds, for each row of the chunk, one value for each pixel. Without alpha plane c is of
// channel c; with alpha the last plane is of the weight A, and the others of the weighted colours A * C.
#ifndef GI_KERNELS_BLUR_CUH
#define GI_KERNELS_BLUR_CUH

#include <type_traits>

#include "core/blur_rules.h"
#include "kernels/window.cuh"

namespace gi {

struct blur_band : band {
    int border;
    uint32_t value; // outside, with border=constant
};

inline blur_band blur_band_of(const gi_job *job) {
    const gi_blur_args *args = (const gi_blur_args *)job->args;
    blur_band b = {};
    (band &)b = band_of(job);
    b.border = args->border;
    b.value = (uint32_t)args->value;
    return b;
}

// Colours weigh by their alpha.
inline bool is_weighted(const gi_view &view) { return gi_has_alpha(view.channels); }

// What plane c sums for pixel x of a row: at most max, or max^2, which 32 bits hold for 16-bit samples too.
template <typename Sample, bool Weighted>
__device__ __forceinline__ uint32_t term_of(const blur_band &b, const Sample *row, int64_t x, int c) {
    const Sample *pixel = row + x * b.channels;
    if constexpr (!Weighted) return pixel[c];
    const uint32_t alpha = pixel[b.channels - 1];
    return c == b.channels - 1 ? alpha : alpha * pixel[c];
}

// ... and for one outside the image: an opaque pixel of `value` (constant), nothing (shrink).
template <typename Sample, bool Weighted> __device__ __forceinline__ uint32_t term_outside(const blur_band &b, int c) {
    constexpr uint32_t MAX = (Sample)-1;
    if (b.border != GI_BORDER_CONSTANT) return 0;
    if constexpr (!Weighted) return b.value;
    return c == b.channels - 1 ? MAX : MAX * b.value;
}

// The term of row y, perhaps outside the image.
template <typename Sample, bool Weighted>
__device__ __forceinline__ uint32_t term_at(const blur_band &b, int64_t y, int64_t x, int c) {
    const int64_t inside = gi_border_index(y, b.height, b.border);
    return inside < 0 ? term_outside<Sample, Weighted>(b, c)
                      : term_of<Sample, Weighted>(b, b.in_row<Sample>(inside), x, c);
}

// How many of the positions i-radius..i+radius take part in a mean.
__device__ __forceinline__ uint32_t positions_counted(const blur_band &b, int64_t i, int64_t radius, int64_t n) {
    return (uint32_t)(b.border == GI_BORDER_SHRINK ? gi_window_inside(i, radius, n) : 2 * radius + 1);
}

template <typename T> __device__ __forceinline__ T half_up(T a, T b) { return (a + b / 2) / b; }

__device__ __forceinline__ float as_float(uint32_t value) { return __uint2float_rn(value); }
__device__ __forceinline__ float as_float(uint64_t value) { return __ull2float_rn(value); }

// 1 / value, off by a 2^-23rd of that at most (PTX, rcp.approx).
__device__ __forceinline__ float near_inverse(float value) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(value));
    return inverse;
}

// A divisor for several dividends, below 2^30 (32 bits) or 2^62 (64 bits).
template <typename T> struct divisor {
    T by, up;      // a rest of `up` or more rounds up
    float inverse; // less than 1 / by, by a 2^-20th of that at most

    __device__ __forceinline__ explicit divisor(T value) : by(value), up(value - value / 2) {
        inverse = near_inverse(as_float(value)) * (1 - 1.0f / (1 << 21));
    }
    // half_up(a, by) where that is at most 65536, and something larger where not. The floats' quotient is the integers'
    // or one less; the rest tells.
    __device__ __forceinline__ uint32_t half_up(T a) const {
        const uint32_t quotient = min(__float2uint_rz(as_float(a) * inverse), 1U << 20);
        const T rest = a - quotient * by;
        return quotient + (rest >= up) + (rest >= up + by);
    }
};
template <typename T> __device__ __forceinline__ uint32_t near_half_up(T a, T b) { return divisor<T>(b).half_up(a); }

// *byte = a word whose lowest byte is a * b <= 255 rounded. False where the product, off by a 2^12th at most, might as
// well round the other way; where it is NaN, too.
__device__ __forceinline__ bool rounds_surely(float a, float b, uint32_t *byte) {
    constexpr float MAGIC = 3 << 22; // added to it a float's last bit is worth 1
    const float nearest = __fmaf_rn(a, b, MAGIC);
    *byte = __float_as_uint(nearest);
    return fabsf(__fmaf_rn(a, b, MAGIC - nearest)) <= 0.5f - 1.0f / (1 << 12);
}

// What reflection makes of `count` places before the first of n >= 2: calls add(from, to, times) for the ranges that
// they stand for. Mirrored at both ends a line has the period 2 (n - 1): the first once, the last once, the others
// twice.
template <typename Add> __device__ __forceinline__ void mirror_periods(int64_t times, int64_t n, Add &add) {
    if (times == 0) return;
    add(0, n, 2 * times);
    add(0, 1, -times);
    add(n - 1, n, -times);
}
template <typename Add> __device__ __forceinline__ void mirror_before(int64_t count, int64_t n, Add &add) {
    const int64_t period = 2 * (n - 1), rest = count % period, there = min(rest, n - 1), back = rest - there;
    if (there > 0) add(1, 1 + there, 1);
    if (back > 0) add(n - 1 - back, n - 1, 1);
    mirror_periods(count / period, n, add);
}
// ... after the last.
template <typename Add> __device__ __forceinline__ void mirror_after(int64_t count, int64_t n, Add &add) {
    const int64_t period = 2 * (n - 1), rest = count % period, there = min(rest, n - 1), back = rest - there;
    if (there > 0) add(n - 1 - there, n - 1, 1);
    if (back > 0) add(1, 1 + back, 1);
    mirror_periods(count / period, n, add);
}

// Rows made at a time: [y0, y0 + rows).
struct chunk {
    int64_t y0;
    int64_t rows;
};

// Scratch for a chunk: what a second-level cache holds, so that the second pass finds there what the first left.
constexpr size_t CHUNK_BYTES = (size_t)32 << 20;

// Rows of a chunk, of `row_bytes` of scratch each: at least `least`, at most all.
inline int64_t chunk_rows(const gi_job *job, size_t row_bytes, size_t least) {
    const size_t fit = row_bytes ? CHUNK_BYTES / row_bytes : 1;
    return (int64_t)smaller(larger(fit, larger(least, 1)), larger(job->out.height, 1));
}

// Where value x of a row of plane c lies.
template <typename T>
__device__ __forceinline__ T *plane_row(T *planes, const blur_band &b, const chunk &part, int c, int64_t y) {
    return planes + (size_t)(c * part.rows + (y - part.y0)) * (size_t)b.width;
}

size_t blur_box_scratch(const gi_job *job);
gi_status blur_box(const gi_job *job, gi_error *err);
// ... of any radius.
size_t blur_box_wide_scratch(const gi_job *job);
gi_status blur_box_wide(const gi_job *job, gi_error *err);
size_t blur_gauss_scratch(const gi_job *job);
gi_status blur_gauss(const gi_job *job, gi_error *err);

} // namespace gi

#endif
