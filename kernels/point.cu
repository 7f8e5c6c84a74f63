// Point operations: out = after(mix(before(in))), each output pixel from the same input pixel alone, in one pass.
//
// Formula   before: one curve (identity, threshold or table) for each colour channel.
//           mix:    none, or (w0 R + w1 G + w2 B + 16384) >> 15, or Rec. 709 in linear light by tables (IEC 61966-2-1).
//           after:  one curve on the mixed gray. Alpha passes unchanged. core/point.h defines all of it.
//           shift:  no mix, but clamp(C + after(Y) - Y) for each colour C, with Y = (w0 R + w1 G + w2 B + 16384) >> 15.
// Shapes    1..4 channels of u8 or u16, any width, height, pitch and alignment; a mix makes 3 channels 1, 4 channels 2.
// Exact     integers only, by the very functions that the CPU backend calls: the same bytes.
// Threads   fast path: a thread takes 16 bytes' worth of pixels (16 of u8, 8 of u16), i.e. `channels` loads and stores
//           of 16 bytes. A thread's loads are 16 * channels bytes apart from its neighbour's, but a warp's cover one
//           contiguous range, so that every byte fetched is used. Any other layout, and the last few pixels: a block
//           for each row, a thread for each pixel.
// Shared    u8: the tables in use (512 bytes a curve; 12 KiB for linear light). u16 tables are too large; the cache
//           serves them.
// Bytes     channels_in + channels_out samples a pixel, each moved once.
// Bound     memory bandwidth: a copy of the same bytes takes as long.
#include "kernels/common.cuh"

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
    static constexpr int COLOURS = Channels >= 3 ? 3 : 1;
    static constexpr gi_mix_kind MIX = Mix;
    static constexpr int BEFORE = Before, AFTER = After;
    static constexpr uint32_t MAX = (S)-1;
    static constexpr bool BEFORE_TABLES = BEFORE == GI_CURVE_TABLE || BEFORE == ANY;
    static constexpr bool AFTER_TABLE = AFTER == GI_CURVE_TABLE || AFTER == ANY;
    static constexpr bool LINEAR = MIX == GI_MIX_LINEAR;
    // Tables go to shared memory where they are small.
    static constexpr bool STAGED = sizeof(S) == 1 && (BEFORE_TABLES || AFTER_TABLE || LINEAR);
};

// Room for the tables that the form uses; a table that it does not use shrinks to one entry.
template <typename Form> struct shared_tables {
    static constexpr int LEVELS = Form::MAX + 1;
    uint16_t before[Form::COLOURS][Form::STAGED && Form::BEFORE_TABLES ? LEVELS : 1];
    uint16_t after[Form::STAGED && Form::AFTER_TABLE ? LEVELS : 1];
    uint32_t linear[4][Form::STAGED && Form::LINEAR ? LEVELS : 1];
    uint16_t coarse[Form::STAGED && Form::LINEAR ? GI_LINEAR_COARSE_COUNT : 1];
};

template <typename T> __device__ void copy_table(T *to, const T *from, int count) {
    for (int i = (int)threadIdx.x; i < count; i += THREADS) to[i] = from[i];
}

// The block copies the curve's table, if it has one, and lets the curve look there.
__device__ void stage_curve(gi_curve &curve, uint16_t *to, int levels) {
    if (curve.kind == GI_CURVE_TABLE) copy_table(to, curve.table, levels);
    curve.table = to;
}

__device__ void stage_linear(gi_linear_tables &linear, uint32_t *red, uint32_t *green, uint32_t *blue,
                             uint32_t *threshold, uint16_t *coarse, int levels) {
    copy_table(red, linear.red, levels);
    copy_table(green, linear.green, levels);
    copy_table(blue, linear.blue, levels);
    copy_table(threshold, linear.threshold, levels);
    copy_table(coarse, linear.coarse, GI_LINEAR_COARSE_COUNT);
    linear = {red, green, blue, threshold, coarse};
}

template <typename Form> __device__ __forceinline__ void stage_tables(gi_device_point &op, shared_tables<Form> &room) {
    constexpr int LEVELS = shared_tables<Form>::LEVELS;
    if constexpr (Form::BEFORE_TABLES) {
#pragma unroll
        for (int c = 0; c < Form::COLOURS; c++) stage_curve(op.point.before[c], room.before[c], LEVELS);
    }
    if constexpr (Form::AFTER_TABLE) stage_curve(op.point.after, room.after, LEVELS);
    if constexpr (Form::LINEAR)
        stage_linear(op.linear, room.linear[0], room.linear[1], room.linear[2], room.linear[3], room.coarse, LEVELS);
    __syncthreads();
}

// gi_curve_at with the kind fixed at compile time, unless it is ANY.
template <int Kind> __device__ __forceinline__ uint32_t curve_at(const gi_curve &curve, uint32_t v, uint32_t max) {
    gi_curve fixed = curve;
    if constexpr (Kind != ANY) fixed.kind = (gi_curve_kind)Kind;
    return gi_curve_at(&fixed, v, max);
}

