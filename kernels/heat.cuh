// What the kernels of the heat stage share: a step's place, its fields, and samples on their way in and out.
#ifndef GI_KERNELS_HEAT_CUH
#define GI_KERNELS_HEAT_CUH

#include "core/heat_math.h"
#include "kernels/window.cuh"

namespace gi {

// One or more steps to rows [y0, y1) of the whole image, from a field to a field. A field is a plane for each colour,
// of the rows that the band's input has; its rows are padded to whole packets of 4.
struct heat_step {
    band b;
    const float *from;
    float *to;
    int64_t y0, y1;
    int64_t rows;  // of a plane
    int64_t pitch; // floats from row to row
    int colours, tile, inner;
    float rate; // alpha * dt

    __device__ __forceinline__ size_t at(int64_t x, int64_t y, int c) const {
        return (size_t)((c * rows + (y - b.in_y0)) * pitch + x);
    }
};

template <typename Sample> __device__ __forceinline__ float heat_temperature(Sample v) {
    constexpr float MAX = (Sample)-1;
    return (float)v / MAX;
}

// The finished temperature of a pixel's colour, and with the first one the alpha.
template <typename Sample>
__device__ __forceinline__ void heat_finish(const heat_step &step, int64_t x, int64_t y, int c, float t) {
    constexpr float MAX = (Sample)-1;
    const size_t pixel = (size_t)x * step.b.channels;
    Sample *row = step.b.out_row<Sample>(y);
    row[pixel + c] = (Sample)gi_heat_sample(t, MAX);
    if (c == 0 && step.b.channels % 2 == 0) row[pixel + step.colours] = step.b.in_row<Sample>(y)[pixel + step.colours];
}

} // namespace gi

#endif
