// Matrix product in float32: 16 x 8 elements a thread, in registers.
//
// Formula   C = A B; each element by fused multiply-adds over p upward, in two interleaved or several consecutive
//           parts of the sum, which are then added in order.
// Idea      A multiply-add takes two operands. From shared memory that is a load for each (matmul_tiled.cu); kept in
//           registers, 16 + 8 operands serve 128 multiply-adds. Four levels of tiles, each the product of a strip of A
//           and one of B: device (second-level cache) -> block (shared memory) -> warp -> thread (registers).
// Shapes    any. What sticks out over an edge is zero in shared memory. Rows that are not aligned to 16 bytes take the
//           slower form, which copies 4 bytes at a time.
// Exact     float32, the error bound of matmul.h, the same bits every run. NaN and infinities follow IEEE's rules:
//           zeros from outside meet only zeros.
// Threads   8 warps. A warp makes 64 x 64 elements (32 x 64 of small tiles), as 4 x 8 threads. A thread's rows are 4
//           apart and its columns two groups of four, so that what a warp loads at a time lies together. Lanes x and
//           x + 1 want the same of B, lanes x and x + 2 the same of A.
// Shared    2 or 3 stages of tiles 16 deep, 53 or 40 KB: one is multiplied while the next is copied (cp.async); one
//           barrier a tile. A's rows are 20 floats apart: 8 of them then begin in 8 different groups of four banks.
// Bytes     a block's tile of T x U reads 4 k (T + U) bytes through the second-level cache and writes 4 T U: with
//           128 x 256, a byte for 43 FLOP, 1.1 TB/s at 47 TFLOP/s.
// FLOPs     2 m n k. Four deep, a warp issues 512 multiply-adds and 24 loads; 93 % of all its instructions are useful.
// Bound     the multipliers: 132 multiprocessors x 128 x 2 x 1.98 GHz = 67 TFLOP/s on an H200, of which the issue slots
//           leave 62. The rest goes to the register file: multiply-adds whose operands lie in one bank of it take
//           longer.
#include "kernels/matmul.cuh"

namespace {

using namespace gi;

constexpr int DEPTH = 16;          // of a tile: floats of A's row, rows of B
constexpr int A_PITCH = DEPTH + 4; // floats
constexpr int ACROSS = 8;          // elements of C that a thread makes along a row
constexpr int WARP_COLS = 64, GROUP = WARP_COLS / 2;
constexpr int ROW_STEP = 4; // between the rows of a thread

// A block's tile. Down: elements that a thread makes along a column. Slices: how many groups of warps share the depth
// of each tile.
template <int Rows, int Cols, int Down, int Slices, int Stages> struct shape {
    static constexpr int ROWS = Rows, COLS = Cols, DOWN = Down, SLICES = Slices, STAGES = Stages;
    static constexpr int WARP_ROWS = ROW_STEP * Down;
    static constexpr int WARPS_ACROSS = Cols / WARP_COLS, SLICE_WARPS = Rows / WARP_ROWS * WARPS_ACROSS;
    static constexpr int THREADS = Slices * SLICE_WARPS * WARP;
    static constexpr int A_FLOATS = Rows * A_PITCH, STAGE_FLOATS = A_FLOATS + DEPTH * Cols;
    static constexpr int SHARED_BYTES = Stages * STAGE_FLOATS * 4;
    static_assert(SHARED_BYTES <= 64 * 1024, "the most that a block gets before 8.0");
    static_assert((Slices - 1) * Rows * Cols <= Stages * STAGE_FLOATS, "what slices found fits in the tiles' place");
};
// 16 x 8 elements of a thread, which leave it few registers: a block has a multiprocessor for itself.
using large = shape<128, 256, 16, 1, 2>;
// For few tiles: more of them, and the 8 warps in two slices.
using small = shape<64, 128, 8, 2, 3>;

// The part of C that a thread makes, and its place in the block's tile.
template <int Down> struct piece {
    float sum[Down][ACROSS];
    int row, col; // the first row; the first column of the first four, the others are GROUP further
};

// Adds the product of `Count` columns of A's tile and rows of B's to the piece. `a` points to the thread's first row,
// `b` to its first column. B's operands come first, for four steps of depth: then those of A are needed one row at a
// time, and the multiply-adds that follow each other have one operand in common, which spares the register file.
template <int Count, int Cols, int Down>
__device__ __forceinline__ void multiply(const float *a, const float *b, float (&sum)[Down][ACROSS]) {
#pragma unroll
    for (int p0 = 0; p0 < Count; p0 += 4) {
        float right[4][ACROSS];
#pragma unroll
        for (int p = 0; p < 4; p++) {
            *(float4 *)right[p] = *(const float4 *)(b + (p0 + p) * Cols);
            *(float4 *)(right[p] + 4) = *(const float4 *)(b + (p0 + p) * Cols + GROUP);
        }
#pragma unroll
        for (int i = 0; i < Down; i++) {
            float left[4];
            *(float4 *)left = *(const float4 *)(a + i * ROW_STEP * A_PITCH + p0);
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++) sum[i][j] = fmaf(left[p], right[p][j], sum[i][j]);
        }
    }
}

