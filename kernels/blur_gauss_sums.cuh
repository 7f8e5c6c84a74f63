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

// Channel C's of a pixel's sums, which lie one channel after the other.
template <typename Layout, int C> using channel_sums = int[Layout::totals(C)][4];
template <typename Layout, int C>
__device__ __forceinline__ const channel_sums<Layout, C> &sums_of(const int (&all)[Layout::TOTALS][4]) {
    return reinterpret_cast<const channel_sums<Layout, C> &>(all[Layout::totals_before(C)]);
}

// M / D rounded half up, 0 where D is; out of the way of what is nearly always enough.
static __device__ __noinline__ uint32_t exact_quotient(uint64_t m, uint64_t d) { return d ? near_half_up(m, d) : 0; }

// Words whose lowest bytes are a pixel's samples, made of its sums.
template <typename Layout> struct pixel_maker {
    static constexpr int CHANNELS = Layout::CHANNELS, LAST = CHANNELS - 1;
    static constexpr bool BY_FLOATS = Layout::WEIGHTED && Layout::NARROW;
    using Sample = typename Layout::Sample;
    using Form = typename Layout::Form;
    using Sums = const int (&)[Layout::TOTALS][4];
    uint32_t samples[CHANNELS];

    // All taps inside the image; without alpha the sums include half of what is rounded away.
    __device__ __forceinline__ void make(Sums all, int i) {
        constexpr uint32_t ONE = 1U << Form::TAP_BITS;
        if constexpr (BY_FLOATS)
            divide(all, i);
        else if constexpr (Layout::WEIGHTED)
            make_part(all, i, ONE, ONE);
        else
            shift<LAST>(all, i);
    }

    // ... or the sums of those inside given.
    __device__ __forceinline__ void make_part(Sums all, int i, uint32_t inside_x, uint32_t inside_y) {
        pixel_sums<Sample, Form> sums;
        finish<LAST>(all, i, inside_x, inside_y, sums);
    }

    template <int C> __device__ __forceinline__ void shift(Sums all, int i) {
        const auto &own = sums_of<Layout, C>(all);
        samples[C] = Layout::NARROW ? upper<2>(own, i) >> 6 : upper<4>(own, i);
        if constexpr (C > 0) shift<C - 1>(all, i);
    }

    // The last channel comes first, as it weighs the others.
    template <int C>
    __device__ __forceinline__ void finish(Sums all, int i, uint32_t inside_x, uint32_t inside_y,
                                           pixel_sums<Sample, Form> &sums) {
        const auto total = weigh<typename Form::Total>(sums_of<Layout, C>(all), i);
        samples[C] = sums.of(total, C == LAST, inside_x, inside_y);
        if constexpr (C > 0) finish<C - 1>(all, i, inside_x, inside_y, sums);
    }

    // Colours weighed by alpha of 8 bits. Floats do unless a quotient is next to a half: M / D <= 255, with M / 2^16
    // and D / 2^8, at least 2^24, cut off and rounded, is off by 255 * 2^-21 + 2^-16 at most.
    __device__ __forceinline__ void divide(Sums all, int i) {
        const auto &weight = sums_of<Layout, LAST>(all);
        const uint32_t high = upper<1>(weight, i); // D = 2^8 high + the lowest byte
        const float inverse = high >> 24 ? 256 * near_inverse(as_float(high)) : __uint_as_float(0x7fffffff);
        samples[LAST] = (high + (1U << 21)) >> 22;
        if (!divide_nearly<LAST - 1>(all, i, inverse))
            divide_exactly<LAST - 1>(all, i, (uint64_t)high << 8 | ((uint32_t)weight[0][i] & 0xff));
    }
    template <int C> __device__ __forceinline__ bool divide_nearly(Sums all, int i, float inverse) {
        const bool sure = rounds_surely(as_float(upper<2>(sums_of<Layout, C>(all), i)), inverse, &samples[C]);
        if constexpr (C > 0) return divide_nearly<C - 1>(all, i, inverse) && sure;
        return sure;
    }
    template <int C> __device__ __forceinline__ void divide_exactly(Sums all, int i, uint64_t d) {
        samples[C] = exact_quotient(weigh<uint64_t>(sums_of<Layout, C>(all), i), d);
        if constexpr (C > 0) divide_exactly<C - 1>(all, i, d);
    }
};

// Writes two pixels beside each other to shared memory, aligned to what they take or a power of two of that.
template <typename Layout>
__device__ __forceinline__ void store_pair(unsigned char *to, const pixel_maker<Layout> (&pair)[2]) {
    constexpr int SAMPLES = 2 * Layout::CHANNELS, WORDS = SAMPLES * Layout::SAMPLE_BYTES / 4;
    uint32_t twos[Layout::CHANNELS]; // samples two by two
#pragma unroll
    for (int i = 0; i < SAMPLES; i += 2)
        twos[i / 2] = __byte_perm(pair[i / Layout::CHANNELS].samples[i % Layout::CHANNELS],
                                  pair[(i + 1) / Layout::CHANNELS].samples[(i + 1) % Layout::CHANNELS],
                                  Layout::NARROW ? 0x7740 : 0x5410);
    if constexpr (!Layout::NARROW) {
        using Access = run_access<WORDS>;
#pragma unroll
        for (int i = 0; i < WORDS; i += sizeof(Access) / 4) {
            Access access;
            memcpy(&access, twos + i, sizeof access);
            *(Access *)(to + 4 * i) = access;
        }
    } else if constexpr (Layout::CHANNELS % 2 == 1) {
#pragma unroll
        for (int i = 0; i < Layout::CHANNELS; i++) ((uint16_t *)to)[i] = (uint16_t)twos[i];
    } else {
        uint32_t words[WORDS];
#pragma unroll
        for (int i = 0; i < WORDS; i++) words[i] = __byte_perm(twos[2 * i], twos[2 * i + 1], 0x5410);
        run_access<WORDS> access;
        memcpy(&access, words, sizeof access);
        *(run_access<WORDS> *)to = access;
    }
}

} // namespace tensor
} // namespace gi

#endif
