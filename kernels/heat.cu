// Heat flow: explicit steps of a diffusion equation on temperatures of 0 to 1.
//
// Formula   s = ((up + down) + left) + right of a step's start, 0 outside the image; nonlinear: `inner` times
//           T = 0.99 N + 0.01 sin(N) with N = T + k tanh(s - 4T); linear: T + k (s - 4T); k = alpha * dt
//           (core/heat_math.h).
// Shapes    u8 and u16, 1..4 channels, any size, pitch and alignment; alpha is copied.
// Exact     float32, by the very functions that the CPU calls. This file is compiled with -fmad=false: a product and a
//           sum round twice, as on the CPU, unless the code says fma. Division is IEEE's, subnormal numbers are kept.
// Threads   a block for a square tile of one colour. 256 threads at most; where the tile has more pixels, each does
//           several rows of it, so that a tile of any side will do.
// Shared    the tile at the step's start with one pixel around it: neighbours are fetched once for the block.
// Steps     the first reads samples, the last writes samples; between them the temperatures lie in scratch memory, in
//           two fields used in turn. A band's step makes one row less on either side than the one before, but at the
//           image's edge.
// Bytes     a step: 4 read, 4 written a colour; 1 or 2 at the ends.
// Bound     nonlinear: arithmetic, some 35 instructions an iteration. linear: memory bandwidth.
#include "core/heat_math.h"
#include "kernels/window.cuh"

namespace {

using namespace gi;

// Tiles of whole warps' width load whole segments of memory; higher ones load less halo a pixel.
constexpr int TILE = 32;
constexpr int THREADS = 256;

// One step: rows [y0, y1) of the whole image, from a field to a field. Fields hold the colours of the rows that the
// band's input has, without alpha.
struct heat_step {
    band b;
    const float *from;
    float *to;
    int64_t y0, y1;
    int colours, tile, inner;
    float rate; // alpha * dt

    __device__ __forceinline__ size_t at(int64_t x, int64_t y, int c) const {
        return ((size_t)(y - b.in_y0) * (size_t)b.width + (size_t)x) * colours + c;
    }
};

// The temperature of a pixel inside the image at the step's start.
template <typename Sample, bool First>
__device__ __forceinline__ float temperature(const heat_step &step, int64_t x, int64_t y, int c) {
    if constexpr (!First) return step.from[step.at(x, y, c)];
    constexpr float MAX = (Sample)-1;
    return (float)step.b.in_row<Sample>(y)[x * step.b.channels + c] / MAX;
}

template <typename Sample, bool Last>
__device__ __forceinline__ void keep(const heat_step &step, int64_t x, int64_t y, int c, float t) {
    if constexpr (!Last) {
        step.to[step.at(x, y, c)] = t;
    } else {
        constexpr float MAX = (Sample)-1;
        const size_t pixel = (size_t)x * step.b.channels;
        Sample *row = step.b.out_row<Sample>(y);
        row[pixel + c] = (Sample)gi_heat_sample(t, MAX);
        if (c == 0 && step.b.channels % 2 == 0)
            row[pixel + step.colours] = step.b.in_row<Sample>(y)[pixel + step.colours];
    }
}

// Loads the tile at (x0, y0) with the pixels around it. Rows past those that the step looks at may not be there.
template <typename Sample, bool First>
__device__ __forceinline__ void load_tile(const heat_step &step, int64_t x0, int64_t y0, int c, float *tile) {
    const int side = step.tile + 2;
    for (int j = (int)threadIdx.y; j < side; j += (int)blockDim.y)
        for (int i = (int)threadIdx.x; i < side; i += (int)blockDim.x) {
            const int64_t x = x0 + i - 1, y = y0 + j - 1;
            const bool inside = x >= 0 && x < step.b.width && y >= 0 && y < step.b.height && y <= step.y1;
            tile[j * side + i] = inside ? temperature<Sample, First>(step, x, y, c) : 0.0F;
        }
}

template <typename Sample, bool Linear, bool First, bool Last>
__global__ void __launch_bounds__(THREADS) step_kernel(const __grid_constant__ heat_step step) {
    extern __shared__ float tile[];
    const int side = step.tile + 2, c = (int)blockIdx.z;
    const int64_t x0 = (int64_t)blockIdx.x * step.tile;
    for (int64_t y0 = step.y0 + (int64_t)blockIdx.y * step.tile; y0 < step.y1; y0 += (int64_t)gridDim.y * step.tile) {
        load_tile<Sample, First>(step, x0, y0, c, tile);
        __syncthreads();
        for (int j = (int)threadIdx.y; j < step.tile; j += (int)blockDim.y) {
            const int64_t x = x0 + threadIdx.x, y = y0 + j;
            if (x >= step.b.width || y >= step.y1) break;
            const float *at = tile + (j + 1) * side + threadIdx.x + 1;
            const float s = ((at[-side] + at[side]) + at[-1]) + at[1];
            float t = *at;
            if constexpr (Linear)
                t = gi_heat_linear(t, s, step.rate);
            else
                for (int k = 0; k < step.inner; k++) t = gi_heat_nonlinear(t, s, step.rate, true);
            keep<Sample, Last>(step, x, y, c, t);
        }
        __syncthreads();
    }
}

template <typename Sample, bool Linear, bool First, bool Last>
gi_status launch(const heat_step &step, cudaStream_t stream, gi_error *err) {
    const dim3 threads(step.tile, (unsigned)smaller(step.tile, larger(THREADS / step.tile, 1)));
    const dim3 blocks(grid_blocks(divide_up(step.b.width, step.tile)),
                      grid_rows(divide_up(step.y1 - step.y0, step.tile)), step.colours);
    const size_t side = (size_t)step.tile + 2;
    step_kernel<Sample, Linear, First, Last><<<blocks, threads, side * side * sizeof(float), stream>>>(step);
    return gi_cuda_check(cudaGetLastError(), "starting a step of heat", err);
}

template <typename Sample, bool Linear>
gi_status launch_step(const heat_step &step, bool first, bool last, cudaStream_t stream, gi_error *err) {
    if (first)
        return last ? launch<Sample, Linear, true, true>(step, stream, err)
                    : launch<Sample, Linear, true, false>(step, stream, err);
    return last ? launch<Sample, Linear, false, true>(step, stream, err)
                : launch<Sample, Linear, false, false>(step, stream, err);
}

size_t field_bytes(const gi_job *job) {
    const size_t values = (size_t)job->in.width * (size_t)gi_colour_channels(job->in.channels) * job->in.height;
    return divide_up(values * sizeof(float), 256) * 256;
}

} // namespace

