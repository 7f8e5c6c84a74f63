// Histogram: counts[c][v] += the number of pixels whose channel c has the level v.
//
// Formula   a count for each channel and level; 256 levels of u8, 65536 of u16.
// Shapes    1..4 channels, any width, height, pitch and alignment; all channels in one pass over the image.
// Exact     integers: 32-bit counters within a block, which takes too few pixels to wrap them, or 16-bit ones that are
//           emptied in time; then 64-bit counts.
// Threads   as kernels/point.cu: 16 bytes' worth of pixels a thread at a time, `channels` loads of 16 bytes.
// Shared    u8: private counters for each block, 32 KiB a channel or 24 to 32 in all. Without them every pixel would be
// an atomic addition to
//           one of 256 places of global memory, which all multiprocessors would queue for (measured on an H200, 8K
//           gray: 8.5 ms random, 24 ms constant). u16: counters of one channel, 128 KiB, or of a part of its levels
//           where a block cannot have that much.
// Bytes     one read of the image, from memory; u16 of several channels: one for each channel, which the blocks do side
//           by side, so that the second-level cache serves all but the first. A block adds its counters once.
// Bound     u8: shared-memory atomics, near the read bandwidth. u16: these, and adding up the blocks' counters.
#include "kernels/large_shared.cuh"

