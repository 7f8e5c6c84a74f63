// Down the columns of the box blur: what a thread of blur_box.cu keeps of its columns, and where it gets it from.
#ifndef GI_KERNELS_BLUR_BOX_COLUMNS_CUH
#define GI_KERNELS_BLUR_BOX_COLUMNS_CUH

#include "kernels/blur.cuh"

namespace gi {
namespace box {

// Strips begin at multiples of so many pixels: at 16 bytes whatever the channels, and at the first of a thread's
// columns.
constexpr int ALIGN = 16;
// Rows from one entry of the table to the next. A first window then takes two entries, and SEGMENT / 2 rows on average.
constexpr int SEGMENT = 16;

// --- the sums of a thread's columns ----------------------------------------------------------------------------------

// How an image's samples are summed: Sums, over a window's rows: uint16_t (two to a register), uint32_t, uint64_t;
// Total, over a whole window. Columns: a thread's, as many as their sums find registers for, in whole multiples of 8
// bytes.
template <typename S, int Channels>
constexpr int USUAL_COLUMNS = Channels == 4 ? 4 : (Channels == 1 ? 16 : 8) / (int)sizeof(S);
template <typename S, int Channels, typename Sums, typename T, int Columns = USUAL_COLUMNS<S, Channels>> struct form {
    using Sample = S;
    using Total = T;
    static constexpr int CHANNELS = Channels, SAMPLE_BYTES = (int)sizeof(S);
    static constexpr bool WEIGHTED = Channels == 2 || Channels == 4, PACKED = sizeof(Sums) == 2;
    static constexpr int COLUMNS = Columns;
    static constexpr int SAMPLES = COLUMNS * Channels, WORDS = SAMPLES * SAMPLE_BYTES / 4;
    // What a thread keeps: a register for two samples of 16 bits, or one of 32 or 64 for each.
    using Register = typename std::conditional<sizeof(Sums) == 8, uint64_t, uint32_t>::type;
    static constexpr int REGISTERS = PACKED ? SAMPLES / 2 : SAMPLES;
    // A multiprocessor has 64 registers for each of 1024 threads: too few where pixels of several bytes are weighted,
    // unless large radii ask for wide blocks.
    static constexpr bool HEAVY = WEIGHTED && sizeof(Sums) == sizeof(T) && Channels * SAMPLE_BYTES > 2;
    static constexpr bool LIGHT = REGISTERS * sizeof(Register) <= 64 && !HEAVY;
    static constexpr int MOST_THREADS = LIGHT ? 1024 : 512;
    // Samples that a thread finishes at a time: whole pixels where one weighs the others.
    static constexpr int FINISHED = 4;
};

template <typename Form> struct column_sums {
    using Sample = typename Form::Sample;
    using Register = typename Form::Register;
    Register of[Form::REGISTERS];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < Form::REGISTERS; i++) of[i] = 0;
    }

    // What register i sums of a row's words. Packed: bytes 0 and 2 of a word, or 1 and 3.
    static __device__ __forceinline__ Register term(const uint32_t (&words)[Form::WORDS], int i) {
        if constexpr (Form::PACKED) {
            return i % 2 ? __byte_perm(words[i / 2], 0, 0x4341) : words[i / 2] & 0x00ff00ff;
        } else {
            const uint32_t value = sample_get<Sample>(words, i);
            if constexpr (!Form::WEIGHTED) return value;
            const int last = i / Form::CHANNELS * Form::CHANNELS + Form::CHANNELS - 1;
            return i == last ? value : value * sample_get<Sample>(words, last);
        }
    }

    __device__ __forceinline__ void add(const uint32_t (&words)[Form::WORDS], Register times) {
#pragma unroll
        for (int i = 0; i < Form::REGISTERS; i++) of[i] += times * term(words, i);
    }

    __device__ __forceinline__ void slide(const uint32_t (&enters)[Form::WORDS],
                                          const uint32_t (&leaves)[Form::WORDS]) {
#pragma unroll
        for (int i = 0; i < Form::REGISTERS; i++) of[i] += term(enters, i) - term(leaves, i);
    }

    // The sum of channel c.
    __device__ __forceinline__ typename Form::Total total(int c) const {
        typename Form::Total sum = 0;
        if constexpr (Form::PACKED && Form::CHANNELS == 1) {
#pragma unroll
            for (int i = 0; i < Form::REGISTERS; i++) sum = __dp2a_lo(of[i], 0x0101U, sum);
        } else {
#pragma unroll
            for (int i = 0; i < Form::COLUMNS; i++) sum = plus(sum, i * Form::CHANNELS + c);
        }
        return sum;
    }

