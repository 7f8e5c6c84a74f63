// The first pass of the Gaussian on the tensor cores (blur_gauss.cu): down the columns, into the ring.
#ifndef GI_KERNELS_BLUR_GAUSS_DOWN_CUH
#define GI_KERNELS_BLUR_GAUSS_DOWN_CUH

#include "kernels/blur_gauss_sums.cuh"

namespace gi {
namespace tensor {

// A warp at work on a band, as far as the first pass goes. Without alpha its words are read once, byte for byte.
template <typename Layout> struct downward {
    using Form = typename Layout::Form;
    using Sample = typename Layout::Sample;
    static constexpr int TILES = Layout::ROW_TILES, TAP_BYTES = Layout::TAP_BYTES;
    const gauss_job &job;
    // The lane's bands of taps.
    const uint4 *down;
    const typename bands<Layout>::Along *along;
    uint4 *ring;             // for each chunk, plane and tile of rows a left operand of the second pass
    unsigned char *finished; // the band's rows of a chunk, of ROW_BYTES each
    // Where the rows lie that the first pass looks at, from y0 - reach on, or NULL.
    const unsigned char **rows;
    int64_t y0; // the band's first row

    __device__ __forceinline__ int lane() const { return threadIdx.x % WARP; }
    __device__ __forceinline__ uint4 *operand(int slot, int plane, int tile) const {
        return ring + ((slot * Layout::PLANES + plane) * TILES + tile) * WARP + lane();
    }
    __device__ __forceinline__ int64_t row(int tile, int i) const { return y0 + ROWS * tile + lane() / 4 + i / 2 * 8; }

    // Rows that the first pass looks at, in whole operands.
    __device__ __forceinline__ int looked_at() const { return (depths() + DEPTH - 1) / DEPTH * DEPTH; }

    // Begins a band.
    __device__ __forceinline__ void begin(int64_t first_row) {
        y0 = first_row;
        for (int i = lane(); i < looked_at(); i += WARP) rows[i] = row_of(job, y0 - job.reach + i);
        __syncwarp();
    }

    // Rows that the first pass looks at, from y0 - reach on.
    __device__ __forceinline__ int depths() const { return ROWS * TILES + 2 * job.reach; }

    __device__ __forceinline__ reading reading_of() const {
        const blur_band &b = job.b;
        const int64_t first = y0 - job.reach;
        if (first < b.in_y0 || first + looked_at() > b.in_end) {
            const bool all_there = b.border == GI_BORDER_REFLECT101 || b.border == GI_BORDER_REPLICATE;
            return all_there && is_aligned<Layout>(b) ? reading::listed : reading::careful;
        }
        return is_aligned<Layout>(b) ? reading::aligned : reading::shifted;
    }

    // Reads words from byte `at` on of the row at depth `depth` + `row`; `from`: where they would lie in the row at
    // `depth` if all rows were one below the other.
    template <reading How, int Words>
    __device__ __forceinline__ void read(const unsigned char *from, int depth, int row, int64_t at,
                                         uint32_t (&words)[Words]) const {
        if constexpr (How == reading::aligned)
            load_aligned(from + row * job.b.in_pitch, words);
        else if constexpr (How == reading::listed)
            load_aligned(rows[depth + row] + at, words);
        else if constexpr (How == reading::shifted)
            load_shifted(from + row * job.b.in_pitch, words);
        else
            load_carefully<Layout>(job, rows[depth + row], at, words);
    }

    // The lane's part of words from byte `at` on of the DEPTH rows from depth `depth` on; of their lower half only if
    // `both`.
    template <reading How, int Words>
    __device__ __forceinline__ void fetch(int depth, int64_t at, bool both, uint32_t (&words)[2][4][Words]) const {
        depth += lane() % 4 * 4;
        const unsigned char *from = job.b.template in_row<uint8_t>(y0 - job.reach + depth) + at;
#pragma unroll
        for (int i = 0; i < 4; i++) read<How>(from, depth, i, at, words[0][i]);
        if (!both) return;
#pragma unroll
        for (int i = 0; i < 4; i++) read<How>(from, depth, 16 + i, at, words[1][i]);
    }

    // Right operands without alpha: each byte of the words is a column of its own.
    template <int Words, int Values>
    __device__ __forceinline__ void split(const uint32_t (&words)[2][4][Words], bool both,
                                          uint2 (&operands)[Layout::SAMPLE_BYTES][Values]) const {
        uint32_t halves[2][Words][4] = {};
#pragma unroll
        for (int half = 0; half < 2; half++) {
            if (half == 1 && !both) break;
#pragma unroll
            for (int w = 0; w < Words; w++)
                transpose({words[half][0][w], words[half][1][w], words[half][2][w], words[half][3][w]},
                          halves[half][w]);
        }
#pragma unroll
        for (int byte = 0; byte < 4 * Words; byte++)
            operands[byte % Layout::SAMPLE_BYTES][byte / Layout::SAMPLE_BYTES] = {halves[0][byte / 4][byte % 4],
                                                                                  halves[1][byte / 4][byte % 4]};
    }

    // Adds DEPTH rows from depth `depth` on to a tile's accumulators.
    template <int Parts, int Bytes, int Sums>
    __device__ __forceinline__ void add(int depth, int tile, const uint2 (&operands)[Bytes][Parts],
                                        int (&acc)[Parts][Sums][4]) const {
#pragma unroll
        for (int k = 0; k < TAP_BYTES; k++) {
            const uint4 band = down[(bands<Layout>::down(depth, tile) * TAP_BYTES + k) * WARP];
#pragma unroll
            for (int part = 0; part < Parts; part++)
#pragma unroll
                for (int p = 0; p < Bytes; p++) multiply_add(acc[part][p + k], band, operands[p][part]);
        }
    }

    // Half of what is rounded away, in the accumulators' byte below.
    template <int C, int Parts, int Sums> __device__ __forceinline__ void begin_sums(int (&acc)[Parts][Sums][4]) const {
        constexpr int DROP = Layout::dropped(C);
        const int half = !Layout::WEIGHTED && job.b.border == GI_BORDER_SHRINK ? 0 : 128;
#pragma unroll
        for (int part = 0; part < Parts; part++)
#pragma unroll
            for (int k = 0; k < Sums; k++)
#pragma unroll
                for (int i = 0; i < 4; i++) acc[part][k][i] = k == DROP - 1 ? half : 0;
    }

    // What the first pass leaves of a lane's pixels.
    struct results {
        uint32_t low[Layout::CHANNELS][PARTS][4], high[Layout::CHANNELS][PARTS][4];
    };

    // Down the columns without alpha: some words of the chunk at pixel x, of which each lane has WORDS.
    template <int First, int Words, reading How>
    __device__ __forceinline__ void sum_words(int64_t x, results (&to)[TILES]) const {
        constexpr int VALUES = 4 * Words / Layout::SAMPLE_BYTES, SUMS = Layout::SAMPLE_BYTES + TAP_BYTES - 1;
        int acc[TILES][VALUES][SUMS][4];
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) begin_sums<0>(acc[tile]);
#pragma unroll 1
        for (int depth = 0; depth < depths(); depth += DEPTH) {
            const bool both = depth + DEPTH / 2 < depths();
            uint32_t words[2][4][Words];
            uint2 operands[Layout::SAMPLE_BYTES][VALUES];
            fetch<How>(depth, (x + lane() / 4 * 4) * Layout::PIXEL_BYTES + 4 * First, both, words);
            split(words, both, operands);
#pragma unroll
            for (int tile = 0; tile < TILES; tile++) {
                if (depth + DEPTH <= ROWS * tile || depth >= ROWS * (tile + 1) + 2 * job.reach) continue;
                add(depth, tile, operands, acc[tile]);
            }
        }
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int i = 0; i < VALUES; i++) {
                const int value = 4 * First / Layout::SAMPLE_BYTES + i, c = value % Layout::CHANNELS;
                const int part = value / Layout::CHANNELS;
                result<0>(acc[tile][i], tile, to[tile].low[c][part], to[tile].high[c][part]);
            }
        if constexpr (First + Words < Layout::WORDS) sum_words<First + Words, Words, How>(x, to);
    }

