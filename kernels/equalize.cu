// equalize: tables from counts that lie on the device.
//
// Formula   with i the smallest level in use, n samples, h their counts:
//           table[v] = then(v <= i ? 0 : round(max * (h[i+1] + ... + h[v]) / (n - h[i]))), and then(v) for an image of
//           one level (core/equalize.h).
// Exact     integers, by the function that the CPU calls.
// Threads   one for each level: a reduction finds n, i and h[i], a scan sums, and each sum becomes its table's entry on
//           the spot. u8: all of it in a block for each channel.
// Bytes     the counts: 2 KiB once, or 512 KiB three times a channel.
// Bound     the latency of the launches: one for u8, and five for each channel of u16.
#include "core/equalize.h"
#include "kernels/scan.cuh"

namespace {

using namespace gi;

// Of the levels looked at so far.
struct usage {
    uint64_t samples;
    uint64_t first, first_count; // the smallest level in use, and its samples
};

struct usage_load {
    const uint64_t *counts;
    __device__ usage operator()(size_t level) const {
        const uint64_t count = counts[level];
        return {count, count ? level : UINT64_MAX, count};
    }
};

struct join {
    __device__ usage identity() const { return {0, UINT64_MAX, 0}; }
    __device__ usage operator()(const usage &a, const usage &b) const {
        const usage &lower = a.first <= b.first ? a : b;
        return {a.samples + b.samples, lower.first, lower.first_count};
    }
};

// What a level becomes, where `upto` samples are at or below it.
__device__ __forceinline__ uint32_t equalized(const usage &used, uint32_t level, uint64_t upto, uint32_t max) {
    const uint64_t rest = used.samples - used.first_count;
    if (rest == 0) return level;
    return level <= used.first ? 0 : gi_equalize_level(upto - used.first_count, rest, max);
}

struct table_store {
    const usage *used;
    uint32_t max;
    gi_curve then;
    uint16_t *table;
    __device__ void operator()(size_t level, uint64_t upto) const {
        table[level] = (uint16_t)gi_curve_at(&then, equalized(*used, (uint32_t)level, upto, max), max);
    }
};

constexpr int LEVELS_U8 = 256;

struct u8_tables {
    const uint64_t *counts;
    gi_curve then[3];
    uint16_t *tables;
};

// A block for each channel, a thread for each level.
__global__ void __launch_bounds__(LEVELS_U8) equalize_u8_kernel(const __grid_constant__ u8_tables work) {
    __shared__ block_room<LEVELS_U8, usage> usages;
    __shared__ block_room<LEVELS_U8, uint64_t> sums;
    __shared__ usage used;
    const size_t at = blockIdx.x * LEVELS_U8 + threadIdx.x;
    const uint64_t count = work.counts[at];
    const usage all = block_reduce(usage{count, count ? threadIdx.x : UINT64_MAX, count}, join{}, usages);
    if (threadIdx.x == 0) used = all;
    uint64_t total;
    const uint64_t before = block_scan(count, sum<uint64_t>{}, sums, &total); // its barriers show `used` to all
    const uint32_t v = equalized(used, threadIdx.x, before + count, LEVELS_U8 - 1);
    const gi_curve &then = blockIdx.x == 0 ? work.then[0] : blockIdx.x == 1 ? work.then[1] : work.then[2];
    work.tables[at] = (uint16_t)gi_curve_at(&then, v, LEVELS_U8 - 1);
}

gi_status equalize_u8(const gi_table_job *job, gi_error *err) {
    u8_tables work = {job->counts, {}, job->tables};
    for (int c = 0; c < job->channels; c++) work.then[c] = job->then[c];
    equalize_u8_kernel<<<(unsigned)job->channels, LEVELS_U8, 0, (cudaStream_t)job->stream>>>(work);
    return gi_cuda_check(cudaGetLastError(), "starting equalize's tables", err);
}

// The scratch: a usage, then what the reduction and the scan need, in turn.
constexpr size_t INNER = 256;
static_assert(sizeof(usage) <= INNER, "the usage comes first");

} // namespace

size_t gi_cuda_equalize_scratch(const gi_table_job *job) {
    const size_t levels = (size_t)gi_sample_max(job->sample) + 1;
    return INNER + larger(reduce_scratch<usage>(levels), scan_scratch<uint64_t>(levels));
}

gi_status gi_cuda_equalize(const gi_table_job *job, gi_error *err) {
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const uint32_t max = gi_sample_max(job->sample);
    const size_t levels = (size_t)max + 1;
    usage *used = (usage *)job->scratch;
    void *inner = (char *)job->scratch + INNER;
    gi_status status = GI_OK;
    if (job->sample == GI_U8) return equalize_u8(job, err);
    for (int c = 0; c < job->channels && status == GI_OK; c++) {
        const uint64_t *counts = job->counts + c * levels;
        status = reduce(levels, usage_load{counts}, join{}, used, inner, stream, err);
        if (status == GI_OK)
            status = scan<uint64_t>(levels, array_load<uint64_t>{counts}, sum<uint64_t>{},
                                    table_store{used, max, job->then[c], job->tables + c * levels}, inner, stream, err);
    }
    return status;
}