    // upto + the sum of sample i.
    __device__ __forceinline__ typename Form::Total plus(typename Form::Total upto, int i) const {
        if constexpr (Form::PACKED) return __dp2a_lo(of[i / 4 * 2 + i % 2], i % 4 < 2 ? 0x0001U : 0x0100U, upto);
        return upto + of[i];
    }
};

// --- a block's columns -----------------------------------------------------------------------------------------------

struct strips {
    blur_band b;
    int64_t radius;
    int64_t width;   // of a strip, in pixels
    int64_t rows;    // that a block makes of it
    void *table;     // NULL: without
    int64_t entries; // of the table
    // See means::mean. multiplier: 0 where it does not do.
    uint32_t multiplier, half, pixels;
    int shift, cut;
};

// Rows of the image, and how often each counts. A window has few such ranges, whatever the border.
struct row_range {
    int64_t from, to, times;
};
struct row_ranges {
    static constexpr int MOST = 1 + 2 * 5;
    row_range of[MOST];
    int count;
    __device__ __forceinline__ void operator()(int64_t from, int64_t to, int64_t times) {
        if (from < to && times != 0) of[count++] = {from, to, times};
    }
};

// What the window of place i in a line of n is made of; what lies outside and is of no place inside is left out.
__device__ __forceinline__ void window_ranges(const strips &s, int64_t i, int64_t n, row_ranges &ranges) {
    const int64_t low = i - s.radius, high = i + s.radius + 1;
    const int64_t above = max(-low, (int64_t)0), below = max(high - n, (int64_t)0);
    ranges.count = 0;
    ranges(low + above, high - below, 1);
    if (s.b.border == GI_BORDER_REPLICATE || (s.b.border == GI_BORDER_REFLECT101 && n == 1)) {
        ranges(0, 1, above);
        ranges(n - 1, n, below);
    } else if (s.b.border == GI_BORDER_REFLECT101 && above + below > 0) {
        mirror_before(above, n, ranges);
        mirror_after(below, n, ranges);
    }
}

// How many places of the window of place i in a line of n lie outside.
__device__ __forceinline__ int64_t outside_of_window(const strips &s, int64_t i, int64_t n) {
    return 2 * s.radius + 1 - (min(i + s.radius + 1, n) - max(i - s.radius, (int64_t)0));
}

// Registers in a packet of 16 bytes, and packets from one to the next of a thread's in the table: those of neighbouring
// threads lie side by side.
template <typename Form> constexpr int PER_PACKET = PACKET_BYTES / (int)sizeof(typename Form::Register);
template <typename Form> __host__ __device__ __forceinline__ int64_t table_groups(const strips &s) {
    return (s.b.width + Form::COLUMNS - 1) / Form::COLUMNS;
}
template <typename Form> __device__ __forceinline__ uint4 *table_at(const strips &s, int64_t entry, int64_t group) {
    return (uint4 *)s.table + entry * (Form::REGISTERS / PER_PACKET<Form>)*table_groups<Form>(s) + group;
}

