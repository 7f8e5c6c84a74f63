// sort: 16 million keys of 32 bits, by comparisons in a network, by merging, by digits.
//
//     bitonic    log2(n) (log2(n) + 1) / 2 steps; in each the keys i and i xor j are compared and exchanged
//     merge      runs are sorted, then merged two by two: log2(n / run) passes
//     radix      8 bits at a time: count the digits, scan the counts, move each key to its place; 4 passes
//
// The picture. Bitonic is a dance with fixed figures: who meets whom is known beforehand, whatever the keys are, so
// that threads need to know nothing of each other; but there are 300 figures for 2^24 dancers, and each goes through
// all of memory. Where partners are less than a tile apart many figures can be danced within shared memory. Merging
// reads everything once in each pass. Radix does not compare at all: it is sorting letters into pigeon-holes by the
// last digit, gathering them in order, then by the digit before, four times in all, each a read and a write of the
// keys.
//
// The CPU's version: each thread sorts a piece by qsort, then pieces are merged two by two, all threads together: where
// the output's k-th key comes from is found in both inputs by bisection.
//
// What to look at in ncu:
//     dram__bytes.sum                                         over 8 n bytes: how often all keys were read and written
//     smsp__inst_executed.sum
//     l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum      of the bitonic steps in a tile
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"

enum { TILE = 2048 }; // keys that a block sorts in shared memory

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct job {
    const uint32_t *keys;
    uint32_t *sorted, *other; // the result; room to merge into
    size_t count;             // a power of two, at least TILE
    int threads;
} job;

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// How many of the first k keys of the merged output come from `a`; both inputs have `count` keys.
static size_t split(const uint32_t *a, const uint32_t *b, size_t count, size_t k) {
    size_t low = k > count ? k - count : 0, high = k < count ? k : count;
    while (low < high) {
        const size_t i = (low + high) / 2;
        if (a[i] <= b[k - 1 - i])
            low = i + 1;
        else
            high = i;
    }
    return low;
}

// Keys `begin` to `end` of a and b merged.
static void merge_range(const uint32_t *a, const uint32_t *b, size_t count, size_t begin, size_t end, uint32_t *out) {
    size_t i = split(a, b, count, begin), k = begin - i;
    for (size_t at = begin; at < end; at++) out[at] = k >= count || (i < count && a[i] <= b[k]) ? a[i++] : b[k++];
}

// Merges neighbouring runs of `run` keys.
static void merge_runs(const uint32_t *in, uint32_t *out, size_t count, size_t run, size_t part) {
#pragma omp parallel for
    for (size_t begin = 0; begin < count; begin += part) {
        const size_t pair = begin / (2 * run) * (2 * run);
        merge_range(in + pair, in + pair + run, run, begin - pair, begin - pair + part, out + pair);
    }
}

static void sort_openmp(void *context) {
    job *work = (job *)context;
    size_t run = work->count;
    while (run > TILE && work->count / run < (size_t)work->threads) run /= 2;
    const size_t part = run;
    memcpy(work->sorted, work->keys, work->count * sizeof(uint32_t));
#pragma omp parallel for
    for (size_t begin = 0; begin < work->count; begin += part)
        qsort(work->sorted + begin, part, sizeof(uint32_t), compare);
    for (; run < work->count; run *= 2) {
        uint32_t *in = work->sorted;
        merge_runs(in, work->other, work->count, run, part);
        work->sorted = work->other;
        work->other = in;
    }
}

