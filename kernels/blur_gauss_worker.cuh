// What a warp does with its band in the Gaussian on the tensor cores (blur_gauss.cu).
#ifndef GI_KERNELS_BLUR_GAUSS_WORKER_CUH
#define GI_KERNELS_BLUR_GAUSS_WORKER_CUH

#include "kernels/blur_gauss_tensor.cuh"

namespace gi {
namespace tensor {

// A warp at work on a band.
template <typename Layout> struct worker {
    using Form = typename Layout::Form;
    using Sample = typename Layout::Sample;
    static constexpr int TILES = Layout::ROW_TILES, TAP_BYTES = Layout::TAP_BYTES;
    const gauss_job &job;
    const uint32_t *down,
        *along;              // the lane's taps: down[o / 4] begins with tap o + 4t - g, along[o / 4] with o + 8t - g
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

    // Right operands: DEPTH rows from depth `depth` on of the chunk at pixel x.
    template <int C, reading How>
    __device__ __forceinline__ void load(int depth, int64_t x, uint2 (&operands)[Layout::term_bytes(C)][PARTS]) const {
        constexpr int BYTES = Layout::term_bytes(C);
        uint32_t halves[2][BYTES][PARTS];
        depth += lane() % 4 * 4;
        x += lane() / 4 * 4;
        const unsigned char *from = job.b.template in_row<uint8_t>(y0 - job.reach + depth) + x * Layout::PIXEL_BYTES;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint32_t quads[BYTES][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int row = 16 * half + i;
                uint32_t words[Layout::WORDS], planes[BYTES];
                if constexpr (How == reading::aligned)
                    load_aligned(from + row * job.b.in_pitch, words);
                else if constexpr (How == reading::shifted)
                    load_shifted(from + row * job.b.in_pitch, words);
                else
                    load_carefully<Layout>(job, rows[depth + row], x, words);
                terms<Layout, C>(words, planes);
#pragma unroll
                for (int p = 0; p < BYTES; p++) quads[p][i] = planes[p];
            }
#pragma unroll
            for (int p = 0; p < BYTES; p++) transpose(quads[p], halves[half][p]);
        }
#pragma unroll
        for (int p = 0; p < BYTES; p++)
#pragma unroll
            for (int part = 0; part < PARTS; part++) operands[p][part] = {halves[0][p][part], halves[1][p][part]};
    }

    // Down the columns: channel C of the chunk at pixel x, into a slot of the ring.
    template <int C, reading How> __device__ __forceinline__ void pass_1(int64_t x, int slot) const {
        constexpr int BYTES = Layout::term_bytes(C), SUMS = BYTES + TAP_BYTES - 1;
        int acc[TILES][PARTS][SUMS][4] = {};
#pragma unroll 1
        for (int depth = 0; depth < depths(); depth += DEPTH) {
            uint2 operands[BYTES][PARTS];
            load<C, How>(depth, x, operands);
#pragma unroll
            for (int tile = 0; tile < TILES; tile++) {
                if (depth + DEPTH <= ROWS * tile || depth >= ROWS * (tile + 1) + 2 * job.reach) continue;
#pragma unroll
                for (int k = 0; k < TAP_BYTES; k++) {
                    const uint32_t *tap = down + k * 4 * job.copy_words + (depth - ROWS * tile) / 4;
                    const uint4 band = {tap[0], tap[-2], tap[4], tap[2]};
#pragma unroll
                    for (int part = 0; part < PARTS; part++)
#pragma unroll
                        for (int p = 0; p < BYTES; p++) multiply_add(acc[tile][part][p + k], band, operands[p][part]);
                }
            }
        }
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            if (!Layout::WEIGHTED && job.b.border == GI_BORDER_SHRINK)
                keep<C, true>(acc[tile], slot, tile);
            else
                keep<C, false>(acc[tile], slot, tile);
        }
    }

