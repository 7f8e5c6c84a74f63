// What a warp does with its band in the Gaussian on the tensor cores (blur_gauss.cu).
#ifndef GI_KERNELS_BLUR_GAUSS_WORKER_CUH
#define GI_KERNELS_BLUR_GAUSS_WORKER_CUH

#include "kernels/blur_gauss_weighted.cuh"

namespace gi {
namespace tensor {

// A warp at work on a band.
template <typename Layout> struct worker : weighted_downward<Layout> {
    using Base = downward<Layout>;
    using Form = typename Layout::Form;
    using Sample = typename Layout::Sample;
    using Bands = bands<Layout>;
    using Base::along, Base::finished, Base::job, Base::lane, Base::operand, Base::ring, Base::row, Base::y0;
    static constexpr int TILES = Layout::ROW_TILES, TAP_BYTES = Layout::TAP_BYTES;

    template <reading How> __device__ __forceinline__ void pass_1_of(int64_t x, int slot) const {
        if constexpr (Layout::WEIGHTED) {
            this->template pass_1_weighted<How>(x, slot);
        } else {
            Base::template pass_1<How>(x, slot);
        }
    }

    // All channels of a chunk. `how`: as far as the rows go.
    __device__ __forceinline__ void pass_1_all(int64_t x, int slot, reading how) const {
        if (how == reading::aligned && x + CHUNK <= job.b.width)
            pass_1_of<reading::aligned>(x, slot);
        else if (how == reading::listed && x + CHUNK <= job.b.width)
            pass_1_of<reading::listed>(x, slot);
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
        const int slots = w.job.ring, radius = w.job.sums.radius;
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
            from += from < 0 ? slots : from >= slots ? -slots : 0;
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

    // What the second pass sums of `Count` parts, channel after channel.
    template <int Count> using totals = int[TILES][Count][Layout::TOTALS][4];

    // Adds the chunk in a slot. All planes come with a tap's byte before they come with the next: so an instruction's
    // sum is there when another adds to it.
    template <int Count>
    __device__ __forceinline__ void add_along(int slot, const typename Bands::Along (&taps)[Count],
                                              totals<Count> &acc) const {
        uint4 values[TILES][Layout::PLANES];
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int p = 0; p < Layout::PLANES; p++) values[tile][p] = *operand(slot, p, tile);
#pragma unroll
        for (int k = 0; k < TAP_BYTES; k++)
#pragma unroll
            for (int tile = 0; tile < TILES; tile++)
#pragma unroll
                for (int p = 0; p < Layout::PLANES; p++)
#pragma unroll
                    for (int j = 0; j < Count; j++)
                        multiply_add(acc[tile][j][Layout::total_of(p) + k], values[tile][p], taps[j].planes[k]);
    }

    // Along the rows: `Count` parts of the chunk in a slot, from part `first` on.
    template <int Count> __device__ __forceinline__ void pass_2(int slot, int first, totals<Count> &acc) const {
        const int chunks = job.ring / 2;
#pragma unroll 1
        for (int q = -chunks; q <= chunks; q++) {
            // The first of the taps for each part; the parts without any do no harm.
            const int tap = q * CHUNK - first * COLUMNS + job.reach;
            if (tap + CHUNK <= 0 || tap - Count * COLUMNS + 1 > 2 * job.reach) continue;
            typename Bands::Along taps[Count];
#pragma unroll
            for (int j = 0; j < Count; j++) taps[j] = along[Bands::along(job, q, first + j) * WARP];
            int at = slot + q;
            at += at < 0 ? job.ring : at >= job.ring ? -job.ring : 0;
            add_along(at, taps, acc);
        }
    }

    // What the second pass begins with without alpha: half of what is rounded away, but where tap sums divide.
    template <bool Shrink, int Count> __device__ __forceinline__ void begin_totals(totals<Count> &acc) const {
        constexpr int PLANE = Layout::NARROW ? 2 : 3, HALF = Layout::NARROW ? 1 << 5 : 1 << 7;
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int j = 0; j < Count; j++)
#pragma unroll
                for (int k = 0; k < Layout::TOTALS; k++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        acc[tile][j][k][i] = !Shrink && !Layout::WEIGHTED && k % Layout::totals(0) == PLANE ? HALF : 0;
    }

    // Finishes some parts.
    template <bool Shrink, int Count>
    __device__ __forceinline__ void finish(int64_t x, int first, const totals<Count> &acc) const {
        unsigned char *to = finished + lane() / 4 * Layout::ROW_BYTES + lane() % 4 * 2 * Layout::PIXEL_BYTES;
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int j = 0; j < Count; j++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int pixel = (first + j) * COLUMNS, y = ROWS * tile + half * 8;
                    pixel_maker<Layout> pair[2];
#pragma unroll
                    for (int i = 0; i < 2; i++) {
                        if constexpr (Shrink) {
                            const int64_t place = x + pixel + lane() % 4 * 2 + i;
                            pair[i].make_part(
                                acc[tile][j], 2 * half + i, taps_inside(job.sums, place, job.b.width, GI_BORDER_SHRINK),
                                taps_inside(job.sums, row(tile, 2 * half), job.b.height, GI_BORDER_SHRINK));
                        } else {
                            pair[i].make(acc[tile][j], 2 * half + i);
                        }
                    }
                    store_pair<Layout>(to + y * Layout::ROW_BYTES + pixel * Layout::PIXEL_BYTES, pair);
                }
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

    // As many parts at a time as accumulators find room for.
    template <bool Shrink> __device__ __forceinline__ void pass_2_of(int64_t x, int slot) const {
        constexpr int COUNT = Layout::PARTS_AT_ONCE;
#pragma unroll 1
        for (int first = 0; first < PARTS; first += COUNT) {
            totals<COUNT> acc;
            begin_totals<Shrink, COUNT>(acc);
            pass_2<COUNT>(slot, first, acc);
            finish<Shrink, COUNT>(x, first, acc);
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