// The sums of a thread's columns over a window's rows. `Columns` derives from it, and has
//     add_rows(sums, from, to, times)    adds `times` the rows [from, to) of the image
//     add_outside(sums, times)           ... a row outside that is of no row inside
template <typename Form, typename Columns> struct column_windows {
    using Sums = column_sums<Form>;
    using Register = typename Form::Register;
    const strips &s;
    int64_t first; // pixel
    bool there;    // inside the image, as far as the block looks

    __device__ __forceinline__ const Columns &own() const { return *(const Columns *)this; }

    // Adds `times` an entry of the table: what it sums of rows before in_y0 + entry * SEGMENT.
    __device__ __forceinline__ void add_entry(Sums &sums, int64_t entry, Register times) const {
        const uint4 *from = table_at<Form>(s, entry, first / Form::COLUMNS);
#pragma unroll
        for (int i = 0; i < Form::REGISTERS / PER_PACKET<Form>; i++) {
            Register of[PER_PACKET<Form>];
            const uint4 packet = from[i * table_groups<Form>(s)];
            memcpy(of, &packet, sizeof packet);
#pragma unroll
            for (int k = 0; k < PER_PACKET<Form>; k++) sums.of[i * PER_PACKET<Form> + k] += times * of[k];
        }
    }

    // Adds `times` the rows [from, to) of the image.
    __device__ __forceinline__ void add_range(Sums &sums, const row_range &range) const {
        const Register times = (Register)range.times;
        if (!s.table) return own().add_rows(sums, range.from, range.to, times);
            // From entry to entry, and the rows that the range has before the nearest or lacks.
#pragma unroll 1
        for (int end = 0; end < 2; end++) {
            const int64_t place = (end ? range.to : range.from) - s.b.in_y0;
            const int64_t entry = min((place + SEGMENT / 2) / SEGMENT, s.entries - 1), there = entry * SEGMENT;
            const Register sign = end ? times : (Register)0 - times;
            if (entry > 0) add_entry(sums, entry, sign);
            const int64_t from = s.b.in_y0 + min(place, there), to = s.b.in_y0 + max(place, there);
            own().add_rows(sums, from, to, place > there ? sign : (Register)0 - sign);
        }
    }

    // The sums over the window of row y.
    __device__ __forceinline__ void first_window(Sums &sums, int64_t y) const {
        sums.clear();
        if (!there) return;
        row_ranges ranges;
        window_ranges(s, y, s.b.height, ranges);
#pragma unroll 1
        for (int i = 0; i < ranges.count; i++) add_range(sums, ranges.of[i]);
        if (s.b.border == GI_BORDER_CONSTANT) own().add_outside(sums, (Register)outside_of_window(s, y, s.b.height));
    }
};

// A row above or below the image that is of no row inside.
template <typename Form> __device__ __forceinline__ void load_outside(const strips &s, uint32_t (&words)[Form::WORDS]) {
    constexpr uint32_t MAX = (typename Form::Sample) - 1;
    const bool constant = s.b.border == GI_BORDER_CONSTANT;
#pragma unroll
    for (int i = 0; i < Form::WORDS; i++) words[i] = 0;
#pragma unroll
    for (int i = 0; i < Form::SAMPLES; i++) {
        const bool alpha = Form::WEIGHTED && i % Form::CHANNELS == Form::CHANNELS - 1;
        sample_put<typename Form::Sample>(words, i, constant ? alpha ? MAX : s.b.value : 0);
    }
}

// A thread's columns.
template <typename Form> struct columns : column_windows<Form, columns<Form>> {
    using Base = column_windows<Form, columns<Form>>;
    using Base::first, Base::s, Base::there;
    using Sums = column_sums<Form>;
    using Register = typename Form::Register;
    static constexpr int PIXEL_BYTES = Form::CHANNELS * Form::SAMPLE_BYTES;
    bool aligned; // each row's part of them is there as a whole, and can be read as such

    __device__ __forceinline__ columns(const strips &all, int64_t x, int64_t end) : Base{all, x, x < end} {
        const size_t odd = ((uintptr_t)s.b.in | s.b.in_pitch) % sizeof(run_access<Form::WORDS>);
        aligned = there && odd == 0 && first + Form::COLUMNS <= s.b.width;
    }

    __device__ __forceinline__ const unsigned char *row(int64_t y) const { return s.b.template in_row<uint8_t>(y); }

    __device__ __forceinline__ void load(int64_t y, uint32_t (&words)[Form::WORDS]) const {
        if (aligned)
            load_aligned(row(y) + first * PIXEL_BYTES, words);
        else
            load_run(row(y), first * PIXEL_BYTES, s.b.width * PIXEL_BYTES, words);
    }

    // Row y, perhaps outside.
    __device__ __forceinline__ void fetch(int64_t y, uint32_t (&words)[Form::WORDS]) const {
        const int64_t inside = gi_border_index(y, s.b.height, s.b.border);
        if (inside < 0 || !there)
            load_outside<Form>(s, words);
        else
            load(inside, words);
    }

    __device__ __forceinline__ void add_rows(Sums &sums, int64_t from, int64_t to, Register times) const {
        uint32_t words[Form::WORDS];
        if (aligned) {
#pragma unroll 4
            for (int64_t y = from; y < to; y++) {
                load_aligned(row(y) + first * PIXEL_BYTES, words);
                sums.add(words, times);
            }
        } else {
#pragma unroll 1
            for (int64_t y = from; y < to; y++) {
                load(y, words);
                sums.add(words, times);
            }
        }
    }

    __device__ __forceinline__ void add_outside(Sums &sums, Register times) const {
        uint32_t words[Form::WORDS];
        load_outside<Form>(s, words);
        sums.add(words, times);
    }
};

} // namespace box
} // namespace gi

#endif
