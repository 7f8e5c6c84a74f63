// What the box and the Gaussian share: the terms that they sum, the border, and the division of a band into chunks.
//
// Both work in two passes, down the columns, then along the rows, with what the first made in scratch memory. It lies
// there in planes: plane c holds, for each row of the chunk, one value for each pixel. Without alpha plane c is of
// channel c; with alpha the last plane is of the weight A, and the others of the weighted colours A * C.
#ifndef GI_KERNELS_BLUR_CUH
#define GI_KERNELS_BLUR_CUH

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
size_t blur_gauss_scratch(const gi_job *job);
gi_status blur_gauss(const gi_job *job, gi_error *err);

} // namespace gi

#endif
