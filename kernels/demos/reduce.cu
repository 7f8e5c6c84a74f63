// reduce: the sum of an array, the lecture's kernels one after the other.
//
//     sum = x[0] + x[1] + ... + x[n-1]
//
// A block adds up its values by a tree in shared memory, and the blocks' sums are added up likewise. What changes from
// row to row is who adds what:
//
//     interleaved   0 1 2 3 4 5 6 7     sequential   0 1 2 3 4 5 6 7     shuffle   a thread adds up many values by
//                   |/  |/  |/  |/                   |/ / / /                      itself; then lanes are given each
//                   +   +   +   +                    + + + +                       other's registers, 16 places on,
//                   | /     | /                      |/ /                          8, 4, 2, 1 (__shfl_down_sync):
//                   +       +                        + +                           no shared memory and no barrier
//
// Interleaved, the threads that still work are spread over all warps, so that every warp goes through every step for
// ever fewer lanes: divergence. Sequential, they stand together, and whole warps are done. Both start a thread and wait
// at nine barriers for each value, which takes longer than its four bytes; with vector loads and shuffles only memory
// is left. The kernels are in kernels/reduce_classic.cu and kernels/reduce_shuffle.cu, and `gpuimg reduce --algo NAME`
// runs them on any array. They add up in double, in one fixed tree: that costs nothing here, and gives the same bits on
// every device.
//
// Nsight Compute: ncu --section WarpStateStats --section SourceCounters gpuimg bench reduce
//     smsp__thread_inst_executed_per_inst_executed.ratio        lanes at work of 32: what interleaved loses
//     smsp__average_warp_latency_issue_stalled_barrier.ratio    what both trees wait for
//     dram__throughput.avg.pct_of_peak_sustained_elapsed        near 90 for shuffle and CUB
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#include "cpu/primitives.h"
#ifdef __CUDACC__
#include <cub/device/device_reduce.cuh>

#include "kernels/arrays.h"
#include "kernels/demos/demo.cuh"
#endif

typedef struct numbers {
    float *x;
    size_t count;
    int threads;
    double exact, magnitude; // of the sum, and of |x[0]| + |x[1]| + ...
    double sum;              // what was found last
} numbers;

// ---- on the CPU ---------------------------------------------------------------------------------------------------

// One addition after the other in each thread: a compiler may not regroup floats by itself.
static void sum_openmp(void *context) {
    numbers *n = (numbers *)context;
    const float *x = n->x;
    const size_t count = n->count;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < count; i++) sum += x[i];
    n->sum = sum;
}

// Two numbers fit where one did, but digits are lost: the further the sum, the more.
static void sum_openmp_float(void *context) {
    numbers *n = (numbers *)context;
    const float *x = n->x;
    const size_t count = n->count;
    float sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < count; i++) sum += x[i];
    n->sum = sum;
}

// The project's own: the fixed tree, vectorised (cpu/reduce_float.c).
static void sum_gpuimg(void *context) {
    numbers *n = (numbers *)context;
    gi_number number;
    gi_error err;
    gi_reduce_job job;
    memset(&job, 0, sizeof job);
    job.values = n->x;
    job.element = GI_ELEMENT_F32;
    job.count = n->count;
    job.operation = GI_OPERATION_SUM;
    job.threads = n->threads;
    n->sum = gi_cpu_reduce(&job, &number, &err) == GI_OK ? number.real : NAN;
}

// The input is of multiples of 2^-23, so that integers add it up exactly.
static void add_up_exactly(numbers *n) {
    const float *x = n->x;
    int64_t sum = 0, magnitude = 0;
#pragma omp parallel for reduction(+ : sum, magnitude)
    for (size_t i = 0; i < n->count; i++) {
        const int64_t units = (int64_t)(x[i] * 0x1p23F);
        sum += units;
        magnitude += units < 0 ? -units : units;
    }
    n->exact = (double)sum * 0x1p-23;
    n->magnitude = (double)magnitude * 0x1p-23;
}

// Sums in double are exact as long as there are fewer than 2^30 values; those in float are not, but not that bad.
static gi_status check(const numbers *n, const char *what, bool in_float, double *error, gi_error *err) {
    *error = fabs(n->sum - n->exact);
    return gi_bench_expect(*error <= n->magnitude * (in_float ? 1e-4 : 0x1p-50), what, err);
}

static gi_status measure_cpu(gi_bench *bench, numbers *n, const char *label, void (*work)(void *),
                             gi_bench_figures *figures, gi_error *err) {
    work(n);
    gi_status status = check(n, label, work == sum_openmp_float, &figures->error, err);
    if (status != GI_OK) return status;
    figures->ms = gi_bench_cpu_ms(bench, work, n);
    if (work == sum_gpuimg) figures->cpu_ms = figures->ms;
    gi_bench_memory_row(bench, label, figures);
    return GI_OK;
}

#ifdef __CUDACC__
// ---- on the GPU ---------------------------------------------------------------------------------------------------