// Adds what the slices found, in order, to the first one's piece. True for its threads.
template <typename Shape>
__device__ __forceinline__ bool add_slices(float *shared, int slice, piece<Shape::DOWN> &out) {
    if constexpr (Shape::SLICES > 1) {
        static_assert(Shape::SLICES == 2, "one other slice");
        constexpr int PART = Shape::THREADS / 2; // threads of a slice
        float *mine = shared + threadIdx.x % PART;
        __syncthreads(); // nobody reads the tiles any more
#pragma unroll
        for (int i = 0; i < Shape::DOWN * ACROSS; i++)
            if (slice == 1) mine[i * PART] = out.sum[i / ACROSS][i % ACROSS];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Shape::DOWN * ACROSS; i++)
            if (slice == 0) out.sum[i / ACROSS][i % ACROSS] += mine[i * PART];
    }
    return slice == 0;
}

template <bool Wide, int Down>
__device__ __forceinline__ void store(const product &p, float *c, place at, const piece<Down> &out) {
#pragma unroll
    for (int i = 0; i < Down; i++) {
        const int row = at.row + out.row + i * ROW_STEP, col = at.col + out.col;
        if (row >= p.m) break;
        float *to = c + (size_t)row * p.c_stride;
        store_four<Wide>(to, col, p.n, *(const float4 *)out.sum[i]);
        store_four<Wide>(to, col + GROUP, p.n, *(const float4 *)(out.sum[i] + 4));
    }
}

// Block (tile, part): a tile of C, or the part of it that `tiles_deep` tiles of the sum from part * tiles_deep on make.
template <typename Shape, bool Wide>
__global__ void __launch_bounds__(Shape::THREADS) fast_kernel(const product p, int tiles_deep) {
    extern __shared__ __align__(16) float shared[];
    constexpr int SLICE_DEPTH = DEPTH / Shape::SLICES;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int slice = warp / Shape::SLICE_WARPS, in_slice = warp % Shape::SLICE_WARPS;
    piece<Shape::DOWN> out = {};
    out.row = in_slice / Shape::WARPS_ACROSS * Shape::WARP_ROWS + (lane & 1) + (lane >> 4) * 2;
    out.col = in_slice % Shape::WARPS_ACROSS * WARP_COLS + (lane >> 1 & 7) * 4;

    const place at = tile_place<Shape::ROWS, Shape::COLS>(p.m, p.n, blockIdx.x);
    const int deep0 = (int)blockIdx.y * tiles_deep * DEPTH;
    const int tiles = min(tiles_deep, (p.k - deep0 + DEPTH - 1) / DEPTH);
    tile_copy<Shape::ROWS, DEPTH, A_PITCH, Shape::THREADS, Wide> a(p.a, p.a_stride, p.m, p.k, {at.row, deep0},
                                                                   threadIdx.x);
    tile_copy<DEPTH, Shape::COLS, Shape::COLS, Shape::THREADS, Wide> b(p.b, p.b_stride, p.k, p.n, {deep0, at.col},
                                                                       threadIdx.x);
    auto start = [&](int tile) {
        float *stage = shared + tile % Shape::STAGES * Shape::STAGE_FLOATS;
        if (tile < tiles) {
            a.start(stage);
            b.start(stage + Shape::A_FLOATS);
            a.go_right();
            b.go_down();
        }
        commit_copies();
    };
    for (int tile = 0; tile < Shape::STAGES - 1; tile++) start(tile);
    for (int tile = 0; tile < tiles; tile++) {
        wait_copies<Shape::STAGES - 2>();
        __syncthreads(); // the tile is there, and nobody reads the one before it any more
        start(tile + Shape::STAGES - 1);
        const float *stage = shared + tile % Shape::STAGES * Shape::STAGE_FLOATS;
        multiply<SLICE_DEPTH, Shape::COLS>(stage + out.row * A_PITCH + slice * SLICE_DEPTH,
                                           stage + Shape::A_FLOATS + slice * SLICE_DEPTH * Shape::COLS + out.col,
                                           out.sum);
    }
    if (add_slices<Shape>(shared, slice, out)) store<Wide>(p, p.c + blockIdx.y * (size_t)p.m * p.c_stride, at, out);
}

