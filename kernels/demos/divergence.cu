// divergence: branches on which the lanes of a warp do not agree.
//
// Each value is mixed up 256 times, in one of W ways (the same cost each):
//     x = (x xor x >> 15) * odd[way]         way = key mod W
// In the left columns the key is the lane, so that a warp goes W ways at once; in the right ones it is the warp's
// number, so that each warp goes one way, and other warps another. The work is the same.
//
// The picture: 32 rowers in a boat have one cox. Where half of them must row and half back water, the cox calls one
// half while the other rests its oars, then the other half; with W different strokes the boat takes W times as long.
// Between boats there is no such tie: each has its cox.
//     8 lanes, 2 ways   way 0  # . # . # . # .     then     way 1  . # . # . # . #
// A branch costs by how many sides one warp enters, not by how many there are. Sort work by its kind, a warp at a time;
// small sides (a min, a max, one assignment) become predicated instructions and are no branch at all.
//
// What to look at in ncu:
//     smsp__thread_inst_executed_per_inst_executed.ratio      of 32: how many lanes an instruction serves
//     smsp__sass_branch_targets_threads_divergent.sum         branches on which a warp split
//     smsp__inst_executed.sum                                 grows with W, for the same work
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#include "core/host_device.h"

enum { LANES = 32, STEPS = 256 };

// Shifts and exclusive ors between the products: no compiler makes one step of several.
GI_HOST_DEVICE static inline uint32_t mix(uint32_t x, uint32_t way) {
    const uint32_t odd = 0x2c1b3c6dU + 2 * way;
    for (int k = 0; k < STEPS; k++) x = (x ^ x >> 15) * odd;
    return x;
}

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    uint32_t *out;
    size_t count; // values, of which value i begins as i
    unsigned ways;
    bool by_lane;
} job;

GI_HOST_DEVICE static inline uint32_t way_of(size_t i, unsigned ways, bool by_lane) {
    return (uint32_t)(by_lane ? i % LANES : i / LANES) % ways;
}

static void mix_openmp(void *context) {
    const job *work = (const job *)context;
#pragma omp parallel for
    for (size_t i = 0; i < work->count; i++) work->out[i] = mix((uint32_t)i, way_of(i, work->ways, work->by_lane));
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

constexpr int THREADS = 256;

// One side after the other, as the hardware takes the sides of any branch. Written as a loop, so that there can be any
// number of them; if (way == 0) ... else if (way == 1) ... would do the same.
__global__ void mix_kernel(uint32_t *out, size_t count, unsigned ways, bool by_lane) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uint32_t way = way_of(i, ways, by_lane);
    uint32_t x = (uint32_t)i;
    for (uint32_t side = 0; side < ways; side++)
        if (way == side) x = mix(x, side);
    out[i] = x;
}

gi_status time_gpu(meter &gpu, const job &work, double *ms, gi_error *err) {
    device_array<uint32_t> out;
    uint32_t *result = (uint32_t *)malloc(work.count * sizeof *result);
    if (!result) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu values", work.count);
    const unsigned blocks = (unsigned)gi::demo::divide_up(work.count, THREADS);
    auto launch = [&] { mix_kernel<<<blocks, THREADS>>>(out.data, work.count, work.ways, work.by_lane); };
    gi_status status = out.allocate(work.count, err);
    if (status == GI_OK) status = out.clear(err);
    if (status == GI_OK) status = gpu.run(launch, err);
    if (status == GI_OK) status = out.download(result, err);
    if (status == GI_OK)
        status = gi_bench_expect(memcmp(result, work.out, work.count * sizeof *result) == 0, "GPU", err);
    if (status == GI_OK) status = gpu.median_ms(launch, ms, err);
    free(result);
    return status;
}

} // namespace
#endif

// ---- the table ------------------------------------------------------------------------------------------------------

// The result for way 0 by other means: a product undone by the inverse of `odd`, the shift by its own repetition.
static bool is_undone(uint32_t x, uint32_t begin) {
    const uint32_t odd = 0x2c1b3c6dU;
    uint32_t inverse = odd;
    for (int i = 0; i < 5; i++) inverse *= 2 - odd * inverse; // Newton's step doubles the right bits
    for (int k = 0; k < STEPS; k++) {
        x *= inverse;
        x ^= x >> 15 ^ x >> 30;
    }
    return x == begin;
}

static gi_status measure(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"by lane ms", "by warp ms", "lane / warp", "OpenMP ms", "times OpenMP"};
    double cpu_ms;
#ifdef __CUDACC__
    meter gpu;
    if (gi_bench_gpu(bench)) GI_TRY(gpu.open(bench, err));
#endif
    gi_bench_table(bench, "256 steps in 1 to 32 ways", columns, 5);
    for (work->ways = 1; work->ways <= LANES; work->ways *= 2) {
        double ms[2] = {NAN, NAN};
        char label[32];
        for (int by_warp = 0; by_warp < 2; by_warp++) {
            work->by_lane = by_warp == 0;
            mix_openmp(work);
            for (size_t i = 0; i < work->count; i += LANES * (size_t)work->ways) { // lane 0 of warps of way 0
                gi_status status = gi_bench_expect(is_undone(work->out[i], (uint32_t)i), "OpenMP", err);
                if (status != GI_OK) return status;
            }
#ifdef __CUDACC__
            if (gi_bench_gpu(bench)) GI_TRY(time_gpu(gpu, *work, &ms[by_warp], err));
#endif
        }
        cpu_ms = gi_bench_cpu_ms(bench, mix_openmp, work);
        snprintf(label, sizeof label, "%u way%s", work->ways, work->ways == 1 ? "" : "s");
        gi_bench_row(bench, label);
        gi_bench_number(bench, ms[0]);
        gi_bench_number(bench, ms[1]);
        gi_bench_number(bench, ms[0] / ms[1]);
        gi_bench_number(bench, cpu_ms);
        gi_bench_number(bench, cpu_ms / ms[1]);
    }
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    gi_bench_note(bench, "%zu values; a CPU's thread takes one after the other, and branches as it likes", work->count);
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    job work = {NULL, (size_t)gi_bench_size(bench, 1LL << 21, 1LL << 13), 1, true};
    work.out = (uint32_t *)malloc(work.count * sizeof *work.out);
    if (!work.out) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu values", work.count);
    gi_status status = measure(bench, &work, err);
    free(work.out);
    return status;
}

const gi_demo gi_demo_divergence = {
    "divergence",
    "branches that split warps 1 to 32 ways, and branches that do not",
    "A warp walks every side that any of its lanes takes, one after the other; where whole warps agree, other warps' "
    "ways cost it nothing.",
    run,
};
