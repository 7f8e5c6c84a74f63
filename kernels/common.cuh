// What every kernel file shares: 16-byte streaming accesses, samples in registers, launch helpers.
//
// Why 16 bytes: a warp's load instruction then covers 512 contiguous bytes, so that few instructions keep enough bytes
// in flight to fill the memory bus. Why streaming (`ld.global.cs`, `st.global.cs`): a pixel that is read once should
// be the first to leave the cache, not push out tables that are read again and again.
#ifndef GI_KERNELS_COMMON_CUH
#define GI_KERNELS_COMMON_CUH

#include <cuda_runtime.h>

#include "cuda/cuda_status.h"
#include "kernels/launch.h"

namespace gi {

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffff;

// The unit of the fast paths: C packets of 16 bytes hold 16 / sizeof(Sample) whole pixels of C channels, whatever C is,
// so the same number of pixels is a whole number of packets on the input and on the output of every operation.
constexpr int PACKET_BYTES = 16;
template <typename Sample> constexpr int PACKET_PIXELS = PACKET_BYTES / (int)sizeof(Sample);

// A 16-byte packet as four 32-bit registers.
constexpr int PACKET_WORDS = PACKET_BYTES / 4;

// Reads `Count` packets into registers. All loads are issued before any result is used. Arrays in registers must be
// indexed by constants only (unrolled loops): a run-time index would send them to local memory.
template <int Count> __device__ __forceinline__ void load_packets(const uint4 *from, uint32_t (&words)[Count * 4]) {
#pragma unroll
    for (int i = 0; i < Count; i++) {
        uint4 packet = __ldcs(from + i);
        words[4 * i] = packet.x;
        words[4 * i + 1] = packet.y;
        words[4 * i + 2] = packet.z;
        words[4 * i + 3] = packet.w;
    }
}

template <int Count> __device__ __forceinline__ void store_packets(uint4 *to, const uint32_t (&words)[Count * 4]) {
#pragma unroll
    for (int i = 0; i < Count; i++)
        __stcs(to + i, make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]));
}

// Sample i of packed registers: little-endian, as it lies in memory.
template <typename Sample> __device__ __forceinline__ uint32_t sample_get(const uint32_t *words, int i) {
    constexpr int PER_WORD = 4 / (int)sizeof(Sample), BITS = 8 * (int)sizeof(Sample);
    return words[i / PER_WORD] >> (i % PER_WORD * BITS) & ((1U << BITS) - 1);
}

// Puts sample i into registers that are zero there.
template <typename Sample> __device__ __forceinline__ void sample_put(uint32_t *words, int i, uint32_t value) {
    constexpr int PER_WORD = 4 / (int)sizeof(Sample), BITS = 8 * (int)sizeof(Sample);
    words[i / PER_WORD] |= value << (i % PER_WORD * BITS);
}

// How a kernel walks over an image: first `groups` groups of PACKET_PIXELS pixels, 16 bytes at a time, then a rectangle
// of pixels one by one. An image without row gaps is one long run of groups, and the rectangle is the few pixels after
// the last whole group; of any other image the rectangle is the whole.
struct walk {
    const void *in;
    void *out; // NULL where nothing is written
    size_t groups;
    const unsigned char *rest_in;
    unsigned char *rest_out;
    size_t rest_in_pitch, rest_out_pitch; // bytes
    uint32_t rest_width, rest_height;     // pixels, rows
};

inline bool is_packed(const gi_view &view) {
    return (uintptr_t)view.data % PACKET_BYTES == 0 &&
           (view.height <= 1 || view.pitch_bytes == gi_row_bytes(view.width, view.channels, view.sample));
}

// `out` has the width, height and sample of `in`; NULL where nothing is written.
inline walk walk_over(const gi_view &in, const gi_view *out) {
    walk w = {};
    w.in = in.data;
    w.rest_in = (const unsigned char *)in.data;
    w.rest_in_pitch = in.pitch_bytes;
    w.rest_width = in.width;
    w.rest_height = in.height;
    if (out) {
        w.out = out->data;
        w.rest_out = (unsigned char *)out->data;
        w.rest_out_pitch = out->pitch_bytes;
    }
    if (!is_packed(in) || (out && !is_packed(*out))) return w;
    size_t pixels = (size_t)in.width * in.height, group = PACKET_BYTES / gi_sample_bytes(in.sample);
    w.groups = pixels / group;
    w.rest_in += w.groups * PACKET_BYTES * (size_t)in.channels;
    if (out) w.rest_out += w.groups * PACKET_BYTES * (size_t)out->channels;
    w.rest_width = (uint32_t)(pixels % group);
    w.rest_height = w.rest_width ? 1 : 0;
    return w;
}

inline size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

// A grid's x dimension holds at most 2^31 - 1 blocks; kernels loop over what more there is.
inline unsigned grid_blocks(size_t wanted) {
    constexpr size_t MOST = 0x7fffffff;
    return (unsigned)(wanted < 1 ? 1 : wanted < MOST ? wanted : MOST);
}

inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
inline size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// *blocks = how many blocks of this kernel, with `shared` bytes of dynamic shared memory each, the current device runs
// at once. Cached by the driver: about a microsecond.
template <typename Kernel>
gi_status resident_blocks(Kernel kernel, int threads, size_t *blocks, gi_error *err, size_t shared = 0) {
    int device = 0, multiprocessors = 0, each = 0;
    gi_status status = gi_cuda_check(cudaGetDevice(&device), "asking for the device", err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                               "asking for the multiprocessors", err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared),
                               "asking for the occupancy", err);
    *blocks = (size_t)multiprocessors * (size_t)(each > 0 ? each : 1);
    return status;
}

} // namespace gi

#endif
