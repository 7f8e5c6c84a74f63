// precision: float against double, in arithmetic, in memory, and by one forgotten letter.
//
//     arithmetic   x = a x + b, 1024 times in each of 8 chains        (see `ilp` for why eight)
//     memory       y = a x + y, 12 bytes for a float, 24 for a double
//     mixed        x = 0.7 * x + 0.5 with x a float: 0.7 is a double, so that x is widened, multiplied and narrowed
//                  again in each step. 0.7F is a float
//
// The picture: float has 24 bits (7 digits), double 53 (16 digits). In memory a double takes two boxes, so that it
// takes twice the time anywhere. In arithmetic it takes another tool: a multiprocessor of a data centre's GPU has half
// as many units for double as for float, one of a player's GPU a 32nd or 64th. The conversions of the mixed loop have
// few units on any GPU.
//
// The error is that of x after all steps, against b / (1 - a), and of y against the exact sum: half of the last digit.
// Which to take is a question of that column, not of habit: where float's seven digits do, all else is slower.
//
// What to look at in ncu, and in `cuobjdump -sass`: FFMA, DFMA, and F2F between them
//     sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active
//     sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active
//     sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active      the conversions
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/demos.h"

enum { CHAINS = 8, STEPS = 1024, THREADS = 256 };

#define LIMIT (5.0 / 3.0) // of x, 0.5 / (1 - 0.7)

typedef enum kind { FLOAT, DOUBLE, MIXED, KINDS } kind;

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    kind type;
    size_t count;  // results, or values
    double factor; // 0.7 and 0.5 as variables
    double summand;
    float *x, *y;
    double *dx, *dy;
    int steps;
} job;

// Eight chains; x begins with 0 ... 7.
static float float_chains(int steps, float a, float b) {
    float x[CHAINS] = {0, 1, 2, 3, 4, 5, 6, 7}, sum = 0;
    for (int k = 0; k < steps; k++)
        for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    return sum / CHAINS;
}

static double double_chains(int steps, double a, double b) {
    double x[CHAINS] = {0, 1, 2, 3, 4, 5, 6, 7}, sum = 0;
    for (int k = 0; k < steps; k++)
        for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    return sum / CHAINS;
}

// The float, and the constants that nobody wrote an F behind.
static float mixed_chains(int steps, double a, double b) {
    float x[CHAINS] = {0, 1, 2, 3, 4, 5, 6, 7}, sum = 0;
    for (int k = 0; k < steps; k++)
        for (int c = 0; c < CHAINS; c++) x[c] = (float)(x[c] * a + b);
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    return sum / CHAINS;
}

static void chains_openmp(void *context) {
    const job *work = (const job *)context;
    const double a = work->factor, b = work->summand;
#pragma omp parallel for
    for (size_t i = 0; i < work->count; i++) {
        if (work->type == FLOAT) work->y[i] = float_chains(work->steps, (float)a, (float)b);
        if (work->type == DOUBLE) work->dy[i] = double_chains(work->steps, a, b);
        if (work->type == MIXED) work->y[i] = mixed_chains(work->steps, a, b);
    }
}

// y = 0.7 x + 0.5 y, into y.
static void axpy_openmp(void *context) {
    const job *work = (const job *)context;
    const float a = (float)work->factor, b = (float)work->summand;
    if (work->type == FLOAT) {
#pragma omp parallel for simd
        for (size_t i = 0; i < work->count; i++) work->y[i] = a * work->x[i] + b * work->y[i];
    } else {
#pragma omp parallel for simd
        for (size_t i = 0; i < work->count; i++) work->dy[i] = work->factor * work->dx[i] + work->summand * work->dy[i];
    }
}

static double chains_error(const job *work) {
    double largest = 0;
    for (size_t i = 0; i < work->count; i++) {
        const double error = fabs((work->type == DOUBLE ? work->dy[i] : (double)work->y[i]) - LIMIT);
        if (!(error <= largest)) largest = error;
    }
    return largest;
}

