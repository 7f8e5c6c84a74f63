// equalize: tables from counts that lie on the device.
//
// Formula   with i the smallest level in use, n samples, h their counts:
//           table[v] = then(v <= i ? 0 : round(max * (h[i+1] + ... + h[v]) / (n - h[i]))), and then(v) for an image of
//           one level (core/equalize.h).
// Exact     integers, by the function that the CPU calls.
// Threads   one for each level: a reduction finds n, i and h[i], a scan sums, and each sum becomes its table's entry on
//           the spot. u8: all of it in a block for each channel. u16: a tile of the levels for each block, a run of
//           them for each thread; a first launch reduces the tiles, and each block of a second all that the first
//           found.
// Bytes     the counts: 2 KiB once, or 512 KiB twice a channel.
// Bound     the latency of the launches: one for u8, two for u16.
#include "core/equalize.h"
#include "kernels/scan.cuh"

namespace {

using namespace gi;

// Of the levels looked at so far.
struct usage {
    uint64_t samples;
    uint64_t first, first_count; // the smallest level in use, and its samples
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

// u16: a block has a tile of a channel's levels. The scratch holds what each tile uses.
constexpr uint32_t THREADS = 256, LEVELS = 65536, EACH = 4, TILE = THREADS * EACH, TILES = LEVELS / TILE;
static_assert(TILES <= THREADS, "a thread for each tile");

__global__ void __launch_bounds__(THREADS) equalize_usage_kernel(const uint64_t *counts, usage *tiles) {
    __shared__ block_room<THREADS, usage> usages;
    usage own = join{}.identity();
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t level = blockIdx.x % TILES * TILE + i * THREADS + threadIdx.x;
        const uint64_t count = counts[blockIdx.x / TILES * LEVELS + level];
        own = join{}(own, {count, count ? level : UINT64_MAX, count});
    }
    own = block_reduce(own, join{}, usages);
    if (threadIdx.x == 0) tiles[blockIdx.x] = own;
}

struct u16_tables {
    const uint64_t *counts;
    const usage *tiles;
    gi_curve then[3];
    uint16_t *tables;
};

__global__ void __launch_bounds__(THREADS) equalize_u16_kernel(const __grid_constant__ u16_tables work) {
    __shared__ block_room<THREADS, usage> usages;
    __shared__ block_room<THREADS, uint64_t> sums;
    __shared__ usage used;
    __shared__ uint64_t before;
    const uint32_t channel = blockIdx.x / TILES, tile = blockIdx.x % TILES, first = tile * TILE + threadIdx.x * EACH;
    uint64_t counts[EACH], own = 0, total;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) own += counts[i] = work.counts[(size_t)channel * LEVELS + first + i];
    const usage of_tile = threadIdx.x < TILES ? work.tiles[channel * TILES + threadIdx.x] : join{}.identity();
    const usage all = block_reduce(of_tile, join{}, usages);
    const uint64_t lower = block_reduce(threadIdx.x < tile ? of_tile.samples : 0, sum<uint64_t>{}, sums);
    if (threadIdx.x == 0) {
        used = all;
        before = lower;
    }
    __syncthreads();
    uint64_t upto = before + block_scan(own, sum<uint64_t>{}, sums, &total);
    const gi_curve &then = channel == 0 ? work.then[0] : channel == 1 ? work.then[1] : work.then[2];
    uint16_t *table = work.tables + (size_t)channel * LEVELS + first;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        upto += counts[i];
        table[i] = (uint16_t)gi_curve_at(&then, equalized(used, first + i, upto, LEVELS - 1), LEVELS - 1);
    }
}

gi_status equalize_u16(const gi_table_job *job, gi_error *err) {
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const unsigned blocks = TILES * (unsigned)job->channels;
    usage *tiles = (usage *)job->scratch;
    u16_tables work = {job->counts, tiles, {}, job->tables};
    for (int c = 0; c < job->channels; c++) work.then[c] = job->then[c];
    equalize_usage_kernel<<<blocks, THREADS, 0, stream>>>(job->counts, tiles);
    equalize_u16_kernel<<<blocks, THREADS, 0, stream>>>(work);
    return gi_cuda_check(cudaGetLastError(), "starting equalize's tables", err);
}

} // namespace

size_t gi_cuda_equalize_scratch(const gi_table_job *job) {
    return job->sample == GI_U8 ? 0 : TILES * (size_t)job->channels * sizeof(usage);
}

gi_status gi_cuda_equalize(const gi_table_job *job, gi_error *err) {
    return job->sample == GI_U8 ? equalize_u8(job, err) : equalize_u16(job, err);
}
