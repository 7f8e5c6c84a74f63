// Gaussian blur by multiply-add, for what blur_gauss.cu leaves: separable, in fixed point.
//
// Formula   down the columns w = sum t(k) v(y + k), along the rows v' = sum t(k) w(x + k), rounded half up after each.
//           With alpha the same sums of the weights A and of the weighted colours A * C, divided in the end
//           (core/blur_rules.h). The taps t are core/gauss.h's.
// Shapes    u8 and u16, 1..4 channels, any size, pitch and alignment, sigma up to 256 (2049 taps), four borders.
// Exact     integers: 15-bit taps in the narrow form (u8, sigma <= 32), whose sums fit 32 bits without alpha; 24-bit
//           taps and 64-bit sums in the wide form.
// Threads   a thread makes OUTPUTS neighbours at a time, down a column or along a row: a value that it loads serves all
//           of them, so that a pixel costs 2R/OUTPUTS + 1 loads instead of 2R + 1. The taps are the kernel's argument,
//           read through the constant cache.
// Shared    along: one plane of a tile with its halo, up to 28 KiB; the finished samples. Every eighth place is left
//           out, since OUTPUTS neighbours a thread would make all threads of a warp meet in the same banks.
// Bytes     u8 without alpha: read 1, scratch 2 + 2 (mostly in the second-level cache), written 1 a sample.
// Bound     multiply-add.
#include "kernels/blur_gauss.cuh"

