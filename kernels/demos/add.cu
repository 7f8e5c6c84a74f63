// add: the first kernels of all, on vectors and matrices.
//
//     sum      c[i] = a[i] + b[i]        product  c[i] = a[i] * b[i]        scaled   c[i] = s * a[i]
//     matrix   C[y][x] = A[y][x] + B[y][x], a thread an element of a grid in two dimensions
//
// No result depends on another, so that each may be made by a thread of its own. The same loop body is launched three
// ways:
//
//     one thread    <<<1, 1>>>        #                                a loop over everything, as on a CPU
//     one block     <<<1, 1024>>>     ####...#                         thread t makes t, t + 1024, t + 2048, ...
//     grid-stride   <<<many, 256>>>   ####...# ####...# ####...# ...   every multiprocessor has several blocks
//
// One thread waits for each of its loads, some hundred nanoseconds from memory, before it makes the next. One block has
// 1024 such waits under way at once, but on one of all the multiprocessors. Only with a grid is the memory busy: what
// is left then is its bandwidth, 12 bytes for each addition, and no cleverness in the kernel can help further. The
// arithmetic costs nothing: sums, products and scalings take the time that their bytes take. The copies from the host
// and back are twenty times slower than the device's memory, so that with them counted the GPU gains little, or loses.
//
// Nsight Compute: ncu --section MemoryWorkloadAnalysis --section LaunchStats gpuimg bench add
//     dram__throughput.avg.pct_of_peak_sustained_elapsed    a thousandth of a per cent, then near 100
//     sm__warps_active.avg.pct_of_peak_sustained_active     how many waits are under way
//     launch__grid_size, launch__waves_per_multiprocessor   one block is a fraction of a wave
#include <math.h>
#include <stdlib.h>

#include "bench/demos.h"
#ifdef __CUDACC__
#include "kernels/demos/demo.cuh"
#endif

#define SCALE 1.5F

typedef enum operation { SUM, PRODUCT, SCALED, OPERATIONS } operation;
static const char *const titles[OPERATIONS] = {"c = a + b", "c = a * b", "c = 1.5 a"};

typedef struct vectors {
    float *a, *b, *c;
    size_t count;
    operation op;
} vectors;

// ---- on the CPU ---------------------------------------------------------------------------------------------------

// All cores, by OpenMP; the compiler makes vector instructions of each loop.
static void compute_openmp(void *context) {
    const vectors *v = (const vectors *)context;
    const float *a = v->a, *b = v->b;
    float *c = v->c;
    if (v->op == SUM) {
#pragma omp parallel for
        for (size_t i = 0; i < v->count; i++) c[i] = a[i] + b[i];
    } else if (v->op == PRODUCT) {
#pragma omp parallel for
        for (size_t i = 0; i < v->count; i++) c[i] = a[i] * b[i];
    } else {
#pragma omp parallel for
        for (size_t i = 0; i < v->count; i++) c[i] = SCALE * a[i];
    }
}

// The largest difference from the result in double.
static double largest_error(const vectors *v) {
    double largest = 0;
#pragma omp parallel for reduction(max : largest)
    for (size_t i = 0; i < v->count; i++) {
        const double a = v->a[i], b = v->b[i];
        const double exact = v->op == SUM ? a + b : v->op == PRODUCT ? a * b : (double)SCALE * a;
        const double error = fabs(v->c[i] - exact);
        if (!(error <= largest)) largest = error < INFINITY ? error : INFINITY; // NaN is an error, too
    }
    return largest;
}

// One rounding of a number below 2 is off by at most 2^-24.
static gi_status check(const vectors *v, double *error, gi_error *err) {
    *error = largest_error(v);
    return gi_bench_expect(*error <= 0x1p-24, titles[v->op], err);
}

static double bytes_of(const vectors *v, size_t count) {
    return (double)count * sizeof(float) * (v->op == SCALED ? 2 : 3);
}

#ifdef __CUDACC__
// ---- on the GPU ---------------------------------------------------------------------------------------------------

namespace {

using gi::demo::device_array;
using gi::demo::meter;

template <operation Op> __device__ float apply(float a, float b) {
    return Op == SUM ? a + b : Op == PRODUCT ? a * b : SCALE * a;
}

// <<<1, 1>>>: a loop, as on a CPU.
template <operation Op> __global__ void one_thread_kernel(const float *a, const float *b, float *c, size_t count) {
    for (size_t i = 0; i < count; i++) c[i] = apply<Op>(a[i], b[i]);
}

// <<<1, 1024>>>: neighbouring threads take neighbouring elements, so that a warp's loads are one of 128 bytes.
template <operation Op> __global__ void one_block_kernel(const float *a, const float *b, float *c, size_t count) {
    for (size_t i = threadIdx.x; i < count; i += blockDim.x) c[i] = apply<Op>(a[i], b[i]);
}

// <<<many, 256>>>: a stride of the whole grid. Right for any count, and for any number of blocks.
template <operation Op> __global__ void grid_stride_kernel(const float *a, const float *b, float *c, size_t count) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) c[i] = apply<Op>(a[i], b[i]);
}

