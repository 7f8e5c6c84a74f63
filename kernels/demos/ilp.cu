// ilp: independent instructions within a thread, against more threads.
//
//     x[c] = a x[c] + b          in C chains, c = 0 ... C-1, each step of which waits for the one before
//
// A multiply-add takes about four cycles, but each of the four schedulers of a multiprocessor can begin one for a whole
// warp in every cycle. What fills the cycles between are other warps, or other instructions of the same thread:
//     in flight = warps of the scheduler * chains      enough is latency * rate (Little's law), about 4
//
// The picture: a cook and an oven. A loaf bakes for four hours, and one can be put in every hour. A single customer who
// orders one loaf at a time keeps the oven three quarters empty (1 warp, 1 chain). Four customers fill it, or one who
// orders four at once. Beyond that neither helps. The table has the warps downwards and the chains across: along a
// diagonal, with warps times chains the same, so is the rate.
//
// Why that matters: where registers or shared memory leave room for few warps only, as in a fast matrix product, chains
// (several results a thread) do what occupancy cannot.
//
// What to look at in ncu:
//     smsp__inst_executed.avg.per_cycle_active                                         near 1 is full
//     smsp__average_warps_issue_stalled_wait_per_issue_active.ratio                    waits for a fixed latency
//     sm__warps_active.avg.pct_of_peak_sustained_active                                occupancy
//     sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/demos.h"
#include "core/host_device.h"

enum { MOST_CHAINS = 8, STEPS = 4096 }; // steps of all chains of a thread together, for each round

#define FACTOR 0.75F
#define SUMMAND 0.5F // so that x goes to b / (1 - a) = 2
#define LIMIT 2.0F

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    float *out; // a sum of chains for each item
    long long items;
    int chains, rounds;
    float factor, summand; // variables, so that nothing is computed before the run
} job;

// As written for 1, 2, 4 and 8 chains: a loop over them would leave the compiler to decide what is independent. (It may
// still put four chains into one vector register: vectors are a third way to have independent work.)
static float run_chains(const job *work) {
    const float a = work->factor, b = work->summand;
    float x0 = 0, x1 = 1, x2 = 2, x3 = 3, x4 = 4, x5 = 5, x6 = 6, x7 = 7;
    const int steps = work->rounds * (STEPS / work->chains);
    switch (work->chains) {
    case 1:
        for (int k = 0; k < steps; k++) x0 = x0 * a + b;
        return x0;
    case 2:
        for (int k = 0; k < steps; k++) {
            x0 = x0 * a + b;
            x1 = x1 * a + b;
        }
        return x0 + x1;
    case 4:
        for (int k = 0; k < steps; k++) {
            x0 = x0 * a + b;
            x1 = x1 * a + b;
            x2 = x2 * a + b;
            x3 = x3 * a + b;
        }
        return x0 + x1 + (x2 + x3);
    default:
        for (int k = 0; k < steps; k++) {
            x0 = x0 * a + b;
            x1 = x1 * a + b;
            x2 = x2 * a + b;
            x3 = x3 * a + b;
            x4 = x4 * a + b;
            x5 = x5 * a + b;
            x6 = x6 * a + b;
            x7 = x7 * a + b;
        }
        return x0 + x1 + (x2 + x3) + (x4 + x5 + (x6 + x7));
    }
}

static void chains_openmp(void *context) {
    const job *work = (const job *)context;
#pragma omp parallel for
    for (long long i = 0; i < work->items; i++) work->out[i] = run_chains(work);
}

// Every chain has come to its limit.
static bool is_at_limit(const float *out, long long items, int chains) {
    for (long long i = 0; i < items; i++)
        if (!(fabsf(out[i] - LIMIT * (float)chains) <= 1e-5F * (float)chains)) return false;
    return true;
}

static double flop(const job *work) { return 2.0 * STEPS * work->rounds * (double)work->items; }

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