namespace {

using namespace gi;

// How a block counts u8. `Ample`, for several channels: in as much shared memory as one to three blocks have on a
// multiprocessor of 200 KiB or more; else in 32 KiB at most, of which two blocks find room on every architecture.
//
// Enough warps to hide the loads. The larger blocks are, the fewer counters are added up in the end; RGB needs more
// registers than as many threads as a multiprocessor could run would have.
//
// Each bin has COPIES counters side by side, and a thread counts in the one of its lane. Lanes that meet the same
// level, the rule in images with flat areas, then meet in different places; with 32 copies each lane also has a memory
// bank of its own, so that not even random levels make one lane wait for another.
template <int Channels, bool Ample> struct u8_form {
    static constexpr int THREADS = Channels == 1 ? 1024 : !Ample ? 512 : Channels == 4 ? 1024 : Channels * 256;
    static constexpr int WARPS_AT_ONCE = Ample && Channels == 4 ? 32 : Channels == 3 || Ample ? 48 : 64;
    static constexpr int COPIES = Channels == 1 || Ample ? 32 : Channels == 2 ? 16 : 8;
};

constexpr size_t AMPLE = 200 << 10;

// Packets of a thread that are on their way at a time.
constexpr int PACKETS_IN_FLIGHT = 4;

// Pixels a block counts at most: a 32-bit counter then holds even those of a constant image.
constexpr size_t BLOCK_PIXELS = (size_t)1 << 31;

template <int Channels, bool Ample> struct u8_counters {
    using form = u8_form<Channels, Ample>;
    static constexpr int THREADS = form::THREADS, COPIES = form::COPIES;
    static constexpr int LEVELS = 256, BINS = Channels * LEVELS;
    uint32_t of[BINS * COPIES];

    __device__ void clear() {
#pragma unroll 8
        for (int i = (int)threadIdx.x; i < BINS * COPIES / 4; i += THREADS) ((uint4 *)of)[i] = make_uint4(0, 0, 0, 0);
        __syncthreads();
    }

    __device__ __forceinline__ void count(int channel, uint32_t level) {
        atomicAdd(&of[(channel * LEVELS + level) * COPIES + threadIdx.x % COPIES], 1U);
    }

    // Adds each bin's copies to the image's counts. SHARERS threads share a bin's copies, each from a different one on:
    // neighbours' bins are COPIES words apart, so that starting alike would put them all into one bank.
    __device__ void add_to(unsigned long long *counts) {
        constexpr int SHARERS = BINS < THREADS ? THREADS / BINS : 1, EACH = COPIES / SHARERS;
        __syncthreads();
        for (int i = (int)threadIdx.x; i < BINS * SHARERS; i += THREADS) {
            const int bin = i / SHARERS, first = i % SHARERS * EACH;
            uint32_t sum = 0;
#pragma unroll
            for (int k = 0; k < EACH; k++) sum += of[bin * COPIES + first + (bin + k) % EACH];
#pragma unroll
            for (int delta = SHARERS / 2; delta > 0; delta /= 2) sum += __shfl_down_sync(ALL_LANES, sum, delta);
            if (sum && i % SHARERS == 0) atomicAdd(&counts[bin], (unsigned long long)sum);
        }
    }
};

template <int Channels, bool Ample>
__device__ __forceinline__ void count_group(u8_counters<Channels, Ample> &shared,
                                            const uint32_t (&words)[Channels * PACKET_WORDS]) {
#pragma unroll
    for (int i = 0; i < PACKET_PIXELS<uint8_t> * Channels; i++)
        shared.count(i % Channels, sample_get<uint8_t>(words, i));
}

// Blocks of one kernel that a multiprocessor runs, for __launch_bounds__.
template <int Channels, bool Ample> constexpr int u8_blocks() {
    return blocks_at_once<u8_form<Channels, Ample>::THREADS, u8_form<Channels, Ample>::WARPS_AT_ONCE>();
}

template <int Channels, bool Ample>
__global__ void __launch_bounds__((u8_form<Channels, Ample>::THREADS), (u8_blocks<Channels, Ample>()))
    hist_u8_kernel(const __grid_constant__ walk work, unsigned long long *counts) {
    constexpr int THREADS = u8_form<Channels, Ample>::THREADS;
    constexpr int GROUPS = Channels >= PACKETS_IN_FLIGHT ? 1 : PACKETS_IN_FLIGHT / Channels;
    extern __shared__ uint4 memory[];
    u8_counters<Channels, Ample> &shared = *(u8_counters<Channels, Ample> *)memory;
    const uint4 *in = (const uint4 *)work.in;
    const size_t stride = (size_t)gridDim.x * THREADS;
    size_t g = (size_t)blockIdx.x * THREADS + threadIdx.x;
    uint32_t words[GROUPS][Channels * PACKET_WORDS];
#pragma unroll
    for (int i = 0; i < GROUPS; i++)
        if (g + i * stride < work.groups) load_packets<Channels>(in + (g + i * stride) * Channels, words[i]);
    shared.clear();
    while (g < work.groups) {
#pragma unroll
        for (int i = 0; i < GROUPS; i++, g += stride) {
            if (g >= work.groups) break;
            count_group(shared, words[i]);
            if (g + GROUPS * stride < work.groups)
                load_packets<Channels>(in + (g + GROUPS * stride) * Channels, words[i]);
        }
    }

    for (size_t y = blockIdx.x; y < work.rest_height; y += gridDim.x) {
        const uint8_t *row = work.rest_in + y * work.rest_in_pitch;
        for (size_t i = threadIdx.x; i < (size_t)work.rest_width * Channels; i += THREADS)
            shared.count((int)(i % Channels), row[i]);
    }
    shared.add_to(counts);
}

// u16 counters: 16 bits wide, two in a word, for a range of the levels of one channel. A block counts a batch of
// samples that no counter can overflow on, then looks through its counters for such as another batch might: these it
// adds to the image's counts early.
constexpr int U16_THREADS = 1024;
constexpr int U16_LEVELS = 65536;
constexpr int BATCH_GROUPS = 6; // of a thread
constexpr uint32_t BATCH_SAMPLES = U16_THREADS * BATCH_GROUPS * PACKET_PIXELS<uint16_t>;
constexpr uint32_t FULL = 0x4000;
static_assert(FULL - 1 + BATCH_SAMPLES <= 0xffff, "a counter below FULL holds another batch");

// Groups of a thread that are on their way at a time: packets of 16 bytes for 32 warps to fill the memory bus with.
template <int Channels> constexpr int U16_GROUPS = Channels == 1 ? 3 : Channels == 2 ? 2 : 1;

// Which samples a block counts.
struct u16_share {
    int channel;
    uint32_t first, words; // of the range of levels, and half as many as these are: a power of two
};

// Where the word of a level is, and the level of a word: its own inverse. The levels of neighbouring pixels are near
// each other, or differ in a few bits somewhere. Additions to one word, or to one of the 32 banks that the low five
// bits tell, wait for each other: so the halves of a word belong to levels that are far apart, and higher bits of the
// level have a say in the bank. Multiples of 257, which 8-bit images become, and of 256 have all banks to themselves.
__device__ __forceinline__ uint32_t u16_place(uint32_t word) { return word ^ ((word >> 5 ^ word >> 9) & 31); }

__device__ __forceinline__ void u16_add(uint32_t *counters, const u16_share &share, uint32_t level, uint32_t run) {
    const uint32_t at = level - share.first;
    if (at < 2 * share.words)
        atomicAdd(&counters[u16_place(at & (share.words - 1))], at < share.words ? run : run << 16);
}

constexpr int U16_PIXELS = PACKET_PIXELS<uint16_t>; // of a group

// One channel of a group. Registers have no index: there is code for each channel, and the block takes its own.
template <int Channels>
__device__ __forceinline__ void pick(const uint32_t (&words)[Channels * PACKET_WORDS], int channel,
                                     uint32_t (&samples)[U16_PIXELS]) {
#pragma unroll
    for (int c = 0; c < Channels; c++)
        if (c == channel) {
#pragma unroll
            for (int p = 0; p < U16_PIXELS; p++) samples[p] = sample_get<uint16_t>(words, p * Channels + c);
        }
}

// Counts runs of equal samples together. When the whole warp holds one and the same level, as in a flat area, a single
// addition does for it. `active`: the warp's lanes that have samples.
__device__ __forceinline__ void count_runs(const uint32_t (&samples)[U16_PIXELS], const u16_share &share,
                                           unsigned active, uint32_t *counters) {
    const uint32_t first = samples[0];
    const int leader = __ffs((int)active) - 1;
    bool flat = first == __shfl_sync(active, first, leader);
#pragma unroll
    for (int p = 1; p < U16_PIXELS; p++) flat = flat && samples[p] == first;
    if (__all_sync(active, flat)) {
        if ((int)(threadIdx.x % WARP) == leader) u16_add(counters, share, first, U16_PIXELS * __popc(active));
        return;
    }
    uint32_t level = first, run = 1;
#pragma unroll
    for (int p = 1; p < U16_PIXELS; p++) {
        if (samples[p] != level) {
            u16_add(counters, share, level, run);
            level = samples[p];
            run = 0;
        }
        run++;
    }
    u16_add(counters, share, level, run);
}

// Adds to the image's counts, and clears, the counters that have reached FULL, which a bit or the one above it tells.
__device__ __forceinline__ void u16_spill(uint32_t *counters, const u16_share &share, unsigned long long *counts) {
    static_assert(FULL == 0x4000, "two bits tell");
    for (uint32_t i = threadIdx.x; i < share.words / 4; i += U16_THREADS) {
        const uint4 words = ((const uint4 *)counters)[i];
        if (((words.x | words.y | words.z | words.w) & 0xc000c000) == 0) continue;
#pragma unroll 1
        for (uint32_t word = 4 * i; word < 4 * i + 4; word++) {
            const uint32_t level = u16_place(word), both = counters[word], low = both & 0xffff, high = both >> 16;
            if (low >= FULL) atomicAdd(&counts[level], (unsigned long long)low);
            if (high >= FULL) atomicAdd(&counts[share.words + level], (unsigned long long)high);
            counters[word] = (low >= FULL ? 0 : low) | (high >= FULL ? 0 : high << 16);
        }
    }
}

// Adds all counters to the image's counts. Blocks begin at different places, so that they do not queue for the same.
__device__ __forceinline__ void u16_flush(const uint32_t *counters, const u16_share &share,
                                          unsigned long long *counts) {
    const uint32_t turns = share.words / U16_THREADS;
#pragma unroll 4
    for (uint32_t turn = 0; turn < turns; turn++) {
        const uint32_t level = (turn + blockIdx.x) % turns * U16_THREADS + threadIdx.x;
        const uint32_t both = counters[u16_place(level)], low = both & 0xffff, high = both >> 16;
        if (low > 0) atomicAdd(&counts[level], (unsigned long long)low);
        if (high > 0) atomicAdd(&counts[share.words + level], (unsigned long long)high);
    }
}

// Blocks take channels and ranges of levels in turn; those of one channel and range share the image out. Pixels outside
// whole groups are few, or the image has an unusual layout: they are counted in the image's counts directly.
template <int Channels>
__global__ void __launch_bounds__(U16_THREADS, 1)
    hist_u16_kernel(const __grid_constant__ walk work, unsigned long long *counts, int ranges) {
    constexpr int GROUPS = U16_GROUPS<Channels>;
    static_assert(BATCH_GROUPS % GROUPS == 0, "a batch is whole turns");
    extern __shared__ uint32_t counters[];
    const uint32_t kinds = (uint32_t)(Channels * ranges), kind = blockIdx.x % kinds, levels = U16_LEVELS / ranges;
    const u16_share share = {(int)(kind % Channels), kind / Channels * levels, levels / 2};
    unsigned long long *mine = counts + share.channel * U16_LEVELS + share.first;
    const uint4 *in = (const uint4 *)work.in;
    const size_t turn = blockIdx.x / kinds, stride = (gridDim.x + kinds - 1 - kind) / kinds * U16_THREADS;
    uint32_t words[GROUPS][Channels * PACKET_WORDS];
    size_t group = turn * U16_THREADS + threadIdx.x;
#pragma unroll
    for (int i = 0; i < GROUPS; i++)
        if (group + i * stride < work.groups) load_packets<Channels>(in + (group + i * stride) * Channels, words[i]);
    for (uint32_t i = threadIdx.x; i < share.words; i += U16_THREADS) counters[i] = 0;
    __syncthreads();

    for (size_t first = turn * U16_THREADS; first < work.groups;) {
#pragma unroll 1
        for (int done = 0; done < BATCH_GROUPS; done += GROUPS) {
#pragma unroll
            for (int i = 0; i < GROUPS; i++, first += stride, group += stride) {
                const bool inside = group < work.groups;
                const unsigned active = __ballot_sync(ALL_LANES, inside);
                if (!inside) continue;
                uint32_t samples[U16_PIXELS];
                pick<Channels>(words[i], share.channel, samples);
                if (group + GROUPS * stride < work.groups) // on its way while these are counted
                    load_packets<Channels>(in + (group + GROUPS * stride) * Channels, words[i]);
                count_runs(samples, share, active, counters);
            }
        }
        __syncthreads();
        if (first < work.groups) u16_spill(counters, share, mine);
        __syncthreads();
    }
    u16_flush(counters, share, mine);

    for (size_t y = blockIdx.x; y < work.rest_height; y += gridDim.x) {
        const uint16_t *row = (const uint16_t *)(work.rest_in + y * work.rest_in_pitch);
        for (size_t i = threadIdx.x; i < (size_t)work.rest_width * Channels; i += U16_THREADS)
            atomicAdd(&counts[i % Channels * U16_LEVELS + row[i]], 1ULL);
    }
}

// One block a multiprocessor, which has 128 KiB of counters; where a block cannot have so much, it takes a part of the
// levels, and the image is read once for each part.
template <int Channels> gi_status launch_u16(const gi_job *job, gi_error *err) {
    const walk work = walk_over(job->in, NULL);
    size_t most = 0, resident = 0;
    gi_status status = most_shared(&most, err);
    if (status != GI_OK) return status;
    size_t shared = U16_LEVELS * sizeof(uint16_t);
    int ranges = 1;
    for (; shared > most; shared /= 2) ranges *= 2;
    status = allow_shared(hist_u16_kernel<Channels>, U16_THREADS, shared, &resident, err);
    if (status != GI_OK) return status;
    const size_t kinds = (size_t)Channels * ranges;
    // A batch for each block is what makes it worth its counters.
    const size_t useful = larger(divide_up(work.groups, U16_THREADS * BATCH_GROUPS), 1) * kinds;
    const size_t blocks = larger(smaller(larger(resident, kinds), larger(useful, work.rest_height)), kinds);
    hist_u16_kernel<Channels><<<grid_blocks(blocks), U16_THREADS, shared, (cudaStream_t)job->stream>>>(
        work, (unsigned long long *)job->counts, ranges);
    return gi_cuda_check(cudaGetLastError(), "starting a histogram", err);
}

// As many blocks as the device runs at once, so that each clears and adds its counters once; fewer for a small image,
// more where a block would count more than BLOCK_PIXELS.
template <int Channels, bool Ample> gi_status launch_u8_form(const gi_job *job, gi_error *err) {
    constexpr int THREADS = u8_form<Channels, Ample>::THREADS;
    constexpr size_t SHARED = sizeof(u8_counters<Channels, Ample>);
    const auto kernel = hist_u8_kernel<Channels, Ample>;
    const walk work = walk_over(job->in, NULL);
    size_t resident = 0;
    gi_status status = allow_shared(kernel, THREADS, SHARED, &resident, err);
    if (status != GI_OK) return status;
    const size_t useful = larger(divide_up(work.groups, THREADS), work.rest_height);
    // Rows of more than BLOCK_PIXELS, at most 2^32 - 1, have a block each and fit a counter all the same.
    const size_t block_rows = work.rest_width ? larger(BLOCK_PIXELS / work.rest_width, 1) : 1;
    const size_t needed =
        larger(divide_up(work.groups, BLOCK_PIXELS / PACKET_PIXELS<uint8_t>), divide_up(work.rest_height, block_rows));
    const size_t blocks = larger(smaller(useful, resident), needed);
    kernel<<<grid_blocks(blocks), THREADS, SHARED, (cudaStream_t)job->stream>>>(work,
                                                                                (unsigned long long *)job->counts);
    return gi_cuda_check(cudaGetLastError(), "starting a histogram", err);
}

template <int Channels> gi_status launch_u8(const gi_job *job, gi_error *err) {
    size_t most = 0;
    gi_status status = most_shared(&most, err);
    if (status != GI_OK) return status;
    if constexpr (Channels > 1)
        if (most >= AMPLE) return launch_u8_form<Channels, true>(job, err);
    return launch_u8_form<Channels, false>(job, err);
}

template <int Channels> gi_status launch_channels(const gi_job *job, gi_error *err) {
    return job->in.sample == GI_U8 ? launch_u8<Channels>(job, err) : launch_u16<Channels>(job, err);
}

} // namespace

size_t gi_cuda_hist_scratch(const gi_job *) { return 0; }

gi_status gi_cuda_hist(const gi_job *job, gi_error *err) {
    if (job->in.sample != GI_U8 && job->in.sample != GI_U16)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "histograms take 8- and 16-bit samples");
    if (job->in.width == 0 || job->in.height == 0) return GI_OK;
    switch (job->in.channels) {
    case 1: return launch_channels<1>(job, err);
    case 2: return launch_channels<2>(job, err);
    case 3: return launch_channels<3>(job, err);
    case 4: return launch_channels<4>(job, err);
    default: return gi_fail(err, GI_ERR_USAGE, "an image of %d channels", job->in.channels);
    }
}
