// threshold otsu: the level from counts that lie on the device, and the table of what it makes of each sample.
//
// Formula   the smallest t that maximises the between-class variance of {v <= t} and {v > t} (core/otsu_rules.h);
//           table[v] = then(v > t ? max : 0).
// Exact     integers of up to 448 bits, by the very functions that the CPU calls: the same level. Comparing two classes
//           by them takes about a thousand instructions. So their variances are computed in doubles first, to 11
//           roundings or 2^-49, and only levels as good as the best to 2^-40 are compared: nearly always there is none
//           but it. A level without samples is no better than the one below it.
// Threads   u8: one for each level, a block. u16: a run of levels each, 64 blocks, of which the last to end compares
// what
//           they found and writes the table.
// Bytes     the counts: 2 KiB once, or 512 KiB twice.
// Bound     the latency of the launches: one for u8, two for u16.
#include "core/otsu_rules.h"
#include "kernels/scan.cuh"

namespace {

using namespace gi;

constexpr int THREADS = 256;

struct add_sums {
    __device__ gi_otsu_sums identity() const { return {0, 0, 0}; }
    __device__ gi_otsu_sums operator()(gi_otsu_sums a, gi_otsu_sums b) const { return gi_otsu_sums_add(a, b); }
};

// A level, and the class of the samples at or below it.
struct candidate {
    gi_otsu_sums lower;
    uint64_t level;
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

struct greatest {
    __device__ double identity() const { return 0; }
    __device__ double operator()(double a, double b) const { return a > b ? a : b; }
};

// 192 bits, least significant limb first: (low + high * 2^64) * factor.
struct product {
    uint64_t limb[3];
};

__device__ __forceinline__ product product_of(uint64_t low, uint64_t high, uint64_t factor) {
    const gi_uint128 first = (gi_uint128)low * factor, second = (gi_uint128)high * factor + (uint64_t)(first >> 64);
    return {{(uint64_t)first, (uint64_t)second, (uint64_t)(second >> 64)}};
}

// gi_otsu_variance_of as a double. The difference of the products is exact: they may agree in nearly all their digits.
__device__ double variance_estimate(const gi_otsu_sums &all, const gi_otsu_sums &lower) {
    if (lower.count == 0 || lower.count == all.count) return 0;
    const product scaled = product_of(all.sum_low, all.sum_high, lower.count);
    const product subtracted = product_of(lower.sum_low, lower.sum_high, all.count);
    uint64_t root[3], borrow = 0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const uint64_t a = scaled.limb[i], b = subtracted.limb[i];
        root[i] = a - b - borrow;
        borrow = a < b || (a == b && borrow);
    }
    constexpr double LIMB = 18446744073709551616.0; // 2^64
    const double estimate = ((double)root[2] * LIMB + (double)root[1]) * LIMB + (double)root[0];
    return estimate * estimate / ((double)lower.count * (double)(all.count - lower.count));
}

// What a block shares.
struct block_memory {
    block_room<THREADS, gi_otsu_sums> sums;
    block_room<THREADS, double> estimates;
    block_room<THREADS, candidate> candidates;
    gi_otsu_sums all, before; // of the image; of the levels before the block's
    double greatest_estimate;
    candidate best;
    bool is_last;
};

// The best of all threads' candidates, for each thread; those of them that `eligible` tells. memory.all is set.
template <int Each>
__device__ candidate best_of_block(const candidate (&mine)[Each], const bool (&eligible)[Each], block_memory &memory) {
    const better best = {&memory.all};
    double estimates[Each], most = 0;
#pragma unroll
    for (int i = 0; i < Each; i++) {
        estimates[i] = eligible[i] ? variance_estimate(memory.all, mine[i].lower) : -1;
        most = greatest{}(most, estimates[i]);
    }
    most = block_reduce(most, greatest{}, memory.estimates);
    if (threadIdx.x == 0) memory.greatest_estimate = most;
    __syncthreads();
    most = memory.greatest_estimate;
    if (!(most > 0)) return best.identity();

    candidate own = best.identity();
    bool contends = false;
#pragma unroll
    for (int i = 0; i < Each; i++) {
        if (!(estimates[i] >= most * (1 - 0x1p-40))) continue;
        own = contends ? best(own, mine[i]) : mine[i];
        contends = true;
    }
    const bool decided = __syncthreads_count(contends) == 1;
    if (!decided) own = block_reduce(own, best, memory.candidates);
    if (decided ? contends : threadIdx.x == 0) memory.best = own;
    __syncthreads();
    return memory.best;
}

// What the level makes of each sample, written by a block.
__device__ void write_table(const gi_curve &then, uint32_t level, uint32_t max, uint16_t *table) {
    const uint32_t low = gi_curve_at(&then, 0, max), high = gi_curve_at(&then, max, max);
    constexpr uint32_t ENTRIES = PACKET_PIXELS<uint16_t>; // of a packet
    if ((uintptr_t)table % PACKET_BYTES == 0) {
        for (uint32_t i = threadIdx.x; i < (max + 1) / ENTRIES; i += THREADS) {
            uint32_t words[PACKET_WORDS] = {};
#pragma unroll
            for (uint32_t k = 0; k < ENTRIES; k++)
                sample_put<uint16_t>(words, (int)k, i * ENTRIES + k > level ? high : low);
            ((uint4 *)table)[i] = make_uint4(words[0], words[1], words[2], words[3]);
        }
    } else {
        for (uint32_t v = threadIdx.x; v <= max; v += THREADS) table[v] = (uint16_t)(v > level ? high : low);
    }
}

struct work {
    const uint64_t *counts;
    gi_curve then;
    uint16_t *table;
    uint32_t *level;
};

__global__ void __launch_bounds__(THREADS) otsu_u8_kernel(const __grid_constant__ work job) {
    __shared__ block_memory memory;
    const uint64_t count = job.counts[threadIdx.x];
    const gi_otsu_sums own = gi_otsu_sums_of(count, threadIdx.x);
    gi_otsu_sums all;
    const gi_otsu_sums before = block_scan(own, add_sums{}, memory.sums, &all);
    if (threadIdx.x == 0) memory.all = all;
    __syncthreads();
    const candidate mine[] = {{gi_otsu_sums_add(before, own), threadIdx.x}};
    const bool eligible[] = {count > 0};
    const uint32_t level = (uint32_t)best_of_block(mine, eligible, memory).level;
    if (threadIdx.x == 0) *job.level = level;
    write_table(job.then, level, 255, job.table);
}

// u16: a block has a tile of the levels.
constexpr uint32_t LEVELS = 65536, EACH = 4, TILE = THREADS * EACH, TILES = LEVELS / TILE;
static_assert(TILES <= THREADS, "a thread for each tile");

// What the scratch holds.
struct exchange {
    gi_otsu_sums sums[TILES];
    candidate best[TILES];
    uint32_t ended; // tiles whose `best` is there
};

__global__ void __launch_bounds__(THREADS) otsu_sums_kernel(const uint64_t *counts, exchange *room) {
    __shared__ block_room<THREADS, gi_otsu_sums> sums;
    gi_otsu_sums own = {0, 0, 0};
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t level = blockIdx.x * TILE + i * THREADS + threadIdx.x;
        own = gi_otsu_sums_add(own, gi_otsu_sums_of(counts[level], level));
    }
    own = block_reduce(own, add_sums{}, sums);
    if (threadIdx.x > 0) return;
    room->sums[blockIdx.x] = own;
    if (blockIdx.x == 0) room->ended = 0;
}