namespace {

using gi::demo::device_array;
using gi::demo::meter;

// One of ours, of kernels/arrays.h.
gi_status measure_algorithm(gi_bench *bench, meter &gpu, numbers *n, const device_array<float> &x, int algorithm,
                            const char *label, gi_bench_figures figures, gi_error *err) {
    device_array<gi_device_number> result;
    device_array<uint32_t> ticket;
    device_array<uint8_t> scratch;
    gi_device_number found;
    GI_TRY(result.allocate(1, err));
    GI_TRY(ticket.allocate(1, err));
    GI_TRY(ticket.clear(err));
    gi_device_reduce_job job = {};
    job.values = x.data;
    job.element = GI_ELEMENT_F32;
    job.count = n->count;
    job.operation = GI_OPERATION_SUM;
    job.algorithm = algorithm;
    job.result = result.data;
    job.ticket = ticket.data;
    GI_TRY(scratch.allocate(gi_cuda_reduce_scratch(&job), err));
    job.scratch = scratch.data;
    auto work = [&] { return gi_cuda_reduce(&job, err); };
    GI_TRY(gpu.run(work, err));
    GI_TRY(result.download(&found, err));
    n->sum = found.real;
    GI_TRY(check(n, label, false, &figures.error, err));
    GI_TRY(gpu.median_ms(work, &figures.ms, err));
    gi_bench_memory_row(bench, label, &figures);
    return GI_OK;
}

// NVIDIA's library as most call it: float32 in, float32 out.
gi_status measure_cub(gi_bench *bench, meter &gpu, numbers *n, const device_array<float> &x, gi_bench_figures figures,
                      gi_error *err) {
    device_array<float> result;
    device_array<uint8_t> scratch;
    size_t bytes = 0;
    float found = 0;
    GI_TRY(result.allocate(1, err));
    auto call = [&](void *memory) {
        return cub::DeviceReduce::Sum(memory, bytes, x.data, result.data, (int64_t)n->count);
    };
    GI_TRY_CUDA(call(nullptr));
    GI_TRY(scratch.allocate(bytes, err));
    auto work = [&] { return gi_cuda_check(call(scratch.data), "CUB's sum", err); };
    GI_TRY(gpu.run(work, err));
    GI_TRY(result.download(&found, err));
    n->sum = found;
    GI_TRY(check(n, "CUB", true, &figures.error, err));
    GI_TRY(gpu.median_ms(work, &figures.ms, err));
    gi_bench_memory_row(bench, "CUB, in float32", &figures);
    return GI_OK;
}

gi_status measure_on_gpu(gi_bench *bench, numbers *n, gi_bench_figures figures, gi_error *err) {
    static const int algorithms[] = {GI_REDUCE_INTERLEAVED, GI_REDUCE_SEQUENTIAL, GI_REDUCE_SHUFFLE, GI_REDUCE_CUB};
    static const char *const labels[] = {"interleaved", "sequential", "shuffle", "CUB, in double"};
    meter gpu;
    device_array<float> x;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(x.allocate(n->count, err));
    GI_TRY(x.upload(n->x, err));
    GI_TRY(gpu.copy_ms((size_t)figures.bytes, &figures.copy_ms, err));
    GI_TRY(gpu.transfers_ms(x.bytes(), sizeof(float), &figures.transfers_ms, err));
    for (int a = 0; a < 4; a++) GI_TRY(measure_algorithm(bench, gpu, n, x, algorithms[a], labels[a], figures, err));
    return measure_cub(bench, gpu, n, x, figures, err);
}

} // namespace
#endif

// ---- the table ----------------------------------------------------------------------------------------------------

static gi_status measure(gi_bench *bench, numbers *n, gi_error *err) {
    gi_bench_figures figures = {NAN, (double)n->count * sizeof(float), NAN, NAN, NAN, NAN};
    char title[64];
    snprintf(title, sizeof title, "the sum of %zu numbers of float32", n->count);
    add_up_exactly(n);
    gi_bench_memory_table(bench, title);
    gi_status status = measure_cpu(bench, n, "OpenMP, gpuimg reduce", sum_gpuimg, &figures, err);
    if (status == GI_OK) status = measure_cpu(bench, n, "OpenMP, loop in double", sum_openmp, &figures, err);
    if (status == GI_OK) status = measure_cpu(bench, n, "OpenMP, loop in float32", sum_openmp_float, &figures, err);
    gi_bench_note(bench,
                  "times OpenMP: of gpuimg reduce on the CPU. The exact sum is %.10g, that of the magnitudes %.4g.",
                  n->exact, n->magnitude);
    if (status != GI_OK) return status;
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) return measure_on_gpu(bench, n, figures, err);
#endif
    gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    numbers n;
    memset(&n, 0, sizeof n);
    n.count = (size_t)gi_bench_size(bench, 1LL << 28, 100003);
    n.threads = gi_bench_threads(bench);
    n.x = (float *)malloc(n.count * sizeof(float));
    if (!n.x) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu numbers", n.count);
    gi_bench_fill_floats(n.x, n.count, 1);
    gi_status status = measure(bench, &n, err);
    free(n.x);
    return status;
}

const gi_demo gi_demo_reduce = {
    "reduce",
    "a sum: interleaved and sequential addressing, warp shuffles, CUB, OpenMP",
    "A tree that keeps its workers together beats one that spreads them; giving each thread many values and each warp "
    "its shuffles reaches the speed of memory.",
    run,
};
