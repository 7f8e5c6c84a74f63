// heat: a stencil in tiles, and a launch that fails without a sound.
//
//     s = ((up + down) + left) + right, 0 outside      100 times: N = T + 0.025 tanh(s - 4 T), T = 0.99 N + 0.01 sin(N)
//
// Each pixel looks at its four neighbours at the step's beginning. The lecture loads a tile with the pixels around it
// into shared memory, so that neighbours are fetched once for the block, and gives each of those pixels a thread:
//
//     + - - - - - - +     tile 6 x 6, block 8 x 8: all 64 threads load, the 36 inside compute, 28 are idle
//     | # # # # # # |
//     | # # # # # # |     threads (tile + 2)^2, of which tile^2 work: 64 % at tile 8, 79 % at 16, 86 % at 25;
//     | # # # # # # |     warps of 32 cut across the rows, and a block's last warp may be nearly empty
//     + - - - - - - +
//
// Tile 32 would need 34 x 34 = 1156 threads, but a block has at most 1024. The launch fails; kernels return no value,
// so the program goes on, and the events round a launch that never was measure next to nothing: "0 ms" looks like the
// fastest tile of all, until one asks cudaGetLastError, or looks at the result. Other mappings have no such limit:
// gpuimg gives a thread several pixels (kernels/heat.cu), and any tile will do.
//
// With 100 iterations a pixel the arithmetic takes far longer than memory: the tile saves what costs little here, and
// its idle threads cost what is dear. kernels/demos/diffusion.cu is the case in which memory counts.
//
// Nsight Compute: ncu --section Occupancy --section ComputeWorkloadAnalysis gpuimg bench heat
//     smsp__thread_inst_executed_per_inst_executed.ratio     lanes at work of 32: what the border's idle threads cost
//     sm__warps_active.avg.pct_of_peak_sustained_active      the occupancy reached; the API's is in the table
//     sm__inst_executed_pipe_xu.sum                          the special-function unit of tanh and sin
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#include "core/stage_table.h"
#ifdef __CUDACC__
#include "kernels/demos/demo.cuh"
#include "kernels/launch.h"
#endif

#define RATE 0.025 // alpha * dt = 0.25 * 0.1

typedef struct field {
    float *now, *next;         // temperatures of 0 to 1
    uint8_t *levels, *evolved; // the same as an image of 255 levels
    uint32_t width, height;
    uint32_t rows; // of them, from the first on, what the loop on the CPU makes
    int inner, threads;
    size_t pixels;
} field;

static const char *const columns[] = {"threads", "warps",        "occupancy %", "ms",
                                      "Mpx/s",   "times OpenMP", "with copies", "error"};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

// ---- on the CPU ---------------------------------------------------------------------------------------------------

static inline float at(const field *f, int64_t x, int64_t y) {
    return x < 0 || y < 0 || x >= f->width || y >= f->height ? 0.0F : f->now[(size_t)y * f->width + (size_t)x];
}

static void step_openmp(void *context) {
    const field *f = (const field *)context;
#pragma omp parallel for schedule(dynamic)
    for (uint32_t y = 0; y < f->rows; y++) {
        for (uint32_t x = 0; x < f->width; x++) {
            const float s = ((at(f, x, (int64_t)y - 1) + at(f, x, y + 1)) + at(f, (int64_t)x - 1, y)) + at(f, x + 1, y);
            float t = at(f, x, y);
            for (int k = 0; k < f->inner; k++) {
                const float n = t + (float)RATE * tanhf(s - 4 * t);
                t = 0.99F * n + 0.01F * sinf(n);
            }
            f->next[(size_t)y * f->width + x] = t;
        }
    }
}

// The stage's options for the same step.
static gi_heat_args stage_of(const field *f, int tile) {
    gi_heat_args args;
    memset(&args, 0, sizeof args);
    args.mode = GI_HEAT_NONLINEAR;
    args.steps = 1;
    args.inner = f->inner;
    args.alpha = 0.25;
    args.dt = 0.1;
    args.tile = tile;
    args.precision = GI_HEAT_EXACT;
    return args;
}

