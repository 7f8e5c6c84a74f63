// Point operations without a mix: each sample by the curve of its channel, in one stream of samples.
//
// Threads   a thread takes 16 bytes wherever pixels begin in them: loads and stores of a warp are one contiguous run
//           whatever the channels. A packet's first sample is then of channel 0, 1 or 2, and the curves are turned
//           accordingly. Where tables of u16 take turns it takes whole pixels.
// Shared    u8: the curves as tables, with copies for the lanes (kernels/lane_tables.cuh), 16 KiB a colour. u16: a
// table
//           of 128 KiB at a time, where a block can have so much; else the cache serves them.
#ifndef GI_KERNELS_POINT_SAMPLES_CUH
#define GI_KERNELS_POINT_SAMPLES_CUH

#include "kernels/lane_tables.cuh"
#include "kernels/large_shared.cuh"

namespace gi {

// The samples of the walk's rectangle, one by one, as the plain definition has them.
template <typename Sample, int Channels, int Threads>
__device__ void samples_rest(const gi_point &point, const walk &work) {
    constexpr uint32_t MAX = (Sample)-1;
    for (size_t y = blockIdx.x; y < work.rest_height; y += gridDim.x) {
        const Sample *in = (const Sample *)(work.rest_in + y * work.rest_in_pitch);
        Sample *out = (Sample *)(work.rest_out + y * work.rest_out_pitch);
        for (size_t i = threadIdx.x; i < (size_t)work.rest_width * Channels; i += Threads) {
            const int c = (int)(i % Channels);
            const bool alpha = Channels % 2 == 0 && c == Channels - 1;
            out[i] = alpha ? in[i] : (Sample)gi_curve_at(&point.before[alpha ? 0 : c], in[i], MAX);
        }
    }
}

template <int Channels> constexpr int COLOURS = Channels >= 3 ? 3 : 1;

// Whether sample i of a packet is alpha: of 2 or 4 channels a packet holds whole pixels.
template <int Channels> __device__ constexpr bool is_alpha(int i) {
    return Channels % 2 == 0 && i % Channels == Channels - 1;
}

// The channel of sample i of a packet whose first sample is of channel `phase`, which only three channels make differ.
template <int Channels> __device__ __forceinline__ int channel_of(int i, int phase) {
    if constexpr (Channels != 3) return i % Channels;
    const int c = i % 3 + phase;
    return c >= 3 ? c - 3 : c;
}

template <typename Sample, int Channels> __device__ __forceinline__ int phase_of(size_t packet) {
    return Channels == 3 ? (int)(packet % 3) * PACKET_PIXELS<Sample> % 3 : 0;
}

// of[c], without an index into registers.
template <typename T> __device__ __forceinline__ T choose(const T (&of)[4], int c) {
    return c == 0 ? of[0] : c == 1 ? of[1] : c == 2 ? of[2] : of[3];
}

// Blocks that start at packets of the same phase each time around: a multiple of three.
template <int Channels> size_t in_phase(size_t blocks) { return Channels == 3 ? divide_up(blocks, 3) * 3 : blocks; }

// Stores `Count` packets of each of a warp's first `lanes` lanes to one contiguous run at `to`. A lane's own packets
// lie side by side: stored from where they are, each access of the warp would write every third or fourth packet, and
// the memory bus move parts of sectors. By way of `room`, for the packets of half a warp, its accesses are contiguous.
template <int Count>
__device__ __forceinline__ void store_turned(uint4 *to, const uint32_t (&words)[Count * PACKET_WORDS], size_t lanes,
                                             uint4 *room) {
    constexpr int HALF = WARP / 2, PACKETS = HALF * Count;
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (lane / HALF == half) {
#pragma unroll
            for (int i = 0; i < Count; i++)
                room[lane % HALF * Count + i] =
                    make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < PACKETS; i += WARP)
            if (i + lane < PACKETS && half * PACKETS + i + lane < lanes * Count)
                __stcs(to + half * PACKETS + i + lane, room[i + lane]);
        __syncwarp();
    }
}

// --- threshold -------------------------------------------------------------------------------------------------------

constexpr int SAMPLE_THREADS = 256;

