// The sums over the windows of the wide box blur's first pixels in each strip (blur_box_wide.cu), by prefix sums along
// each row, and then down the rows.
#ifndef GI_KERNELS_BLUR_BOX_STARTS_CUH
#define GI_KERNELS_BLUR_BOX_STARTS_CUH

#include "kernels/blur_box_columns.cuh"
#include "kernels/scan.cuh"

namespace gi {
namespace box {

constexpr int START_THREADS = 256;
// Runs of pixels that a row is divided into at most, a warp's in one chunk.
constexpr int MOST_RUNS = WARP * WARP;

// Prefix sums along a row: before each chunk, and before each run since its chunk began.
template <typename Form> struct row_prefix {
    uint64_t chunks[Form::CHANNELS][WARP], runs[Form::CHANNELS][MOST_RUNS];
    int groups; // of COLUMNS pixels in a run
    int count;  // runs

    // The block fills it for row y.
    __device__ __forceinline__ void fill(const strips &s, int64_t y) {
        const int lane = threadIdx.x % WARP;
        for (int r = (int)threadIdx.x; r - lane < count; r += START_THREADS) {
            uint64_t own[Form::CHANNELS] = {};
            for (int g = 0; g < groups; g++) add_group(s, y, ((int64_t)r * groups + g) * Form::COLUMNS, own);
#pragma unroll
            for (int c = 0; c < Form::CHANNELS; c++) {
                const uint64_t upto = warp_scan(own[c], sum<uint64_t>{});
                if (r < count) runs[c][r] = upto - own[c];
                if (lane == WARP - 1) chunks[c][r / WARP] = upto;
            }
        }
        __syncthreads();
        const int c = threadIdx.x / WARP, all = (count + WARP - 1) / WARP;
        if (c < Form::CHANNELS) {
            const uint64_t own = lane < all ? chunks[c][lane] : 0, upto = warp_scan(own, sum<uint64_t>{});
            if (lane < all) chunks[c][lane] = upto - own;
        }
        __syncthreads();
    }

    // Adds what the pixels [x, x + COLUMNS) sum.
    __device__ __forceinline__ void add_group(const strips &s, int64_t y, int64_t x,
                                              uint64_t (&to)[Form::CHANNELS]) const {
        const columns<Form> own(s, x, s.b.width);
        uint32_t words[Form::WORDS];
        if (!own.there) return;
        own.load(y, words);
        typename Form::Register sums[Form::CHANNELS] = {};
#pragma unroll
        for (int i = 0; i < Form::SAMPLES; i++) sums[i % Form::CHANNELS] += column_sums<Form>::term(words, i);
#pragma unroll
        for (int c = 0; c < Form::CHANNELS; c++) to[c] += sums[c];
    }

    // The sum of channel c of the pixels before x.
    __device__ __forceinline__ uint64_t before(const strips &s, int64_t y, int64_t x, int c) const {
        using Sample = typename Form::Sample;
        const int64_t pixels = (int64_t)groups * Form::COLUMNS;
        const int r = (int)min(x / pixels, (int64_t)count - 1);
        uint64_t sum = chunks[c][r / WARP] + runs[c][r];
        for (int64_t i = r * pixels; i < x; i++)
            sum += term_of<Sample, Form::WEIGHTED>(s.b, s.b.template in_row<Sample>(y), i, c);
        return sum;
    }
};

// What the windows of `count` strips' first pixels sum of each row of the input, a strip being `width` pixels:
// sums[(strip * CHANNELS + channel) * rows + row].
template <typename Form>
__global__ void __launch_bounds__(START_THREADS)
    row_starts_kernel(const __grid_constant__ strips s, int64_t count, uint64_t *sums) {
    __shared__ row_prefix<Form> prefix;
    const int64_t rows = s.b.in_end - s.b.in_y0, groups = (s.b.width + Form::COLUMNS - 1) / Form::COLUMNS;
    if (threadIdx.x == 0) {
        prefix.groups = (int)((groups + MOST_RUNS - 1) / MOST_RUNS);
        prefix.count = (int)((groups + prefix.groups - 1) / prefix.groups);
    }
    __syncthreads();
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t y = s.b.in_y0 + row;
        prefix.fill(s, y);
        for (int64_t i = threadIdx.x; i < count * Form::CHANNELS; i += START_THREADS) {
            const int c = (int)(i % Form::CHANNELS);
            const int64_t x = i / Form::CHANNELS * s.width;
            row_ranges ranges;
            window_ranges(s, x, s.b.width, ranges);
            uint64_t sum = 0;
            for (int k = 0; k < ranges.count; k++) {
                const row_range &range = ranges.of[k];
                sum += (uint64_t)range.times * (prefix.before(s, y, range.to, c) - prefix.before(s, y, range.from, c));
            }
            sum += (uint64_t)outside_of_window(s, x, s.b.width) *
                   term_outside<typename Form::Sample, Form::WEIGHTED>(s.b, c);
            sums[i * rows + row] = sum;
        }
        __syncthreads(); // all have looked up
    }
}

// Prefix sums over those: of what is before row y of line `line`.
struct line_prefix {
    const uint64_t *upto; // upto[i] = the sum of values 0..i of all lines, one after the other
    size_t first;
    __device__ __forceinline__ uint64_t before(int64_t row) const {
        const size_t i = first + (size_t)row;
        return i ? upto[i - 1] : 0;
    }
};

// starts[line * rows + row] = the sum over the window, for each row of the output; `upto`: prefix sums of what
// row_starts_kernel left in `lines` lines.
template <typename Form>
__global__ void __launch_bounds__(START_THREADS)
    starts_kernel(const __grid_constant__ strips s, int64_t lines, const uint64_t *upto, uint64_t *starts) {
    const int64_t rows = s.b.out_end - s.b.out_y0, side = 2 * s.radius + 1;
    for (int64_t i = (int64_t)blockIdx.x * START_THREADS + threadIdx.x; i < lines * rows;
         i += (int64_t)gridDim.x * START_THREADS) {
        const int64_t line = i / rows, y = s.b.out_y0 + i % rows;
        const line_prefix prefix = {upto, (size_t)(line * (s.b.in_end - s.b.in_y0))};
        row_ranges ranges;
        window_ranges(s, y, s.b.height, ranges);
        uint64_t sum = (uint64_t)(outside_of_window(s, y, s.b.height) * side) *
                       term_outside<typename Form::Sample, Form::WEIGHTED>(s.b, (int)(line % Form::CHANNELS));
        for (int k = 0; k < ranges.count; k++) {
            const row_range &range = ranges.of[k];
            sum +=
                (uint64_t)range.times * (prefix.before(range.to - s.b.in_y0) - prefix.before(range.from - s.b.in_y0));
        }
        starts[i] = sum;
    }
}

} // namespace box
} // namespace gi

#endif