static gi_view view_of(const field *f, uint8_t *levels, gi_where where) {
    const gi_shape shape = {f->width, f->height, 1, GI_U8};
    return gi_view_packed(levels, shape, where);
}

// The project's own: vectors of pixels, tanh and sin by polynomials (cpu/heat.c, core/heat_math.h).
static void step_gpuimg(void *context) {
    const field *f = (const field *)context;
    const gi_heat_args args = stage_of(f, 0);
    gi_error err;
    gi_window_job job;
    memset(&job, 0, sizeof job);
    job.in = view_of(f, f->levels, GI_HOST);
    job.out = view_of(f, f->evolved, GI_HOST);
    job.place.image_height = f->height;
    job.args = &args;
    job.threads = f->threads;
    if (gi_cpu_heat(&job, &err) != GI_OK) memset(f->evolved, 0, f->pixels);
}

// Levels as temperatures: off by half a level at most.
static void take_levels(field *f) {
    for (size_t i = 0; i < f->pixels; i++) f->next[i] = (float)f->evolved[i] / 255;
}

// The largest difference from a step in double, of every so many-th row of the first `rows`.
static double largest_error(const field *f, uint32_t rows) {
    enum { LOOKED_AT = 32 };
    const uint32_t every = rows / LOOKED_AT + 1;
    double largest = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : largest)
    for (uint32_t y = 0; y < rows; y += every) {
        for (uint32_t x = 0; x < f->width; x++) {
            const double s =
                (double)at(f, x, (int64_t)y - 1) + at(f, x, y + 1) + at(f, (int64_t)x - 1, y) + at(f, x + 1, y);
            double t = at(f, x, y);
            for (int k = 0; k < f->inner; k++) {
                const double n = t + RATE * tanh(s - 4 * t);
                t = 0.99 * n + 0.01 * sin(n);
            }
            const double error = fabs(f->next[(size_t)y * f->width + x] - t);
            if (!(error <= largest)) largest = error < INFINITY ? error : INFINITY;
        }
    }
    return largest;
}

// Errors of single steps do not add up beyond a few: the iteration draws T towards a fixed value.
static const double tolerance = 2e-6;

#ifdef __CUDACC__
// ---- on the GPU ---------------------------------------------------------------------------------------------------

namespace {

using gi::demo::device_array;
using gi::demo::divide_up;
using gi::demo::meter;

struct step {
    const float *now;
    float *next;
    int width, height, inner;
};

__device__ float evolve(float t, float s, int inner) {
    for (int k = 0; k < inner; k++) {
        const float n = t + (float)RATE * tanhf(s - 4 * t);
        t = 0.99F * n + 0.01F * sinf(n);
    }
    return t;
}

__device__ float temperature(const step &f, int x, int y) {
    return x < 0 || y < 0 || x >= f.width || y >= f.height ? 0.0F : f.now[(size_t)y * f.width + x];
}

// A thread a pixel; neighbours from global memory, or from the caches.
__global__ void naive_kernel(step f) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= f.width || y >= f.height) return;
    const float s =
        ((temperature(f, x, y - 1) + temperature(f, x, y + 1)) + temperature(f, x - 1, y)) + temperature(f, x + 1, y);
    f.next[(size_t)y * f.width + x] = evolve(temperature(f, x, y), s, f.inner);
}

// The lecture's mapping: a thread for each pixel of the tile and of the border around it, blockDim = tile + 2.
__global__ void tile_kernel(step f) {
    extern __shared__ float tile[];
    const int side = (int)blockDim.x, column = (int)threadIdx.x, row = (int)threadIdx.y;
    const int x = (int)blockIdx.x * (side - 2) + column - 1, y = (int)blockIdx.y * (side - 2) + row - 1;
    float *mine = tile + row * side + column;
    *mine = temperature(f, x, y);
    __syncthreads();
    if (column == 0 || row == 0 || column == side - 1 || row == side - 1 || x >= f.width || y >= f.height) return;
    const float s = ((mine[-side] + mine[side]) + mine[-1]) + mine[1];
    f.next[(size_t)y * f.width + x] = evolve(*mine, s, f.inner);
}

