// Point operations: out = after(mix(before(in))), each output pixel from the same input pixel alone, in one pass.
//
// Formula   before: one curve (identity, threshold or table) for each colour channel.
//           mix:    none, or (w0 R + w1 G + w2 B + 16384) >> 15, or Rec. 709 in linear light by tables (IEC 61966-2-1).
//           after:  one curve on the mixed gray. Alpha passes unchanged. core/point.h defines all of it.
//           shift:  no mix, but clamp(C + after(Y) - Y) for each colour C, with Y = (w0 R + w1 G + w2 B + 16384) >> 15.
// Shapes    1..4 channels of u8 or u16, any width, height, pitch and alignment; a mix makes 3 channels 1, 4 channels 2.
// Exact     integers only, by the very functions that the CPU backend calls: the same bytes.
// Threads   fast path: a thread takes 16 bytes' worth of pixels (16 of u8, 8 of u16), i.e. `channels` loads and one or
//           more stores of 16 bytes. A thread's loads are 16 * channels bytes apart from its neighbour's, but a warp's
//           cover one contiguous range, so that every byte fetched is used. Any other layout, and the last few pixels:
//           a block for each row, a thread for each pixel. Without a mix: kernels/point_samples.cuh. Gray in linear
//           light, nothing before it: kernels/point_linear.cuh.
// Shared    u8: curves that are no threshold as tables with copies for the lanes, 8 or 16 KiB a curve. The table after
// a
//           mix of u16: 128 KiB, where a block can have so much; u16 tables are too large else, and the cache serves
//           them. Colours, which a lane has side by side, on their way out.
// Bytes     channels_in + channels_out samples a pixel, each moved once.
// Bound     memory bandwidth: a copy of the same bytes takes as long.
#include <type_traits>

#include "kernels/point_linear.cuh"
#include "kernels/point_samples.cuh"

