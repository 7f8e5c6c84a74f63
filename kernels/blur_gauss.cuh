// What the Gaussian's kernels share: the rules' forms, the sums of taps inside the image, and what becomes of sums.
#ifndef GI_KERNELS_BLUR_GAUSS_CUH
#define GI_KERNELS_BLUR_GAUSS_CUH

#include "core/gauss.h"
#include "kernels/blur.cuh"

namespace gi {

// What the rules call the narrow and the wide form, with the types that hold the sums exactly.
template <bool Narrow, bool Weighted> struct form {
    static constexpr bool WEIGHTED = Weighted;
    static constexpr int TAP_BITS = Narrow ? 15 : 24, FRACTION_BITS = Narrow ? 7 : 8;
    using Sum = typename std::conditional<Narrow, uint32_t, uint64_t>::type; // of the first pass
    using Wide = typename std::conditional<Weighted, uint64_t, uint32_t>::type;
    using Small = typename std::conditional<Weighted, uint32_t, uint16_t>::type;
    using Between = typename std::conditional<Narrow, Small, Wide>::type;                   // the first pass's result
    using Total = typename std::conditional<Narrow && !Weighted, uint32_t, uint64_t>::type; // of the second pass
    // A value in registers and shared memory.
    using Value = typename std::conditional<sizeof(Between) == 8, uint64_t, uint32_t>::type;
};

// What the taps add up to, as an argument of kernels. tail[d] = the sum of t(k) for k > d.
struct tap_sums {
    int radius;
    int one; // 2^TAP_BITS
    int tail[GI_GAUSS_MAX_TAPS];
};

inline tap_sums tap_sums_of(const gi_gauss &gauss) {
    tap_sums t = {};
    t.radius = gauss.radius;
    t.one = 1 << gauss.tap_bits;
    for (int d = gauss.radius - 1; d >= 0; d--) t.tail[d] = t.tail[d + 1] + gauss.taps[d + 1];
    return t;
}

inline bool is_narrow(const gi_gauss &gauss) { return gauss.tap_bits == 15; }

// The sum of the taps that lie inside a line of n at place i, with border=shrink; else of all.
__device__ __forceinline__ uint32_t taps_inside(const tap_sums &t, int64_t i, int64_t n, int border) {
    uint32_t sum = (uint32_t)t.one;
    if (border != GI_BORDER_SHRINK) return sum;
    if (i < t.radius) sum -= (uint32_t)t.tail[i];
    if (n - 1 - i < t.radius) sum -= (uint32_t)t.tail[n - 1 - i];
    return sum;
}

// What the first pass keeps of a sum.
template <typename Form>
__device__ __forceinline__ typename Form::Between first_result(typename Form::Sum sum, uint32_t inside, bool weight) {
    using Between = typename Form::Between;
    if constexpr (!Form::WEIGHTED) {
        constexpr int SHIFT = Form::TAP_BITS - Form::FRACTION_BITS;
        if (inside == 1U << Form::TAP_BITS) return (Between)((sum + (1U << (SHIFT - 1))) >> SHIFT);
        return (Between)half_up(sum << Form::FRACTION_BITS, (typename Form::Sum)inside);
    } else if constexpr (Form::TAP_BITS == 15) {
        return sum;
    } else {
        return weight ? (sum + (1U << 7)) >> 8 : (sum + (1U << 15)) >> 16;
    }
}

// A pixel's samples from its sums, plane after plane from the last on: the weight comes before what it weighs.
template <typename Sample, typename Form> struct pixel_sums {
    using Total = typename Form::Total;
    static constexpr uint32_t MAX = (Sample)-1, ONE = 1U << Form::TAP_BITS;
    uint64_t weight;

    // inside_x, inside_y: the sums of the taps inside the image.
    __device__ __forceinline__ Sample of(Total sum, bool last_plane, uint32_t inside_x, uint32_t inside_y) {
        constexpr int SHIFT = Form::TAP_BITS + Form::FRACTION_BITS;
        if constexpr (!Form::WEIGHTED) {
            if (inside_x == ONE) return (Sample)((sum + ((Total)1 << (SHIFT - 1))) >> SHIFT);
            return (Sample)near_half_up(sum, (Total)inside_x << Form::FRACTION_BITS);
        } else {
            if (!last_plane) return (Sample)(weight ? min(near_half_up(sum, weight), MAX) : 0);
            weight = Form::TAP_BITS == 15 ? sum : sum >> 8;
            return (Sample)min(opacity((uint64_t)inside_x * inside_y), MAX);
        }
    }

    // The weight over the sum of the taps inside.
    __device__ __forceinline__ uint32_t opacity(uint64_t inside) const {
        constexpr int SHIFT = Form::TAP_BITS == 15 ? 30 : 32;
        if (inside == (uint64_t)ONE * ONE) return (uint32_t)((weight + ((uint64_t)1 << (SHIFT - 1))) >> SHIFT);
        return near_half_up(weight, inside >> (2 * Form::TAP_BITS - SHIFT));
    }
};

size_t blur_gauss_plain_scratch(const gi_job *job, const gi_gauss &gauss);
gi_status blur_gauss_plain(const gi_job *job, const gi_gauss &gauss, gi_error *err);

} // namespace gi

#endif