// x = y = i / 3, before the first pass: then y should be 1.2 i / 3.
static void fill_axpy(const job *work) {
#pragma omp parallel for
    for (size_t i = 0; i < work->count; i++) {
        work->x[i] = work->y[i] = (float)(i % 1000) / 3;
        work->dx[i] = work->dy[i] = (double)(i % 1000) / 3;
    }
}

// Relative, as the values differ. In long double, which has eleven bits more than double on x86.
static double axpy_error(const job *work) {
    double largest = 0;
    for (size_t i = 0; i < work->count; i++) {
        const long double right = 1.2L * (long double)(i % 1000) / 3;
        const long double got = work->type == FLOAT ? (long double)work->y[i] : (long double)work->dy[i];
        const double error = right > 0 ? (double)fabsl((got - right) / right) : fabs((double)got);
        if (!(error <= largest)) largest = error;
    }
    return largest;
}

static double chains_bound(kind type) { return type == DOUBLE ? 4e-15 : 2e-6; }
static double axpy_bound(kind type) { return type == DOUBLE ? 6e-16 : 3e-7; }

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

// Value: what x is. Constant: what a and b are. Fused by the compiler.
template <typename Value, typename Constant>
__global__ void chains_kernel(Value *out, size_t count, int steps, Constant a, Constant b) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Value x[CHAINS], sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) x[c] = (Value)c;
#pragma unroll 4
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) x[c] = (Value)(x[c] * a + b);
    }
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    out[i] = sum / CHAINS;
}

template <typename Value> __global__ void axpy_kernel(const Value *x, Value *y, size_t count, Value a, Value b) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = a * x[i] + b * y[i];
}

template <typename Value, typename Constant>
gi_status time_chains(meter &gpu, job *work, Value *host, double *ms, double *error, gi_error *err) {
    device_array<Value> out;
    const unsigned blocks = (unsigned)gi::demo::divide_up(work->count, THREADS);
    auto launch = [&] {
        chains_kernel<Value, Constant>
            <<<blocks, THREADS>>>(out.data, work->count, work->steps, (Constant)work->factor, (Constant)work->summand);
    };
    GI_TRY(out.allocate(work->count, err));
    GI_TRY(out.clear(err));
    GI_TRY(gpu.run(launch, err));
    GI_TRY(out.download(host, err));
    *error = chains_error(work);
    GI_TRY(gi_bench_expect(*error <= chains_bound(work->type), "GPU", err));
    return gpu.median_ms(launch, ms, err);
}

template <typename Value>
gi_status time_axpy(meter &gpu, job *work, const Value *host_x, Value *host_y, double *ms, double *error,
                    gi_error *err) {
    device_array<Value> x, y;
    const unsigned blocks = (unsigned)gi::demo::divide_up(work->count, THREADS);
    auto launch = [&] {
        axpy_kernel<<<blocks, THREADS>>>(x.data, y.data, work->count, (Value)work->factor, (Value)work->summand);
    };
    GI_TRY(x.allocate(work->count, err));
    GI_TRY(y.allocate(work->count, err));
    fill_axpy(work);
    GI_TRY(x.upload(host_x, err));
    GI_TRY(y.upload(host_y, err));
    GI_TRY(gpu.run(launch, err));
    GI_TRY(y.download(host_y, err));
    *error = axpy_error(work);
    GI_TRY(gi_bench_expect(*error <= axpy_bound(work->type), "GPU", err));
    return gpu.median_ms(launch, ms, err);
}

} // namespace
#endif

// ---- the tables -----------------------------------------------------------------------------------------------------

static const char *const names[KINDS] = {"float", "double", "float, double constants"};

static gi_status measure_chains(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"GFLOP/s", "error", "OpenMP GFLOP/s", "OpenMP error", "times OpenMP"};
    const double gflop = 2e-9 * CHAINS * work->steps * (double)work->count;
#ifdef __CUDACC__
    meter gpu;
    if (gi_bench_gpu(bench)) GI_TRY(gpu.open(bench, err));
