// threshold otsu: the level from counts that lie on the device, and the table of what it makes of each sample.
//
// Formula   the smallest t that maximises the between-class variance of {v <= t} and {v > t} (core/otsu_rules.h);
//           table[v] = then(v > t ? max : 0).
// Exact     integers of up to 448 bits, by the very functions that the CPU calls: the same level.
// Threads   one for each level: a scan gives each its class {v <= t}, a reduction finds the best. Comparing two classes
//           takes about a thousand instructions, which 65536 levels spread over the device.
// Bytes     the counts, three times: 2 KiB or 512 KiB.
// Bound     latency: three launches for u8, six for u16, and a dozen comparisons one after the other.
#include "core/otsu_rules.h"
#include "kernels/scan.cuh"

namespace {

using namespace gi;

constexpr int THREADS = 256;

struct level_sums {
    const uint64_t *counts;
    __device__ gi_otsu_sums operator()(size_t level) const { return gi_otsu_sums_of(counts[level], (uint32_t)level); }
};

struct add_sums {
    __device__ gi_otsu_sums identity() const { return {0, 0, 0}; }
    __device__ gi_otsu_sums operator()(gi_otsu_sums a, gi_otsu_sums b) const { return gi_otsu_sums_add(a, b); }
};

// A level, and the class of the samples at or below it.
struct candidate {
    gi_otsu_sums lower;
    uint64_t level;
};

struct candidate_load {
    const gi_otsu_sums *lower;
    __device__ candidate operator()(size_t level) const { return {lower[level], level}; }
};

// The candidate of the greater variance; of equal ones that of the smaller level. Nothing is worse than level 0 without
// samples.
struct better {
    const gi_otsu_sums *all;
    __device__ candidate identity() const { return {{0, 0, 0}, 0}; }
    __device__ candidate operator()(const candidate &a, const candidate &b) const {
        const gi_otsu_sums whole = *all;
        const gi_otsu_variance of_a = gi_otsu_variance_of(&whole, &a.lower);
        const gi_otsu_variance of_b = gi_otsu_variance_of(&whole, &b.lower);
        const int order = gi_otsu_variance_compare(&of_a, &of_b);
        if (order != 0) return order > 0 ? a : b;
        return a.level <= b.level ? a : b;
    }
};

__global__ void table_kernel(const candidate *best, uint32_t max, gi_curve then, uint16_t *table, uint32_t *level) {
    const uint32_t v = blockIdx.x * THREADS + threadIdx.x, at = (uint32_t)best->level;
    if (v == 0) *level = at;
    if (v <= max) table[v] = (uint16_t)gi_curve_at(&then, v > at ? max : 0, max);
}

// What the scratch holds.
struct layout {
    gi_otsu_sums *lower; // for each level
    candidate *best;
    void *inner; // of the scan and of the reduction, in turn
    size_t bytes;
};

layout layout_of(const gi_table_job *job) {
    const size_t levels = (size_t)gi_sample_max(job->sample) + 1;
    char *base = (char *)job->scratch;
    const size_t best = levels * sizeof(gi_otsu_sums), inner = best + sizeof(candidate);
    return {(gi_otsu_sums *)base, (candidate *)(base + best), base + inner,
            inner + larger(scan_scratch<gi_otsu_sums>(levels), reduce_scratch<candidate>(levels))};
}

} // namespace

size_t gi_cuda_otsu_scratch(const gi_table_job *job) { return layout_of(job).bytes; }

gi_status gi_cuda_otsu(const gi_table_job *job, gi_error *err) {
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const uint32_t max = gi_sample_max(job->sample);
    const size_t levels = (size_t)max + 1;
    const layout room = layout_of(job);
    if (job->channels != 1) return gi_fail(err, GI_ERR_USAGE, "threshold otsu needs a gray image");
    gi_status status = scan<gi_otsu_sums>(levels, level_sums{job->counts}, add_sums{},
                                          array_store<gi_otsu_sums>{room.lower}, room.inner, stream, err);
    if (status == GI_OK)
        status =
            reduce(levels, candidate_load{room.lower}, better{room.lower + max}, room.best, room.inner, stream, err);
    if (status != GI_OK) return status;
    table_kernel<<<(unsigned)divide_up(levels, THREADS), THREADS, 0, stream>>>(room.best, max, job->then[0],
                                                                               job->tables, job->level);
    return gi_cuda_check(cudaGetLastError(), "starting a threshold's table", err);
}