constexpr int SUM_THREADS = 256;

// Each element of C = the sum of the parts' elements, in order. The parts are packed, one after the other.
__global__ void __launch_bounds__(SUM_THREADS) sum_parts_kernel(const float *parts, int count, const product p) {
    const size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x, n = (size_t)p.n, elements = (size_t)p.m * n;
    if (i >= elements) return;
    float sum = parts[i];
    for (int part = 1; part < count; part++) sum += parts[(size_t)part * elements + i];
    p.c[i / n * p.c_stride + i % n] = sum;
}

// --- launching -------------------------------------------------------------------------------------------------------

// Blocks that run at once, one for each multiprocessor of an H200. A number of its own, so that results do not depend
// on the device.
constexpr size_t AT_ONCE = 132;
constexpr size_t LARGE_TIME = 32, SMALL_TIME = 10; // of a tile, as measured
constexpr size_t LEAST_DEEP = 8;                   // tiles of a part: less is not worth adding up

template <typename Shape> size_t rounds_of(const gi_matmul_launch &job) {
    return divide_up(tile_count(job, Shape::ROWS, Shape::COLS), AT_ONCE);
}

bool is_large(const gi_matmul_launch &job) {
    return rounds_of<large>(job) * LARGE_TIME <= rounds_of<small>(job) * SMALL_TIME;
}

// Where C has few tiles, several blocks share the sum of each.
size_t parts_of(const gi_matmul_launch &job) {
    const size_t possible = AT_ONCE / tile_count(job, small::ROWS, small::COLS);
    return larger(smaller(possible, divide_up(job.k, DEPTH) / LEAST_DEEP), 1);
}

template <typename Shape, bool Wide> gi_status start(const gi_matmul_launch &job, gi_error *err) {
    const product p = product_of(job);
    product made = p;
    const gi_status status =
        gi_cuda_check(cudaFuncSetAttribute(fast_kernel<Shape, Wide>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           Shape::SHARED_BYTES),
                      "asking for shared memory", err);
    if (status != GI_OK) return status;
    const size_t tiles = divide_up(job.k, DEPTH), deep = divide_up(tiles, parts_of(job)), elements = job.m * job.n;
    const size_t parts = divide_up(tiles, deep); // rounding up may leave fewer
    const dim3 grid((unsigned)tile_count(job, Shape::ROWS, Shape::COLS), (unsigned)parts);
    if (parts > 1) {
        made.c = (float *)job.scratch;
        made.c_stride = job.n;
    }
    fast_kernel<Shape, Wide><<<grid, Shape::THREADS, Shape::SHARED_BYTES, (cudaStream_t)job.stream>>>(made, (int)deep);
    if (parts > 1)
        sum_parts_kernel<<<(unsigned)divide_up(elements, SUM_THREADS), SUM_THREADS, 0, (cudaStream_t)job.stream>>>(
            made.c, (int)parts, p);
    return gi_cuda_check(cudaGetLastError(), "starting matmul fast", err);
}

} // namespace

size_t gi::matmul_fast_scratch(const gi_matmul_launch &job) {
    const size_t parts = parts_of(job);
    return parts == 1 ? 0 : parts * job.m * job.n * sizeof(float);
}

gi_status gi::matmul_fast(const gi_matmul_launch &job, gi_error *err) {
    const bool wide = is_wide(job);
    if (is_large(job)) return wide ? start<large, true>(job, err) : start<large, false>(job, err);
    return wide ? start<small, true>(job, err) : start<small, false>(job, err);
}