// No field for one step, one for two, two for more.
size_t gi_cuda_heat_scratch(const gi_job *job) {
    const int32_t steps = ((const gi_heat_args *)job->args)->steps;
    return steps <= 1 ? 0 : steps == 2 ? field_bytes(job) : 2 * field_bytes(job);
}

gi_status gi_cuda_heat(const gi_job *job, gi_error *err) {
    const gi_heat_args *args = (const gi_heat_args *)job->args;
    gi_status status = gi_heat_check(args, job->in.sample, err);
    if (status == GI_OK) status = check_band(job, gi_heat_halo(args), "heat", err);
    if (status != GI_OK || job->out.width == 0 || job->out.height == 0) return status;

    float *fields[2] = {(float *)job->scratch, (float *)((char *)job->scratch + field_bytes(job))};
    heat_step step = {};
    step.b = band_of(job);
    step.colours = gi_colour_channels(job->in.channels);
    step.tile = args->tile > 0 ? args->tile : TILE;
    step.inner = args->inner;
    step.rate = (float)(args->alpha * args->dt);
    for (int32_t i = 1; i <= args->steps && status == GI_OK; i++) {
        const int64_t halo = args->steps - i;
        step.y0 = step.b.out_y0 > halo ? step.b.out_y0 - halo : 0;
        step.y1 = step.b.out_end + halo < step.b.height ? step.b.out_end + halo : step.b.height;
        step.from = fields[i % 2];
        step.to = fields[(i - 1) % 2];
        const bool linear = args->mode == GI_HEAT_LINEAR, first = i == 1, last = halo == 0;
        const cudaStream_t stream = (cudaStream_t)job->stream;
        if (job->in.sample == GI_U8)
            status = linear ? launch_step<uint8_t, true>(step, first, last, stream, err)
                            : launch_step<uint8_t, false>(step, first, last, stream, err);
        else
            status = linear ? launch_step<uint16_t, true>(step, first, last, stream, err)
                            : launch_step<uint16_t, false>(step, first, last, stream, err);
    }
    return status;
}
