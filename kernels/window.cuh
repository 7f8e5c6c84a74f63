// What the WINDOW stages' kernels share: the band they work on, and finished rows on their way out.
#ifndef GI_KERNELS_WINDOW_CUH
#define GI_KERNELS_WINDOW_CUH

#include <cstring>

#include "kernels/common.cuh"

namespace gi {

// A grid's y and z dimensions hold at most 65535 blocks; kernels loop over what more there is.
inline unsigned grid_rows(size_t wanted) { return (unsigned)smaller(larger(wanted, 1), 65535); }

// A band as kernels see it. Rows are numbered as in the whole image.
struct band {
    const unsigned char *in;
    unsigned char *out;
    size_t in_pitch, out_pitch; // bytes
    int64_t width, height;      // of the whole image
    int64_t in_y0, in_end;      // rows that `in` holds
    int64_t out_y0, out_end;    // rows to make
    int channels;

    template <typename Sample> __device__ __forceinline__ const Sample *in_row(int64_t y) const {
        return (const Sample *)(in + (size_t)(y - in_y0) * in_pitch);
    }
    template <typename Sample> __device__ __forceinline__ Sample *out_row(int64_t y) const {
        return (Sample *)(out + (size_t)(y - out_y0) * out_pitch);
    }
};

inline band band_of(const gi_job *job) {
    band b = {};
    b.in = (const unsigned char *)job->in.data;
    b.out = (unsigned char *)job->out.data;
    b.in_pitch = job->in.pitch_bytes;
    b.out_pitch = job->out.pitch_bytes;
    b.width = job->in.width;
    b.height = job->place.image_height;
    b.in_y0 = job->place.in_y0;
    b.in_end = b.in_y0 + job->in.height;
    b.out_y0 = job->place.out_y0;
    b.out_end = b.out_y0 + job->out.height;
    b.channels = job->in.channels;
    return b;
}

// GI_ERR_USAGE unless the output is like the input and the input holds the rows that `halo` asks for.
inline gi_status check_band(const gi_job *job, uint32_t halo, const char *stage, gi_error *err) {
    const gi_view &in = job->in, &out = job->out;
    if (in.sample != GI_U8 && in.sample != GI_U16)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "%s takes 8-bit or 16-bit samples", stage);
    if (in.channels < 1 || in.channels > GI_MAX_CHANNELS || out.channels != in.channels || out.sample != in.sample ||
        out.width != in.width)
        return gi_fail(err, GI_ERR_USAGE, "the output of %s must be like its input", stage);
    const band b = band_of(job);
    const bool holds = b.in_y0 <= (b.out_y0 > halo ? b.out_y0 - halo : 0) &&
                       b.in_end >= (b.out_end + halo < b.height ? b.out_end + halo : b.height);
    if (!holds || b.out_end > b.height || b.in_end > b.height)
        return gi_fail(err, GI_ERR_USAGE, "the band lacks rows that %s needs around its output", stage);
    return GI_OK;
}

// Words of so many bytes as one access.
template <int Words> struct access_of;
template <> struct access_of<1> { using type = uint32_t; };
template <> struct access_of<2> { using type = uint2; };
template <> struct access_of<4> { using type = uint4; };

// The widest access that `Words` words are whole multiples of.
template <int Words> using run_access = typename access_of<Words % 4 == 0 ? 4 : Words % 2 == 0 ? 2 : 1>::type;

// Reads `Words` words from an address that their accesses are aligned to.
template <int Words> __device__ __forceinline__ void load_aligned(const unsigned char *from, uint32_t (&words)[Words]) {
    using Access = run_access<Words>;
    constexpr int EACH = sizeof(Access) / 4;
#pragma unroll
    for (int i = 0; i < Words / EACH; i++) {
        const Access access = ((const Access *)from)[i];
        memcpy(words + i * EACH, &access, sizeof access);
    }
}

// Reads `Words` words from any address, by way of the whole words around: up to three bytes more on either side.
template <int Words> __device__ __forceinline__ void load_shifted(const unsigned char *from, uint32_t (&words)[Words]) {
    const unsigned odd = (unsigned)((uintptr_t)from % 4);
    const uint32_t *aligned = (const uint32_t *)(from - odd);
    uint32_t low = aligned[0];
#pragma unroll
    for (int i = 0; i < Words; i++) {
        const uint32_t high = aligned[i + 1];
        words[i] = __funnelshift_r(low, high, 8 * odd);
        low = high;
    }
}

// A word from byte `at` of a row of `row_bytes`, byte by byte; those past the row's end are 0, and not touched.
static __device__ __noinline__ uint32_t load_bytes(const unsigned char *row, int64_t at, int64_t row_bytes) {
    uint32_t word = 0;
    for (int i = 0; i < 4; i++)
        if (at + i < row_bytes) word |= (uint32_t)row[at + i] << (8 * i);
    return word;
}

// Reads `Words` words from byte `at` of a row of `row_bytes`, whatever its alignment. What lies past the row's end is
// 0, and not touched.
template <int Words>
__device__ __forceinline__ void load_run(const unsigned char *row, int64_t at, int64_t row_bytes,
                                         uint32_t (&words)[Words]) {
    if (at >= 4 && at + 4 * Words + 4 <= row_bytes) {
        load_shifted(row + at, words);
    } else {
#pragma unroll
        for (int i = 0; i < Words; i++) words[i] = load_bytes(row, at + 4 * i, row_bytes);
    }
}

template <int Words> __device__ __forceinline__ void store_aligned(void *to, const uint32_t (&words)[Words]) {
    typename access_of<Words>::type access;
    memcpy(&access, words, sizeof access);
    __stcs((typename access_of<Words>::type *)to, access);
}

// Writes the first `count` of the samples in `words`, as one streaming access where all are and alignment allows.
template <typename Sample, int Words>
__device__ __forceinline__ void store_words(Sample *to, const uint32_t (&words)[Words], int count) {
    constexpr int SAMPLES = Words * 4 / (int)sizeof(Sample);
    if (count >= SAMPLES && (uintptr_t)to % sizeof words == 0) {
        store_aligned(to, words);
    } else {
#pragma unroll
        for (int i = 0; i < SAMPLES; i++)
            if (i < count) to[i] = (Sample)sample_get<Sample>(words, i);
    }
}

// Threads first, first + 1, ... first + step - 1 of a block or a warp, each with its own `first`, copy `count` samples
// from shared memory (16-byte aligned) to a row: 16 bytes a thread where the row's alignment allows.
template <typename Sample>
__device__ __forceinline__ void store_run(Sample *to, const Sample *from, int count, int first, int step) {
    int done = 0;
    if ((uintptr_t)to % PACKET_BYTES == 0) {
        const int packets = count / PACKET_PIXELS<Sample>;
        for (int i = first; i < packets; i += step) ((uint4 *)to)[i] = ((const uint4 *)from)[i];
        done = packets * PACKET_PIXELS<Sample>;
    }
    for (int i = done + first; i < count; i += step) to[i] = from[i];
}

} // namespace gi

#endif
