// Heat flow: explicit steps of a diffusion equation on temperatures of 0 to 1.
//
// Formula   s = ((up + down) + left) + right of a step's start, 0 outside the image; nonlinear: `inner` times
//           T = 0.99 N + 0.01 sin(N) with N = T + k tanh(s - 4T); linear: T + k (s - 4T); k = alpha * dt
//           (core/heat_math.h).
// Shapes    u8 and u16, 1..4 channels, any size, pitch and alignment; alpha is copied.
// Exact     float32, by the very functions that the CPU calls. This file is compiled with -fmad=false: a product and a
//           sum round twice, as on the CPU, unless the code says fma. Division is IEEE's, subnormal numbers are kept.
//           precision=fast: the hardware's tanh, relative error 2^-11, and a shorter polynomial for sin.
// Threads   a block for a square tile of one colour. 256 threads at most, each for a pixel or several in turn, so that
//           a tile of any side will do. linear, where no tile is asked for: kernels/heat_strips.cuh.
// Shared    the tile at the step's start with one pixel around it: neighbours are fetched once for the block.
// Steps     the first reads samples, the last writes samples; between them the temperatures lie in scratch memory, in
//           two fields used in turn. A band's step makes one row less on either side than the one before, but at the
//           image's edge.
// Bytes     a step: 4 read, 4 written a colour; 1 or 2 at the ends.
// Bound     nonlinear: arithmetic, 19 instructions an iteration, one of them at a quarter of the rate; fast: 7 and one
//           at a quarter. linear: memory bandwidth; in strips the arithmetic, about as long.
#include <type_traits>

#include "kernels/heat_strips.cuh"

namespace {

using namespace gi;

// Tiles of whole warps' width load whole segments of memory; higher ones load less halo a pixel.
constexpr int TILE = 32;
constexpr int THREADS = 256;

enum class rule { linear, nonlinear, fast };

// gi_heat_nonlinear in the hardware's approximations. sin(x) = x + x^3 S(x^2) within 1e-5 for |x| <= 1.1, of which a
// hundredth counts.
__device__ __forceinline__ float fast_nonlinear(float t, float s, float k) {
    float slope;
    asm("tanh.approx.f32 %0, %1;" : "=f"(slope) : "f"(fmaf(-4.0F, t, s)));
    const float next = fmaf(k, slope, t), u = next * next;
    return fmaf(next * u, fmaf(u, 0x1.4ed55cp-14F, -0x1.b48676p-10F), next);
}

template <rule Rule> __device__ __forceinline__ float evolve(float t, float s, const heat_step &step) {
    if constexpr (Rule == rule::linear) {
        t = gi_heat_linear(t, s, step.rate);
    } else if constexpr (Rule == rule::nonlinear) {
        for (int k = 0; k < step.inner; k++) t = gi_heat_nonlinear(t, s, step.rate, true);
    } else {
        for (int k = 0; k < step.inner; k++) t = fast_nonlinear(t, s, step.rate);
    }
    return t;
}

// The thread's places in a square, blockDim.x apart row by row; one division for all of them.
struct places {
    int side, column, row, columns_on, rows_on;