// A matrix: x and y from the block's place in a grid of two dimensions. Those past the edge do nothing.
template <operation Op> __global__ void matrix_kernel(const float *a, const float *b, float *c, size_t side) {
    const size_t x = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t y = (size_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (x < side && y < side) c[y * side + x] = apply<Op>(a[y * side + x], b[y * side + x]);
}

enum launch_kind { ONE_THREAD, ONE_BLOCK, GRID_STRIDE, MATRIX };

template <operation Op>
void launch(const meter &gpu, launch_kind kind, const float *a, const float *b, float *c, size_t count) {
    const size_t side = (size_t)sqrt((double)count);
    const dim3 block(32, 8);
    const dim3 grid((unsigned)gi::demo::divide_up(side, 32), (unsigned)gi::demo::divide_up(side, 8));
    switch (kind) {
    case ONE_THREAD: one_thread_kernel<Op><<<1, 1>>>(a, b, c, count); break;
    case ONE_BLOCK: one_block_kernel<Op><<<1, 1024>>>(a, b, c, count); break;
    case GRID_STRIDE: grid_stride_kernel<Op><<<8 * gpu.properties.multiProcessorCount, 256>>>(a, b, c, count); break;
    case MATRIX: matrix_kernel<Op><<<grid, block>>>(a, b, c, side); break;
    }
}

// One way of launching: run and compared, then timed, then a row of the table.
template <operation Op>
gi_status measure_launch(gi_bench *bench, meter &gpu, vectors *v, launch_kind kind, double cpu_ms, gi_error *err) {
    static const char *const names[] = {"one thread (first 1/256)", "one block", "grid-stride", "matrix, 32 x 8"};
    const size_t count = kind == ONE_THREAD ? v->count / 256 : v->count; // a whole one would take seconds
    device_array<float> a, b, c;
    gi_bench_figures figures = {NAN, bytes_of(v, count), NAN, cpu_ms * (double)count / (double)v->count, NAN, NAN};
    GI_TRY(a.allocate(v->count, err));
    GI_TRY(b.allocate(v->count, err));
    GI_TRY(c.allocate(v->count, err));
    GI_TRY(a.upload(v->a, err));
    GI_TRY(b.upload(v->b, err));
    GI_TRY(c.clear(err));
    auto work = [&] { launch<Op>(gpu, kind, a.data, b.data, c.data, count); };
    GI_TRY(gpu.run(work, err));
    GI_TRY(c.download(v->c, err));
    vectors part = *v;
    part.count = count;
    GI_TRY(check(&part, &figures.error, err));
    GI_TRY(gpu.median_ms(work, &figures.ms, err));
    GI_TRY(gpu.copy_ms((size_t)figures.bytes, &figures.copy_ms, err));
    GI_TRY(gpu.transfers_ms(count * sizeof(float) * (Op == SCALED ? 1 : 2), count * sizeof(float),
                            &figures.transfers_ms, err));
    gi_bench_memory_row(bench, names[kind], &figures);
    return GI_OK;
}

template <operation Op> gi_status measure_gpu(gi_bench *bench, meter &gpu, vectors *v, double cpu_ms, gi_error *err) {
    for (int kind = ONE_THREAD; kind <= MATRIX; kind++)
        GI_TRY(measure_launch<Op>(bench, gpu, v, (launch_kind)kind, cpu_ms, err));
    return GI_OK;
}

gi_status measure_on_gpu(gi_bench *bench, vectors *v, double cpu_ms, gi_error *err) {
    meter gpu;
    GI_TRY(gpu.open(bench, err));
    switch (v->op) {
    case SUM: return measure_gpu<SUM>(bench, gpu, v, cpu_ms, err);
    case PRODUCT: return measure_gpu<PRODUCT>(bench, gpu, v, cpu_ms, err);
    default: return measure_gpu<SCALED>(bench, gpu, v, cpu_ms, err);
    }
}

} // namespace
#endif

// ---- the table ----------------------------------------------------------------------------------------------------

static gi_status measure(gi_bench *bench, vectors *v, gi_error *err) {
    gi_bench_figures figures = {NAN, bytes_of(v, v->count), NAN, NAN, NAN, NAN};
    compute_openmp(v);
    gi_status status = check(v, &figures.error, err);
    if (status != GI_OK) return status;
    figures.ms = figures.cpu_ms = gi_bench_cpu_ms(bench, compute_openmp, v);
    gi_bench_memory_table(bench, titles[v->op]);
    gi_bench_memory_row(bench, "OpenMP", &figures);
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) return measure_on_gpu(bench, v, figures.cpu_ms, err);
#endif
    gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    // A square, so that it serves as a matrix, too.
    const size_t wanted = (size_t)gi_bench_size(bench, 1LL << 26, 1LL << 16);
    size_t side = (size_t)sqrt((double)wanted);
    if (side < 16) side = 16;
    vectors v = {NULL, NULL, NULL, side * side, SUM};
    v.a = (float *)malloc(v.count * sizeof(float));
    v.b = (float *)malloc(v.count * sizeof(float));
    v.c = (float *)malloc(v.count * sizeof(float));
    gi_status status = GI_OK;
    if (!v.a || !v.b || !v.c) status = gi_fail(err, GI_ERR_MEMORY, "no memory for three vectors of %zu", v.count);
    if (status == GI_OK) {
        gi_bench_fill_floats(v.a, v.count, 1);
        gi_bench_fill_floats(v.b, v.count, 2);
    }
    for (int op = 0; op < OPERATIONS && status == GI_OK; op++) {
        v.op = (operation)op;
        status = measure(bench, &v, err);
        gi_bench_note(bench, "%zu elements of float32; as a matrix %zu x %zu", v.count, side, side);
    }
    free(v.a);
    free(v.b);
    free(v.c);
    return status;
}

const gi_demo gi_demo_add = {
    "add",
    "vector and matrix add, multiply, scale: one thread, one block, grid-stride",
    "A GPU is fast only when all of its multiprocessors have loads under way; then memory alone is the limit, and the "
    "copies to the device cost more than the work.",
    run,
};
