// Several steps of heat mode=linear in one pass over memory.
//
// A step moves 8 bytes a pixel for 6 operations: on its own it waits for memory. Here a warp walks down a strip of
// columns and makes several steps on the way: when row y of the start arrives, row y - 1 of the first step can be made,
// from it row y - 2 of the second, and so on. Of each step's start only two rows are kept, in registers.
//
// Threads   a lane has 4 columns. The neighbours to the left and right come from the lanes beside it; at the strip's
//           ends they are missing, and each step spoils one column more. So strips overlap by STRIP_STEPS columns on
//           either side, and pieces of a strip, each with a warp of its own, by as many rows as there are steps.
// Exact     the same function of the same values as one step at a time: nothing depends on how the image is divided.
// Bytes     4 read, 4 written a colour for STRIP_STEPS steps, and 14 % more for what strips overlap.
#ifndef GI_KERNELS_HEAT_STRIPS_CUH
#define GI_KERNELS_HEAT_STRIPS_CUH

#include "kernels/heat.cuh"

namespace gi {

// More steps need more registers (8 each) and spoil more columns; a multiple of LANE_COLUMNS keeps loads aligned.
constexpr int STRIP_STEPS = 8;
constexpr int LANE_COLUMNS = 4;
constexpr int STRIP_COLUMNS = WARP * LANE_COLUMNS;
constexpr int STRIP_MADE = STRIP_COLUMNS - 2 * STRIP_STEPS; // columns that a strip makes

constexpr int STRIP_THREADS = 128;
// A piece of fewer rows would mostly make rows that its neighbours make too; one of more would outgrow an int.
constexpr size_t LEAST_PIECE = 16, MOST_PIECE = (size_t)1 << 30;

// Rows are loaded so long before they are used. Two, as the rows kept of each step: the loop does two rows at a time,
// so that no row changes its registers.
constexpr int ROWS_AHEAD = 2;

struct heat_strips {
    heat_step step;
    int64_t strips; // side by side
    int piece_rows; // that a warp makes
};

struct lane_row {
    float of[LANE_COLUMNS];
};

// Where a warp works, in rows counted from the first that it looks at, and its lane in columns.
struct strip_place {
    int64_t x, y0;     // the lane's first column; the row counted as 0
    int columns;       // of the lane inside the image
    int top, bottom;   // rows inside the image: [top, bottom)
    int first, end;    // rows to make
    int loaded;        // rows from here on are not there
    bool whole, makes; // all of the strip's columns are inside the image; the lane's are the strip's to make

