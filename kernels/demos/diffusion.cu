// diffusion: a step of an explicit scheme in one and two dimensions, with and without shared memory.
//
//     1-D   v[i] = u[i] + r ((u[i-1] + u[i+1]) - 2 u[i])                            r = 0.2; 0 outside
//     2-D   v[y][x] = u[y][x] + r (((up + down) + left) + right - 4 u[y][x])
//
// Each value is used three or five times. The naive kernel asks memory for it each time; with shared memory a block
// loads its tile and one value around it once:
//
//     1-D    block    h # # # # # # # # # # # # # # # h      256 threads load 256 values, and two of them a halo each
//     2-D    h h h h h h h h
//            h # # # # # # h      32 x 8 threads load 34 x 10 values in two turns
//            h # # # # # # h
//            h h h h h h h h
//
// On the first GPUs, which had no caches, that was three or five times as fast. Now the L1 cache of a multiprocessor
// does what the tile does, unasked: neighbours' loads meet in it, and the naive kernel runs at the same speed or
// faster, without barrier and halo. Shared memory still pays where a cache cannot guess: matrix products (many uses),
// steps fused into one launch, access in columns. The last 2-D kernel goes down a column with three values in
// registers: fewer loads, and more work for each thread. The bound is memory: 4 bytes read and 4 written for each
// value.
//
// Nsight Compute: ncu --section MemoryWorkloadAnalysis_Chart gpuimg bench diffusion
//     l1tex__t_sector_hit_rate.pct                       naive: two loads of three, or four of five, hit
//     dram__bytes_read.sum                               the same for all: nothing is fetched twice
//     smsp__average_warp_latency_issue_stalled_barrier.ratio    what __syncthreads costs
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#ifdef __CUDACC__
#include "kernels/demos/demo.cuh"
#endif

#define RATE 0.2F

typedef struct field {
    float *now, *next;
    size_t width, height; // height 1: one dimension
} field;

static size_t count_of(const field *f) { return f->width * f->height; }

// ---- on the CPU ---------------------------------------------------------------------------------------------------

static void step_openmp(void *context) {
    const field *f = (const field *)context;
    const size_t width = f->width, height = f->height;
    const float *u = f->now;
    float *v = f->next;
    if (height == 1) {
#pragma omp parallel for
        for (size_t i = 1; i < width - 1; i++) v[i] = u[i] + RATE * ((u[i - 1] + u[i + 1]) - 2 * u[i]);
        v[0] = u[0] + RATE * (u[1] - 2 * u[0]);
        v[width - 1] = u[width - 1] + RATE * (u[width - 2] - 2 * u[width - 1]);
        return;
    }
#pragma omp parallel for
    for (size_t y = 0; y < height; y++) {
        const float *row = u + y * width;
        float *out = v + y * width;
        for (size_t x = 0; x < width; x++) {
            const float up = y > 0 ? row[(ptrdiff_t)x - (ptrdiff_t)width] : 0,
                        down = y + 1 < height ? row[x + width] : 0;
            const float left = x > 0 ? row[x - 1] : 0, right = x + 1 < width ? row[x + 1] : 0;
            out[x] = row[x] + RATE * (((up + down) + left) + right - 4 * row[x]);
        }
    }
}

static double value(const field *f, size_t x, size_t y) { // SIZE_MAX, too, is outside
    return x < f->width && y < f->height ? f->now[y * f->width + x] : 0;
}

// The largest difference from a step in double.
static double largest_error(const field *f) {
    double largest = 0;
#pragma omp parallel for reduction(max : largest)
    for (size_t y = 0; y < f->height; y++) {
        for (size_t x = 0; x < f->width; x++) {
            const double u = value(f, x, y);
            const double across = value(f, x - 1, y) + value(f, x + 1, y) - 2 * u;
            const double along = f->height > 1 ? value(f, x, y - 1) + value(f, x, y + 1) - 2 * u : 0;
            const double error = fabs(f->next[y * f->width + x] - (u + (double)RATE * (across + along)));
            if (!(error <= largest)) largest = error < INFINITY ? error : INFINITY;
        }
    }
    return largest;
}

// A handful of roundings of numbers below 8.
static gi_status check(const field *f, const char *what, double *error, gi_error *err) {
    *error = largest_error(f);
    return gi_bench_expect(*error <= 2e-6, what, err);
}

