// Histogram: counts[c][v] += the number of pixels whose channel c has the level v.
//
// Formula   a count for each channel and level; 256 levels of u8, 65536 of u16.
// Shapes    1..4 channels, any width, height, pitch and alignment; all channels in one pass over the image.
// Exact     integers: 32-bit counters within a block, which takes too few pixels to wrap them; then 64-bit counts.
// Threads   as kernels/point.cu: 16 bytes' worth of pixels a thread at a time, `channels` loads of 16 bytes.
// Shared    u8: private counters for each block, 24 to 32 KiB. Without them every pixel would be an atomic addition to
//           one of 256 places of global memory, which all multiprocessors would queue for (measured on an H200, 8K
//           gray: 8.5 ms random, 24 ms constant). u16: 256 KiB of counters do not fit. There are more places to queue
//           for, and equal neighbours are counted in registers first.
// Bytes     one read of the image; a block adds its counters once.
// Bound     u8: shared-memory atomics, near the read bandwidth. u16: global atomics.
#include "kernels/common.cuh"

namespace {

using namespace gi;

// Enough warps to hide the loads while blocks are small enough that two to four share a multiprocessor's memory.
constexpr int THREADS = 512;

// Packets loaded before the first is counted, so that several are in flight.
constexpr int PACKETS_IN_FLIGHT = 4;

// Pixels a block counts at most: a 32-bit counter then holds even those of a constant image.
constexpr size_t BLOCK_PIXELS = (size_t)1 << 31;

// u8 counters. Each bin has COPIES counters side by side, and a thread counts in the one of its lane. Lanes that meet
// the same level, the rule in images with flat areas, then meet in different places; with 32 copies each lane also has
// a memory bank of its own. More channels leave room for fewer copies: 32 KiB is what two blocks can have on every
// architecture.
template <int Channels> struct counters {
    static constexpr int LEVELS = 256;
    static constexpr int BINS = Channels * LEVELS;
    static constexpr int COPIES = Channels == 1 ? 32 : Channels == 2 ? 16 : 8;
    uint32_t of[BINS * COPIES];

    __device__ void clear() {
        for (int i = (int)threadIdx.x; i < BINS * COPIES; i += THREADS) of[i] = 0;
        __syncthreads();
    }

    __device__ __forceinline__ void count(int channel, uint32_t level) {
        atomicAdd(&of[(channel * LEVELS + level) * COPIES + threadIdx.x % COPIES], 1U);
    }

    // Adds each bin's copies to the image's counts. Threads start at different copies: neighbours' bins are COPIES
    // words apart, so that starting alike would put them all into one bank.
    __device__ void add_to(unsigned long long *counts) {
        __syncthreads();
        for (int bin = (int)threadIdx.x; bin < BINS; bin += THREADS) {
            uint32_t sum = 0;
#pragma unroll
            for (int i = 0; i < COPIES; i++) sum += of[bin * COPIES + (bin + i) % COPIES];
            if (sum) atomicAdd(&counts[bin], (unsigned long long)sum);
        }
    }
};

template <int Channels>
__device__ __forceinline__ void count_group(counters<Channels> &shared,
                                            const uint32_t (&words)[Channels * PACKET_WORDS]) {
#pragma unroll
    for (int i = 0; i < PACKET_PIXELS<uint8_t> * Channels; i++)
        shared.count(i % Channels, sample_get<uint8_t>(words, i));
}

template <int Channels>
__global__ void __launch_bounds__(THREADS)
    hist_u8_kernel(const __grid_constant__ walk work, unsigned long long *counts) {
    constexpr int GROUPS = Channels >= PACKETS_IN_FLIGHT ? 1 : PACKETS_IN_FLIGHT / Channels;
    __shared__ counters<Channels> shared;
    shared.clear();

    const uint4 *in = (const uint4 *)work.in;
    const size_t stride = (size_t)gridDim.x * THREADS;
    size_t g = (size_t)blockIdx.x * THREADS + threadIdx.x;
    for (; g + (GROUPS - 1) * stride < work.groups; g += GROUPS * stride) {
        uint32_t words[GROUPS][Channels * PACKET_WORDS];
#pragma unroll
        for (int i = 0; i < GROUPS; i++) load_packets<Channels>(in + (g + i * stride) * Channels, words[i]);
#pragma unroll
        for (int i = 0; i < GROUPS; i++) count_group<Channels>(shared, words[i]);
    }
    for (; g < work.groups; g += stride) {
        uint32_t words[Channels * PACKET_WORDS];
        load_packets<Channels>(in + g * Channels, words);
        count_group<Channels>(shared, words);
    }

    for (size_t y = blockIdx.x; y < work.rest_height; y += gridDim.x) {
        const uint8_t *row = work.rest_in + y * work.rest_in_pitch;
        for (size_t i = threadIdx.x; i < (size_t)work.rest_width * Channels; i += THREADS)
            shared.count((int)(i % Channels), row[i]);
    }
    shared.add_to(counts);
}

// Counts one channel of a group, runs of equal samples together. When the lanes of `active` all hold one and the same
// level, as in a flat area, a single addition does for the warp.
template <int Channels>
__device__ __forceinline__ void count_runs(const uint32_t (&words)[Channels * PACKET_WORDS], int channel,
                                           unsigned active, unsigned long long *counts) {
    constexpr int PIXELS = PACKET_PIXELS<uint16_t>;
    const uint32_t first = sample_get<uint16_t>(words, channel);
    const int leader = __ffs((int)active) - 1;
    bool flat = first == __shfl_sync(active, first, leader);
#pragma unroll
    for (int p = 1; p < PIXELS; p++) flat = flat && sample_get<uint16_t>(words, p * Channels + channel) == first;
    if (__all_sync(active, flat)) {
        if ((int)(threadIdx.x % WARP) == leader)
            atomicAdd(&counts[first], (unsigned long long)(PIXELS * __popc(active)));
        return;
    }
    uint32_t level = first, run = 1;
#pragma unroll
    for (int p = 1; p < PIXELS; p++) {
        uint32_t next = sample_get<uint16_t>(words, p * Channels + channel);
        if (next != level) {
            atomicAdd(&counts[level], (unsigned long long)run);
            level = next;
            run = 0;
        }
        run++;
    }
    atomicAdd(&counts[level], (unsigned long long)run);
}

template <int Channels>
__global__ void __launch_bounds__(THREADS)
    hist_u16_kernel(const __grid_constant__ walk work, unsigned long long *counts) {
    constexpr size_t LEVELS = 65536;
    const uint4 *in = (const uint4 *)work.in;
    const size_t stride = (size_t)gridDim.x * THREADS;
    const int lane = threadIdx.x % WARP;
    // `first` is the group of lane 0: the same for the warp, so that its lanes stay together to the end.
    for (size_t first = (size_t)blockIdx.x * THREADS + threadIdx.x - lane; first < work.groups; first += stride) {
        bool inside = first + lane < work.groups;
        unsigned active = __ballot_sync(ALL_LANES, inside);
        if (!inside) continue;
        uint32_t words[Channels * PACKET_WORDS];
        load_packets<Channels>(in + (first + lane) * Channels, words);
#pragma unroll
        for (int c = 0; c < Channels; c++) count_runs<Channels>(words, c, active, counts + c * LEVELS);
    }

    for (size_t y = blockIdx.x; y < work.rest_height; y += gridDim.x) {
        const uint16_t *row = (const uint16_t *)(work.rest_in + y * work.rest_in_pitch);
        for (size_t i = threadIdx.x; i < (size_t)work.rest_width * Channels; i += THREADS)
            atomicAdd(&counts[i % Channels * LEVELS + row[i]], 1ULL);
    }
}

// As many blocks as the device runs at once, so that each clears and adds its counters once; fewer for a small image,
// more where a block would count more than BLOCK_PIXELS.
template <typename Kernel> gi_status launch(Kernel kernel, const gi_job *job, gi_error *err) {
    const walk work = walk_over(job->in, NULL);
    size_t resident = 0;
    gi_status status = resident_blocks(kernel, THREADS, &resident, err);
    if (status != GI_OK) return status;
    const size_t useful = larger(divide_up(work.groups, THREADS), work.rest_height);
    const size_t group_pixels = PACKET_BYTES / gi_sample_bytes(job->in.sample);
    // Rows of more than BLOCK_PIXELS, at most 2^32 - 1, have a block each and fit a counter all the same.
    const size_t block_rows = work.rest_width ? larger(BLOCK_PIXELS / work.rest_width, 1) : 1;
    const size_t needed =
        larger(divide_up(work.groups, BLOCK_PIXELS / group_pixels), divide_up(work.rest_height, block_rows));
    const size_t blocks = larger(smaller(useful, resident), needed);
    kernel<<<grid_blocks(blocks), THREADS, 0, (cudaStream_t)job->stream>>>(work, (unsigned long long *)job->counts);
    return gi_cuda_check(cudaGetLastError(), "starting a histogram", err);
}

template <int Channels> gi_status launch_channels(const gi_job *job, gi_error *err) {
    return job->in.sample == GI_U8 ? launch(hist_u8_kernel<Channels>, job, err)
                                   : launch(hist_u16_kernel<Channels>, job, err);
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