template <typename Form>
__device__ __forceinline__ uint32_t mix(const gi_device_point &op, const uint32_t (&v)[Form::COLOURS]) {
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
__device__ __forceinline__ void apply(const gi_device_point &op, const uint32_t (&in)[Form::IN],
                                      uint32_t (&out)[Form::OUT]) {
    uint32_t v[Form::COLOURS];
#pragma unroll
    for (int c = 0; c < Form::COLOURS; c++) v[c] = curve_at<Form::BEFORE>(op.point.before[c], in[c], Form::MAX);
    if constexpr (Form::MIX == GI_MIX_NONE) {
#pragma unroll
        for (int c = 0; c < Form::COLOURS; c++) out[c] = v[c];
    } else {
        const uint32_t gray = mix<Form>(op, v), made = curve_at<Form::AFTER>(op.point.after, gray, Form::MAX);
        if constexpr (Form::TO_GRAY) out[0] = made;
        if constexpr (!Form::TO_GRAY) shift(v, (int32_t)made - (int32_t)gray, Form::MAX, out);
    }
    if constexpr (Form::IN % 2 == 0) out[Form::OUT - 1] = in[Form::IN - 1];
}

// The pixels of the walk's rectangle, one by one: the plain form of the operation.
template <typename Form> __device__ void apply_rest(const gi_device_point &op, const walk &work) {
    using Sample = typename Form::Sample;
    for (size_t y = blockIdx.x; y < work.rest_height; y += gridDim.x) {
        const Sample *in = (const Sample *)(work.rest_in + y * work.rest_in_pitch);
        Sample *out = (Sample *)(work.rest_out + y * work.rest_out_pitch);
        for (size_t x = threadIdx.x; x < work.rest_width; x += THREADS) {
            uint32_t from[Form::IN], to[Form::OUT];
#pragma unroll
            for (int c = 0; c < Form::IN; c++) from[c] = in[x * Form::IN + c];
            apply<Form>(op, from, to);
#pragma unroll
            for (int c = 0; c < Form::OUT; c++) out[x * Form::OUT + c] = (Sample)to[c];
        }
    }
}

// One group of pixels between registers: unpack, apply, pack.
template <typename Form>
__device__ __forceinline__ void apply_group(const gi_device_point &op, const uint32_t (&in)[Form::IN * PACKET_WORDS],
                                            uint32_t (&out)[Form::OUT * PACKET_WORDS]) {
    using Sample = typename Form::Sample;
#pragma unroll
    for (int p = 0; p < PACKET_PIXELS<Sample>; p++) {
        uint32_t from[Form::IN], to[Form::OUT];
#pragma unroll
        for (int c = 0; c < Form::IN; c++) from[c] = sample_get<Sample>(in, p * Form::IN + c);
        apply<Form>(op, from, to);
#pragma unroll
        for (int c = 0; c < Form::OUT; c++) sample_put<Sample>(out, p * Form::OUT + c, to[c]);
    }
}

template <typename Form>
__global__ void __launch_bounds__(THREADS)
    point_kernel(const __grid_constant__ gi_device_point given, const __grid_constant__ walk work) {
    __shared__ shared_tables<Form> room;
    gi_device_point op = given;
    if constexpr (Form::STAGED) stage_tables<Form>(op, room);

    const uint4 *in = (const uint4 *)work.in;
    uint4 *out = (uint4 *)work.out;
    const size_t stride = (size_t)gridDim.x * THREADS;
    for (size_t g = (size_t)blockIdx.x * THREADS + threadIdx.x; g < work.groups; g += stride) {
        uint32_t from[Form::IN * PACKET_WORDS], to[Form::OUT * PACKET_WORDS] = {};
        load_packets<Form::IN>(in + g * Form::IN, from);
        apply_group<Form>(op, from, to);
        store_packets<Form::OUT>(out + g * Form::OUT, to);
    }
    apply_rest<Form>(op, work);
}

// A block for every THREADS groups and every row of the rectangle. Where each block first copies tables, no more
// blocks than the device runs at once, each doing more.
template <typename Form> gi_status launch(const gi_job *job, const gi_device_point &op, gi_error *err) {
    walk work = walk_over(job->in, &job->out);
    size_t blocks = larger(divide_up(work.groups, THREADS), work.rest_height);
    if constexpr (Form::STAGED) {
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
    switch (common_kind(op.point.before, gi_colour_channels(C))) {
    case GI_CURVE_IDENTITY: return copy_image(job, err);
    case GI_CURVE_THRESHOLD:
        return launch<form<S, C, GI_MIX_NONE, GI_CURVE_THRESHOLD, GI_CURVE_IDENTITY>>(job, op, err);
    case GI_CURVE_TABLE: return launch<form<S, C, GI_MIX_NONE, GI_CURVE_TABLE, GI_CURVE_IDENTITY>>(job, op, err);
    default: break;
    }
    if constexpr (C >= 3) return launch<form<S, C, GI_MIX_NONE, ANY, GI_CURVE_IDENTITY>>(job, op, err);
    return gi_fail(err, GI_ERR_USAGE, "a point operation with an unknown curve");
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

template <typename S, int C> gi_status launch_shift(const gi_job *job, const gi_device_point &op, gi_error *err) {
    if (common_kind(op.point.before, 3) == GI_CURVE_IDENTITY && op.point.after.kind == GI_CURVE_TABLE)
        return launch<form<S, C, GI_MIX_SHIFT, GI_CURVE_IDENTITY, GI_CURVE_TABLE>>(job, op, err);
    return launch<form<S, C, GI_MIX_SHIFT, ANY, ANY>>(job, op, err);
}

template <typename S, int C> gi_status launch_colour(const gi_job *job, const gi_device_point &op, gi_error *err) {
    switch (op.point.mix) {
    case GI_MIX_WEIGHTS: return launch_mix<S, C, GI_MIX_WEIGHTS>(job, op, err);
    case GI_MIX_LINEAR: return launch_mix<S, C, GI_MIX_LINEAR>(job, op, err);
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