#ifdef __CUDACC__
// ---- on the GPU ---------------------------------------------------------------------------------------------------

namespace {

using gi::demo::device_array;
using gi::demo::divide_up;
using gi::demo::meter;

constexpr int THREADS = 256, TILE_X = 32, TILE_Y = 8;

__global__ void naive_1d_kernel(const float *u, float *v, int count) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const float left = i > 0 ? u[i - 1] : 0, right = i + 1 < count ? u[i + 1] : 0;
    v[i] = u[i] + RATE * ((left + right) - 2 * u[i]);
}

__global__ void shared_1d_kernel(const float *u, float *v, int count) {
    __shared__ float tile[THREADS + 2];
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), at = (int)threadIdx.x + 1;
    tile[at] = i < count ? u[i] : 0;
    if (at == 1) tile[0] = i > 0 ? u[i - 1] : 0;
    if (at == THREADS) tile[THREADS + 1] = i + 1 < count ? u[i + 1] : 0;
    __syncthreads();
    if (i < count) v[i] = tile[at] + RATE * ((tile[at - 1] + tile[at + 1]) - 2 * tile[at]);
}

__device__ float value_at(const float *u, int x, int y, int width, int height) {
    return x >= 0 && y >= 0 && x < width && y < height ? u[(size_t)y * width + x] : 0;
}

__global__ void naive_2d_kernel(const float *u, float *v, int width, int height) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) return;
    const float here = u[(size_t)y * width + x];
    const float sum = ((value_at(u, x, y - 1, width, height) + value_at(u, x, y + 1, width, height)) +
                       value_at(u, x - 1, y, width, height)) +
                      value_at(u, x + 1, y, width, height);
    v[(size_t)y * width + x] = here + RATE * (sum - 4 * here);
}

__global__ void shared_2d_kernel(const float *u, float *v, int width, int height) {
    __shared__ float tile[TILE_Y + 2][TILE_X + 2];
    const int x0 = (int)blockIdx.x * TILE_X - 1, y0 = (int)blockIdx.y * TILE_Y - 1;
    const int thread = (int)(threadIdx.y * TILE_X + threadIdx.x);
    for (int i = thread; i < (TILE_Y + 2) * (TILE_X + 2); i += TILE_X * TILE_Y) {
        const int column = i % (TILE_X + 2), row = i / (TILE_X + 2);
        tile[row][column] = value_at(u, x0 + column, y0 + row, width, height);
    }
    __syncthreads();
    const int column = (int)threadIdx.x + 1, row = (int)threadIdx.y + 1, x = x0 + column, y = y0 + row;
    if (x >= width || y >= height) return;
    const float here = tile[row][column];
    const float sum = ((tile[row - 1][column] + tile[row + 1][column]) + tile[row][column - 1]) + tile[row][column + 1];
    v[(size_t)y * width + x] = here + RATE * (sum - 4 * here);
}

// Down ROWS rows of a column: what was below is here next, and above after that.
constexpr int ROWS = 16;

__global__ void column_2d_kernel(const float *u, float *v, int width, int height) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y0 = (int)blockIdx.y * ROWS;
    if (x >= width) return;
    float above = value_at(u, x, y0 - 1, width, height), here = value_at(u, x, y0, width, height);
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        const int y = y0 + row;
        const float below = value_at(u, x, y + 1, width, height);
        const float sum =
            ((above + below) + value_at(u, x - 1, y, width, height)) + value_at(u, x + 1, y, width, height);
        if (y < height) v[(size_t)y * width + x] = here + RATE * (sum - 4 * here);
        above = here;
        here = below;
    }
}

struct place {
    device_array<float> now, next;
    gi_bench_figures figures;
};

template <typename Work>
gi_status measure_work(gi_bench *bench, meter &gpu, field *f, place &at, const char *label, Work work, gi_error *err) {
    GI_TRY(at.next.clear(err));
    GI_TRY(gpu.run(work, err));
    GI_TRY(at.next.download(f->next, err));
    GI_TRY(check(f, label, &at.figures.error, err));
    GI_TRY(gpu.median_ms(work, &at.figures.ms, err));
    gi_bench_memory_row(bench, label, &at.figures);
    return GI_OK;
}