// Levels laid out as the samples of a word, for a word that begins with channel c; all bits set where a sample is
// alpha.
struct word_levels {
    uint32_t of[4], alpha[4];
};

// Of each sample of a word: max where it is above its level, 0 elsewhere.
template <typename Sample> __device__ __forceinline__ uint32_t above(uint32_t word, uint32_t levels) {
    return sizeof(Sample) == 1 ? __vcmpgtu4(word, levels) : __vcmpgtu2(word, levels);
}

// A packet a thread.
template <typename Sample, int Channels>
__global__ void __launch_bounds__(SAMPLE_THREADS)
    threshold_kernel(const __grid_constant__ gi_point point, const __grid_constant__ word_levels levels,
                     const __grid_constant__ walk work) {
    constexpr int PER_WORD = 4 / (int)sizeof(Sample);
    const size_t packet = (size_t)blockIdx.x * SAMPLE_THREADS + threadIdx.x;
    if (packet < work.groups * Channels) {
        uint32_t words[PACKET_WORDS];
        load_packets<1>((const uint4 *)work.in + packet, words);
        const int phase = phase_of<Sample, Channels>(packet);
#pragma unroll
        for (int i = 0; i < PACKET_WORDS; i++) {
            const int c = channel_of<Channels>(i * PER_WORD, phase);
            const uint32_t made = above<Sample>(words[i], choose(levels.of, c));
            words[i] = Channels % 2 ? made : (made & ~levels.alpha[c]) | (words[i] & levels.alpha[c]);
        }
        store_packets<1>((uint4 *)work.out + packet, words);
    }
    samples_rest<Sample, Channels, SAMPLE_THREADS>(point, work);
}

template <typename Sample, int Channels>
gi_status launch_threshold(const gi_job *job, const gi_point &point, gi_error *err) {
    constexpr uint32_t PER_WORD = 4 / (uint32_t)sizeof(Sample), BITS = 8 * (uint32_t)sizeof(Sample), MAX = (Sample)-1;
    const walk work = walk_over(job->in, &job->out);
    word_levels levels = {};
    for (uint32_t first = 0; first < Channels; first++)
        for (uint32_t i = 0; i < PER_WORD; i++) {
            const uint32_t c = (first + i) % Channels;
            const bool alpha = Channels % 2 == 0 && c == Channels - 1;
            const uint32_t level = point.before[alpha ? 0 : c].level;
            levels.of[first] |= (level < MAX ? level : MAX) << (i * BITS);
            if (alpha) levels.alpha[first] |= MAX << (i * BITS);
        }
    const size_t blocks = larger(divide_up(work.groups * Channels, SAMPLE_THREADS), work.rest_height);
    threshold_kernel<Sample, Channels>
        <<<grid_blocks(blocks), SAMPLE_THREADS, 0, (cudaStream_t)job->stream>>>(point, levels, work);
    return gi_cuda_check(cudaGetLastError(), "starting a threshold", err);
}

// --- tables of 256 entries -------------------------------------------------------------------------------------------

// Larger blocks fill fewer copies of the tables. Three of them share a multiprocessor: then a thread has registers for
// two packets on their way. Of tables of words, 16 copies: lanes then meet in pairs, which costs less than the
// arithmetic that finds a byte among four.
constexpr int LANE_THREADS = 512, LANE_PACKETS = 2, LANE_COPIES = 16;
using sample_table = lane_words<LANE_COPIES>;

