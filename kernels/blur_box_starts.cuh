// What the wide box blur's strips begin with (blur_box_wide.cu): the table of differences down the columns, and the
// sums over the windows of each strip's first pixels.
//
// Of a row: a strip's first window is the row's first and the differences of all columns before the strip. Of the
// image: from prefix sums down the rows.
#ifndef GI_KERNELS_BLUR_BOX_STARTS_CUH
#define GI_KERNELS_BLUR_BOX_STARTS_CUH

#include "kernels/blur_box_differences.cuh"
#include "kernels/scan.cuh"

namespace gi {
namespace box {

constexpr int STRIP_WARPS = TABLE_THREADS / WARP; // that a strip's columns take

// The table's segments of differences, as segments_kernel; and of each row what the columns of each warp add up to:
// totals[(warp * CHANNELS + channel) * rows + row].
template <typename Form>
__global__ void __launch_bounds__(TABLE_THREADS)
    difference_segments_kernel(const __grid_constant__ strips s, uint64_t *totals) {
    using Register = typename Form::Register;
    using Signed = typename std::conditional<sizeof(Register) == 8, int64_t, int32_t>::type;
    const int64_t group = (int64_t)blockIdx.x * TABLE_THREADS + threadIdx.x, rows = s.b.in_end - s.b.in_y0;
    const differences<Form> own(s, group * Form::COLUMNS, s.b.width);
    const bool reports = own.there && threadIdx.x % WARP == 0;
    uint64_t *line = totals + group / WARP * Form::CHANNELS * rows - s.b.in_y0;
    for (int64_t segment = blockIdx.y; segment * SEGMENT < rows; segment += gridDim.y) {
        const int64_t from = s.b.in_y0 + segment * SEGMENT;
        column_sums<Form> sums;
        sums.clear();
        if (s.table && segment == 0 && own.there) store_entry(s, 0, group, sums);
        own.add_rows(sums, from, min(from + SEGMENT, s.b.in_end), 1, [&](int64_t y, const column_sums<Form> &row) {
#pragma unroll
            for (int c = 0; c < Form::CHANNELS; c++) {
                Register all = 0;
#pragma unroll
                for (int i = 0; i < Form::COLUMNS; i++) all += row.of[i * Form::CHANNELS + c];
                all = warp_sum(all);
                if (reports) line[c * rows + y] = (uint64_t)(int64_t)(Signed)all;
            }
        });
        if (s.table && segment + 1 < s.entries && own.there) store_entry(s, segment + 1, group, sums);
    }
}

// The thread's part of the window of a row's first pixel.
template <typename Form>
__device__ __forceinline__ void add_first_window(const strips &s, int64_t y, const row_ranges &ranges,
                                                 uint64_t (&sums)[Form::CHANNELS]) {
    int64_t end = 0;
    for (int k = 0; k < ranges.count; k++) end = max(end, ranges.of[k].to);
    for (int64_t x = (int64_t)threadIdx.x * Form::COLUMNS; x < end; x += TABLE_THREADS * Form::COLUMNS) {
        uint32_t words[Form::WORDS];
        columns<Form>(s, x, s.b.width).load(y, words);
        int64_t times[Form::COLUMNS] = {};
        for (int k = 0; k < ranges.count; k++) {
            const row_range range = ranges.of[k];
#pragma unroll
            for (int i = 0; i < Form::COLUMNS; i++)
                if (x + i >= range.from && x + i < range.to) times[i] += range.times;
        }
#pragma unroll
        for (int i = 0; i < Form::SAMPLES; i++)
            sums[i % Form::CHANNELS] += (uint64_t)times[i / Form::CHANNELS] * column_sums<Form>::term(words, i);
    }
}

// What the windows of the strips' first pixels sum of each row of the input: sums[(strip * CHANNELS + channel) * rows +
// row]. `warps`: difference_segments_kernel's.
template <typename Form>
__global__ void __launch_bounds__(TABLE_THREADS)
    row_starts_kernel(const __grid_constant__ strips s, int64_t warps, const uint64_t *totals, uint64_t *sums) {
    static_assert(Form::CHANNELS <= STRIP_WARPS, "each channel has a warp");
    __shared__ row_ranges ranges;
    __shared__ uint64_t parts[Form::CHANNELS][STRIP_WARPS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, c = warp;
    const int64_t rows = s.b.in_end - s.b.in_y0;
    if (threadIdx.x == 0) window_ranges(s, 0, s.b.width, ranges);
    __syncthreads();
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        uint64_t own[Form::CHANNELS] = {};
        add_first_window<Form>(s, s.b.in_y0 + row, ranges, own);
#pragma unroll
        for (int i = 0; i < Form::CHANNELS; i++) {
            const uint64_t part = warp_sum(own[i]);
            if (lane == 0) parts[i][warp] = part;
        }
        __syncthreads();
        if (c < Form::CHANNELS) {
            uint64_t upto = (uint64_t)outside_of_window(s, 0, s.b.width) *
                            term_outside<typename Form::Sample, Form::WEIGHTED>(s.b, c);
            for (int i = 0; i < STRIP_WARPS; i++) upto += parts[c][i];
            for (int64_t strip = lane; (strip - lane) * STRIP_WARPS < warps; strip += WARP) {
                uint64_t all = 0;
                for (int64_t w = strip * STRIP_WARPS; w < min((strip + 1) * STRIP_WARPS, warps); w++)
                    all += totals[(w * Form::CHANNELS + c) * rows + row];
                const uint64_t scanned = warp_scan(all, sum<uint64_t>{});
                if (strip * STRIP_WARPS < warps) sums[(strip * Form::CHANNELS + c) * rows + row] = upto + scanned - all;
                upto += __shfl_sync(ALL_LANES, scanned, WARP - 1);
            }
        }
        __syncthreads(); // `parts` has been read
    }
}

// A line's prefix sums: upto[i] = the sum of values 0..i of all lines, one after the other.
struct line_prefix {
    const uint64_t *upto;
    size_t first; // of the line
    __device__ __forceinline__ uint64_t before(int64_t row) const {
        const size_t i = first + (size_t)row;
        return i ? upto[i - 1] : 0;
    }
};

// starts[line * rows + row] = the sum over the window, for each row of the output; `upto`: prefix sums of the `lines`
// lines that row_starts_kernel left.
template <typename Form>
__global__ void __launch_bounds__(TABLE_THREADS)
    starts_kernel(const __grid_constant__ strips s, int64_t lines, const uint64_t *upto, uint64_t *starts) {
    const int64_t rows = s.b.out_end - s.b.out_y0, side = 2 * s.radius + 1;
    for (int64_t i = (int64_t)blockIdx.x * TABLE_THREADS + threadIdx.x; i < lines * rows;
         i += (int64_t)gridDim.x * TABLE_THREADS) {
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
