// Gray in linear light, with nothing before it: (R, G, B) by tables to linear light, a sum, by tables back to a code.
//
// Threads   as kernels/point.cu: a thread takes `channels` packets of 16 bytes.
// Shared    u8: the three tables of linear light with a copy for each lane, 96 KiB; the table back and what follows, 16
//           KiB each. A block has them all, or the form without serves.
// u16       tables of 256 KiB for each colour and for the way back fit no shared memory, and looking up seven or more
//           of their entries a pixel takes 14 times as long as a copy. So the hardware's logarithm and exponential give
//           an estimate of the code, to a few hundredths of one; where that leaves two codes, one pixel in nine of a
//           random image, four look-ups decide.
// Exact     the very sums and thresholds of gi_linear_encode: an estimate only says where to look.
#ifndef GI_KERNELS_POINT_LINEAR_CUH
#define GI_KERNELS_POINT_LINEAR_CUH

#include "kernels/lane_tables.cuh"
#include "kernels/large_shared.cuh"

namespace gi {

constexpr int LINEAR_THREADS = 1024;
constexpr int COARSE_TURNS = (GI_LINEAR_COARSE_COUNT + LINEAR_THREADS - 1) / LINEAR_THREADS;

// For sums that agree in all but the low GI_LINEAR_COARSE_SHIFT bits: the code of the smallest, and from which low bits
// on it is one more. No interval of that length holds two thresholds of 8-bit codes: the least distance between two is
// 2^30 / (12.92 * 255) = 1.24 intervals. An entry is what to add to the sum for the code to stand above the low bits:
// the code, less the interval's number, and the length less the low bits that make it one more.
struct linear_tables_u8 {
    lane_words<WARP> light[3];
    lane_words<16> after;
    uint32_t codes[GI_LINEAR_COARSE_COUNT];