// Any curves: they become tables as the block begins, while its first packets are on their way.
template <int Channels>
__global__ void __launch_bounds__(LANE_THREADS, (blocks_at_once<LANE_THREADS, 48>()))
    tables_u8_kernel(const __grid_constant__ gi_point point, const __grid_constant__ walk work) {
    extern __shared__ uint32_t memory[];
    sample_table *tables = (sample_table *)memory;
    const uint4 *in = (const uint4 *)work.in;
    const size_t packets = work.groups * Channels, stride = (size_t)gridDim.x * LANE_THREADS;
    size_t packet = (size_t)blockIdx.x * LANE_THREADS + threadIdx.x;
    uint32_t words[LANE_PACKETS][PACKET_WORDS];
#pragma unroll
    for (int k = 0; k < LANE_PACKETS; k++)
        if (packet + k * stride < packets) load_packets<1>(in + packet + k * stride, words[k]);
    fill_lane_words<LANE_THREADS, COLOURS<Channels>>(
        tables, [&](int c, uint32_t v) { return gi_curve_at(&point.before[Channels < 3 ? 0 : c], v, 255); });
    __syncthreads();

    // The tables of the three samples that a packet begins with; so it goes on. All of a thread's packets are in phase.
    const unsigned char *lane = lane_of(tables), *turn[3];
#pragma unroll
    for (int i = 0; i < 3; i++)
        turn[i] =
            lane + (Channels == 3 ? channel_of<3>(i, phase_of<uint8_t, Channels>(packet)) * sample_table::BYTES : 0);
    auto look_up = [&](const uint32_t *from, int i) {
        const uint32_t v = byte_get(from, i);
        const unsigned char *table = Channels == 4 ? lane + i % 4 * sample_table::BYTES : turn[i % 3];
        return is_alpha<Channels>(i) ? v : lane_word<LANE_COPIES>(table, v);
    };
    while (packet < packets) {
#pragma unroll
        for (int k = 0; k < LANE_PACKETS; k++, packet += stride) {
            if (packet >= packets) break;
            uint32_t made[PACKET_WORDS];
#pragma unroll
            for (int i = 0; i < PACKET_WORDS; i++)
                made[i] = bytes_join(look_up(words[k], 4 * i), look_up(words[k], 4 * i + 1),
                                     look_up(words[k], 4 * i + 2), look_up(words[k], 4 * i + 3));
            if (packet + LANE_PACKETS * stride < packets)
                load_packets<1>(in + packet + LANE_PACKETS * stride, words[k]);
            store_packets<1>((uint4 *)work.out + packet, made);
        }
    }
    samples_rest<uint8_t, Channels, LANE_THREADS>(point, work);
}

template <int Channels> gi_status launch_tables_u8(const gi_job *job, const gi_point &point, gi_error *err) {
    const walk work = walk_over(job->in, &job->out);
    const size_t shared = COLOURS<Channels> * sizeof(sample_table);
    size_t resident = 0;
    gi_status status = allow_shared(tables_u8_kernel<Channels>, LANE_THREADS, shared, &resident, err);
    if (status != GI_OK) return status;
    const size_t useful = larger(divide_up(work.groups * Channels, LANE_THREADS), work.rest_height);
    tables_u8_kernel<Channels><<<grid_blocks(in_phase<Channels>(smaller(useful, resident))), LANE_THREADS, shared,
                                 (cudaStream_t)job->stream>>>(point, work);
    return gi_cuda_check(cudaGetLastError(), "starting table look-ups", err);
}

// --- one table of 65536 entries --------------------------------------------------------------------------------------

constexpr int LARGE_THREADS = 1024;
constexpr size_t LARGE_TABLE = 65536 * sizeof(uint16_t);

// Copies a table of 65536 entries to shared memory. Tables lie at multiples of 16 bytes.
__device__ __forceinline__ void fill_large(uint16_t *table, const uint16_t *from) {
#pragma unroll 4
    for (int i = (int)threadIdx.x; i < (int)(LARGE_TABLE / PACKET_BYTES); i += LARGE_THREADS)
        ((uint4 *)table)[i] = __ldg((const uint4 *)from + i);
}

// *worth: the curve is a table that a block can have in shared memory, for an image of so many bytes.
inline gi_status is_worth_large(const gi_curve &curve, size_t bytes, bool *worth, gi_error *err) {
    size_t most = 0;
    gi_status status = most_shared(&most, err);
    *worth = curve.kind == GI_CURVE_TABLE && (uintptr_t)curve.table % PACKET_BYTES == 0 && most >= LARGE_TABLE &&
             bytes >= LARGE_TABLE;
    return status;
}