namespace {

using namespace gi;

constexpr int OUTPUTS = 8;
constexpr int COLUMN_THREADS = 128, ROW_THREADS = 128;
// Pixels of a row that a block makes.
constexpr int TILE = ROW_THREADS * OUTPUTS;

// Taps as an argument of the kernels. padded[m] = t(m - (OUTPUTS - 1) - radius), 0 past the last tap: output j of a
// thread weighs its i-th value by padded[i - j + OUTPUTS - 1].
struct taps : tap_sums {
    int padded[2 * GI_GAUSS_MAX_TAPS + 4 * OUTPUTS];
};

// Values that a thread looks at: 2 radius + OUTPUTS, rounded up to a multiple of OUTPUTS.
__host__ __device__ inline int values_of(int radius) { return (2 * radius + 2 * OUTPUTS - 1) / OUTPUTS * OUTPUTS; }

taps taps_of(const gi_gauss &gauss) {
    taps t = {};
    (tap_sums &)t = tap_sums_of(gauss);
    for (int k = -gauss.radius; k <= gauss.radius; k++)
        t.padded[k + gauss.radius + OUTPUTS - 1] = gauss.taps[k < 0 ? -k : k];
    return t;
}

// sums[j] = the sum of the values load(i), i = j .. j + 2 radius, each times its tap.
template <typename Sum, typename Load>
__device__ __forceinline__ void convolve(const taps &t, Load load, Sum (&sums)[OUTPUTS]) {
#pragma unroll
    for (int j = 0; j < OUTPUTS; j++) sums[j] = 0;
    const int count = values_of(t.radius);
    for (int i0 = 0; i0 < count; i0 += OUTPUTS) {
        uint32_t tap[2 * OUTPUTS - 1];
#pragma unroll
        for (int m = 0; m < 2 * OUTPUTS - 1; m++) tap[m] = (uint32_t)t.padded[i0 + m];
#pragma unroll
        for (int i = 0; i < OUTPUTS; i++) {
            const Sum value = load(i0 + i);
#pragma unroll
            for (int j = 0; j < OUTPUTS; j++) sums[j] += value * tap[i - j + OUTPUTS - 1];
        }
    }
}

// --- down the columns ------------------------------------------------------------------------------------------------

template <typename Sample, typename Form>
__global__ void __launch_bounds__(COLUMN_THREADS)
    columns_kernel(const __grid_constant__ blur_band b, const __grid_constant__ taps t, const chunk part,
                   typename Form::Between *between) {
    const size_t s = (size_t)blockIdx.x * COLUMN_THREADS + threadIdx.x;
    if (s >= (size_t)b.width * b.channels) return;
    const int64_t x = (int64_t)(s / b.channels), end = part.y0 + part.rows;
    const int c = (int)(s % b.channels);
    for (int64_t y0 = part.y0 + blockIdx.y * OUTPUTS; y0 < end; y0 += (int64_t)gridDim.y * OUTPUTS) {
        // Rows past the last that an output needs may not be there; their taps are 0 for the outputs that are kept.
        const int64_t needed = min(y0 + OUTPUTS, end) + t.radius;
        typename Form::Sum sums[OUTPUTS];
        auto load = [&](int i) -> uint32_t {
            const int64_t y = y0 - t.radius + i;
            return y < needed ? term_at<Sample, Form::WEIGHTED>(b, y, x, c) : 0;
        };
        convolve(t, load, sums);
#pragma unroll
        for (int j = 0; j < OUTPUTS; j++) {
            if (y0 + j >= end) break;
            plane_row(between, b, part, c, y0 + j)[x] =
                first_result<Form>(sums[j], taps_inside(t, y0 + j, b.height, b.border), c == b.channels - 1);
        }
    }
}

// --- along the rows --------------------------------------------------------------------------------------------------

// Value i of a tile lies at place i + i / OUTPUTS.
__host__ __device__ inline int place_of(int i) { return i + i / OUTPUTS; }

// What the first pass makes of a column of pixels outside.
template <typename Sample, typename Form>
__device__ __forceinline__ typename Form::Between column_outside(const blur_band &b, const taps &t, int c) {
    const auto sum = (typename Form::Sum)term_outside<Sample, Form::WEIGHTED>(b, c) << Form::TAP_BITS;
    return first_result<Form>(sum, (uint32_t)t.one, c == b.channels - 1);
}

// Loads a tile of one plane, `count` values from column x0 on, perhaps outside the image.
template <typename Sample, typename Form>
__device__ void load_tile(const blur_band &b, const taps &t, const typename Form::Between *row, int64_t x0, int count,
                          int c, typename Form::Value *tile) {
    const typename Form::Value outside = column_outside<Sample, Form>(b, t, c);
    for (int i = (int)threadIdx.x; i < count; i += ROW_THREADS) {
        const int64_t inside = gi_border_index(x0 + i, b.width, b.border);
        tile[place_of(i)] = inside < 0 ? outside : row[inside];
    }
}

template <typename Sample, typename Form>
__global__ void __launch_bounds__(ROW_THREADS)
    rows_kernel(const __grid_constant__ blur_band b, const __grid_constant__ taps t, const chunk part,
                const typename Form::Between *between) {
    extern __shared__ uint4 shared[];
    Sample *finished = (Sample *)shared; // TILE pixels
    auto *tile = (typename Form::Value *)((char *)shared + TILE * b.channels * sizeof(Sample));
    const int64_t x0 = (int64_t)blockIdx.x * TILE;
    const int width = (int)min(b.width - x0, (int64_t)TILE), first = (int)threadIdx.x * OUTPUTS;
    const int loaded = width + 2 * t.radius, room = TILE + values_of(t.radius) - OUTPUTS;
    auto load = [&](int i) { return tile[place_of(first + i)]; };
    // Places that no output which is kept looks at: anything will do, but something must be there.
    for (int i = loaded + (int)threadIdx.x; i < room; i += ROW_THREADS) tile[place_of(i)] = 0;
    for (int64_t y = part.y0 + blockIdx.y; y < part.y0 + part.rows; y += gridDim.y) {
        pixel_sums<Sample, Form> pixels[OUTPUTS];
        const uint32_t inside_y = taps_inside(t, y, b.height, b.border);
        for (int c = b.channels - 1; c >= 0; c--) {
            load_tile<Sample, Form>(b, t, plane_row(between, b, part, c, y), x0 - t.radius, loaded, c, tile);
            __syncthreads();
            typename Form::Total sums[OUTPUTS];
            convolve(t, load, sums);
#pragma unroll
            for (int j = 0; j < OUTPUTS; j++) {
                if (first + j >= width) break;
                const uint32_t inside_x = taps_inside(t, x0 + first + j, b.width, b.border);
                finished[(first + j) * b.channels + c] = pixels[j].of(sums[j], c == b.channels - 1, inside_x, inside_y);
            }
            __syncthreads();
        }
        store_run(b.out_row<Sample>(y) + x0 * b.channels, finished, width * b.channels, (int)threadIdx.x,
                  (int)blockDim.x);
        __syncthreads();
    }
}

// --- launching -------------------------------------------------------------------------------------------------------

size_t between_bytes(const gi_job *job, bool narrow) {
    return narrow ? (is_weighted(job->in) ? 4 : 2) : (is_weighted(job->in) ? 8 : 4);
}

int64_t rows_at_a_time(const gi_job *job, bool narrow) {
    const size_t row_bytes = (size_t)job->in.width * (size_t)job->in.channels * between_bytes(job, narrow);
    return chunk_rows(job, row_bytes, OUTPUTS);
}

template <typename Sample, typename Form>
gi_status launch_chunk(const gi_job *job, const taps &t, const chunk &part, gi_error *err) {
    using Between = typename Form::Between;
    const blur_band b = blur_band_of(job);
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const dim3 columns(grid_blocks(divide_up((size_t)b.width * b.channels, COLUMN_THREADS)),
                       grid_rows(divide_up(part.rows, OUTPUTS)));
    columns_kernel<Sample, Form><<<columns, COLUMN_THREADS, 0, stream>>>(b, t, part, (Between *)job->scratch);
    const dim3 rows(grid_blocks(divide_up(b.width, TILE)), grid_rows(part.rows));
    const size_t places = (size_t)place_of(TILE + values_of(t.radius));
    const size_t shared = TILE * b.channels * sizeof(Sample) + places * sizeof(typename Form::Value);
    rows_kernel<Sample, Form><<<rows, ROW_THREADS, shared, stream>>>(b, t, part, (const Between *)job->scratch);
    return gi_cuda_check(cudaGetLastError(), "starting a Gaussian blur", err);
}

template <typename Sample, bool Narrow>
gi_status launch_weighted(const gi_job *job, const taps &t, const chunk &part, gi_error *err) {
    return is_weighted(job->in) ? launch_chunk<Sample, form<Narrow, true>>(job, t, part, err)
                                : launch_chunk<Sample, form<Narrow, false>>(job, t, part, err);
}

} // namespace

size_t gi::blur_gauss_plain_scratch(const gi_job *job, const gi_gauss &gauss) {
    const size_t values = (size_t)job->in.width * (size_t)job->in.channels;
    return (size_t)rows_at_a_time(job, is_narrow(gauss)) * values * between_bytes(job, is_narrow(gauss));
}

gi_status gi::blur_gauss_plain(const gi_job *job, const gi_gauss &gauss, gi_error *err) {
    const taps t = taps_of(gauss);
    const blur_band b = blur_band_of(job);
    const int64_t rows = rows_at_a_time(job, is_narrow(gauss));
    gi_status status = GI_OK;
    for (int64_t y = b.out_y0; y < b.out_end && status == GI_OK; y += rows) {
        const chunk part = {y, b.out_end - y < rows ? b.out_end - y : rows};
        if (job->in.sample == GI_U16)
            status = launch_weighted<uint16_t, false>(job, t, part, err);
        else if (is_narrow(gauss))
            status = launch_weighted<uint8_t, true>(job, t, part, err);
        else
            status = launch_weighted<uint8_t, false>(job, t, part, err);
    }
    return status;
}