struct place {
    device_array<float> now, next;
    step s;
    double cpu_ms, transfers_ms;
};

void put_row(gi_bench *bench, const field *f, const place &p, const char *label, int threads, double occupancy,
             double ms, double error) {
    gi_bench_row(bench, label);
    gi_bench_number(bench, threads);
    gi_bench_number(bench, threads > 0 ? (double)((threads + 31) / 32) : NAN);
    gi_bench_number(bench, 100 * occupancy);
    gi_bench_number(bench, ms);
    gi_bench_number(bench, (double)f->pixels / ms * 1e-3);
    gi_bench_number(bench, p.cpu_ms / ms);
    gi_bench_number(bench, p.cpu_ms / (ms + p.transfers_ms));
    gi_bench_number(bench, error);
}

gi_status measure_naive(gi_bench *bench, meter &gpu, field *f, place &p, gi_error *err) {
    const dim3 block(32, 8), grid((unsigned)divide_up(f->width, 32), (unsigned)divide_up(f->height, 8));
    double ms = 0, occupancy = 0;
    int blocks = 0;
    auto work = [&] { naive_kernel<<<grid, block>>>(p.s); };
    GI_TRY(p.next.clear(err));
    GI_TRY(gpu.run(work, err));
    GI_TRY(p.next.download(f->next, err));
    const double error = largest_error(f, f->height);
    GI_TRY(gi_bench_expect(error <= tolerance, "naive", err));
    GI_TRY(gpu.median_ms(work, &ms, err));
    GI_TRY(gpu.occupancy(naive_kernel, 256, 0, &blocks, &occupancy, err));
    put_row(bench, f, p, "naive", 256, occupancy, ms, error);
    return GI_OK;
}

// What a program sees that asks for no errors: the time between two events, and a result.
gi_status measure_blindly(gi_bench *bench, meter &gpu, field *f, place &p, int tile, gi_error *err) {
    const int side = tile + 2;
    const dim3 block((unsigned)side, (unsigned)side),
        grid((unsigned)divide_up(f->width, (size_t)tile), (unsigned)divide_up(f->height, (size_t)tile));
    cudaEvent_t begin, end;
    float ms = 0;
    char label[32];
    GI_TRY(p.next.clear(err));
    GI_TRY_CUDA(cudaEventCreate(&begin));
    GI_TRY_CUDA(cudaEventCreate(&end));
    GI_TRY_CUDA(cudaDeviceSynchronize());
    cudaEventRecord(begin);
    tile_kernel<<<grid, block, (size_t)side * side * sizeof(float)>>>(p.s);
    const cudaError_t reason = cudaGetLastError(); // the question that the lesson is about
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    GI_TRY(p.next.download(f->next, err));
    snprintf(label, sizeof label, "tile %d", tile);
    gi_bench_row(bench, label);
    gi_bench_number(bench, side * side);
    gi_bench_number(bench, (side * side + 31) / 32);
    gi_bench_number(bench, 0);
    gi_bench_number(bench, ms);
    gi_bench_text(bench, "failed"); // and no more cells
    gi_bench_note(bench,
                  "tile %d: %d x %d = %d threads are more than a block's %d. The launch fails (%s), and a program that "
                  "does not ask cudaGetLastError sees %.4f ms, and an output that nothing has been written to.",
                  tile, side, side, side * side, gpu.properties.maxThreadsPerBlock, cudaGetErrorString(reason),
                  (double)ms);
    return gi_bench_expect(reason != cudaSuccess && largest_error(f, f->height) > tolerance,
                           "a launch with too many threads", err);
}

