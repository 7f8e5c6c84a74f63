// scan: running sums, by Kogge and Stone, Brent and Kung, and in a single pass with look-back.
//
//     s[i] = x[0] + x[1] + ... + x[i]
//
// Every result depends on the one before, and yet all can be made at once:
//
//     Kogge-Stone      x0 x1 x2 x3 x4 x5 x6 x7       Brent-Kung    x0 x1 x2 x3 x4 x5 x6 x7
//     add 1 before      | \| \| \| \| \| \| \|       tree up          \|    \|    \|    \|
//     add 2 before      | |  \\ \\ ...                                      \\|         \\|
//     add 4 before      ...                                                             \\\\|
//                                                    and down            \|    \|    \|
//     log2 n steps, n log2 n additions               2 log2 n steps, 2 n additions, most threads idle in most steps
//
// Both scan blocks of 1024 in shared memory; then the blocks' sums are scanned, and added in a third launch, so that
// the array is read twice. Look-back reads once: a block publishes its sum as soon as it has it, and looks back over
// those of the blocks before it, which run beside it, until it meets one that knows all before (Merrill and Garland,
// 2016); ours over groups of 32 and 1024 blocks, so that which floats meet does not depend on who was first. With
// 4 bytes read and 4 written for each value, that is what memory allows. The kernels are in
// kernels/scan_classic.cu and kernels/scan_lookback.cu; `gpuimg scan --algo NAME` runs them on any array. Floats are
// added up in double, grouped in one fixed way, integers in 64 bits.
//
// Nsight Compute: ncu --section MemoryWorkloadAnalysis --section WarpStateStats gpuimg bench scan
//     dram__bytes_read.sum                                      twice the array, or once
//     smsp__average_warp_latency_issue_stalled_barrier.ratio    the steps' barriers
//     smsp__thread_inst_executed_per_inst_executed.ratio        Brent-Kung: idle lanes
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "bench/demos.h"
#include "cpu/primitives.h"
#ifdef __CUDACC__
#include <cub/device/device_scan.cuh>

#include "kernels/arrays.h"
#include "kernels/demos/demo.cuh"
#endif

enum { MOST_THREADS = 1024 };

typedef struct numbers {
    float *x, *sums;
    size_t count;
    int threads;
    double largest; // of the exact sums' magnitudes
} numbers;

// ---- on the CPU ---------------------------------------------------------------------------------------------------

// Each thread adds up its part; then each runs through it again, from what the threads before it have found. The array
// is read twice, as by the kernels in three launches.
static void scan_openmp(void *context) {
    numbers *n = (numbers *)context;
    const float *x = n->x;
    float *sums = n->sums;
    static double totals[MOST_THREADS + 1];
#pragma omp parallel
    {
        const size_t threads = (size_t)omp_get_num_threads(), t = (size_t)omp_get_thread_num();
        const size_t first = n->count * t / threads, end = n->count * (t + 1) / threads;
        double sum = 0;
        for (size_t i = first; i < end; i++) sum += x[i];
        totals[t + 1] = sum;
#pragma omp barrier
        double before = 0;
        for (size_t k = 1; k <= t; k++) before += totals[k];
        for (size_t i = first; i < end; i++) sums[i] = (float)(before += x[i]);
    }
}

// The project's own, vectorised (cpu/scan_float.c).
static void scan_gpuimg(void *context) {
    numbers *n = (numbers *)context;
    gi_error err;
    gi_scan_job job;
    memset(&job, 0, sizeof job);
    job.values = n->x;
    job.out = n->sums;
    job.element = GI_ELEMENT_F32;
    job.count = n->count;
    job.operation = GI_OPERATION_SUM;
    job.threads = n->threads;
    if (gi_cpu_scan(&job, &err) != GI_OK) memset(n->sums, 0, n->count * sizeof(float));
}

// The largest difference from the exact sums, which integers give: the input is of multiples of 2^-23.
static double largest_error(numbers *n) {
    double largest = 0;
    int64_t units = 0;
    n->largest = 0;
    for (size_t i = 0; i < n->count; i++) {
        units += (int64_t)(n->x[i] * 0x1p23F);
        const double exact = (double)units * 0x1p-23, error = fabs(n->sums[i] - exact);
        if (!(error <= largest)) largest = error < INFINITY ? error : INFINITY;
        if (fabs(exact) > n->largest) n->largest = fabs(exact);
    }
    return largest;
}

// In double, all but the rounding of the result is exact.
static gi_status check(numbers *n, const char *what, bool in_float, double *error, gi_error *err) {
    *error = largest_error(n);
    return gi_bench_expect(*error <= n->largest * (in_float ? 1e-3 : 0x1p-24), what, err);
}

static gi_status measure_cpu(gi_bench *bench, numbers *n, const char *label, void (*work)(void *),
                             gi_bench_figures *figures, gi_error *err) {
    work(n);
    gi_status status = check(n, label, false, &figures->error, err);
    if (status != GI_OK) return status;
    figures->ms = gi_bench_cpu_ms(bench, work, n);
    if (work == scan_gpuimg) figures->cpu_ms = figures->ms;
    gi_bench_memory_row(bench, label, figures);
    return GI_OK;
}

#ifdef __CUDACC__
// ---- on the GPU ---------------------------------------------------------------------------------------------------

