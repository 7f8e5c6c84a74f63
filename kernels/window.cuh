// What the WINDOW stages' kernels share: the band they work on, and finished rows on their way out.
#ifndef GI_KERNELS_WINDOW_CUH
#define GI_KERNELS_WINDOW_CUH

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
    int64_t in_y0;              // first row that `in` holds
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
    const int64_t in_end = b.in_y0 + in.height;
    const bool holds = b.in_y0 <= (b.out_y0 > halo ? b.out_y0 - halo : 0) &&
                       in_end >= (b.out_end + halo < b.height ? b.out_end + halo : b.height);
    if (!holds || b.out_end > b.height || in_end > b.height)
        return gi_fail(err, GI_ERR_USAGE, "the band lacks rows that %s needs around its output", stage);
    return GI_OK;
}

// The block copies `count` samples from shared memory (16-byte aligned) to a row: 16 bytes a thread where the row's
// alignment allows.
template <typename Sample> __device__ __forceinline__ void store_run(Sample *to, const Sample *from, int count) {
    int done = 0;
    if ((uintptr_t)to % PACKET_BYTES == 0) {
        const int packets = count / PACKET_PIXELS<Sample>;
        for (int i = (int)threadIdx.x; i < packets; i += (int)blockDim.x) ((uint4 *)to)[i] = ((const uint4 *)from)[i];
        done = packets * PACKET_PIXELS<Sample>;
    }
    for (int i = done + (int)threadIdx.x; i < count; i += (int)blockDim.x) to[i] = from[i];
}

} // namespace gi

#endif