// In order, and the same keys: equal sums of the keys and of their mixed-up bits.
static bool is_sorted(const job *work) {
    uint64_t sums[2] = {0, 0}, mixed[2] = {0, 0};
    for (size_t i = 0; i < work->count; i++) {
        const uint64_t x = work->keys[i], y = work->sorted[i];
        if (i > 0 && work->sorted[i - 1] > work->sorted[i]) return false;
        sums[0] += x;
        sums[1] += y;
        mixed[0] += (x + 1) * (x ^ 0x9e3779b97f4a7c15U);
        mixed[1] += (y + 1) * (y ^ 0x9e3779b97f4a7c15U);
    }
    return sums[0] == sums[1] && mixed[0] == mixed[1];
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

constexpr int THREADS = 256;

// Keys i and i + j, the smaller first where bit k of i is 0, last where it is 1.
__device__ void exchange(uint32_t *keys, size_t i, size_t j, bool up) {
    const uint32_t a = keys[i], b = keys[i + j];
    if ((a > b) == up) {
        keys[i] = b;
        keys[i + j] = a;
    }
}

// The first of pair t: t with a zero put in where j has its bit.
__device__ size_t first_of_pair(size_t t, size_t j) { return (t & (j - 1)) + ((t & ~(j - 1)) << 1); }

// One step of the network, in global memory: a thread for each pair.
__global__ void step_kernel(uint32_t *keys, size_t pairs, size_t j, size_t k) {
    const size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= pairs) return;
    const size_t i = first_of_pair(t, j);
    exchange(keys, i, j, (i & k) == 0);
}

// The steps j, j/2, ..., 1 of the stages k = first_k, ..., last_k, within a tile: `j` of a later stage begins at k / 2.
__global__ void tile_kernel(uint32_t *keys, size_t first_k, size_t last_k, size_t first_j) {
    __shared__ uint32_t tile[TILE];
    const size_t begin = (size_t)blockIdx.x * TILE;
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) tile[i] = keys[begin + i];
    size_t j = first_j;
    for (size_t k = first_k; k <= last_k; k *= 2) {
        for (; j > 0; j /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < TILE / 2; t += blockDim.x) {
                const size_t i = first_of_pair(t, j);
                exchange(tile, i, j, ((begin + i) & k) == 0);
            }
        }
        j = k; // half of the next k
    }
    __syncthreads();
    for (int i = threadIdx.x; i < TILE; i += blockDim.x) keys[begin + i] = tile[i];
}

void sort_bitonic(uint32_t *keys, size_t count) {
    const unsigned blocks = (unsigned)gi::demo::divide_up(count / 2, THREADS);
    for (size_t k = 2; k <= count; k *= 2)
        for (size_t j = k / 2; j > 0; j /= 2) step_kernel<<<blocks, THREADS>>>(keys, count / 2, j, k);
}

void sort_bitonic_tiles(uint32_t *keys, size_t count) {
    const unsigned blocks = (unsigned)gi::demo::divide_up(count / 2, THREADS), tiles = (unsigned)(count / TILE);
    tile_kernel<<<tiles, THREADS>>>(keys, 2, TILE, 1);
    for (size_t k = 2 * TILE; k <= count; k *= 2) {
        size_t j = k / 2;
        for (; j >= TILE; j /= 2) step_kernel<<<blocks, THREADS>>>(keys, count / 2, j, k);
        tile_kernel<<<tiles, THREADS>>>(keys, k, k, j);
    }
}

struct less_than {
    __host__ __device__ bool operator()(uint32_t a, uint32_t b) const { return a < b; }
};

// The keys, where they are sorted, and what CUB wants besides.
struct buffers {
    device_array<uint32_t> keys, sorted;
    device_array<unsigned char> scratch;
};

enum method { BITONIC, BITONIC_TILES, MERGE, RADIX, METHODS };

// Each sorts a copy; radix sorts from one array into another by itself.
cudaError_t sort_on_gpu(method how, buffers &b) {
    size_t bytes = b.scratch.bytes();
    cudaError_t error = cudaSuccess;
    if (how != RADIX) error = cudaMemcpyAsync(b.sorted.data, b.keys.data, b.keys.bytes(), cudaMemcpyDeviceToDevice);
    if (error != cudaSuccess) return error;
    switch (how) {
    case BITONIC: sort_bitonic(b.sorted.data, b.keys.count); break;
    case BITONIC_TILES: sort_bitonic_tiles(b.sorted.data, b.keys.count); break;
    case MERGE: return cub::DeviceMergeSort::SortKeys(b.scratch.data, bytes, b.sorted.data, b.keys.count, less_than());
    default: return cub::DeviceRadixSort::SortKeys(b.scratch.data, bytes, b.keys.data, b.sorted.data, b.keys.count);
    }
    return cudaGetLastError();
}

