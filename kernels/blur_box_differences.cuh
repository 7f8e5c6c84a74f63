// Down the columns of the wide box blur: how much more the column that enters a window has than the one that leaves it
// (blur_box_wide.cu).
#ifndef GI_KERNELS_BLUR_BOX_DIFFERENCES_CUH
#define GI_KERNELS_BLUR_BOX_DIFFERENCES_CUH

#include "kernels/blur_box_table.cuh"

namespace gi {
namespace box {

// Turns the order of the pixels in `words` round.
template <typename Form> __device__ __forceinline__ void turn_round(uint32_t (&words)[Form::WORDS]) {
    constexpr int PIXEL = Form::CHANNELS * Form::SAMPLE_BYTES;
    uint32_t from[Form::WORDS];
#pragma unroll
    for (int i = 0; i < Form::WORDS; i++) from[i] = words[i];
    auto source = [](int byte) { return (Form::COLUMNS - 1 - byte / PIXEL) * PIXEL + byte % PIXEL; };
    auto both = [&](int byte) {
        const int a = source(byte), b = source(byte + 1);
        return __byte_perm(from[a / 4], from[b / 4], a % 4 | (b % 4 + 4) << 4);
    };
#pragma unroll
    for (int i = 0; i < Form::WORDS; i++) words[i] = __byte_perm(both(4 * i), both(4 * i + 2), 0x5410);
}

// A thread's columns x: the sums of v(x + R + 1) - v(x - R), the windows of x + 1 less that of x. Both lie anywhere.
template <typename Form> struct differences : column_windows<Form, differences<Form>> {
    using Base = column_windows<Form, differences<Form>>;
    using Base::s, Base::there;
    using Sums = column_sums<Form>;
    using Sample = typename Form::Sample;
    using Register = typename Form::Register;
    static constexpr int THREADS = TABLE_THREADS; // of a block
    static constexpr int PIXEL_BYTES = Form::CHANNELS * Form::SAMPLE_BYTES, WORDS = Form::WORDS;
    static constexpr uint32_t OUTSIDE = UINT32_MAX;

    // The pixels that enter or leave: a run of the row, in this order or the other, or wherever the block's list has
    // them.
    enum class order { forth, back, listed };
    struct run {
        order how;
        size_t at; // bytes from the row's beginning
        uint32_t *list;
    };
    run entering, leaving;

    // What a row has of them, as it lies in memory: whole words, of which the pixels begin `bits` from the first.
    struct around {
        uint32_t words[WORDS + 1];
        unsigned bits;
    };
    struct row_words {
        around enters, leaves;
    };

    __device__ __forceinline__ differences(const strips &all, int64_t x, int64_t end) : Base{all, x, x < end} {
        __shared__ uint32_t lists[2][Form::COLUMNS][THREADS];
        entering = run_of(x + s.radius + 1, &lists[0][0][threadIdx.x]);
        leaving = run_of(x - s.radius, &lists[1][0][threadIdx.x]);
    }

    // The run that the pixels from x on are.
    __device__ __forceinline__ run run_of(int64_t x, uint32_t *list) const {
        const int64_t n = s.b.width, row_bytes = n * PIXEL_BYTES;
        const int64_t first = gi_border_index(x, n, s.b.border);
        const int64_t last = gi_border_index(x + Form::COLUMNS - 1, n, s.b.border);
        const int64_t at = min(first, last) * PIXEL_BYTES, end = at + 4 * WORDS;
        // The words around must lie in the row.
        const bool whole = ((uintptr_t)s.b.in | s.b.in_pitch) % 4 == 0 ? (end + 3) / 4 * 4 <= row_bytes
                                                                       : at >= 4 && end + 4 <= row_bytes;
        run r = {order::listed, (size_t)at, list};
        if (at >= 0 && whole && last - first == Form::COLUMNS - 1) r.how = order::forth;
        if (at >= 0 && whole && first - last == Form::COLUMNS - 1) r.how = order::back;
        if (r.how != order::listed) return r;
#pragma unroll 1
        for (int i = 0; i < Form::COLUMNS; i++) {
            const int64_t place = gi_border_index(x + i, n, s.b.border);
            list[i * THREADS] = place < 0 ? OUTSIDE : (uint32_t)place;
        }
        return r;
    }

    // Loads, and uses nothing of what it loads, so that many rows may be on their way.
    __device__ __forceinline__ void load(const unsigned char *row, const run &r, around &to) const {
        to.bits = 0;
        if (r.how == order::listed) return load_listed(row, r, to);
        const unsigned odd = (unsigned)((uintptr_t)(row + r.at) % 4);
        const uint32_t *aligned = (const uint32_t *)(row + r.at - odd);
#pragma unroll
        for (int i = 0; i < WORDS; i++) to.words[i] = aligned[i];
        to.words[WORDS] = aligned[odd ? WORDS : WORDS - 1]; // no word without a byte of the pixels'
        to.bits = 8 * odd;
    }

    __device__ __forceinline__ void load_listed(const unsigned char *row, const run &r, around &to) const {
        uint32_t outside[WORDS];
        load_outside<Form>(s, outside);
#pragma unroll
        for (int i = 0; i <= WORDS; i++) to.words[i] = 0;
#pragma unroll
        for (int i = 0; i < Form::COLUMNS; i++) {
            const uint32_t place = r.list[i * THREADS];
            const Sample *pixel = (const Sample *)row + (size_t)place * Form::CHANNELS;
#pragma unroll
            for (int c = 0; c < Form::CHANNELS; c++) {
                const int k = i * Form::CHANNELS + c;
                sample_put<Sample>(to.words, k, place == OUTSIDE ? sample_get<Sample>(outside, k) : pixel[c]);
            }
        }
    }

    // Row y, perhaps outside: of what is of no row inside, no pixel differs from another.
    __device__ __forceinline__ void fetch(int64_t y, row_words &words) const {
        const int64_t inside = row_inside(y);
        if (inside < 0 || !there) {
            words = {};
            return;
        }
        const unsigned char *row = s.b.template in_row<uint8_t>(inside);
        load(row, entering, words.enters);
        load(row, leaving, words.leaves);
    }

    // gi_border_index, with a short way for one reflection.
    __device__ __forceinline__ int64_t row_inside(int64_t y) const {
        const int64_t n = s.b.height, up = y < 0 ? -y : y, down = up < n ? up : 2 * (n - 1) - up;
        return s.b.border == GI_BORDER_REFLECT101 && down >= 0 && down < n ? down : gi_border_index(y, n, s.b.border);
    }

    // The pixels of a run in the columns' order.
    __device__ __forceinline__ void arrange(const around &from, const run &r, uint32_t (&to)[WORDS]) const {
#pragma unroll
        for (int i = 0; i < WORDS; i++) to[i] = __funnelshift_r(from.words[i], from.words[i + 1], from.bits);
        if (r.how == order::back) turn_round<Form>(to);
    }

    // From the window of a row to that of the next.
    __device__ __forceinline__ void slide(Sums &sums, const row_words &below, const row_words &above) const {
        uint32_t plus[WORDS], minus[WORDS];
        arrange(below.enters, entering, plus);
        arrange(above.enters, entering, minus);
        sums.slide(plus, minus);
        arrange(above.leaves, leaving, plus);
        arrange(below.leaves, leaving, minus);
        sums.slide(plus, minus);
    }

    // Adds `times` the rows [from, to) of the image; calls each(row, its difference summed up by channels).
    template <typename Each>
    __device__ __forceinline__ void add_rows(Sums &sums, int64_t from, int64_t to, Register times,
                                             const Each &each) const {
        constexpr int AT_ONCE = WORDS > 4 ? 2 : 4;
#pragma unroll 1
        for (int64_t y = from; y < to; y += AT_ONCE) {
            row_words words[AT_ONCE] = {};
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                if (y + i < to) fetch(y + i, words[i]);
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                uint32_t plus[WORDS], minus[WORDS];
                Sums row;
                row.clear();
                arrange(words[i].enters, entering, plus);
                arrange(words[i].leaves, leaving, minus);
                row.slide(plus, minus);
                if (y + i < to) each(y + i, row);
#pragma unroll
                for (int k = 0; k < Form::REGISTERS; k++) sums.of[k] += times * row.of[k];
            }
        }
    }
    __device__ __forceinline__ void add_rows(Sums &sums, int64_t from, int64_t to, Register times) const {
        add_rows(sums, from, to, times, [](int64_t, const Sums &) {});
    }

    __device__ __forceinline__ void add_outside(Sums &, Register) const {}
};

} // namespace box
} // namespace gi

#endif