    __device__ __forceinline__ explicit places(int side)
        : side(side), column((int)threadIdx.x % side), row((int)threadIdx.x / side), columns_on((int)blockDim.x % side),
          rows_on((int)blockDim.x / side) {}
    __device__ __forceinline__ bool inside() const { return row < side; }
    __device__ __forceinline__ void next() {
        column += columns_on;
        row += rows_on;
        if (column < side) return;
        column -= side;
        row++;
    }
};

// Loads the tile at (x0, y0) with the pixels around it. Rows past those that the step looks at may not be there.
template <typename Sample, bool First>
__device__ __forceinline__ void load_tile(const heat_step &step, int64_t x0, int64_t y0, int c, float *tile) {
    for (places at(step.tile + 2); at.inside(); at.next()) {
        const int64_t x = x0 + at.column - 1, y = y0 + at.row - 1;
        float t = 0.0F;
        if (x >= 0 && x < step.b.width && y >= 0 && y < step.b.height && y <= step.y1) {
            if constexpr (First)
                t = heat_temperature(step.b.in_row<Sample>(y)[x * step.b.channels + c]);
            else
                t = step.from[step.at(x, y, c)];
        }
        tile[at.row * at.side + at.column] = t;
    }
}

template <typename Sample, rule Rule, bool First, bool Last>
__global__ void __launch_bounds__(THREADS) step_kernel(const __grid_constant__ heat_step step) {
    extern __shared__ float tile[];
    const int side = step.tile + 2, c = (int)blockIdx.z;
    const int64_t x0 = (int64_t)blockIdx.x * step.tile;
    for (int64_t y0 = step.y0 + (int64_t)blockIdx.y * step.tile; y0 < step.y1; y0 += (int64_t)gridDim.y * step.tile) {
        load_tile<Sample, First>(step, x0, y0, c, tile);
        __syncthreads();
        for (places p(step.tile); p.inside(); p.next()) {
            const int64_t x = x0 + p.column, y = y0 + p.row;
            if (x >= step.b.width || y >= step.y1) continue;
            const float *at = tile + (p.row + 1) * side + p.column + 1;
            const float s = ((at[-side] + at[side]) + at[-1]) + at[1];
            const float t = evolve<Rule>(*at, s, step);
            if constexpr (Last)
                heat_finish<Sample>(step, x, y, c, t);
            else
                step.to[step.at(x, y, c)] = t;
        }
        __syncthreads();
    }
}

// As many threads as make the tile's pixels in the fewest turns with the fewest idle in the last.
unsigned tile_threads(int tile) {
    const size_t pixels = (size_t)tile * tile, turns = divide_up(pixels, THREADS);
    return (unsigned)(divide_up(divide_up(pixels, turns), WARP) * WARP);
}

template <typename Sample, rule Rule, bool First, bool Last>
gi_status launch_tiles(const heat_step &step, cudaStream_t stream, gi_error *err) {
    const dim3 blocks(grid_blocks(divide_up(step.b.width, step.tile)),
                      grid_rows(divide_up(step.y1 - step.y0, step.tile)), step.colours);
    const size_t side = (size_t)step.tile + 2;
    step_kernel<Sample, Rule, First, Last>
        <<<blocks, tile_threads(step.tile), side * side * sizeof(float), stream>>>(step);
    return gi_cuda_check(cudaGetLastError(), "starting a step of heat", err);
}

// How a run of the stage takes its steps.
struct heat_plan {
    rule how;
    bool strips; // several steps a launch
    cudaStream_t stream;
};

template <typename Sample, bool First, bool Last>
gi_status launch(const heat_plan &plan, const heat_step &step, int steps, gi_error *err) {
    if (plan.strips) {
        // Between fields the samples' type makes no difference: one kernel is enough.
        using Type = std::conditional_t<First || Last, Sample, uint8_t>;
        return launch_strips<Type, First, Last>(step, steps, plan.stream, err);
    }
    if (plan.how == rule::linear) return launch_tiles<Sample, rule::linear, First, Last>(step, plan.stream, err);
    if (plan.how == rule::fast) return launch_tiles<Sample, rule::fast, First, Last>(step, plan.stream, err);
    return launch_tiles<Sample, rule::nonlinear, First, Last>(step, plan.stream, err);
}

// All steps, one after the other or some at a time.
template <typename Sample>
gi_status run_steps(const heat_plan &plan, heat_step step, float *const fields[2], int32_t total, gi_error *err) {
    gi_status status = GI_OK;
    for (int32_t done = 0, turn = 0; done < total && status == GI_OK; turn++) {
        const int steps = plan.strips ? strip_steps(total - done) : 1;
        const bool first = done == 0, last = done + steps == total;
        done += steps;
        const int64_t halo = total - done;
        step.y0 = step.b.out_y0 > halo ? step.b.out_y0 - halo : 0;
        step.y1 = step.b.out_end + halo < step.b.height ? step.b.out_end + halo : step.b.height;
        step.from = fields[1 - turn % 2];
        step.to = fields[turn % 2];
        if (first)
            status = last ? launch<Sample, true, true>(plan, step, steps, err)
                          : launch<Sample, true, false>(plan, step, steps, err);
        else
            status = last ? launch<Sample, false, true>(plan, step, steps, err)
                          : launch<Sample, false, false>(plan, step, steps, err);
    }
    return status;
}

size_t field_pitch(const gi_job *job) { return divide_up(job->in.width, LANE_COLUMNS) * LANE_COLUMNS; }

size_t field_bytes(const gi_job *job) {
    const size_t values = field_pitch(job) * (size_t)gi_colour_channels(job->in.channels) * job->in.height;
    return divide_up(values * sizeof(float), 256) * 256;
}

heat_plan plan_of(const gi_job *job) {
    const gi_heat_args *args = (const gi_heat_args *)job->args;
    const rule how = args->mode == GI_HEAT_LINEAR      ? rule::linear
                     : args->precision == GI_HEAT_FAST ? rule::fast
                                                       : rule::nonlinear;
    return {how, how == rule::linear && args->tile == 0, (cudaStream_t)job->stream};
}

} // namespace

// No field for one launch, one for two, two for more.
size_t gi_cuda_heat_scratch(const gi_job *job) {
    const int32_t steps = ((const gi_heat_args *)job->args)->steps;
    const bool strips = plan_of(job).strips;
    int launches = 0;
    for (int32_t done = 0; done < steps && launches < 3; launches++) done += strips ? strip_steps(steps - done) : 1;
    return launches <= 1 ? 0 : launches == 2 ? field_bytes(job) : 2 * field_bytes(job);
}

gi_status gi_cuda_heat(const gi_job *job, gi_error *err) {
    const gi_heat_args *args = (const gi_heat_args *)job->args;
    gi_status status = gi_heat_check(args, job->in.sample, err);
    if (status == GI_OK) status = check_band(job, gi_heat_halo(args), "heat", err);
    if (status != GI_OK || job->out.width == 0 || job->out.height == 0) return status;

    float *fields[2] = {(float *)job->scratch, (float *)((char *)job->scratch + field_bytes(job))};
    heat_step step = {};
    step.b = band_of(job);
    step.rows = job->in.height;
    step.pitch = (int64_t)field_pitch(job);
    step.colours = gi_colour_channels(job->in.channels);
    step.tile = args->tile > 0 ? args->tile : TILE;
    step.inner = args->inner;
    step.rate = (float)(args->alpha * args->dt);
    return job->in.sample == GI_U8 ? run_steps<uint8_t>(plan_of(job), step, fields, args->steps, err)
                                   : run_steps<uint16_t>(plan_of(job), step, fields, args->steps, err);
}