    __device__ __forceinline__ bool outside(int row) const { return row < top || row >= bottom; }
};

__device__ __forceinline__ strip_place strip_place_of(const heat_strips &work, int64_t warp, int steps) {
    const heat_step &step = work.step;
    const int lane_column = (int)(threadIdx.x % WARP) * LANE_COLUMNS;
    const int64_t first = step.y0 + warp / work.strips * work.piece_rows, end = min(first + work.piece_rows, step.y1);
    const int64_t column = warp % work.strips * STRIP_MADE - STRIP_STEPS;
    constexpr int64_t FAR = (int64_t)1 << 30;
    strip_place at = {};
    at.x = column + lane_column;
    at.y0 = first - steps;
    at.columns = at.x < 0 ? 0 : (int)max(min(step.b.width - at.x, (int64_t)LANE_COLUMNS), (int64_t)0);
    at.top = (int)max(-at.y0, (int64_t)0);
    at.bottom = (int)min(step.b.height - at.y0, 2 * FAR - 1);
    at.first = steps;
    at.end = (int)max(end - at.y0, (int64_t)0);
    at.loaded = (int)min((int64_t)at.bottom, step.y1 + steps - at.y0);
    at.whole = column >= 0 && column + STRIP_COLUMNS <= step.b.width;
    at.makes = at.columns > 0 && lane_column >= STRIP_STEPS && lane_column < STRIP_STEPS + STRIP_MADE;
    return at;
}

// The lane's columns of a row at the start: 0 outside the image.
template <typename Sample, bool First>
__device__ __forceinline__ lane_row strip_load(const heat_step &step, const strip_place &at, int row, int c) {
    lane_row loaded = {};
    if (row < at.top || row >= at.loaded || at.columns == 0) return loaded;
    const int64_t y = at.y0 + row;
    if constexpr (First) {
        const Sample *from = step.b.in_row<Sample>(y) + at.x * step.b.channels + c;
#pragma unroll
        for (int i = 0; i < LANE_COLUMNS; i++)
            if (i < at.columns) loaded.of[i] = heat_temperature(from[i * step.b.channels]);
    } else {
        const float4 from = *(const float4 *)(step.from + step.at(at.x, y, c));
        loaded = {{from.x, from.y, from.z, from.w}};
    }
    return loaded;
}

template <typename Sample, bool Last>
__device__ __forceinline__ void strip_store(const heat_step &step, const strip_place &at, int row, int c,
                                            const lane_row &made) {
    const int64_t y = at.y0 + row;
    if constexpr (Last) {
#pragma unroll
        for (int i = 0; i < LANE_COLUMNS; i++)
            if (i < at.columns) heat_finish<Sample>(step, at.x + i, y, c, made.of[i]);
    } else {
        *(float4 *)(step.to + step.at(at.x, y, c)) = make_float4(made.of[0], made.of[1], made.of[2], made.of[3]);
    }
}

// One step of a row from it and the rows above and below.
__device__ __forceinline__ lane_row strip_step(const lane_row &up, const lane_row &at, const lane_row &down,
                                               float rate) {
    lane_row made;
    const float left = __shfl_up_sync(ALL_LANES, at.of[LANE_COLUMNS - 1], 1);
    const float right = __shfl_down_sync(ALL_LANES, at.of[0], 1);
#pragma unroll
    for (int i = 0; i < LANE_COLUMNS; i++) {
        const float before = i > 0 ? at.of[i - 1] : left, after = i + 1 < LANE_COLUMNS ? at.of[i + 1] : right;
        made.of[i] = gi_heat_linear(at.of[i], ((up.of[i] + down.of[i]) + before) + after, rate);
    }
    return made;
}

// What a lane keeps: of each step's start the last two rows, and the rows loaded ahead. Rows of even number lie in [0].
template <int Steps> struct strip_rows { lane_row kept[2][Steps], ahead[ROWS_AHEAD]; };

// Row `row` of the start comes in; row - Steps of the last step is made.
template <typename Sample, bool First, bool Last, int Steps, int Odd>
__device__ __forceinline__ void strip_advance(const heat_step &step, const strip_place &at, strip_rows<Steps> &rows,
                                              int row, int c) {
    lane_row now = rows.ahead[Odd];
    rows.ahead[Odd] = strip_load<Sample, First>(step, at, row + ROWS_AHEAD, c);
#pragma unroll
    for (int s = 0; s < Steps; s++) {
        // Step s has made rows as far as row - s; in turn even and odd.
        const int newer = (Odd + s + 1) % 2;
        lane_row made = strip_step(rows.kept[1 - newer][s], rows.kept[newer][s], now, step.rate);
        rows.kept[1 - newer][s] = now;
        now = made;
        const bool outside = at.outside(row - s - 1);
        if (!at.whole || outside) {
#pragma unroll
            for (int i = 0; i < LANE_COLUMNS; i++)
                if (outside || i >= at.columns) now.of[i] = 0.0F;
        }
    }
    const int made_row = row - Steps;
    if (made_row >= at.first && made_row < at.end && at.makes) strip_store<Sample, Last>(step, at, made_row, c, now);
}

// The first rows of a piece are made from kept rows that never came: what comes of them lies above the rows to make,
// since each step needs one row more.
template <typename Sample, bool First, bool Last, int Steps>
__global__ void __launch_bounds__(STRIP_THREADS, 4) strips_kernel(const __grid_constant__ heat_strips work) {
    const int c = (int)blockIdx.z;
    const int64_t warp = (int64_t)blockIdx.x * (STRIP_THREADS / WARP) + threadIdx.x / WARP;
    const strip_place at = strip_place_of(work, warp, Steps);
    strip_rows<Steps> rows = {};
#pragma unroll
    for (int i = 0; i < ROWS_AHEAD; i++) rows.ahead[i] = strip_load<Sample, First>(work.step, at, i, c);
    for (int row = 0; row < at.end + Steps; row += 2) {
        strip_advance<Sample, First, Last, Steps, 0>(work.step, at, rows, row, c);
        strip_advance<Sample, First, Last, Steps, 1>(work.step, at, rows, row + 1, c);
    }
}

template <typename Sample, bool First, bool Last, int Steps>
gi_status launch_strips_of(const heat_step &step, cudaStream_t stream, gi_error *err) {
    const auto kernel = strips_kernel<Sample, First, Last, Steps>;
    size_t resident = 0;
    gi_status status = resident_blocks(kernel, STRIP_THREADS, &resident, err);
    if (status != GI_OK) return status;
    constexpr size_t WARPS = STRIP_THREADS / WARP;
    const size_t rows = step.y1 - step.y0, strips = divide_up(step.b.width, STRIP_MADE);
    // One wave of warps: then none waits for another's piece to end.
    const size_t pieces = larger(resident * WARPS / (strips * step.colours), 1);
    const size_t piece_rows = smaller(larger(divide_up(rows, pieces), LEAST_PIECE), MOST_PIECE);
    const size_t blocks = divide_up(strips * divide_up(rows, piece_rows), WARPS);
    if (blocks != grid_blocks(blocks)) return gi_fail(err, GI_ERR_LIMIT, "heat in %zu strips", blocks * WARPS);
    kernel<<<dim3((unsigned)blocks, 1, step.colours), STRIP_THREADS, 0, stream>>>(
        heat_strips{step, (int64_t)strips, (int)piece_rows});
    return gi_cuda_check(cudaGetLastError(), "starting steps of heat", err);
}

// The numbers of steps that there are kernels for. Others are made up of these.
inline int strip_steps(int64_t wanted) { return wanted >= STRIP_STEPS ? STRIP_STEPS : wanted >= 4 ? 4 : 1; }

template <typename Sample, bool First, bool Last>
gi_status launch_strips(const heat_step &step, int steps, cudaStream_t stream, gi_error *err) {
    switch (steps) {
    case STRIP_STEPS: return launch_strips_of<Sample, First, Last, STRIP_STEPS>(step, stream, err);
    case 4: return launch_strips_of<Sample, First, Last, 4>(step, stream, err);
    default: return launch_strips_of<Sample, First, Last, 1>(step, stream, err);
    }
}

} // namespace gi

#endif