    __device__ __forceinline__ void fill(const gi_device_point &op) {
        const gi_linear_tables &t = op.linear;
        constexpr uint32_t LENGTH = 1U << GI_LINEAR_COARSE_SHIFT;
        __shared__ uint32_t thresholds[257];
        if (threadIdx.x < 256) thresholds[threadIdx.x] = t.threshold[threadIdx.x];
        if (threadIdx.x == 0) thresholds[256] = UINT32_MAX; // above the last code there is none
        uint32_t first[COARSE_TURNS];
#pragma unroll
        for (int i = 0; i < COARSE_TURNS; i++) {
            const uint32_t at = i * LINEAR_THREADS + threadIdx.x;
            first[i] = at < GI_LINEAR_COARSE_COUNT ? t.coarse[at] : 0;
        }
        fill_lane_words<LINEAR_THREADS, 1>(&after,
                                           [&](int, uint32_t v) { return gi_curve_at(&op.point.after, v, 255); });
        fill_lane_words<LINEAR_THREADS, 3>(light, [&](int c, uint32_t v) {
            return c == 0 ? t.red[v] : c == 1 ? t.green[v] : t.blue[v];
        });
#pragma unroll
        for (int i = 0; i < COARSE_TURNS; i++) {
            const uint32_t at = i * LINEAR_THREADS + threadIdx.x;
            if (at < GI_LINEAR_COARSE_COUNT)
                codes[at] = (first[i] - at + 1) * LENGTH - min(thresholds[first[i] + 1] - at * LENGTH, LENGTH);
        }
        __syncthreads();
    }
    __device__ __forceinline__ uint32_t code(uint32_t red, uint32_t green, uint32_t blue) const {
        const unsigned char *lane = lane_of(light);
        constexpr int NEXT = lane_words<WARP>::BYTES;
        const uint32_t sum =
            lane_word<WARP>(lane, red) + lane_word<WARP>(lane + NEXT, green) + lane_word<WARP>(lane + 2 * NEXT, blue);
        return (sum + codes[sum >> GI_LINEAR_COARSE_SHIFT]) >> GI_LINEAR_COARSE_SHIFT;
    }
};

template <int Channels, bool Follows>
__global__ void __launch_bounds__(LINEAR_THREADS, 1)
    linear_u8_kernel(const __grid_constant__ gi_device_point op, const __grid_constant__ walk work) {
    constexpr int OUT = Channels - 2;
    extern __shared__ uint32_t memory[];
    linear_tables_u8 &tables = *(linear_tables_u8 *)memory;
    const size_t stride = (size_t)gridDim.x * LINEAR_THREADS;
    size_t g = (size_t)blockIdx.x * LINEAR_THREADS + threadIdx.x;
    uint32_t from[Channels * PACKET_WORDS];
    if (g < work.groups) load_packets<Channels>((const uint4 *)work.in + g * Channels, from);
    tables.fill(op); // while the first pixels are on their way
    const unsigned char *after = lane_of(&tables.after);
    auto gray = [&](uint32_t red, uint32_t green, uint32_t blue) {
        const uint32_t code = tables.code(red, green, blue);
        return Follows ? lane_word<16>(after, code) : code;
    };

    for (; g < work.groups; g += stride) {
        uint32_t to[OUT * PACKET_WORDS] = {};
#pragma unroll
        for (int p = 0; p < PACKET_PIXELS<uint8_t>; p++) {
            auto in = [&](int c) { return byte_get(from, p * Channels + c); };
            sample_put<uint8_t>(to, p * OUT, gray(in(0), in(1), in(2)));
            if (OUT == 2) sample_put<uint8_t>(to, p * OUT + 1, in(Channels - 1));
        }
        if (g + stride < work.groups) load_packets<Channels>((const uint4 *)work.in + (g + stride) * Channels, from);
        store_packets<OUT>((uint4 *)work.out + g * OUT, to);
    }
    for (size_t y = blockIdx.x; y < work.rest_height; y += gridDim.x) {
        const uint8_t *in = work.rest_in + y * work.rest_in_pitch;
        uint8_t *out = work.rest_out + y * work.rest_out_pitch;
        for (size_t x = threadIdx.x; x < work.rest_width; x += LINEAR_THREADS) {
            out[x * OUT] = (uint8_t)gray(in[x * Channels], in[x * Channels + 1], in[x * Channels + 2]);
            if (OUT == 2) out[x * OUT + 1] = in[x * Channels + Channels - 1];
        }
    }
}

// *done: the operation is under way; false where the device's blocks have too little shared memory for it.
template <int Channels>
gi_status launch_linear_u8(const gi_job *job, const gi_device_point &op, bool *done, gi_error *err) {
    size_t most = 0, resident = 0;
    gi_status status = most_shared(&most, err);
    *done = status == GI_OK && most >= sizeof(linear_tables_u8);
    if (!*done) return status;
    const auto kernel =
        op.point.after.kind == GI_CURVE_IDENTITY ? linear_u8_kernel<Channels, false> : linear_u8_kernel<Channels, true>;
    status = allow_shared(kernel, LINEAR_THREADS, sizeof(linear_tables_u8), &resident, err);
    if (status != GI_OK) return status;
    const walk work = walk_over(job->in, &job->out);
    const size_t useful = larger(divide_up(work.groups, LINEAR_THREADS), work.rest_height);
    kernel<<<grid_blocks(smaller(resident, useful)), LINEAR_THREADS, sizeof(linear_tables_u8),
             (cudaStream_t)job->stream>>>(op, work);
    return gi_cuda_check(cudaGetLastError(), "starting gray in linear light", err);
}

// --- u16 -------------------------------------------------------------------------------------------------------------

constexpr int LINEAR_U16_THREADS = 256;

__device__ __forceinline__ float approximate_log2(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float approximate_exp2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// sRGB decoded: x / 12.92 up to x = 0.04045, else ((x + 0.055) / 1.055)^2.4, with x = v / 65535.
__device__ __forceinline__ float estimate_light(uint32_t v) {
    const float f = __uint_as_float(0x4b000000U | v) - 8388608.0F; // v, without a conversion at a quarter of the rate
    const float curve = approximate_exp2(2.4F * approximate_log2(fmaf(f, 1 / 69139.425F, 0.055F / 1.055F)));
    return v > 2650 ? curve : f * (1 / (65535 * 12.92F));
}

// The code of a pixel is `code` for sure, or `doubt`: one of `code` and the one below it.
struct code_estimate {
    uint32_t code;
    bool doubt;
};

// The error of the estimate x, in codes, with e = x + 3604 (what the root makes, scaled), for sums down to 0.0031: the
// PTX ISA gives lg2 an error of 2^-22, absolute from 0.5 on and relative below, and ex2 a relative 2^-22. Through both
// powers that is at most 0.051 at e = 69139, 0.027 at 26480, 0.015 at 10150 and 0.012 at 6554, products' and sums'
// rounding included; the tables' own rounding moves codes by 0.0012 at most. The bound used is 1.3e-6 e + 0.005: 0.095,
// 0.039, 0.018 and 0.0135.
__device__ __forceinline__ code_estimate estimate_code(uint32_t red, uint32_t green, uint32_t blue) {
    const float sum = 0.2126F * estimate_light(red) + 0.7152F * estimate_light(green) + 0.0722F * estimate_light(blue);
    const float root = approximate_exp2(approximate_log2(sum) * (1 / 2.4F));
    const float x = sum > 0.0031308F ? fmaf(root, 69139.425F, 0.5F - 3604.425F) : fmaf(sum, 65535 * 12.92F, 0.5F);
    const float error = fmaf(x, 1.3e-6F, 0.005F + 1.3e-6F * 3604);
    // Adding 2^23 leaves whole numbers, rounded: half of one less makes it the floor.
    const uint32_t high = __float_as_uint((x + error) - 0.5F + 8388608.0F) & 0xffff;
    const uint32_t low = __float_as_uint((x - error) - 0.5F + 8388608.0F) & 0xffff;
    return {high, high != low};
}

// Whether the code of a pixel is below `code`, of which and the one below it it is one.
__device__ __forceinline__ bool is_below(const gi_linear_tables &t, const uint16_t *pixel, uint32_t code) {
    return t.red[pixel[0]] + t.green[pixel[1]] + t.blue[pixel[2]] < t.threshold[code];
}

template <int Channels, bool Follows>
__global__ void __launch_bounds__(LINEAR_U16_THREADS)
    linear_u16_kernel(const __grid_constant__ gi_device_point op, const __grid_constant__ walk work) {
    constexpr int OUT = Channels - 2, PIXELS = PACKET_PIXELS<uint16_t>;
    auto follow = [&](uint32_t code) { return Follows ? gi_curve_at(&op.point.after, code, 65535) : code; };
    const size_t g = (size_t)blockIdx.x * LINEAR_U16_THREADS + threadIdx.x;
    if (g < work.groups) {
        uint32_t from[Channels * PACKET_WORDS], to[OUT * PACKET_WORDS] = {}, codes[PIXELS], doubts = 0;
        load_packets<Channels>((const uint4 *)work.in + g * Channels, from);
#pragma unroll
        for (int p = 0; p < PIXELS; p++) {
            auto in = [&](int c) { return sample_get<uint16_t>(from, p * Channels + c); };
            const code_estimate estimate = estimate_code(in(0), in(1), in(2));
            codes[p] = estimate.code;
            if (estimate.doubt) doubts |= 1U << p;
        }
        // Each lane settles its own doubts, whichever pixels they are of: as many turns as the most doubtful lane has.
        for (uint32_t left = doubts; left; left &= left - 1) {
            const int at = __ffs((int)left) - 1;
            uint32_t code = 0;
#pragma unroll
            for (int p = 0; p < PIXELS; p++)
                if (p == at) code = codes[p];
            const uint16_t *pixel = (const uint16_t *)work.in + (g * PIXELS + at) * Channels;
            if (!is_below(op.linear, pixel, code)) doubts &= ~(1U << at);
        }
#pragma unroll
        for (int p = 0; p < PIXELS; p++) {
            sample_put<uint16_t>(to, p * OUT, follow(codes[p] - (doubts >> p & 1)));
            if (OUT == 2) sample_put<uint16_t>(to, p * OUT + 1, sample_get<uint16_t>(from, (p + 1) * Channels - 1));
        }
        store_packets<OUT>((uint4 *)work.out + g * OUT, to);
    }
    for (size_t y = blockIdx.x; y < work.rest_height; y += gridDim.x) {
        const uint16_t *in = (const uint16_t *)(work.rest_in + y * work.rest_in_pitch);
        uint16_t *out = (uint16_t *)(work.rest_out + y * work.rest_out_pitch);
        for (size_t x = threadIdx.x; x < work.rest_width; x += LINEAR_U16_THREADS) {
            const uint16_t *pixel = in + x * Channels;
            const code_estimate estimate = estimate_code(pixel[0], pixel[1], pixel[2]);
            const bool below = estimate.doubt && is_below(op.linear, pixel, estimate.code);
            out[x * OUT] = (uint16_t)follow(estimate.code - below);
            if (OUT == 2) out[x * OUT + 1] = pixel[Channels - 1];
        }
    }
}

template <int Channels> gi_status launch_linear_u16(const gi_job *job, const gi_device_point &op, gi_error *err) {
    const auto kernel = op.point.after.kind == GI_CURVE_IDENTITY ? linear_u16_kernel<Channels, false>
                                                                 : linear_u16_kernel<Channels, true>;
    const walk work = walk_over(job->in, &job->out);
    const size_t blocks = larger(divide_up(work.groups, LINEAR_U16_THREADS), work.rest_height);
    kernel<<<grid_blocks(blocks), LINEAR_U16_THREADS, 0, (cudaStream_t)job->stream>>>(op, work);
    return gi_cuda_check(cudaGetLastError(), "starting gray in linear light", err);
}
} // namespace gi

#endif