gi_status measure_1d(gi_bench *bench, meter &gpu, field *f, place &at, gi_error *err) {
    const unsigned grid = (unsigned)divide_up(f->width, THREADS);
    const int count = (int)f->width;
    const float *u = at.now.data;
    float *v = at.next.data;
    GI_TRY(measure_work(
        bench, gpu, f, at, "naive", [&] { naive_1d_kernel<<<grid, THREADS>>>(u, v, count); }, err));
    return measure_work(
        bench, gpu, f, at, "shared memory", [&] { shared_1d_kernel<<<grid, THREADS>>>(u, v, count); }, err);
}

gi_status measure_2d(gi_bench *bench, meter &gpu, field *f, place &at, gi_error *err) {
    const int width = (int)f->width, height = (int)f->height;
    const dim3 block(TILE_X, TILE_Y);
    const dim3 grid((unsigned)divide_up(f->width, TILE_X), (unsigned)divide_up(f->height, TILE_Y));
    const dim3 columns((unsigned)divide_up(f->width, THREADS), (unsigned)divide_up(f->height, ROWS));
    const float *u = at.now.data;
    float *v = at.next.data;
    GI_TRY(measure_work(
        bench, gpu, f, at, "naive, 32 x 8", [&] { naive_2d_kernel<<<grid, block>>>(u, v, width, height); }, err));
    GI_TRY(measure_work(
        bench, gpu, f, at, "shared memory, 32 x 8", [&] { shared_2d_kernel<<<grid, block>>>(u, v, width, height); },
        err));
    return measure_work(
        bench, gpu, f, at, "down a column, 16 rows",
        [&] { column_2d_kernel<<<columns, THREADS>>>(u, v, width, height); }, err);
}

gi_status measure_on_gpu(gi_bench *bench, field *f, gi_bench_figures figures, gi_error *err) {
    meter gpu;
    place at;
    at.figures = figures;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(at.now.allocate(count_of(f), err));
    GI_TRY(at.next.allocate(count_of(f), err));
    GI_TRY(at.now.upload(f->now, err));
    GI_TRY(gpu.copy_ms((size_t)figures.bytes, &at.figures.copy_ms, err));
    GI_TRY(gpu.transfers_ms(at.now.bytes(), at.next.bytes(), &at.figures.transfers_ms, err));
    return f->height == 1 ? measure_1d(bench, gpu, f, at, err) : measure_2d(bench, gpu, f, at, err);
}

} // namespace
#endif

// ---- the tables ---------------------------------------------------------------------------------------------------

static gi_status measure(gi_bench *bench, field *f, gi_error *err) {
    gi_bench_figures figures = {NAN, 2.0 * sizeof(float) * (double)count_of(f), NAN, NAN, NAN, NAN};
    char title[80];
    if (f->height == 1)
        snprintf(title, sizeof title, "1-D, %zu values", f->width);
    else
        snprintf(title, sizeof title, "2-D, %zu x %zu values", f->width, f->height);
    step_openmp(f);
    gi_status status = check(f, "OpenMP", &figures.error, err);
    if (status != GI_OK) return status;
    figures.ms = figures.cpu_ms = gi_bench_cpu_ms(bench, step_openmp, f);
    gi_bench_memory_table(bench, title);
    gi_bench_memory_row(bench, "OpenMP", &figures);
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) return measure_on_gpu(bench, f, figures, err);
#endif
    gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const long long wanted = gi_bench_size(bench, 1LL << 26, 10007);
    const size_t count = (size_t)(wanted < 256 ? 256 : wanted);
    gi_status status = gi_bench_at_most(bench, 1LL << 30, err);
    if (status != GI_OK) return status;
    const size_t side = (size_t)sqrt((double)count);
    field f = {NULL, NULL, count, 1};
    f.now = (float *)malloc(count * sizeof(float));
    f.next = (float *)malloc(count * sizeof(float));
    if (!f.now || !f.next) status = gi_fail(err, GI_ERR_MEMORY, "no memory for two fields of %zu values", count);
    if (status == GI_OK) {
        gi_bench_fill_floats(f.now, count, 1);
        status = measure(bench, &f, err);
    }
    f.width = f.height = side;
    if (status == GI_OK) status = measure(bench, &f, err);
    free(f.now);
    free(f.next);
    return status;
}

const gi_demo gi_demo_diffusion = {
    "diffusion",
    "a step of diffusion in one and two dimensions: naive, shared memory, registers",
    "Where each value is used a few times by neighbours, the caches do what tiles in shared memory once did, and "
    "without barriers; values kept in registers come nearest to the speed of memory.",
    run,
};