gi_status measure_tile(gi_bench *bench, meter &gpu, field *f, place &p, int tile, gi_error *err) {
    const int side = tile + 2, threads = side * side;
    const size_t shared = (size_t)threads * sizeof(float);
    if (threads > gpu.properties.maxThreadsPerBlock) return measure_blindly(bench, gpu, f, p, tile, err);
    const dim3 block((unsigned)side, (unsigned)side),
        grid((unsigned)divide_up(f->width, (size_t)tile), (unsigned)divide_up(f->height, (size_t)tile));
    double ms = 0, occupancy = 0;
    int blocks = 0;
    char label[32];
    auto work = [&] { tile_kernel<<<grid, block, shared>>>(p.s); };
    snprintf(label, sizeof label, "tile %d", tile);
    GI_TRY(p.next.clear(err));
    GI_TRY(gpu.run(work, err));
    GI_TRY(p.next.download(f->next, err));
    const double error = largest_error(f, f->height);
    GI_TRY(gi_bench_expect(error <= tolerance, label, err));
    GI_TRY(gpu.median_ms(work, &ms, err));
    GI_TRY(gpu.occupancy(tile_kernel, threads, shared, &blocks, &occupancy, err));
    put_row(bench, f, p, label, threads, occupancy, ms, error);
    return GI_OK;
}

// The stage itself, from levels to levels (kernels/heat.cu): a thread takes pixels in turn, so that any tile will do.
gi_status measure_stage(gi_bench *bench, meter &gpu, field *f, place &p, int tile, gi_error *err) {
    const gi_heat_args args = stage_of(f, tile);
    device_array<uint8_t> in, out;
    char label[40];
    double ms = 0;
    GI_TRY(in.allocate(f->pixels, err));
    GI_TRY(out.allocate(f->pixels, err));
    GI_TRY(in.upload(f->levels, err));
    GI_TRY(out.clear(err));
    gi_job job = {};
    job.in = view_of(f, in.data, GI_DEVICE);
    job.out = view_of(f, out.data, GI_DEVICE);
    job.place.image_height = f->height;
    job.args = &args;
    auto work = [&] { return gi_cuda_heat(&job, err); };
    GI_TRY(gpu.run(work, err));
    GI_TRY(out.download(f->evolved, err));
    take_levels(f);
    snprintf(label, sizeof label, "gpuimg heat, tile %d", tile);
    const double error = largest_error(f, f->height);
    GI_TRY(gi_bench_expect(error <= 0.5 / 255 + tolerance, label, err));
    GI_TRY(gpu.median_ms(work, &ms, err));
    put_row(bench, f, p, label, 256, NAN, ms, error);
    return GI_OK;
}

gi_status measure_on_gpu(gi_bench *bench, field *f, double cpu_ms, gi_error *err) {
    static const int tiles[] = {8, 12, 14, 16, 25, 32}, stage_tiles[] = {16, 32};
    meter gpu;
    place p;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(p.now.allocate(f->pixels, err));
    GI_TRY(p.next.allocate(f->pixels, err));
    GI_TRY(p.now.upload(f->now, err));
    p.s = {p.now.data, p.next.data, (int)f->width, (int)f->height, f->inner};
    p.cpu_ms = cpu_ms;
    GI_TRY(gpu.transfers_ms(p.now.bytes(), p.next.bytes(), &p.transfers_ms, err));
    GI_TRY(measure_naive(bench, gpu, f, p, err));
    for (int tile : tiles) GI_TRY(measure_tile(bench, gpu, f, p, tile, err));
    for (int tile : stage_tiles) GI_TRY(measure_stage(bench, gpu, f, p, tile, err));
    return GI_OK;
}

} // namespace
#endif

// ---- the table ----------------------------------------------------------------------------------------------------