// One block a multiprocessor, and two packets a thread at a time to have as many bytes on their way as more blocks had.
template <int Channels>
__global__ void __launch_bounds__(LARGE_THREADS, 1)
    table_u16_kernel(const __grid_constant__ gi_point point, const __grid_constant__ walk work) {
    constexpr int PACKETS = 2;
    extern __shared__ uint16_t table[];
    const uint4 *in = (const uint4 *)work.in;
    const size_t packets = work.groups * Channels, stride = (size_t)gridDim.x * LARGE_THREADS;
    size_t packet = (size_t)blockIdx.x * LARGE_THREADS + threadIdx.x;
    uint32_t words[PACKETS][PACKET_WORDS] = {};
#pragma unroll
    for (int k = 0; k < PACKETS; k++)
        if (packet + k * stride < packets) load_packets<1>(in + packet + k * stride, words[k]);
    fill_large(table, point.before[0].table);
    __syncthreads();
    while (packet < packets) {
#pragma unroll
        for (int k = 0; k < PACKETS; k++) {
            if (packet >= packets) break;
            uint32_t made[PACKET_WORDS] = {};
#pragma unroll
            for (int i = 0; i < PACKET_PIXELS<uint16_t>; i++) {
                const uint32_t v = sample_get<uint16_t>(words[k], i);
                sample_put<uint16_t>(made, i, is_alpha<Channels>(i) ? v : table[v]);
            }
            if (packet + PACKETS * stride < packets) load_packets<1>(in + packet + PACKETS * stride, words[k]);
            store_packets<1>((uint4 *)work.out + packet, made);
            packet += stride;
        }
    }
    samples_rest<uint16_t, Channels, LARGE_THREADS>(point, work);
}

// --- a table of 65536 entries for each colour
// -------------------------------------------------------------------------

// No block has room for three tables. It holds a chunk of the image in registers, and the tables come one after the
// other; the next chunk begins with the one that is there.
constexpr int CHUNK_GROUPS = 2; // of a thread

template <int Channels> struct table_chunk {
    static constexpr int PIXELS = PACKET_PIXELS<uint16_t>;
    uint32_t words[CHUNK_GROUPS][Channels * PACKET_WORDS];

    template <int Colour> __device__ __forceinline__ void look_up(const uint16_t *table) {
#pragma unroll
        for (int i = 0; i < CHUNK_GROUPS; i++)
#pragma unroll
            for (int p = 0; p < PIXELS; p++) {
                constexpr uint32_t BOTH = 0xffffffff;
                const int sample = p * Channels + Colour, shift = sample % 2 * 16;
                const uint32_t made = table[sample_get<uint16_t>(words[i], sample)];
                words[i][sample / 2] = (words[i][sample / 2] & (BOTH ^ 0xffffU << shift)) | made << shift;
            }
    }
};

template <int Channels>
__global__ void __launch_bounds__(LARGE_THREADS, 1)
    tables_u16_kernel(const __grid_constant__ gi_point point, const __grid_constant__ walk work) {
    extern __shared__ uint16_t table[];
    __shared__ uint4 room[LARGE_THREADS / 2 * Channels];
    const size_t lane = threadIdx.x % WARP, each = (size_t)CHUNK_GROUPS * LARGE_THREADS;
    table_chunk<Channels> chunk;
    auto replace = [&](int c) {
        __syncthreads(); // all have looked up in the last
        fill_large(table, point.before[c].table);
        __syncthreads();
    };
    fill_large(table, point.before[0].table);
    __syncthreads();
    bool forth = true;
    for (size_t base = blockIdx.x * each; base < work.groups; base += gridDim.x * each, forth = !forth) {
        const size_t warp = base + threadIdx.x - lane;
#pragma unroll
        for (int i = 0; i < CHUNK_GROUPS; i++) {
            const size_t g = warp + i * LARGE_THREADS + lane;
            if (g < work.groups) load_packets<Channels>((const uint4 *)work.in + g * Channels, chunk.words[i]);
        }
        if (forth) {
            chunk.template look_up<0>(table);
            replace(1);
            chunk.template look_up<1>(table);
            replace(2);
            chunk.template look_up<2>(table);
        } else {
            chunk.template look_up<2>(table);
            replace(1);
            chunk.template look_up<1>(table);
            replace(0);
            chunk.template look_up<0>(table);
        }
#pragma unroll
        for (int i = 0; i < CHUNK_GROUPS; i++) {
            const size_t first = warp + i * LARGE_THREADS;
            if (first < work.groups)
                store_turned<Channels>((uint4 *)work.out + first * Channels, chunk.words[i],
                                       min(work.groups - first, (size_t)WARP),
                                       room + (threadIdx.x - lane) / 2 * Channels);
        }
    }
    samples_rest<uint16_t, Channels, LARGE_THREADS>(point, work);
}