#endif
    gi_bench_table(bench, "arithmetic: multiply-adds in registers", columns, 5);
    for (int type = 0; type < KINDS; type++) {
        double ms = NAN, error = NAN;
        work->type = (kind)type;
        chains_openmp(work);
        const double cpu_error = chains_error(work);
        gi_status status = gi_bench_expect(cpu_error <= chains_bound(work->type), names[type], err);
        if (status != GI_OK) return status;
        const double cpu_ms = gi_bench_cpu_ms(bench, chains_openmp, work);
#ifdef __CUDACC__
        if (gi_bench_gpu(bench)) {
            if (type == FLOAT) GI_TRY((time_chains<float, float>(gpu, work, work->y, &ms, &error, err)));
            if (type == DOUBLE) GI_TRY((time_chains<double, double>(gpu, work, work->dy, &ms, &error, err)));
            if (type == MIXED) GI_TRY((time_chains<float, double>(gpu, work, work->y, &ms, &error, err)));
        }
#endif
        gi_bench_row(bench, names[type]);
        gi_bench_number(bench, gflop / ms * 1e3);
        gi_bench_number(bench, error);
        gi_bench_number(bench, gflop / cpu_ms * 1e3);
        gi_bench_number(bench, cpu_error);
        gi_bench_number(bench, cpu_ms / ms);
    }
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status measure_axpy(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"ms", "GB/s", "error", "OpenMP ms", "times OpenMP"};
#ifdef __CUDACC__
    meter gpu;
    if (gi_bench_gpu(bench)) GI_TRY(gpu.open(bench, err));
#endif
    gi_bench_table(bench, "memory: y = a x + b y", columns, 5);
    for (int type = FLOAT; type <= DOUBLE; type++) {
        const double bytes = 3.0 * (double)work->count * (type == FLOAT ? sizeof(float) : sizeof(double));
        double ms = NAN, error = NAN;
        work->type = (kind)type;
        fill_axpy(work);
        axpy_openmp(work);
        const double cpu_error = axpy_error(work);
        gi_status status = gi_bench_expect(cpu_error <= axpy_bound(work->type), names[type], err);
        if (status != GI_OK) return status;
        const double cpu_ms = gi_bench_cpu_ms(bench, axpy_openmp, work);
#ifdef __CUDACC__
        if (gi_bench_gpu(bench) && type == FLOAT)
            GI_TRY(time_axpy<float>(gpu, work, work->x, work->y, &ms, &error, err));
        if (gi_bench_gpu(bench) && type == DOUBLE)
            GI_TRY(time_axpy<double>(gpu, work, work->dx, work->dy, &ms, &error, err));
#endif
        gi_bench_row(bench, names[type]);
        gi_bench_number(bench, ms);
        gi_bench_number(bench, bytes / ms * 1e-6);
        gi_bench_number(bench, error);
        gi_bench_number(bench, cpu_ms);
        gi_bench_number(bench, cpu_ms / ms);
    }
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    gi_bench_note(bench, "%zu values", work->count);
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const bool quick = gi_bench_quick(bench);
    const size_t values = (size_t)gi_bench_size(bench, 1LL << 25, 1LL << 14), results = quick ? 1 << 10 : 1 << 18;
    const size_t room = values > results ? values : results;
    job work = {FLOAT, results, 0.7, 0.5, NULL, NULL, NULL, NULL, quick ? 128 : STEPS};
    work.x = (float *)malloc(room * sizeof(float));
    work.y = (float *)malloc(room * sizeof(float));
    work.dx = (double *)malloc(room * sizeof(double));
    work.dy = (double *)malloc(room * sizeof(double));
    gi_status status = GI_OK;
    if (!work.x || !work.y || !work.dx || !work.dy)
        status = gi_fail(err, GI_ERR_MEMORY, "no memory for vectors of %zu values", room);
    if (status == GI_OK) status = measure_chains(bench, &work, err);
    work.count = values;
    if (status == GI_OK) status = measure_axpy(bench, &work, err);
    free(work.x);
    free(work.y);
    free(work.dx);
    free(work.dy);
    return status;
}

const gi_demo gi_demo_precision = {
    "precision",
    "float against double: arithmetic, memory, and constants without an F",
    "Double takes twice the memory everywhere and what its units allow in arithmetic; a constant without an F makes a "
    "float's arithmetic double, with conversions on top, for float's precision.",
    run,
};
