// The first pass of the Gaussian on the tensor cores (blur_gauss.cu) where alpha weighs the colours. All channels of a
// few pixels come at a time: a pixel is read once, and multiplied out where it lies.
#ifndef GI_KERNELS_BLUR_GAUSS_WEIGHTED_CUH
#define GI_KERNELS_BLUR_GAUSS_WEIGHTED_CUH

#include "kernels/blur_gauss_down.cuh"

namespace gi {
namespace tensor {

template <typename Layout> struct weighted_downward : downward<Layout> {
    using Base = downward<Layout>;
    static constexpr int CHANNELS = Layout::CHANNELS, COLOURS = CHANNELS - 1, TAP_BYTES = Layout::TAP_BYTES;
    static_assert(Layout::ROW_TILES == 1 || !Layout::WEIGHTED, "with alpha accumulators leave no room for more");
    // Pixels of a lane that are summed at a time, as accumulators find room.
    static constexpr int AT_ONCE = Layout::NARROW ? 2 : 1, WORDS = AT_ONCE * Layout::PIXEL_BYTES / 4;
    __host__ __device__ static constexpr int sums_of(int c) { return Layout::term_bytes(c) + TAP_BYTES - 1; }

    // Of some of a lane's pixels.
    struct accumulators {
        int colours[COLOURS][AT_ONCE][sums_of(0)][4], weight[AT_ONCE][sums_of(COLOURS)][4];
    };
    using results = typename Base::results;

    // Of how many words of terms, each a row's, the bytes become right operands.
    template <int Bytes> using operand_bytes = uint32_t[2][AT_ONCE][Bytes];

    // Adds the bytes from byte First on as a channel's terms.
    template <int First, int Terms, int Bytes, int Sums>
    __device__ __forceinline__ void add_bytes(int depth, const operand_bytes<Bytes> &halves,
                                              int (&acc)[AT_ONCE][Sums][4]) const {
        uint2 operands[Terms][AT_ONCE];
#pragma unroll
        for (int p = 0; p < Terms; p++)
#pragma unroll
            for (int pixel = 0; pixel < AT_ONCE; pixel++)
                operands[p][pixel] = {halves[0][pixel][First + p], halves[1][pixel][First + p]};
        Base::add(depth, 0, operands, acc);
    }

    // Calls term(words of a row, pixel) for the terms of all rows and pixels, and takes their bytes apart.
    template <int Bytes, typename Term>
    __device__ __forceinline__ void take_apart(bool both, const uint32_t (&words)[2][4][WORDS], const Term &term,
                                               operand_bytes<Bytes> &to) const {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            if (half == 1 && !both) break;
#pragma unroll
            for (int pixel = 0; pixel < AT_ONCE; pixel++) {
                uint32_t terms[4];
#pragma unroll
                for (int i = 0; i < 4; i++) terms[i] = term(words[half][i], pixel);
                transpose(terms, to[half][pixel]);
            }
        }
    }

    // Adds channel C of those pixels.
    template <int C, int Sums>
    __device__ __forceinline__ void add_channel(int depth, bool both, const uint32_t (&words)[2][4][WORDS],
                                                int (&acc)[AT_ONCE][Sums][4]) const {
        constexpr int BYTES = Layout::term_bytes(C);
        operand_bytes<BYTES> halves = {};
        take_apart<BYTES>(
            both, words, [](const uint32_t(&row)[WORDS], int pixel) { return term_in<Layout>(row, pixel, C); }, halves);
        add_bytes<0, BYTES, BYTES>(depth, halves, acc);
    }

    // Adds colours 0 and 2 of pixels of four bytes: one multiplication makes both products, 16 bits each.
    template <int Sums>
    __device__ __forceinline__ void add_two(int depth, bool both, const uint32_t (&words)[2][4][WORDS],
                                            int (&colour_0)[AT_ONCE][Sums][4],
                                            int (&colour_2)[AT_ONCE][Sums][4]) const {
        operand_bytes<4> halves = {};
        take_apart<4>(
            both, words,
            [](const uint32_t(&row)[WORDS], int pixel) {
                return (row[pixel] & 0xff00ff) * sample_in<Layout>(row, pixel, COLOURS);
            },
            halves);
        add_bytes<0, 2, 4>(depth, halves, colour_0);
        add_bytes<2, 2, 4>(depth, halves, colour_2);
    }

    template <int C, int Sums>
    __device__ __forceinline__ void put(int first, const int (&acc)[AT_ONCE][Sums][4], results &to) const {
#pragma unroll
        for (int pixel = 0; pixel < AT_ONCE; pixel++)
            Base::template result<C>(acc[pixel], 0, to.low[C][first + pixel], to.high[C][first + pixel]);
    }

    // Down the columns: pixels first .. first + AT_ONCE - 1 of each lane's four of the chunk at pixel x.
    template <reading How> __device__ __forceinline__ void sum_pixels(int64_t x, int first, results &to) const {
        accumulators acc;
#pragma unroll
        for (int c = 0; c < COLOURS; c++) Base::template begin_sums<0>(acc.colours[c]);
        Base::template begin_sums<COLOURS>(acc.weight);
#pragma unroll 1
        for (int depth = 0; depth < Base::depths(); depth += DEPTH) {
            const bool both = depth + DEPTH / 2 < Base::depths();
            uint32_t words[2][4][WORDS];
            Base::template fetch<How>(depth, (x + Base::lane() / 4 * 4 + first) * Layout::PIXEL_BYTES, both, words);
            if constexpr (Layout::PIXEL_BYTES == 4 && COLOURS == 3)
                add_two(depth, both, words, acc.colours[0], acc.colours[2]);
            else
                add_channel<0>(depth, both, words, acc.colours[0]);
            if constexpr (COLOURS > 1) add_channel<1>(depth, both, words, acc.colours[1]);
            if constexpr (COLOURS > 2 && Layout::PIXEL_BYTES > 4) add_channel<2>(depth, both, words, acc.colours[2]);
            add_channel<COLOURS>(depth, both, words, acc.weight);
        }
        put<0>(first, acc.colours[0], to);
        if constexpr (COLOURS > 1) put<1>(first, acc.colours[1], to);
        if constexpr (COLOURS > 2) put<2>(first, acc.colours[2], to);
        put<COLOURS>(first, acc.weight, to);
    }

    // ... all of them, into a slot of the ring.
    template <reading How> __device__ __forceinline__ void pass_1_weighted(int64_t x, int slot) const {
        results all;
#pragma unroll
        for (int first = 0; first < PARTS; first += AT_ONCE) sum_pixels<How>(x, first, all);
        Base::keep_all(all, slot, 0);
    }
};

} // namespace tensor
} // namespace gi

#endif
