// unrolling: what a loop costs beyond its body, and how many loads a thread keeps under way.
//
//     arithmetic   x = a x + b, n times              unrolled U-fold: U multiply-adds, then one test and one jump
//     memory       sum of v[i], v[i + g], v[i + 2g], ...    unrolled U-fold: U loads before the first is needed
//
// The picture: a man who carries bricks upstairs and ticks a list after each. With U bricks under one tick the stairs
// remain, the ticking goes (first table). And when the bricks come by a slow lift, he does better to order U at a time
// than to wait for each: the lift is busy while he waits (second table; few threads are started here, so that it shows.
// With many, other warps order meanwhile, and unrolling gains little).
// The compiler unrolls by itself where it knows the count; `#pragma unroll U` decides. Too much of it needs registers,
// and code that no longer fits the instruction cache.
//
// What to look at in ncu, and in `cuobjdump -sass`: FFMA between two BRA; LDG before the first IADD
//     smsp__inst_executed.sum                                                 falls to that of the body
//     smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio   waits for memory
//     dram__throughput.avg.pct_of_peak_sustained_elapsed
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/demos.h"

enum { STEPS = 4096, THREADS = 256 };

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    const uint32_t *values;
    float *out;
    size_t count, items; // values to add up; results of the arithmetic
    int steps;           // a multiple of 16
    float factor, summand;
    uint32_t sum;
} job;

static void chain_openmp(void *context) {
    const job *work = (const job *)context;
    const float a = work->factor, b = work->summand;
#pragma omp parallel for
    for (size_t i = 0; i < work->items; i++) {
        float x = (float)(i % 16);
        for (int k = 0; k < work->steps; k++) x = x * a + b;
        work->out[i] = x;
    }
}

// Modulo 2^32, so that the order does not matter.
static void sum_openmp(void *context) {
    job *work = (job *)context;
    const uint32_t *values = work->values;
    const size_t count = work->count;
    uint32_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < count; i++) sum += values[i];
    work->sum = sum;
}

// x goes to b / (1 - a) = 2.
static bool is_at_limit(const float *out, size_t items) {
    for (size_t i = 0; i < items; i++)
        if (!(fabsf(out[i] - 2) <= 1e-5F)) return false;
    return true;
}

static double flop(const job *work) { return 2.0 * (double)work->items * work->steps; }

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

template <int Unroll> __global__ void chain_kernel(float *out, size_t items, int steps, float a, float b) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= items) return;
    float x = (float)(i % 16);
#pragma unroll Unroll
    for (int k = 0; k < steps; k++) x = __fmaf_rn(x, a, b);
    out[i] = x;
}

// Neighbouring threads read neighbouring values; each goes on by the whole grid. The number of rounds is known before
// the loop: with a test after each value there could be one load under way, however far the loop is unrolled.
template <int Unroll> __global__ void sum_kernel(const uint32_t *values, size_t count, uint32_t *sum) {
    const size_t stride = (size_t)gridDim.x * blockDim.x, first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned rounds = (unsigned)(count / stride);
    const uint32_t *next = values + first;
    uint32_t mine = 0;
#pragma unroll Unroll
    for (unsigned k = 0; k < rounds; k++, next += stride) mine += *next;
    if (rounds * stride + first < count) mine += *next;
    atomicAdd(sum, mine);
}

template <int Unroll>
gi_status measure_chain(gi_bench *bench, meter &gpu, const job &work, double cpu_ms, gi_error *err) {
    device_array<float> out;
    const unsigned blocks = (unsigned)gi::demo::divide_up(work.items, THREADS);
    double ms;
    char label[32];
    auto launch = [&] {
        chain_kernel<Unroll><<<blocks, THREADS>>>(out.data, work.items, work.steps, work.factor, work.summand);
    };
    snprintf(label, sizeof label, "GPU, unrolled %d-fold", Unroll);
    GI_TRY(out.allocate(work.items, err));
    GI_TRY(out.clear(err));
    GI_TRY(gpu.run(launch, err));
    GI_TRY(out.download(work.out, err));
    GI_TRY(gi_bench_expect(is_at_limit(work.out, work.items), label, err));
    GI_TRY(gpu.median_ms(launch, &ms, err));
    gi_bench_row(bench, label);
    gi_bench_number(bench, ms);
    gi_bench_number(bench, flop(&work) / ms * 1e-6);
    gi_bench_number(bench, cpu_ms / ms);
    return GI_OK;
}

