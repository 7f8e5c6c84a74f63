// From the sums over the box blur's windows to samples (blur_box.cu, blur_box_wide.cu).
#ifndef GI_KERNELS_BLUR_BOX_MEANS_CUH
#define GI_KERNELS_BLUR_BOX_MEANS_CUH

#include "kernels/blur_box_columns.cuh"

namespace gi {
namespace box {

// What divides sums. A run is FINISHED samples of a row, whole pixels where one sample weighs the others; past the
// row's end they are anything.
template <typename Form> struct means {
    using Sample = typename Form::Sample;
    using Total = typename Form::Total;
    static constexpr int CHANNELS = Form::CHANNELS, FINISHED = Form::FINISHED, WORDS = FINISHED * sizeof(Sample) / 4;
    const strips &s;

    // sum / (2R + 1)^2, half up: division by multiplication (Granlund and Montgomery 1994), exact below 2^31.
    __device__ __forceinline__ uint32_t mean(uint32_t sum) const {
        return __umulhi(sum + s.half, s.multiplier) >> s.shift;
    }
    // ... of as many upper bits as 32 bits hold: the quotient, or one less.
    __device__ __forceinline__ uint32_t mean(uint64_t sum) const {
        const uint64_t raised = sum + s.half;
        const uint32_t quotient = __umulhi((uint32_t)(raised >> s.cut), s.multiplier) >> s.shift;
        return quotient + ((uint32_t)raised - quotient * s.pixels >= s.pixels);
    }

    // values[i] = sums[i] / the pixels in the window of sample `first` + i of the row, for every Step-th i from
    // Step - 1 on. Inside: that window lies inside the image.
    template <int Step, bool Inside>
    __device__ __forceinline__ void divide(int64_t first, int64_t y, const Total (&sums)[FINISHED],
                                           uint32_t (&values)[FINISHED]) const {
        const bool shrinks = !Inside && s.b.border == GI_BORDER_SHRINK;
        if (Inside || (s.multiplier && !shrinks)) {
#pragma unroll
            for (int i = Step - 1; i < FINISHED; i += Step) values[i] = mean(sums[i]);
            return;
        }
        const Total side = 2 * (Total)s.radius + 1;
        divisor<Total> pixels(side * side);
        const Total rows = shrinks ? (Total)gi_window_inside(y, s.radius, s.b.height) : 0;
#pragma unroll
        for (int i = Step - 1; i < FINISHED; i += Step) {
            if (shrinks) {
                const int64_t x = min((first + i) / CHANNELS, s.b.width - 1);
                pixels = divisor<Total>(rows * (Total)gi_window_inside(x, s.radius, s.b.width));
            }
            values[i] = pixels.half_up(sums[i]);
        }
    }

    // The colours of the pixel whose weight is sums[alpha].
    __device__ __forceinline__ void unweigh(int alpha, const Total (&sums)[FINISHED],
                                            uint32_t (&values)[FINISHED]) const {
        // Bytes: floats' quotient, of sums rounded to floats, is off by 255 * 2^-22 at most; a weight of 0 makes NaN.
        const float inverse = near_inverse(as_float(sums[alpha]));
#pragma unroll
        for (int i = alpha - CHANNELS + 1; i < alpha; i++) {
            if (sizeof(Sample) == 1 && rounds_surely(as_float(sums[i]), inverse, &values[i]))
                values[i] &= 0xff;
            else
                values[i] = sums[alpha] ? near_half_up(sums[i], sums[alpha]) : 0;
        }
    }

    // The samples of a run from the sums over their windows.
    template <bool Inside>
    __device__ __forceinline__ void finish(int64_t first, int64_t y, const Total (&sums)[FINISHED],
                                           uint32_t (&words)[WORDS]) const {
        uint32_t values[FINISHED];
        divide<Form::WEIGHTED ? CHANNELS : 1, Inside>(first, y, sums, values);
        if constexpr (Form::WEIGHTED) {
#pragma unroll
            for (int alpha = CHANNELS - 1; alpha < FINISHED; alpha += CHANNELS) unweigh(alpha, sums, values);
        }
#pragma unroll
        for (int i = 0; i < WORDS; i++) words[i] = 0;
#pragma unroll
        for (int i = 0; i < FINISHED; i++) sample_put<Sample>(words, i, values[i]);
    }
};

} // namespace box
} // namespace gi

#endif