namespace {

using gi::demo::device_array;
using gi::demo::meter;

struct place {
    device_array<float> x, sums;
    gi_bench_figures figures;
};

template <typename Work>
gi_status measure_work(gi_bench *bench, meter &gpu, numbers *n, place &at, const char *label, bool in_float, Work work,
                       gi_error *err) {
    GI_TRY(at.sums.clear(err));
    GI_TRY(gpu.run(work, err));
    GI_TRY(at.sums.download(n->sums, err));
    GI_TRY(check(n, label, in_float, &at.figures.error, err));
    GI_TRY(gpu.median_ms(work, &at.figures.ms, err));
    gi_bench_memory_row(bench, label, &at.figures);
    return GI_OK;
}

// One of ours, of kernels/arrays.h.
gi_status measure_algorithm(gi_bench *bench, meter &gpu, numbers *n, place &at, int algorithm, const char *label,
                            gi_error *err) {
    device_array<uint64_t> refused;
    device_array<uint8_t> scratch;
    GI_TRY(refused.allocate(1, err));
    gi_device_scan_job job = {};
    job.values = at.x.data;
    job.out = at.sums.data;
    job.element = GI_ELEMENT_F32;
    job.count = n->count;
    job.operation = GI_OPERATION_SUM;
    job.algorithm = algorithm;
    job.refused = refused.data;
    GI_TRY(scratch.allocate(gi_cuda_scan_scratch(&job), err));
    job.scratch = scratch.data;
    return measure_work(
        bench, gpu, n, at, label, false, [&] { return gi_cuda_scan(&job, err); }, err);
}

// NVIDIA's library as most call it: sums in float32, whose bits depend on when blocks ran.
gi_status measure_cub(gi_bench *bench, meter &gpu, numbers *n, place &at, gi_error *err) {
    device_array<uint8_t> scratch;
    size_t bytes = 0;
    auto call = [&](void *memory) {
        return cub::DeviceScan::InclusiveSum(memory, bytes, at.x.data, at.sums.data, (int64_t)n->count);
    };
    GI_TRY_CUDA(call(nullptr));
    GI_TRY(scratch.allocate(bytes, err));
    return measure_work(
        bench, gpu, n, at, "CUB, in float32", true,
        [&] { return gi_cuda_check(call(scratch.data), "CUB's scan", err); }, err);
}

gi_status measure_on_gpu(gi_bench *bench, numbers *n, gi_bench_figures figures, gi_error *err) {
    static const int algorithms[] = {GI_SCAN_KOGGE_STONE, GI_SCAN_BRENT_KUNG, GI_SCAN_LOOKBACK, GI_SCAN_CUB};
    static const char *const labels[] = {"Kogge-Stone", "Brent-Kung", "look-back", "CUB, in double"};
    meter gpu;
    place at;
    at.figures = figures;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(at.x.allocate(n->count, err));
    GI_TRY(at.sums.allocate(n->count, err));
    GI_TRY(at.x.upload(n->x, err));
    GI_TRY(gpu.copy_ms((size_t)figures.bytes, &at.figures.copy_ms, err));
    GI_TRY(gpu.transfers_ms(at.x.bytes(), at.sums.bytes(), &at.figures.transfers_ms, err));
    for (int a = 0; a < 4; a++) GI_TRY(measure_algorithm(bench, gpu, n, at, algorithms[a], labels[a], err));
    return measure_cub(bench, gpu, n, at, err);
}

} // namespace
#endif

// ---- the table ----------------------------------------------------------------------------------------------------

static gi_status measure(gi_bench *bench, numbers *n, gi_error *err) {
    gi_bench_figures figures = {NAN, 2.0 * (double)n->count * sizeof(float), NAN, NAN, NAN, NAN};
    char title[64];
    snprintf(title, sizeof title, "running sums of %zu numbers of float32", n->count);
    gi_bench_memory_table(bench, title);
    gi_status status = measure_cpu(bench, n, "OpenMP, gpuimg scan", scan_gpuimg, &figures, err);
    if (status == GI_OK) status = measure_cpu(bench, n, "OpenMP, two passes", scan_openmp, &figures, err);
    gi_bench_note(
        bench,
        "times OpenMP: of gpuimg scan on the CPU. GB/s and the copy: of one read and one write. The sums reach %.4g.",
        n->largest);
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
    n.count = (size_t)gi_bench_size(bench, 1LL << 27, 100003);
    n.threads = gi_bench_threads(bench);
    n.x = (float *)malloc(n.count * sizeof(float));
    n.sums = (float *)malloc(n.count * sizeof(float));
    gi_status status = GI_OK;
    if (!n.x || !n.sums) status = gi_fail(err, GI_ERR_MEMORY, "no memory for %zu numbers and their sums", n.count);
    if (status == GI_OK) {
        gi_bench_fill_floats(n.x, n.count, 1);
        status = measure(bench, &n, err);
    }
    free(n.x);
    free(n.sums);
    return status;
}

const gi_demo gi_demo_scan = {
    "scan",
    "running sums: Kogge-Stone, Brent-Kung, a single pass with look-back, CUB, OpenMP",
    "Fewer additions are worth nothing where threads wait at barriers: what counts is to keep values in registers, "
    "and to read the array once, in a single pass.",
    run,
};
