// equalize: tables from counts that lie on the device.
//
// Formula   with i the smallest level in use, n samples, h their counts:
//           table[v] = then(v <= i ? 0 : round(max * (h[i+1] + ... + h[v]) / (n - h[i]))), and then(v) for an image of
//           one level (core/equalize.h).
// Exact     integers, by the function that the CPU calls.
// Threads   one for each level: a reduction finds n, i and h[i], a scan sums, and each sum becomes its table's entry on
//           the spot.
// Bytes     the counts, three times: 2 KiB or 512 KiB a channel.
// Bound     the latency of the launches: two for u8 and five for u16, for each channel.
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

struct table_store {
    const usage *used;
    uint32_t max;
    gi_curve then;
    uint16_t *table;
    __device__ void operator()(size_t level, uint64_t upto) const {
        const uint64_t rest = used->samples - used->first_count;
        uint32_t v = (uint32_t)level;
        if (rest > 0) v = level <= used->first ? 0 : gi_equalize_level(upto - used->first_count, rest, max);
        table[level] = (uint16_t)gi_curve_at(&then, v, max);
    }
};

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
    for (int c = 0; c < job->channels && status == GI_OK; c++) {
        const uint64_t *counts = job->counts + c * levels;
        status = reduce(levels, usage_load{counts}, join{}, used, inner, stream, err);
        if (status == GI_OK)
            status = scan<uint64_t>(levels, array_load<uint64_t>{counts}, sum<uint64_t>{},
                                    table_store{used, max, job->then[c], job->tables + c * levels}, inner, stream, err);
    }
    return status;
}