// --- any curves ------------------------------------------------------------------------------------------------------

template <typename Sample, int Channels>
__global__ void __launch_bounds__(SAMPLE_THREADS)
    curves_kernel(const __grid_constant__ gi_point point, const __grid_constant__ walk work) {
    constexpr uint32_t MAX = (Sample)-1;
    const size_t packet = (size_t)blockIdx.x * SAMPLE_THREADS + threadIdx.x;
    if (packet < work.groups * Channels) {
        uint32_t words[PACKET_WORDS], made[PACKET_WORDS] = {};
        load_packets<1>((const uint4 *)work.in + packet, words);
        const int phase = phase_of<Sample, Channels>(packet);
        gi_curve turn[3];
#pragma unroll
        for (int i = 0; i < COLOURS<Channels>; i++) {
            const int c = Channels == 3 ? channel_of<3>(i, phase) : i;
            turn[i] = c == 0 ? point.before[0] : c == 1 ? point.before[1] : point.before[2];
        }
#pragma unroll
        for (int i = 0; i < PACKET_PIXELS<Sample>; i++) {
            const uint32_t v = sample_get<Sample>(words, i);
            const gi_curve &curve = turn[is_alpha<Channels>(i) ? 0 : Channels >= 3 ? i % Channels : 0];
            sample_put<Sample>(made, i, is_alpha<Channels>(i) ? v : gi_curve_at(&curve, v, MAX));
        }
        store_packets<1>((uint4 *)work.out + packet, made);
    }
    samples_rest<Sample, Channels, SAMPLE_THREADS>(point, work);
}

template <int Channels> gi_status launch_curves_u16(const gi_job *job, const gi_point &point, gi_error *err) {
    const walk work = walk_over(job->in, &job->out);
    const size_t bytes = work.groups * PACKET_BYTES * Channels;
    bool tables = true, one = true;
    for (int c = 0; c < COLOURS<Channels> && tables; c++) {
        gi_status status = is_worth_large(point.before[c], bytes / COLOURS<Channels>, &tables, err);
        if (status != GI_OK) return status;
        one = one && point.before[c].table == point.before[0].table;
    }
    auto kernel = table_u16_kernel<Channels>;
    if constexpr (Channels >= 3)
        if (!one) kernel = tables_u16_kernel<Channels>;
    if (tables) {
        size_t resident = 0;
        gi_status status = allow_shared(kernel, LARGE_THREADS, LARGE_TABLE, &resident, err);
        if (status != GI_OK) return status;
        // A table is worth moving for as many bytes of the image.
        kernel<<<grid_blocks(smaller(resident, bytes / LARGE_TABLE)), LARGE_THREADS, LARGE_TABLE,
                 (cudaStream_t)job->stream>>>(point, work);
    } else {
        const size_t blocks = larger(divide_up(work.groups * Channels, SAMPLE_THREADS), work.rest_height);
        curves_kernel<uint16_t, Channels>
            <<<grid_blocks(blocks), SAMPLE_THREADS, 0, (cudaStream_t)job->stream>>>(point, work);
    }
    return gi_cuda_check(cudaGetLastError(), "starting table look-ups", err);
}

// The operation on an image whose mix is none.
template <typename Sample, int Channels>
gi_status launch_samples(const gi_job *job, const gi_point &point, gi_error *err) {
    bool thresholds = true;
    for (int c = 0; c < COLOURS<Channels>; c++) thresholds = thresholds && point.before[c].kind == GI_CURVE_THRESHOLD;
    if (thresholds) return launch_threshold<Sample, Channels>(job, point, err);
    if constexpr (sizeof(Sample) == 1) return launch_tables_u8<Channels>(job, point, err);
    return launch_curves_u16<Channels>(job, point, err);
}

} // namespace gi

#endif