// memory.all and memory.before, from the tiles' sums.
__device__ void find_sums(const exchange *room, block_memory &memory) {
    const gi_otsu_sums none = {0, 0, 0}, own = threadIdx.x < TILES ? room->sums[threadIdx.x] : none;
    const gi_otsu_sums all = block_reduce(own, add_sums{}, memory.sums);
    if (threadIdx.x == 0) memory.all = all;
    __syncthreads();
    const gi_otsu_sums before = block_reduce(threadIdx.x < blockIdx.x ? own : none, add_sums{}, memory.sums);
    if (threadIdx.x == 0) memory.before = before;
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS) otsu_u16_kernel(const __grid_constant__ work job, exchange *room) {
    __shared__ block_memory memory;
    const uint32_t first = blockIdx.x * TILE + threadIdx.x * EACH;
    uint64_t counts[EACH];
    gi_otsu_sums own = {0, 0, 0}, total;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        counts[i] = job.counts[first + i];
        own = gi_otsu_sums_add(own, gi_otsu_sums_of(counts[i], first + i));
    }
    find_sums(room, memory);
    gi_otsu_sums lower = gi_otsu_sums_add(memory.before, block_scan(own, add_sums{}, memory.sums, &total));
    candidate mine[EACH];
    bool eligible[EACH];
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        lower = gi_otsu_sums_add(lower, gi_otsu_sums_of(counts[i], first + i));
        mine[i] = {lower, first + i};
        eligible[i] = counts[i] > 0;
    }
    const candidate best = best_of_block(mine, eligible, memory);
    if (threadIdx.x == 0) {
        room->best[blockIdx.x] = best;
        __threadfence(); // what the last block reads is there before it is counted
        memory.is_last = atomicAdd(&room->ended, 1U) == TILES - 1;
    }
    __syncthreads();
    if (!memory.is_last) return;
    __threadfence();
    const candidate found[] = {room->best[threadIdx.x % TILES]};
    const bool is_one[] = {threadIdx.x < TILES};
    const uint32_t level = (uint32_t)best_of_block(found, is_one, memory).level;
    if (threadIdx.x == 0) *job.level = level;
    write_table(job.then, level, LEVELS - 1, job.table);
}

} // namespace

size_t gi_cuda_otsu_scratch(const gi_table_job *job) { return job->sample == GI_U8 ? 0 : sizeof(exchange); }

gi_status gi_cuda_otsu(const gi_table_job *job, gi_error *err) {
    const cudaStream_t stream = (cudaStream_t)job->stream;
    exchange *room = (exchange *)job->scratch;
    if (job->channels != 1) return gi_fail(err, GI_ERR_USAGE, "threshold otsu needs a gray image");
    const work whole = {job->counts, job->then[0], job->tables, job->level};
    if (job->sample == GI_U8) {
        otsu_u8_kernel<<<1, THREADS, 0, stream>>>(whole);
    } else {
        otsu_sums_kernel<<<TILES, THREADS, 0, stream>>>(job->counts, room);
        otsu_u16_kernel<<<TILES, THREADS, 0, stream>>>(whole, room);
    }
    return gi_cuda_check(cudaGetLastError(), "starting Otsu's threshold", err);
}