static void put_cpu_row(gi_bench *bench, const field *f, const char *label, double ms, double cpu_ms, double error) {
    gi_bench_row(bench, label);
    for (int c = 0; c < 3; c++) gi_bench_number(bench, NAN);
    gi_bench_number(bench, ms);
    gi_bench_number(bench, (double)f->pixels / ms * 1e-3);
    gi_bench_number(bench, cpu_ms / ms);
    gi_bench_number(bench, NAN);
    gi_bench_number(bench, error);
}

static gi_status measure_cpu(gi_bench *bench, field *f, double *cpu_ms, gi_error *err) {
    step_gpuimg(f);
    take_levels(f);
    double error = largest_error(f, f->height);
    gi_status status = gi_bench_expect(error <= 0.5 / 255 + tolerance, "gpuimg heat on the CPU", err);
    if (status != GI_OK) return status;
    *cpu_ms = gi_bench_cpu_ms(bench, step_gpuimg, f);
    put_cpu_row(bench, f, "OpenMP, gpuimg heat", *cpu_ms, *cpu_ms, error);
    step_openmp(f);
    error = largest_error(f, f->rows);
    status = gi_bench_expect(error <= tolerance, "OpenMP", err);
    if (status != GI_OK) return status;
    put_cpu_row(bench, f, "OpenMP, loop", gi_bench_cpu_ms(bench, step_openmp, f) * f->height / f->rows, *cpu_ms, error);
    if (f->rows < f->height)
        gi_bench_note(bench, "the loop is timed over the first %u rows and counted up to all", f->rows);
    gi_bench_note(
        bench, "times OpenMP: of gpuimg heat on the CPU, whose error, and whose kernel's, is the rounding to levels");
    return GI_OK;
}

static gi_status measure(gi_bench *bench, field *f, gi_error *err) {
    char title[96];
    double cpu_ms = NAN;
    snprintf(title, sizeof title, "a step of %u x %u, %d iterations a pixel", f->width, f->height, f->inner);
    gi_bench_table(bench, title, columns, COLUMNS);
    gi_bench_bar(bench, "Mpx/s");
    gi_status status = measure_cpu(bench, f, &cpu_ms, err);
    if (status != GI_OK) return status;
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) return measure_on_gpu(bench, f, cpu_ms, err);
#endif
    gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const bool own = gi_bench_size(bench, 0, 0) == 0 && !gi_bench_quick(bench);
    field f;
    memset(&f, 0, sizeof f);
    gi_status status = gi_bench_image(bench, &f.width, &f.height, err);
    if (status != GI_OK) return status;
    if (own) { // a quarter of 8K
        f.width /= 2;
        f.height /= 2;
    }
    f.inner = gi_bench_quick(bench) ? 5 : 100;
    f.threads = gi_bench_threads(bench);
    f.pixels = (size_t)f.width * f.height;
    f.rows = f.height > 256 ? f.height / 16 : f.height;
    f.now = (float *)malloc(f.pixels * sizeof(float));
    f.next = (float *)malloc(f.pixels * sizeof(float));
    f.levels = (uint8_t *)malloc(f.pixels);
    f.evolved = (uint8_t *)malloc(f.pixels);
    if (!f.now || !f.next || !f.levels || !f.evolved)
        status = gi_fail(err, GI_ERR_MEMORY, "no memory for %zu temperatures", f.pixels);
    if (status == GI_OK) {
        gi_bench_fill_bytes(f.levels, f.pixels, 1);
        for (size_t i = 0; i < f.pixels; i++) f.now[i] = (float)f.levels[i] / 255;
        status = measure(bench, &f, err);
    }
    free(f.now);
    free(f.next);
    free(f.levels);
    free(f.evolved);
    return status;
}

const gi_demo gi_demo_heat = {
    "heat",
    "a stencil in tiles of 8 to 32: threads, warps, occupancy, and a launch that fails",
    "The border around a tile costs idle threads, most in small tiles; a block with more threads than there may be "
    "is not slow but never runs, which looks like 0 ms.",
    run,
};