    // Rounds what the first pass has summed, and puts its bytes into the ring.
    template <int C, bool Shrink, int Sums>
    __device__ __forceinline__ void keep(const int (&acc)[PARTS][Sums][4], int slot, int tile) const {
        constexpr int BYTES = Layout::between_bytes(C), LOW = BYTES < 4 ? BYTES : 4;
        uint32_t planes[BYTES][4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t inside =
                Shrink ? taps_inside(job.sums, row(tile, i), job.b.height, GI_BORDER_SHRINK) : 1U << Form::TAP_BITS;
            uint32_t low[4], high[4], bytes[LOW];
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                const auto sum = weigh<typename Form::Sum>(acc[part], i);
                const auto kept = first_result<Form>(sum, inside, Layout::is_weight(C));
                low[part] = (uint32_t)kept;
                if constexpr (sizeof kept == 8) high[part] = (uint32_t)(kept >> 32);
            }
            transpose(low, bytes);
#pragma unroll
            for (int p = 0; p < LOW; p++) planes[p][i] = bytes[p];
            if constexpr (BYTES > 4) {
                uint32_t byte[1];
                transpose(high, byte);
                planes[4][i] = byte[0];
            }
        }
        // Accumulators come in the order (g, pixels 8t..), (g, 8t + 4..), (g + 8, 8t..), (g + 8, 8t + 4..).
#pragma unroll
        for (int p = 0; p < BYTES; p++)
            *operand(slot, Layout::plane(C) + p, tile) = {planes[p][0], planes[p][2], planes[p][1], planes[p][3]};
    }

    template <reading How> __device__ __forceinline__ void pass_1_of(int64_t x, int slot) const {
        pass_1<0, How>(x, slot);
        if constexpr (Layout::CHANNELS > 1) pass_1<1, How>(x, slot);
        if constexpr (Layout::CHANNELS > 2) pass_1<2, How>(x, slot);
        if constexpr (Layout::CHANNELS > 3) pass_1<3, How>(x, slot);
    }

    // All channels of a chunk. `how`: as far as the rows go.
    __device__ __forceinline__ void pass_1_all(int64_t x, int slot, reading how) const {
        if (how == reading::aligned && x + CHUNK <= job.b.width)
            pass_1_of<reading::aligned>(x, slot);
        else if (how == reading::shifted && x > 0 && x + CHUNK + 4 <= job.b.width)
            pass_1_of<reading::shifted>(x, slot);
        else
            pass_1_of<reading::careful>(x, slot);
    }

    // Byte p of what the first pass makes of a column of pixels outside, channel c.
    __device__ __forceinline__ uint32_t outside_byte(int c, int p) const {
        const bool weight = Layout::is_weight(c);
        const auto term = (typename Form::Sum)term_outside<Sample, Form::WEIGHTED>(job.b, c);
        const uint64_t kept = first_result<Form>(term << Form::TAP_BITS, 1U << Form::TAP_BITS, weight);
        return (uint32_t)(kept >> (8 * p)) & 0xff;
    }

    // The byte of the lane's row g of pixel `pixel` of a chunk, in the first plane and tile. Row g + 8 has it 4
    // further.
    __device__ __forceinline__ unsigned char *byte_of(int slot, int pixel) const {
        const uint4 *words = ring + slot * Layout::PLANES * TILES * WARP + lane() / 4 * 4 + pixel / 8;
        return (unsigned char *)words + pixel / 4 % 2 * 8 + pixel % 4;
    }

    // Gives those pixels of the chunk at x, in a slot, that lie outside the image what the border rule has for them.
    // The chunks that they stand for are in the ring. (The worker comes as a copy: its own stays in registers.)
    static __device__ __noinline__ void extend(worker w, int64_t x, int slot) {
        constexpr int PLANE_BYTES = TILES * WARP * sizeof(uint4);
        const int64_t n = w.job.b.width;
        const int ring = w.job.ring, radius = w.job.sums.radius;
        __syncwarp(); // other lanes' pixels are there
#pragma unroll 1
        for (int i = 0; i < 8; i++) {
            const int pixel = w.lane() % 4 * 8 + i;
            const int64_t at = x + pixel;
            // Past the radius there are no taps.
            if ((at >= 0 && at < n) || at < -radius || at >= n + radius) continue;
            const int64_t inside = gi_border_index(at, n, w.job.b.border);
            int from = slot;
            if (inside >= 0) from += (int)((inside - inside % CHUNK - x) / CHUNK);
            from += from < 0 ? ring : from >= ring ? -ring : 0;
            unsigned char *to = w.byte_of(slot, pixel);
            const unsigned char *source = w.byte_of(from, (int)(max(inside, (int64_t)0) % CHUNK));
            for (int c = 0, plane = 0; c < Layout::CHANNELS; c++)
                for (int p = 0; p < Layout::between_bytes(c); p++, plane++)
                    for (int k = 0; k < 2 * TILES; k++) {
                        const int offset = plane * PLANE_BYTES + k / 2 * WARP * (int)sizeof(uint4) + k % 2 * 4;
                        to[offset] = inside < 0 ? (unsigned char)w.outside_byte(c, p) : source[offset];
                    }
        }
        __syncwarp(); // and may be overwritten
    }

    // Rows that the first pass looks at, from y0 - reach on.
    __device__ __forceinline__ int depths() const { return ROWS * TILES + 2 * job.reach; }

    __device__ __forceinline__ reading reading_of() const {
        const blur_band &b = job.b;
        const int64_t first = y0 - job.reach;
        if (first < b.in_y0 || first + looked_at() > b.in_end) return reading::careful;
        return is_aligned<Layout>(b) ? reading::aligned : reading::shifted;
    }

    // Along the rows: channel C of `Count` parts of the chunk in a slot, from part `first` on.
    template <int C, int Count, int Sums>
    __device__ __forceinline__ void pass_2(int slot, int first, int (&acc)[TILES][Count][Sums][4]) const {
        const int chunks = job.ring / 2;
#pragma unroll 1
        for (int q = -chunks; q <= chunks; q++) {
            // The first of the taps for each part; the parts without any do no harm.
            const int tap = q * CHUNK - first * COLUMNS + job.reach;
            if (tap + CHUNK <= 0 || tap - Count * COLUMNS + 1 > 2 * job.reach) continue;
            uint2 bands[Count][TAP_BYTES];
#pragma unroll
            for (int j = 0; j < Count; j++)
#pragma unroll
                for (int k = 0; k < TAP_BYTES; k++) {
                    const uint32_t *from = along + k * 4 * job.copy_words + (tap - j * COLUMNS) / 4;
                    bands[j][k] = {from[0], from[1]};
                }
            int at = slot + q;
            at += at < 0 ? job.ring : at >= job.ring ? -job.ring : 0;
#pragma unroll
            for (int tile = 0; tile < TILES; tile++)
#pragma unroll
                for (int p = 0; p < Layout::between_bytes(C); p++) {
                    const uint4 values = *operand(at, Layout::plane(C) + p, tile);
#pragma unroll
                    for (int j = 0; j < Count; j++)
#pragma unroll
                        for (int k = 0; k < TAP_BYTES; k++) multiply_add(acc[tile][j][p + k], values, bands[j][k]);
                }
        }
    }

    // Finishes channel C of some parts. The last channel comes first, as it weighs the others.
    template <int C, bool Shrink, int Count>
    __device__ __forceinline__ void finish(int64_t x, int slot, int first,
                                           pixel_sums<Sample, Form> (&pixels)[TILES][Count][4]) const {
        constexpr int SUMS = Layout::between_bytes(C) + TAP_BYTES - 1;
        constexpr uint32_t ONE = 1U << Form::TAP_BITS;
        int acc[TILES][Count][SUMS][4] = {};
        pass_2<C>(slot, first, acc);
        Sample *to = (Sample *)(finished + lane() / 4 * Layout::ROW_BYTES) + lane() % 4 * 2 * Layout::CHANNELS + C;
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int j = 0; j < Count; j++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const int pixel = (first + j) * COLUMNS + i % 2, y = ROWS * tile + i / 2 * 8;
                    uint32_t inside_x = ONE, inside_y = ONE;
                    if (Shrink) {
                        const int64_t at = x + pixel + lane() % 4 * 2;
                        inside_x = taps_inside(job.sums, at, job.b.width, GI_BORDER_SHRINK);
                        inside_y = taps_inside(job.sums, row(tile, i), job.b.height, GI_BORDER_SHRINK);
                    }
                    to[y * Layout::ROW_BYTES / Layout::SAMPLE_BYTES + pixel * Layout::CHANNELS] = pixels[tile][j][i].of(
                        weigh<typename Form::Total>(acc[tile][j], i), C == Layout::CHANNELS - 1, inside_x, inside_y);
                }
        if constexpr (C > 0) finish<C - 1, Shrink>(x, slot, first, pixels);
    }

    // Writes the finished samples of the chunk at pixel x; `end` is the strip's.
    __device__ __forceinline__ void store(int64_t x, int64_t end) const {
        constexpr int PACKETS = CHUNK * Layout::PIXEL_BYTES / PACKET_BYTES, EACH = PACKET_PIXELS<Sample>;
        const int samples = (int)min((end - x) * Layout::CHANNELS, (int64_t)CHUNK * Layout::CHANNELS);
        const int rows = (int)min(job.b.out_end - y0, (int64_t)ROWS * TILES);
        Sample *out = job.b.template out_row<Sample>(y0) + x * Layout::CHANNELS;
#pragma unroll
        for (int i = lane(); i < ROWS * TILES * PACKETS; i += WARP) {
            const int y = i / PACKETS, first = i % PACKETS * EACH;
            if (y >= rows || first >= samples) continue;
            const uint4 packet = *(const uint4 *)(finished + y * Layout::ROW_BYTES + first * Layout::SAMPLE_BYTES);
            const uint32_t words[4] = {packet.x, packet.y, packet.z, packet.w};
            store_words<Sample>((Sample *)((char *)out + y * job.b.out_pitch) + first, words, samples - first);
        }
    }

    template <bool Shrink> __device__ __forceinline__ void pass_2_of(int64_t x, int slot) const {
        // As many parts at a time as accumulators find room for.
        constexpr int COUNT = 2;
#pragma unroll 1
        for (int first = 0; first < PARTS; first += COUNT) {
            pixel_sums<Sample, Form> pixels[TILES][COUNT][4];
            finish<Layout::CHANNELS - 1, Shrink>(x, slot, first, pixels);
        }
    }

    __device__ __forceinline__ void pass_2_all(int64_t x, int64_t end, int slot) const {
        if (job.b.border == GI_BORDER_SHRINK)
            pass_2_of<true>(x, slot);
        else
            pass_2_of<false>(x, slot);
        __syncwarp();
        store(x, end);
        __syncwarp();
    }
};

} // namespace tensor
} // namespace gi

#endif