namespace {

using namespace gi;

// Four warps or more hide each other's loads; 256 divides the threads of a multiprocessor on every architecture, and
// larger blocks only make the last wave of blocks coarser.
constexpr int THREADS = 256;

// A curve whose kind is looked up for each sample rather than compiled in. The branch is the same for all threads.
constexpr int ANY = -1;

// One form of the operation, compiled on its own so that the inner loop has no choices left to make.
template <typename S, int Channels, gi_mix_kind Mix, int Before, int After> struct form {
    using Sample = S;
    static constexpr int IN = Channels;
    static constexpr bool TO_GRAY = Mix == GI_MIX_WEIGHTS || Mix == GI_MIX_LINEAR;
    static constexpr int OUT = TO_GRAY ? Channels - 2 : Channels;
    static constexpr gi_mix_kind MIX = Mix;
    static constexpr int BEFORE = Before, AFTER = After;
    static constexpr uint32_t MAX = (S)-1;
    // What becomes tables in shared memory.
    static constexpr bool SMALL = sizeof(S) == 1;
    static constexpr bool BEFORE_SHARED = SMALL && BEFORE == ANY;
    static constexpr bool AFTER_SHARED = SMALL && (AFTER == GI_CURVE_TABLE || AFTER == ANY);
    static constexpr bool AFTER_LARGE = !SMALL && AFTER == GI_CURVE_TABLE;
    static constexpr bool LINEAR = MIX == GI_MIX_LINEAR;
};

// Room for the tables that the form uses: small ones before a mix, which are three and rare.
template <typename Form> struct shared_tables {
    static constexpr bool ANY_AT_ALL = Form::BEFORE_SHARED || Form::AFTER_SHARED;
    struct none {};
    static constexpr int COPIES = Form::BEFORE_SHARED ? LANE_COPIES / 2 : LANE_COPIES;
    std::conditional_t<Form::AFTER_SHARED, lane_words<COPIES>, none> after;
    std::conditional_t<Form::BEFORE_SHARED, lane_bytes[3], none> before;
};

template <typename Form> __device__ __forceinline__ void fill_tables(const gi_point &point, shared_tables<Form> &room) {
    if constexpr (Form::BEFORE_SHARED)
        fill_lane_bytes<THREADS, 3>(room.before,
                                    [&](int c, uint32_t v) { return gi_curve_at(&point.before[c], v, Form::MAX); });
    if constexpr (Form::AFTER_SHARED)
        fill_lane_words<THREADS, 1>(&room.after,
                                    [&](int, uint32_t v) { return gi_curve_at(&point.after, v, Form::MAX); });
    __syncthreads();
}

// The operation as a thread sees it.
template <typename Form> struct operation {
    const gi_device_point &op;
    const shared_tables<Form> *shared;
    const uint16_t *large; // the table after a mix, in shared memory; NULL: where op has it

    template <int Kind> __device__ __forceinline__ uint32_t curve(const gi_curve &curve, uint32_t v) const {
        gi_curve fixed = curve;
        if constexpr (Kind != ANY) fixed.kind = (gi_curve_kind)Kind;
        return gi_curve_at(&fixed, v, Form::MAX);
    }
    __device__ __forceinline__ uint32_t before(int c, uint32_t v) const {
        if constexpr (Form::BEFORE_SHARED)
            return lane_byte((const unsigned char *)&shared->before[c] + threadIdx.x % WARP * 4, v);
        return curve<Form::BEFORE>(op.point.before[c], v);
    }
    __device__ __forceinline__ uint32_t after(uint32_t v) const {
        if constexpr (Form::AFTER_SHARED) return lane_word<shared_tables<Form>::COPIES>(lane_of(&shared->after), v);
        if constexpr (Form::AFTER_LARGE)
            if (large) return large[v];
        return curve<Form::AFTER>(op.point.after, v);
    }
};

template <typename Form> __device__ __forceinline__ uint32_t mix(const gi_device_point &op, const uint32_t (&v)[3]) {
    if constexpr (Form::LINEAR)
        return gi_linear_encode(&op.linear, op.linear.red[v[0]] + op.linear.green[v[1]] + op.linear.blue[v[2]]);
    return (op.point.weights[0] * v[0] + op.point.weights[1] * v[1] + op.point.weights[2] * v[2] + 16384) >> 15;
}

// out = v + by, clamped to 0..max.
__device__ __forceinline__ void shift(const uint32_t (&v)[3], int32_t by, uint32_t most, uint32_t *out) {
#pragma unroll
    for (int c = 0; c < 3; c++) out[c] = (uint32_t)min(max((int32_t)v[c] + by, 0), (int32_t)most);
}

template <typename Form>
__device__ __forceinline__ void apply(const operation<Form> &how, const uint32_t (&in)[Form::IN],
                                      uint32_t (&out)[Form::OUT]) {
    uint32_t v[3];
#pragma unroll
    for (int c = 0; c < 3; c++) v[c] = how.before(c, in[c]);
    const uint32_t gray = mix<Form>(how.op, v), made = how.after(gray);
    if constexpr (Form::TO_GRAY) out[0] = made;
    if constexpr (!Form::TO_GRAY) shift(v, (int32_t)made - (int32_t)gray, Form::MAX, out);
    if constexpr (Form::IN % 2 == 0) out[Form::OUT - 1] = in[Form::IN - 1];
}

// The pixels of the walk's rectangle, one by one: the plain form of the operation.
template <typename Form> __device__ void apply_rest(const operation<Form> &how, const walk &work) {
    using Sample = typename Form::Sample;
    for (size_t y = blockIdx.x; y < work.rest_height; y += gridDim.x) {
        const Sample *in = (const Sample *)(work.rest_in + y * work.rest_in_pitch);
        Sample *out = (Sample *)(work.rest_out + y * work.rest_out_pitch);
        for (size_t x = threadIdx.x; x < work.rest_width; x += blockDim.x) {
            uint32_t from[Form::IN], to[Form::OUT];
#pragma unroll
            for (int c = 0; c < Form::IN; c++) from[c] = in[x * Form::IN + c];
            apply<Form>(how, from, to);
#pragma unroll
            for (int c = 0; c < Form::OUT; c++) out[x * Form::OUT + c] = (Sample)to[c];
        }
    }
}

// One group of pixels between registers: unpack, apply, pack.
template <typename Form>
__device__ __forceinline__ void apply_group(const operation<Form> &how, const uint32_t (&in)[Form::IN * PACKET_WORDS],
                                            uint32_t (&out)[Form::OUT * PACKET_WORDS]) {
    using Sample = typename Form::Sample;
#pragma unroll
    for (int p = 0; p < PACKET_PIXELS<Sample>; p++) {
        uint32_t from[Form::IN], to[Form::OUT];
#pragma unroll
        for (int c = 0; c < Form::IN; c++) from[c] = sample_get<Sample>(in, p * Form::IN + c);
        apply<Form>(how, from, to);
#pragma unroll
        for (int c = 0; c < Form::OUT; c++) sample_put<Sample>(out, p * Form::OUT + c, to[c]);
    }
}

// The whole image. What is yet to be done before an operation, prepare(), is done while the first pixels are on their
// way; the next ones come while a group is stored. Once: there is a thread for each group.
template <typename Form, int Threads, bool Once, typename Prepare>
__device__ __forceinline__ void apply_image(const operation<Form> &how, const walk &work, Prepare prepare) {
    constexpr int IN = Form::IN, OUT = Form::OUT;
    constexpr bool TURNED = OUT >= 3;
    __shared__ uint4 room[TURNED ? Threads / 2 * OUT : 1];
    const uint4 *in = (const uint4 *)work.in;
    uint4 *out = (uint4 *)work.out;
    const size_t stride = (size_t)gridDim.x * Threads, lane = threadIdx.x % WARP;
    size_t g = (size_t)blockIdx.x * Threads + threadIdx.x;
    uint32_t from[IN * PACKET_WORDS];
    if (g < work.groups) load_packets<IN>(in + g * IN, from);
    prepare();
    // Where lanes turn their packets together, a warp stays together to the end.
    for (; (TURNED ? g - lane : g) < work.groups; g += stride) {
        uint32_t to[OUT * PACKET_WORDS] = {};
        apply_group<Form>(how, from, to);
        if (!Once && g + stride < work.groups) load_packets<IN>(in + (g + stride) * IN, from);
        if constexpr (TURNED)
            store_turned<OUT>(out + (g - lane) * OUT, to, min(work.groups - (g - lane), (size_t)WARP),
                              room + (threadIdx.x - lane) / 2 * OUT);
        else
            store_packets<OUT>(out + g * OUT, to);
        if (Once) break;
    }
    apply_rest<Form>(how, work);
}

template <typename Form>
__global__ void __launch_bounds__(THREADS)
    point_kernel(const __grid_constant__ gi_device_point op, const __grid_constant__ walk work) {
    if constexpr (shared_tables<Form>::ANY_AT_ALL) {
        __shared__ shared_tables<Form> room;
        apply_image<Form, THREADS, false>({op, &room, nullptr}, work, [&] { fill_tables<Form>(op.point, room); });
    } else {
        apply_image<Form, THREADS, true>({op, nullptr, nullptr}, work, [] {});
    }
}

template <typename Form>
__global__ void __launch_bounds__(LARGE_THREADS, 1)
    point_large_kernel(const __grid_constant__ gi_device_point op, const __grid_constant__ walk work) {
    extern __shared__ uint16_t table[];
    apply_image<Form, LARGE_THREADS, false>({op, nullptr, table}, work, [&] {
        fill_large(table, op.point.after.table);
        __syncthreads();
    });
}

template <typename Form>
gi_status launch_large(const gi_job *job, const gi_device_point &op, const walk &work, gi_error *err) {
    size_t resident = 0;
    gi_status status = allow_shared(point_large_kernel<Form>, LARGE_THREADS, LARGE_TABLE, &resident, err);
    if (status != GI_OK) return status;
    const size_t blocks = smaller(resident, divide_up(work.groups, LARGE_THREADS));
    point_large_kernel<Form><<<grid_blocks(blocks), LARGE_THREADS, LARGE_TABLE, (cudaStream_t)job->stream>>>(op, work);
    return gi_cuda_check(cudaGetLastError(), "starting a point operation", err);
}

// A block for every THREADS groups and every row of the rectangle. Where each block first fills tables, no more blocks
// than the device runs at once, each doing more.
template <typename Form> gi_status launch(const gi_job *job, const gi_device_point &op, gi_error *err) {
    const walk work = walk_over(job->in, &job->out);
    size_t blocks = larger(divide_up(work.groups, THREADS), work.rest_height);
    if constexpr (Form::AFTER_LARGE) {
        bool large = false;
        gi_status status = is_worth_large(op.point.after, work.groups * PACKET_BYTES * Form::IN, &large, err);
        if (status != GI_OK) return status;
        if (large) return launch_large<Form>(job, op, work, err);
    }
    if constexpr (shared_tables<Form>::ANY_AT_ALL) {
        size_t resident = 0;
        gi_status status = resident_blocks(point_kernel<Form>, THREADS, &resident, err);
        if (status != GI_OK) return status;
        blocks = smaller(blocks, resident);
    }
    point_kernel<Form><<<grid_blocks(blocks), THREADS, 0, (cudaStream_t)job->stream>>>(op, work);
    return gi_cuda_check(cudaGetLastError(), "starting a point operation", err);
}

gi_status copy_image(const gi_job *job, gi_error *err) {
    const gi_view &in = job->in, &out = job->out;
    const size_t row = gi_row_bytes(in.width, in.channels, in.sample);
    const cudaStream_t stream = (cudaStream_t)job->stream;
    // cudaMemcpy2D takes no pitch over 2^31 - 1, so rows without gaps go as one run.
    const bool packed = in.pitch_bytes == row && out.pitch_bytes == row;
    cudaError_t error = packed ? cudaMemcpyAsync(out.data, in.data, row * in.height, cudaMemcpyDeviceToDevice, stream)
                               : cudaMemcpy2DAsync(out.data, out.pitch_bytes, in.data, in.pitch_bytes, row, in.height,
                                                   cudaMemcpyDeviceToDevice, stream);
    return gi_cuda_check(error, "copying on the device", err);
}

// The kind that the curves share, or ANY.
int common_kind(const gi_curve *curves, int count) {
    for (int c = 1; c < count; c++)
        if (curves[c].kind != curves[0].kind) return ANY;
    return curves[0].kind;
}

template <typename S, int C> gi_status launch_curves(const gi_job *job, const gi_device_point &op, gi_error *err) {
    if (common_kind(op.point.before, gi_colour_channels(C)) == GI_CURVE_IDENTITY) return copy_image(job, err);
    return launch_samples<S, C>(job, op.point, err);
}

// Curves before a mix are rare: one form with run-time kinds serves them all.
template <typename S, int C, gi_mix_kind Mix>
gi_status launch_mix(const gi_job *job, const gi_device_point &op, gi_error *err) {
    if (common_kind(op.point.before, 3) != GI_CURVE_IDENTITY) return launch<form<S, C, Mix, ANY, ANY>>(job, op, err);
    switch (op.point.after.kind) {
    case GI_CURVE_THRESHOLD: return launch<form<S, C, Mix, GI_CURVE_IDENTITY, GI_CURVE_THRESHOLD>>(job, op, err);
    case GI_CURVE_TABLE: return launch<form<S, C, Mix, GI_CURVE_IDENTITY, GI_CURVE_TABLE>>(job, op, err);
    default: return launch<form<S, C, Mix, GI_CURVE_IDENTITY, GI_CURVE_IDENTITY>>(job, op, err);
    }
}

template <typename S, int C> gi_status launch_linear(const gi_job *job, const gi_device_point &op, gi_error *err) {
    if (common_kind(op.point.before, 3) == GI_CURVE_IDENTITY) {
        if constexpr (sizeof(S) == 2) return launch_linear_u16<C>(job, op, err);
        bool done = false;
        gi_status status = launch_linear_u8<C>(job, op, &done, err);
        if (status != GI_OK || done) return status;
    }
    return launch<form<S, C, GI_MIX_LINEAR, ANY, ANY>>(job, op, err);
}

template <typename S, int C> gi_status launch_shift(const gi_job *job, const gi_device_point &op, gi_error *err) {
    if (common_kind(op.point.before, 3) == GI_CURVE_IDENTITY && op.point.after.kind == GI_CURVE_TABLE)
        return launch<form<S, C, GI_MIX_SHIFT, GI_CURVE_IDENTITY, GI_CURVE_TABLE>>(job, op, err);
    return launch<form<S, C, GI_MIX_SHIFT, ANY, ANY>>(job, op, err);
}

template <typename S, int C> gi_status launch_colour(const gi_job *job, const gi_device_point &op, gi_error *err) {
    switch (op.point.mix) {
    case GI_MIX_WEIGHTS: return launch_mix<S, C, GI_MIX_WEIGHTS>(job, op, err);
    case GI_MIX_LINEAR: return launch_linear<S, C>(job, op, err);
    case GI_MIX_SHIFT: return launch_shift<S, C>(job, op, err);
    default: return launch_curves<S, C>(job, op, err);
    }
}

template <typename S> gi_status launch_sample(const gi_job *job, const gi_device_point &op, gi_error *err) {
    switch (job->in.channels) {
    case 1: return launch_curves<S, 1>(job, op, err);
    case 2: return launch_curves<S, 2>(job, op, err);
    case 3: return launch_colour<S, 3>(job, op, err);
    default: return launch_colour<S, 4>(job, op, err);
    }
}

gi_status check_job(const gi_job *job, const gi_point &point, gi_error *err) {
    const gi_view &in = job->in, &out = job->out;
    if (in.sample != GI_U8 && in.sample != GI_U16)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "point operations take 8- and 16-bit samples");
    const bool colours = point.mix != GI_MIX_NONE;
    if (in.channels < 1 || in.channels > 4 || (colours && in.channels < 3) || point.shape.channels != in.channels ||
        point.shape.sample != in.sample || out.sample != in.sample || out.width != in.width ||
        out.height != in.height || out.channels != gi_point_channels_out(&point))
        return gi_fail(err, GI_ERR_USAGE, "a point operation does not fit its image");
    return GI_OK;
}

} // namespace

size_t gi_cuda_point_scratch(const gi_job *) { return 0; }

gi_status gi_cuda_point(const gi_job *job, gi_error *err) {
    const gi_device_point &op = *(const gi_device_point *)job->args;
    gi_status status = check_job(job, op.point, err);
    if (status != GI_OK || job->in.width == 0 || job->in.height == 0) return status;
    return job->in.sample == GI_U8 ? launch_sample<uint8_t>(job, op, err) : launch_sample<uint16_t>(job, op, err);
}