gi_status make_buffers(const job &work, buffers &b, gi_error *err) {
    size_t merge = 0, radix = 0;
    GI_TRY(b.keys.allocate(work.count, err));
    GI_TRY(b.sorted.allocate(work.count, err));
    GI_TRY(b.keys.upload(work.keys, err));
    GI_TRY_CUDA(cub::DeviceMergeSort::SortKeys(nullptr, merge, b.sorted.data, work.count, less_than()));
    GI_TRY_CUDA(cub::DeviceRadixSort::SortKeys(nullptr, radix, b.keys.data, b.sorted.data, work.count));
    return b.scratch.allocate(merge > radix ? merge : radix, err);
}

gi_status measure_on_gpu(gi_bench *bench, const job &work, double cpu_ms, gi_error *err) {
    static const char *const names[METHODS] = {"bitonic, global memory", "bitonic, tiles", "CUB merge sort",
                                               "CUB radix sort"};
    meter gpu;
    buffers b;
    double transfers_ms;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(make_buffers(work, b, err));
    GI_TRY(gpu.transfers_ms(b.keys.bytes(), b.keys.bytes(), &transfers_ms, err));
    for (int how = 0; how < METHODS; how++) {
        auto launch = [&] { return gi_cuda_check(sort_on_gpu((method)how, b), "sorting", err); };
        double ms;
        GI_TRY(b.sorted.clear(err));
        GI_TRY(gpu.run(launch, err));
        GI_TRY(b.sorted.download(work.other, err));
        GI_TRY(gi_bench_expect(memcmp(work.other, work.sorted, b.keys.bytes()) == 0, names[how], err));
        GI_TRY(gpu.median_ms(launch, &ms, err));
        gi_bench_row(bench, names[how]);
        gi_bench_number(bench, ms);
        gi_bench_number(bench, (double)work.count / ms * 1e-3);
        gi_bench_number(bench, cpu_ms / ms);
        gi_bench_number(bench, cpu_ms / (ms + transfers_ms));
    }
    return GI_OK;
}

} // namespace
#endif

// ---- the table ------------------------------------------------------------------------------------------------------

static gi_status measure(gi_bench *bench, job *work, gi_error *err) {
    static const char *const columns[] = {"ms", "million keys/s", "times OpenMP", "with copies"};
    sort_openmp(work);
    gi_status status = gi_bench_expect(is_sorted(work), "OpenMP", err);
    if (status != GI_OK) return status;
    const double cpu_ms = gi_bench_cpu_ms(bench, sort_openmp, work);
    gi_bench_table(bench, "unsigned keys of 32 bits", columns, 4);
    gi_bench_row(bench, "OpenMP, qsort and merge");
    gi_bench_number(bench, cpu_ms);
    gi_bench_number(bench, (double)work->count / cpu_ms * 1e-3);
    gi_bench_number(bench, 1);
    gi_bench_number(bench, 1);
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) status = measure_on_gpu(bench, *work, cpu_ms, err);
#endif
    gi_bench_note(bench, "%zu keys; times include a copy of the keys within the device, but for radix, which makes one",
                  work->count);
    return status;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const long long wanted = gi_bench_size(bench, 1LL << 24, 1LL << 14);
    job work = {NULL, NULL, NULL, TILE, gi_bench_threads(bench)};
    while ((long long)work.count * 2 <= wanted) work.count *= 2; // a power of two
    uint32_t *keys = (uint32_t *)malloc(work.count * sizeof *keys);
    gi_status status = GI_OK;
    work.keys = keys;
    work.sorted = (uint32_t *)malloc(work.count * sizeof *keys);
    work.other = (uint32_t *)malloc(work.count * sizeof *keys);
    if (!keys || !work.sorted || !work.other)
        status = gi_fail(err, GI_ERR_MEMORY, "no memory for %zu keys", work.count);
    if (status == GI_OK) {
        gi_bench_fill_bytes((uint8_t *)keys, work.count * sizeof *keys, 1);
        status = measure(bench, &work, err);
    }
    free(keys);
    free(work.sorted);
    free(work.other);
    return status;
}

const gi_demo gi_demo_sort = {
    "sort",
    "bitonic networks, CUB's merge and radix sort, beside qsort and merging on all cores",
    "What a sort takes is how often it carries all keys through memory: a network of many steps does that hundreds of "
    "times, merging some dozen times, radix once for each digit.",
    run,
};
