// From the accumulators of the Gaussian on the tensor cores (blur_gauss.cu) to numbers.
#ifndef GI_KERNELS_BLUR_GAUSS_SUMS_CUH
#define GI_KERNELS_BLUR_GAUSS_SUMS_CUH

#include "kernels/blur_gauss_tensor.cuh"

namespace gi {
namespace tensor {

// Of the accumulators of a value, acc[k][i] has the weight 2^8k. They are not negative, and below 2^27.

// sum of acc[k][i] * 2^8k.
template <typename T, int Count> __device__ __forceinline__ T weigh(const int (&acc)[Count][4], int i) {
    T sum = (T)acc[0][i];
#pragma unroll
    for (int k = 1; k < Count; k++) sum += (T)(uint32_t)acc[k][i] << (8 * k);
    return sum;
}

// ... without its lowest `Drop` bytes, modulo 2^32: as 32 bits will do, carried from byte to byte.
template <int Drop, int Count> __device__ __forceinline__ uint32_t upper(const int (&acc)[Count][4], int i) {
    uint32_t sum = (uint32_t)acc[0][i];
#pragma unroll
    for (int k = 1; k < Count; k++)
        sum = k <= Drop ? (uint32_t)acc[k][i] + (sum >> 8) : sum + ((uint32_t)acc[k][i] << (8 * (k - Drop)));
    return Drop < Count ? sum : sum >> (8 * (Drop - Count + 1));
}

// A weight that divides weighted colours, all sums of the narrow form. Floats do unless the quotient is next to a half:
// M / D <= 255, with M / 2^16 and D / 2^8, at least 2^24, cut off and rounded, is off by 255 * 2^-21 + 2^-16 at most.
struct weight_of_bytes {
    uint32_t high, low; // D = 2^8 high + low
    float inverse;      // 2^8 / high, or NaN where D is small

    template <int Count> __device__ __forceinline__ void set(const int (&acc)[Count][4], int i) {
        high = upper<1>(acc, i);
        low = (uint32_t)acc[0][i] & 0xff;
        inverse = high >> 24 ? 256 * near_inverse(as_float(high)) : __uint_as_float(0x7fffffff);
    }

    // A word whose lowest byte is M / D, rounded half up; 0 where D is.
    template <int Count> __device__ __forceinline__ uint32_t quotient(const int (&acc)[Count][4], int i) const {
        uint32_t byte;
        if (rounds_surely(as_float(upper<2>(acc, i)), inverse, &byte)) return byte;
        return high | low ? near_half_up(weigh<uint64_t>(acc, i), (uint64_t)high << 8 | low) : 0;
    }
};

// A pixel all of whose taps are inside the image, channel after channel from the last on: take<C> makes channel C's
// sample of its accumulators, whose sums include half of what is rounded away, and puts it, perhaps with others, in its
// place.
template <typename Layout, bool Weighted = Layout::WEIGHTED, bool Narrow = Layout::NARROW> struct whole_pixel {
    using Sample = typename Layout::Sample;
    template <int C, int Sums> __device__ __forceinline__ void take(const int (&acc)[Sums][4], int i, Sample *at) {
        *at = (Sample)(Narrow ? upper<2>(acc, i) >> 6 : upper<4>(acc, i));
    }
};

template <typename Layout> struct whole_pixel<Layout, true, true> {
    static constexpr int CHANNELS = Layout::CHANNELS;
    using Packed = typename std::conditional<CHANNELS == 2, uint16_t, uint32_t>::type;
    weight_of_bytes weight;
    uint32_t packed;

    template <int C, int Sums> __device__ __forceinline__ void take(const int (&acc)[Sums][4], int i, uint8_t *at) {
        if constexpr (C == CHANNELS - 1) {
            weight.set(acc, i);
            packed = ((weight.high + (1U << 21)) >> 22) << (8 * C);
        } else {
            constexpr unsigned PLACE = 0xf << (4 * C), INTO = (0x3210 & ~PLACE) | 4 << (4 * C);
            packed = __byte_perm(packed, weight.quotient(acc, i), INTO);
        }
        if constexpr (C == 0) *(Packed *)at = (Packed)packed;
    }
};

template <typename Layout> struct whole_pixel<Layout, true, false> {
    pixel_sums<uint16_t, typename Layout::Form> sums;
    template <int C, int Sums> __device__ __forceinline__ void take(const int (&acc)[Sums][4], int i, uint16_t *at) {
        constexpr uint32_t ONE = 1U << Layout::Form::TAP_BITS;
        *at = sums.of(weigh<uint64_t>(acc, i), C == Layout::CHANNELS - 1, ONE, ONE);
    }
};

} // namespace tensor
} // namespace gi

#endif