    // ... all of them, into a slot of the ring.
    template <reading How> __device__ __forceinline__ void pass_1(int64_t x, int slot) const {
        results all[TILES];
        sum_words<0, Layout::WORDS_AT_ONCE, How>(x, all);
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) keep_all(all[tile], slot, tile);
    }

    // Rounds what the first pass has summed: the lower 32 bits and the fifth byte.
    template <int C, int Sums>
    __device__ __forceinline__ void result(const int (&acc)[Sums][4], int tile, uint32_t (&low)[4],
                                           uint32_t (&high)[4]) const {
        constexpr int DROP = Layout::dropped(C);
        if (!Layout::WEIGHTED && job.b.border == GI_BORDER_SHRINK) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const uint32_t inside = taps_inside(job.sums, row(tile, i), job.b.height, GI_BORDER_SHRINK);
                low[i] = (uint32_t)first_result<Form>(weigh<typename Form::Sum>(acc, i), inside, false);
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            low[i] = upper<DROP>(acc, i);
            if constexpr (Layout::between_bytes(C) > 4) high[i] = upper<DROP + 4>(acc, i);
        }
    }

    // Puts the bytes of what the first pass leaves into the ring.
    template <int C>
    __device__ __forceinline__ void keep(const uint32_t (&low)[PARTS][4], const uint32_t (&high)[PARTS][4], int slot,
                                         int tile) const {
        constexpr int BYTES = Layout::between_bytes(C), LOW = BYTES < 4 ? BYTES : 4;
        uint32_t planes[BYTES][4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t bytes[LOW];
            transpose({low[0][i], low[1][i], low[2][i], low[3][i]}, bytes);
#pragma unroll
            for (int p = 0; p < LOW; p++) planes[p][i] = bytes[p];
            if constexpr (BYTES > 4) {
                uint32_t byte[1];
                transpose({high[0][i], high[1][i], high[2][i], high[3][i]}, byte);
                planes[4][i] = byte[0];
            }
        }
        // Accumulators come in the order (g, pixels 8t..), (g, 8t + 4..), (g + 8, 8t..), (g + 8, 8t + 4..).
#pragma unroll
        for (int p = 0; p < BYTES; p++)
            *operand(slot, Layout::plane(C) + p, tile) = {planes[p][0], planes[p][2], planes[p][1], planes[p][3]};
    }

    __device__ __forceinline__ void keep_all(const results &all, int slot, int tile) const {
        keep<0>(all.low[0], all.high[0], slot, tile);
        if constexpr (Layout::CHANNELS > 1) keep<1>(all.low[1], all.high[1], slot, tile);
        if constexpr (Layout::CHANNELS > 2) keep<2>(all.low[2], all.high[2], slot, tile);
        if constexpr (Layout::CHANNELS > 3) keep<3>(all.low[3], all.high[3], slot, tile);
    }
};

} // namespace tensor
} // namespace gi

#endif