template <int Unroll>
gi_status measure_sum(gi_bench *bench, meter &gpu, const device_array<uint32_t> &values, const job &work,
                      gi_bench_figures figures, gi_error *err) {
    device_array<uint32_t> sum;
    uint32_t result;
    char label[32];
    const unsigned blocks = 2 * (unsigned)gpu.properties.multiProcessorCount;
    auto launch = [&] { sum_kernel<Unroll><<<blocks, THREADS>>>(values.data, work.count, sum.data); };
    snprintf(label, sizeof label, "GPU, unrolled %d-fold", Unroll);
    GI_TRY(sum.allocate(1, err));
    GI_TRY(sum.clear(err));
    GI_TRY(gpu.run(launch, err));
    GI_TRY(sum.download(&result, err));
    GI_TRY(gi_bench_expect(result == work.sum, label, err));
    GI_TRY(gpu.median_ms(launch, &figures.ms, err));
    gi_bench_memory_row(bench, label, &figures);
    return GI_OK;
}

gi_status measure_chains(gi_bench *bench, const job &work, double cpu_ms, gi_error *err) {
    meter gpu;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(measure_chain<1>(bench, gpu, work, cpu_ms, err));
    GI_TRY(measure_chain<2>(bench, gpu, work, cpu_ms, err));
    GI_TRY(measure_chain<4>(bench, gpu, work, cpu_ms, err));
    GI_TRY(measure_chain<8>(bench, gpu, work, cpu_ms, err));
    return measure_chain<16>(bench, gpu, work, cpu_ms, err);
}

gi_status measure_sums(gi_bench *bench, const job &work, gi_bench_figures figures, gi_error *err) {
    device_array<uint32_t> values;
    meter gpu;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(values.allocate(work.count, err));
    GI_TRY(values.upload(work.values, err));
    GI_TRY(gpu.copy_ms(values.bytes(), &figures.copy_ms, err));
    GI_TRY(gpu.transfers_ms(values.bytes(), sizeof work.sum, &figures.transfers_ms, err));
    GI_TRY(measure_sum<1>(bench, gpu, values, work, figures, err));
    GI_TRY(measure_sum<2>(bench, gpu, values, work, figures, err));
    GI_TRY(measure_sum<4>(bench, gpu, values, work, figures, err));
    GI_TRY(measure_sum<8>(bench, gpu, values, work, figures, err));
    return measure_sum<16>(bench, gpu, values, work, figures, err);
}

} // namespace
#endif

// ---- the tables -----------------------------------------------------------------------------------------------------

static gi_status measure_arithmetic(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"ms", "GFLOP/s", "times OpenMP"};
    chain_openmp(work);
    gi_status status = gi_bench_expect(is_at_limit(work->out, work->items), "OpenMP", err);
    if (status != GI_OK) return status;
    const double cpu_ms = gi_bench_cpu_ms(bench, chain_openmp, work);
    gi_bench_table(bench, "arithmetic: one multiply-add a step", columns, 3);
    gi_bench_row(bench, "OpenMP");
    gi_bench_number(bench, cpu_ms);
    gi_bench_number(bench, flop(work) / cpu_ms * 1e-6);
    gi_bench_number(bench, 1);
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) return measure_chains(bench, *work, cpu_ms, err);
#endif
    gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status measure_memory(gi_bench *bench, job *work, gi_error *err) {
    gi_bench_figures figures = {NAN, (double)work->count * sizeof(uint32_t), NAN, NAN, NAN, 0};
    uint32_t right = 0;
    for (size_t i = 0; i < work->count; i++) right += work->values[i];
    sum_openmp(work);
    gi_status status = gi_bench_expect(work->sum == right, "OpenMP", err);
    if (status != GI_OK) return status;
    figures.ms = figures.cpu_ms = gi_bench_cpu_ms(bench, sum_openmp, work);
    gi_bench_memory_table(bench, "memory: a sum by few threads");
    gi_bench_memory_row(bench, "OpenMP", &figures);
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) status = measure_sums(bench, *work, figures, err);
#endif
    gi_bench_note(bench, "%zu values of 4 bytes; GPU: two blocks of %d threads on each multiprocessor", work->count,
                  THREADS);
    return status;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const bool quick = gi_bench_quick(bench);
    const size_t count = (size_t)gi_bench_size(bench, 1LL << 26, 1LL << 16), items = quick ? 1 << 12 : 1 << 19;
    uint32_t *values = (uint32_t *)malloc(count * sizeof *values);
    float *out = (float *)malloc(items * sizeof *out);
    gi_status status = GI_OK;
    if (!values || !out) status = gi_fail(err, GI_ERR_MEMORY, "no memory for %zu values", count);
    if (status == GI_OK) {
        job work = {values, out, count, items, quick ? 256 : STEPS, 0.75F, 0.5F, 0};
        gi_bench_fill_bytes((uint8_t *)values, count * sizeof *values, 1);
        status = measure_arithmetic(bench, &work, err);
        if (status == GI_OK) status = measure_memory(bench, &work, err);
    }
    free(values);
    free(out);
    return status;
}

const gi_demo gi_demo_unrolling = {
    "unrolling",
    "loops unrolled 1 to 16-fold: arithmetic without its counter, loads under way",
    "A loop's counter and jump are instructions like its body, and a load that is waited for alone leaves the memory "
    "idle: unrolling spreads the first over several steps and puts several of the second under way.",
    run,
};