// The arrays' indices are constants after unrolling: all chains are in registers.
template <int Chains> __global__ void chains_kernel(float *out, int rounds, float a, float b) {
    float x[Chains];
#pragma unroll
    for (int c = 0; c < Chains; c++) x[c] = (float)c;
    const int groups = rounds * (STEPS / Chains / 16); // 16 steps of each chain, so that the loop itself costs little
    for (int k = 0; k < groups; k++) {
#pragma unroll
        for (int step = 0; step < 16; step++)
#pragma unroll
            for (int c = 0; c < Chains; c++) x[c] = __fmaf_rn(x[c], a, b);
    }
    float sum = 0;
#pragma unroll
    for (int c = 0; c < Chains; c++) sum += x[c];
    out[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// One block on each multiprocessor, of so many warps.
template <int Chains> gi_status measure_chains(meter &gpu, job work, int warps, double *gflops, gi_error *err) {
    device_array<float> out;
    const int blocks = gpu.properties.multiProcessorCount;
    work.items = (long long)blocks * warps * 32;
    work.out = (float *)malloc((size_t)work.items * sizeof(float));
    if (!work.out) return gi_fail(err, GI_ERR_MEMORY, "no memory for %lld sums", work.items);
    auto launch = [&] {
        chains_kernel<Chains><<<blocks, warps * 32>>>(out.data, work.rounds, work.factor, work.summand);
    };
    double ms = NAN;
    gi_status status = out.allocate((size_t)work.items, err);
    if (status == GI_OK) status = out.clear(err);
    if (status == GI_OK) status = gpu.run(launch, err);
    if (status == GI_OK) status = out.download(work.out, err);
    if (status == GI_OK) status = gi_bench_expect(is_at_limit(work.out, work.items, Chains), "GPU", err);
    if (status == GI_OK) status = gpu.median_ms(launch, &ms, err);
    *gflops = flop(&work) / ms * 1e-6;
    free(work.out);
    return status;
}

gi_status measure_on_gpu(gi_bench *bench, const job &work, gi_error *err) {
    meter gpu;
    GI_TRY(gpu.open(bench, err));
    for (int warps = 4; warps <= 32; warps *= 2) {
        double gflops[4];
        char label[48];
        GI_TRY(measure_chains<1>(gpu, work, warps, &gflops[0], err));
        GI_TRY(measure_chains<2>(gpu, work, warps, &gflops[1], err));
        GI_TRY(measure_chains<4>(gpu, work, warps, &gflops[2], err));
        GI_TRY(measure_chains<8>(gpu, work, warps, &gflops[3], err));
        snprintf(label, sizeof label, "GPU, %d warp%s a scheduler", warps / 4, warps == 4 ? "" : "s");
        gi_bench_row(bench, label);
        for (double rate : gflops) gi_bench_number(bench, rate);
    }
    return GI_OK;
}

} // namespace
#endif

// ---- the table ------------------------------------------------------------------------------------------------------

static gi_status run(gi_bench *bench, gi_error *err) {
    static const char *const columns[] = {"1 chain", "2 chains", "4 chains", "8 chains"};
    const bool quick = gi_bench_quick(bench);
    job work = {NULL, gi_bench_size(bench, 4096, 64), 1, quick ? 1 : 16, FACTOR, SUMMAND};
    work.out = (float *)malloc((size_t)work.items * sizeof(float));
    if (!work.out) return gi_fail(err, GI_ERR_MEMORY, "no memory for %lld sums", work.items);
    gi_status status = GI_OK;
    gi_bench_table(bench, "GFLOP/s of multiply-adds by chains in each thread", columns, 4);
    gi_bench_bar(bench, "4 chains");
    gi_bench_row(bench, "OpenMP");
    for (work.chains = 1; work.chains <= MOST_CHAINS && status == GI_OK; work.chains *= 2) {
        chains_openmp(&work);
        status = gi_bench_expect(is_at_limit(work.out, work.items, work.chains), "OpenMP", err);
        if (status == GI_OK) gi_bench_number(bench, flop(&work) / gi_bench_cpu_ms(bench, chains_openmp, &work) * 1e-6);
    }
    if (status == GI_OK && !gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
#ifdef __CUDACC__
    if (status == GI_OK && gi_bench_gpu(bench)) status = measure_on_gpu(bench, work, err);
#endif
    gi_bench_note(bench, "OpenMP: a multiplication and an addition, one after the other; GPU: fused");
    free(work.out);
    return status;
}

const gi_demo gi_demo_ilp = {
    "ilp",
    "instruction-level parallelism: chains in a thread against warps on a scheduler",
    "A processor is full when enough independent operations are under way; whether they come from more threads or from "
    "more chains in each thread makes no difference to it.",
    run,
};
