// Pieces of the Gaussian on the tensor cores (blur_gauss.cu): the instruction, bytes in the order it wants them, and
// how pixels become such bytes.
#ifndef GI_KERNELS_BLUR_GAUSS_TENSOR_CUH
#define GI_KERNELS_BLUR_GAUSS_TENSOR_CUH

#include "kernels/blur_gauss.cuh"

namespace gi {
namespace tensor {

constexpr int MOST_RADIUS = 128;
constexpr int CHUNK = 32; // pixels
// What an instruction multiplies: ROWS x DEPTH by DEPTH x COLUMNS.
constexpr int ROWS = 16, DEPTH = 32, COLUMNS = 8;
// A chunk's pixels make so many right operands.
constexpr int PARTS = CHUNK / COLUMNS;

// --- the tensor cores ------------------------------------------------------------------------------------------------

// d += a * b. Lane (g, t) holds, in words of four bytes, of a: rows g and g + 8, depths 4t..4t+3 and 16 more, in the
// order (g, 4t), (g + 8, 4t), (g, 16 + 4t), (g + 8, 16 + 4t); of b: depths 4t..4t+3 and 16 more of column g; of d: rows
// g and g + 8, columns 2t and 2t + 1, in the order (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
__device__ __forceinline__ void multiply_add(int (&d)[4], const uint4 &a, const uint2 &b) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
#endif
}

// Four words as a matrix of 4 x 4 bytes, transposed: byte i of to[j] is byte j of from[i]. Only the first `Rows` are
// made.
template <int Rows> __device__ __forceinline__ void transpose(const uint32_t (&from)[4], uint32_t (&to)[Rows]) {
    const uint32_t low_01 = __byte_perm(from[0], from[1], 0x5140), low_23 = __byte_perm(from[2], from[3], 0x5140);
    to[0] = __byte_perm(low_01, low_23, 0x5410);
    if constexpr (Rows > 1) to[1] = __byte_perm(low_01, low_23, 0x7632);
    if constexpr (Rows > 2) {
        const uint32_t high_01 = __byte_perm(from[0], from[1], 0x7362), high_23 = __byte_perm(from[2], from[3], 0x7362);
        to[2] = __byte_perm(high_01, high_23, 0x5410);
        if constexpr (Rows > 3) to[3] = __byte_perm(high_01, high_23, 0x7632);
    }
}

// --- forms -----------------------------------------------------------------------------------------------------------

// Samples and channels, and how many bytes everything has.
template <typename S, int Channels> struct layout {
    using Sample = S;
    static constexpr int CHANNELS = Channels, SAMPLE_BYTES = (int)sizeof(S);
    static constexpr bool NARROW = SAMPLE_BYTES == 1, WEIGHTED = Channels == 2 || Channels == 4;
    using Form = form<NARROW, WEIGHTED>;
    static constexpr int TAP_BYTES = SAMPLE_BYTES + 1;
    // Rows of a warp's band, in tiles of 16: two share the loads where the accumulators find room.
    static constexpr int ROW_TILES = CHANNELS == 1 && NARROW ? 2 : 1;
    // Warps of a multiprocessor that registers are to be found for: as far as shared memory has room for them, and
    // accumulators are not pushed out to local memory for it.
    static constexpr int MOST_WARPS = CHANNELS == 4             ? 8
                                      : CHANNELS == 3           ? 16 - 4 * SAMPLE_BYTES
                                      : NARROW || CHANNELS == 1 ? 16
                                                                : 12;
    static constexpr int PIXEL_BYTES = CHANNELS * SAMPLE_BYTES, WORDS = PIXEL_BYTES; // four pixels
    __host__ __device__ static constexpr bool is_weight(int c) { return WEIGHTED && c == CHANNELS - 1; }
    __host__ __device__ static constexpr bool is_product(int c) { return WEIGHTED && c < CHANNELS - 1; }
    // Bytes of what the first pass sums, and of what it leaves.
    __host__ __device__ static constexpr int term_bytes(int c) {
        return is_product(c) ? 2 * SAMPLE_BYTES : SAMPLE_BYTES;
    }
    __host__ __device__ static constexpr int between_bytes(int c) {
        return SAMPLE_BYTES + (is_product(c) ? 3 : is_weight(c) ? 2 : 1);
    }
    // Bytes at the low end that the first pass rounds away.
    __host__ __device__ static constexpr int dropped(int c) {
        return !WEIGHTED ? SAMPLE_BYTES : NARROW ? 0 : is_weight(c) ? 1 : 2;
    }
    // Sums that the second pass makes of channel c, of the weights 1, 2^8, ...; and of all channels before.
    __host__ __device__ static constexpr int totals(int c) { return between_bytes(c) + TAP_BYTES - 1; }
    __host__ __device__ static constexpr int totals_before(int c) {
        return c == 0 ? 0 : totals_before(c - 1) + totals(c - 1);
    }
    // Planes of bytes that come before those of channel c.
    __host__ __device__ static constexpr int plane(int c) { return c == 0 ? 0 : plane(c - 1) + between_bytes(c - 1); }
    static constexpr int PLANES = plane(CHANNELS), TOTALS = totals_before(CHANNELS);
    // The sum that plane p adds to with the taps' lowest bytes. (No colour has fewer planes than the weight.)
    __host__ __device__ static constexpr int total_of(int p) { return p + p / between_bytes(0) * (TAP_BYTES - 1); }
    // As accumulators find room: words of a lane's four pixels that the first pass sums at a time without alpha, and
    // parts of a chunk that the second pass makes at a time.
    static constexpr int WORDS_AT_ONCE = WORDS <= 3 ? WORDS : 2;
    static constexpr int PARTS_AT_ONCE = TOTALS * ROW_TILES <= 9 ? 2 : 1;
    // Of a finished row of a chunk in shared memory: 16 bytes more than it takes, against bank conflicts.
    static constexpr int ROW_BYTES = CHUNK * PIXEL_BYTES + PACKET_BYTES;
};

// The taps' bytes in shared memory: plane after plane, and in each four copies. Byte i of copy s is that of tap
// i + s - TAPS_BEFORE, taps being numbered from 0; those that there are not are 0.
constexpr int TAPS_BEFORE = 48, TAPS_AFTER = 48;

struct gauss_job {
    blur_band b;
    int reach;         // the radius, rounded up to a multiple of 4
    int ring;          // chunks, 2 ceil(reach / CHUNK) + 1
    int copy_words;    // of a copy of the taps
    int down, along;   // bands of taps for the passes
    int chunks;        // of a strip
    size_t warp_bytes; // of shared memory
    tap_sums sums;
    int taps[MOST_RADIUS + 1];
};

__device__ __forceinline__ uint32_t tap_byte(const gauss_job &job, int tap, int plane) {
    const int k = abs(tap - job.reach);
    return k > job.sums.radius ? 0 : (uint32_t)job.taps[k] >> (8 * plane) & 0xff;
}

// Fills the block's copies of the taps.
template <int TapBytes> __device__ __forceinline__ void fill_taps(const gauss_job &job, uint32_t *to) {
    for (int i = (int)threadIdx.x; i < TapBytes * 4 * job.copy_words; i += (int)blockDim.x) {
        const int plane = i / (4 * job.copy_words), copy = i / job.copy_words % 4, first = i % job.copy_words * 4;
        uint32_t word = 0;
        for (int k = 0; k < 4; k++) word |= tap_byte(job, first + k + copy - TAPS_BEFORE, plane) << (8 * k);
        to[i] = word;
    }
}

// The taps' part of an operand in one access: what a lane has of its planes.
template <int TapBytes> struct alignas(TapBytes == 2 ? 16 : 8) band_of_taps { uint2 planes[TapBytes]; };

// Bands of taps in shared memory, made of the copies. For the first pass the left operands, plane after plane, of taps
// d, d + 1, ... in the tile's first row: d = -ROWS * (ROW_TILES - 1) and each DOWN_STEP further. For the second the
// right operands: band i begins with tap 8i - 32 chunks - 24 + reach in the part's first column.
template <typename Layout> struct bands {
    static constexpr int TAP_BYTES = Layout::TAP_BYTES, BEFORE = ROWS * (Layout::ROW_TILES - 1);
    static constexpr int DOWN_STEP = Layout::ROW_TILES == 1 ? DEPTH : ROWS;
    using Along = band_of_taps<TAP_BYTES>;

    static __device__ __forceinline__ int down(int depth, int tile) {
        return (int)((unsigned)(depth - ROWS * tile + BEFORE) / DOWN_STEP);
    }
    static __device__ __forceinline__ int along(const gauss_job &job, int q, int part) {
        return (q + job.ring / 2) * PARTS + PARTS - 1 - part;
    }

    // How many there are of both, and the bytes that they take.
    static void count(gauss_job *job) {
        job->down = (ROWS * Layout::ROW_TILES + 2 * job->reach - 1) / DOWN_STEP + 1;
        job->along = job->ring * PARTS;
    }
    static size_t bytes(const gauss_job &job) {
        return (size_t)job.down * TAP_BYTES * WARP * sizeof(uint4) + (size_t)job.along * WARP * sizeof(Along);
    }

    // Fills them.
    static __device__ void fill(const gauss_job &job, const uint32_t *copies, uint4 *down, Along *along) {
        for (int i = (int)threadIdx.x; i < job.down * TAP_BYTES * WARP; i += (int)blockDim.x) {
            const int g = i % WARP / 4, t = i % 4, plane = i / WARP % TAP_BYTES;
            const int tap = i / (TAP_BYTES * WARP) * DOWN_STEP - BEFORE + 4 * t - g;
            const uint32_t *from = copies + plane * 4 * job.copy_words;
            down[i] = {word(job, from, tap), word(job, from, tap - 8), word(job, from, tap + 16),
                       word(job, from, tap + 8)};
        }
        const int first = job.reach - job.ring / 2 * CHUNK - (PARTS - 1) * COLUMNS;
        for (int i = (int)threadIdx.x; i < job.along * WARP; i += (int)blockDim.x) {
            const int g = i % WARP / 4, t = i % 4, tap = first + i / WARP * COLUMNS + 8 * t - g;
            for (int plane = 0; plane < TAP_BYTES; plane++) {
                const uint32_t *from = copies + plane * 4 * job.copy_words;
                along[i].planes[plane] = {word(job, from, tap), word(job, from, tap + 4)};
            }
        }
    }

    // The bytes of taps tap .. tap + 3.
    static __device__ __forceinline__ uint32_t word(const gauss_job &job, const uint32_t *copies, int tap) {
        const int copy = tap & 3, at = (TAPS_BEFORE + tap - copy) / 4;
        return TAPS_BEFORE + tap >= 0 && at < job.copy_words ? copies[copy * job.copy_words + at] : 0;
    }
};

// --- reading ---------------------------------------------------------------------------------------------------------

// Where the row lies that row y, perhaps outside, stands for; NULL: none. Rows that no output needs need not be there:
// they have no taps, or belong to rows past the last, and another row will do.
__device__ __forceinline__ const unsigned char *row_of(const gauss_job &job, int64_t y) {
    y = max(min(y, job.b.out_end - 1 + job.sums.radius), job.b.out_y0 - job.sums.radius);
    y = gi_border_index(y, job.b.height, job.b.border);
    return y < 0 ? nullptr : job.b.in_row<uint8_t>(y);
}

// How the pixels of a chunk can be read: all of them in whole accesses, of rows one below the other or listed; or in
// whole words to be shifted into place, with no thought of what is around; or with a look at each row and place.
enum class reading { aligned, listed, shifted, careful };

// Whether each row, and so each fourth pixel of it, can be read in whole accesses.
template <typename Layout> __device__ __forceinline__ bool is_aligned(const blur_band &b) {
    return ((uintptr_t)b.in | b.in_pitch) % sizeof(run_access<Layout::WORDS>) == 0;
}

// Words from byte `at` on, a multiple of their bytes, of a row, perhaps none; past the row's ends anything. With alpha
// they are whole pixels.
template <typename Layout, int Words>
__device__ __forceinline__ void load_carefully(const gauss_job &job, const unsigned char *row, int64_t at,
                                               uint32_t (&words)[Words]) {
    using Sample = typename Layout::Sample;
    constexpr uint32_t MAX = (Sample)-1;
    const blur_band &b = job.b;
    const int64_t row_bytes = b.width * Layout::PIXEL_BYTES;
    if (row && at + 4 * Words <= row_bytes && is_aligned<Layout>(b)) return load_aligned(row + at, words);
    if (row && at < row_bytes) return load_run(row, at, row_bytes, words);
    const uint32_t value = b.border == GI_BORDER_CONSTANT ? b.value : 0;
    const uint32_t weight = b.border == GI_BORDER_CONSTANT ? MAX : 0;
#pragma unroll
    for (int i = 0; i < Words; i++) words[i] = 0;
#pragma unroll
    for (int i = 0; i < 4 * Words / Layout::SAMPLE_BYTES; i++)
        sample_put<Sample>(words, i, Layout::is_weight(i % Layout::CHANNELS) ? weight : value);
}

// Sample c of the pixel `pixel` in `words`.
template <typename Layout, int Words>
__device__ __forceinline__ uint32_t sample_in(const uint32_t (&words)[Words], int pixel, int c) {
    const int i = pixel * Layout::CHANNELS + c;
    // (One instruction, which the compiler does not find.)
    if (Layout::NARROW) return __byte_perm(words[i / 4], 0, 0x4440 | i % 4);
    return sample_get<typename Layout::Sample>(words, i);
}

// What the first pass sums for it.
template <typename Layout, int Words>
__device__ __forceinline__ uint32_t term_in(const uint32_t (&words)[Words], int pixel, int c) {
    const uint32_t value = sample_in<Layout>(words, pixel, c);
    return Layout::is_product(c) ? value * sample_in<Layout>(words, pixel, Layout::CHANNELS - 1) : value;
}

} // namespace tensor
} // namespace gi

#endif
