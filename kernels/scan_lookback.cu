// The scan of an array in one pass, with decoupled look-back: `lookback`, the default.
//
// Formula   s(i) = v(0) op ... op v(i); sums and products of floats with the runs, rows and tiles of core/float_tree.h,
//           and so the same bits at any time and on any device. Integers and extremes take the same way.
// Threads   a tile is 16 rows of 256 values, for a block of its own, whose 4 warps take 4 rows each, one by one, with 8
//           neighbouring values (a run) to a lane. A block takes the next tile by a counter in memory, so that a tile
//           never waits for one that no block has. Then
//             all warps  copy their rows into shared memory, and scan them, each by itself;
//             -- barrier: the rows' totals are there
//             all warps  look back (scan_lookback.cuh): the tile's value is made known, what stands before it found;
//             -- barrier: that is there
//             all warps  put what stands before to their values, and write the results.
//           While a block waits, for memory or for tiles before, its multiprocessor's other blocks compute. There are
//           many, as values wait in shared memory, not in registers: of small blocks, with several rows to a warp, more
//           tiles are under way. And none takes its next tile before it is done with one: who has a tile, and waits
//           for others, holds back all behind.
// Shared    the tile. Pieces of 16 bytes are exchanged such that runs are read without bank conflicts; results take the
//           place of the values they come from (a place beside where they are larger), and are then written 512
//           neighbouring bytes at a time, whatever the address.
// Overflow  s(i) modulo 2^64 from s(i - 1) and v(i): the first of all places where that overflows is the first result
//           that does not fit, as all before it are exact.
// Bytes     one read of the values, one write of the results; 33 bytes for each tile of 4096 values.
// Bound     memory bandwidth, as long as enough blocks have loads and stores under way.
#include <cuda_pipeline.h>

#include "kernels/large_shared.cuh"
#include "kernels/scan.cuh"
#include "kernels/scan_array.cuh"
#include "kernels/scan_lookback.cuh"

namespace {

using namespace gi;

constexpr int RUN = GI_SCAN_RUN, ROW = GI_SCAN_ROW, ROWS = GI_SCAN_ROWS, TILE = GI_SCAN_TILE;
static_assert(GI_SCAN_RUNS == WARP, "a warp takes a row at a time");
constexpr int WARPS = 4, EACH = ROWS / WARPS; // rows of a warp

// ---- operations ---------------------------------------------------------------------------------------------------

// As kernels/array_ops.cuh has them; but integers modulo 2^64. fits(a, x, b): b is a op x, not only modulo 2^64.
template <typename Job> struct in_pass : Job {
    static constexpr bool REFUSES = false;
    __device__ static bool fits(typename Job::A, typename Job::A, typename Job::A) { return true; }
};

struct modular_sum {
    __device__ int64_t identity() const { return 0; }
    __device__ int64_t operator()(int64_t a, int64_t b) const { return (int64_t)((uint64_t)a + (uint64_t)b); }
};

struct modular_product {
    __device__ int64_t identity() const { return 1; }
    __device__ int64_t operator()(int64_t a, int64_t b) const { return (int64_t)((uint64_t)a * (uint64_t)b); }
};

template <typename E> struct modular_job {
    using element = E;
    using A = int64_t;
    using Out = int64_t;
    __device__ static A of(E value) { return value; }
    __device__ static bool put(Out *to, A value) {
        *to = value;
        return true;
    }
};

template <typename E> struct in_pass<sum_job<E>> : modular_job<E> {
    using Op = modular_sum;
    static constexpr bool REFUSES = sizeof(E) > 1; // no memory holds 2^55 bytes
    __device__ static bool fits(int64_t a, int64_t x, int64_t b) { return ((a ^ b) & (x ^ b)) >= 0; }
};

template <typename E> struct in_pass<product_job<E>> : modular_job<E> {
    using Op = modular_product;
    static constexpr bool REFUSES = true;
    __device__ static bool fits(int64_t a, int64_t x, int64_t b) {
        return __mul64hi((long long)a, (long long)x) == b >> 63;
    }
};

// ---- rows in shared memory ----------------------------------------------------------------------------------------

// Where value i of a row lies: the 16-byte pieces of the runs that a quarter of a warp reads at a time are spread over
// all banks.
template <typename T> __device__ __forceinline__ int place_in_row(int i) {
    constexpr int EACH = 16 / sizeof(T), PIECES = RUN / EACH;
    if (PIECES <= 1) return i;
    const int piece = i / EACH;
    return (piece ^ (piece >> 3 & (PIECES - 1))) * EACH + i % EACH;
}

// A lane's run, between registers and a row.
template <typename T> using piece_of = typename std::conditional<sizeof(T) == 1, uint2, uint4>::type;

template <typename T> __device__ __forceinline__ void read_run(const T *row, int lane, T (&to)[RUN]) {
    constexpr int EACH = sizeof(piece_of<T>) / sizeof(T);
#pragma unroll
    for (int i = 0; i < RUN; i += EACH) {
        const piece_of<T> piece = *(const piece_of<T> *)(row + place_in_row<T>(lane * RUN + i));
        memcpy(&to[i], &piece, sizeof piece);
    }
}

template <typename T> __device__ __forceinline__ void write_run(T *row, int lane, const T (&from)[RUN]) {
    constexpr int EACH = sizeof(piece_of<T>) / sizeof(T);
#pragma unroll
    for (int i = 0; i < RUN; i += EACH) {
        piece_of<T> piece;
        memcpy(&piece, &from[i], sizeof piece);
        *(piece_of<T> *)(row + place_in_row<T>(lane * RUN + i)) = piece;
    }
}

// Starts to copy a row of which `left` values are in the array; the others become 0, which no result sees. `vectors`:
// the values are aligned to 16 bytes. What a lane copied, it sees after __pipeline_wait_prior, and others after a
// __syncwarp behind that.
template <typename E>
__device__ __forceinline__ void load_row(E *row, const E *values, int64_t left, bool vectors, int lane) {
    constexpr int EACH = 16 / sizeof(E);
    if (left >= ROW && vectors) {
#pragma unroll
        for (int i = 0; i < ROW; i += WARP * EACH)
            if (i + lane * EACH < ROW)
                __pipeline_memcpy_async(row + place_in_row<E>(i + lane * EACH), values + i + lane * EACH, 16);
    } else {
        for (int i = lane; i < ROW; i += WARP) row[place_in_row<E>(i)] = i < left ? values[i] : (E)0;
    }
}

// Writes a row's first `left` results.
template <typename Out>
__device__ __forceinline__ void store_row(const Out *row, Out *out, int64_t left, bool vectors, int lane) {
    constexpr int EACH = 16 / sizeof(Out);
    if (left >= ROW && vectors) {
#pragma unroll
        for (int i = lane * EACH; i < ROW; i += WARP * EACH)
            __stcs((uint4 *)(out + i), *(const uint4 *)(row + place_in_row<Out>(i)));
    } else {
#pragma unroll
        for (int i = lane; i < ROW; i += WARP)
            if (i < left) out[i] = row[place_in_row<Out>(i)];
    }
}

// ---- a block ------------------------------------------------------------------------------------------------------

template <typename Job> struct work {
    const typename Job::element *values;
    typename Job::Out *out;   // where the result of value 0 goes
    typename Job::Out *first; // exclusive: gets `identity`; else NULL
    typename Job::Out identity;
    size_t count, results; // values, and of how many of them results are wanted
    uint32_t tiles;
    bool read_vectors, write_vectors; // all is aligned to 16 bytes
    uint64_t *refused;
    uint32_t *ticket;
    tile_groups groups;
};

template <typename Job> struct block_memory {
    using E = typename Job::element;
    using Out = typename Job::Out;
    using A = typename Job::A;
    static constexpr bool BESIDE = sizeof(Out) != sizeof(E); // results do not fit in the values' place
    alignas(16) E rows[ROWS][ROW];
    alignas(16) Out beside[BESIDE ? WARPS : 1][BESIDE ? ROW : 16 / sizeof(Out)];
    A totals[ROWS];                      // of rows
    A carries[ROWS];                     // what stands before a row in its tile
    A nodes[MOST_LEVELS * LEVEL_DIGITS]; // what stands before the tile, by the digits of its number
    uint32_t tile;
};

// A lane's run of a row, scanned by itself.
template <typename Job>
__device__ __forceinline__ void scan_run(const typename Job::element *row, int lane,
                                         typename Job::element (&values)[RUN], typename Job::A (&v)[RUN]) {
    const typename Job::Op op;
    read_run(row, lane, values);
#pragma unroll
    for (int i = 0; i < RUN; i++) v[i] = Job::of(values[i]);
#pragma unroll
    for (int step = 1; step < RUN; step *= 2) {
#pragma unroll
        for (int i = RUN - 1; i >= step; i--) v[i] = op(v[i - step], v[i]);
    }
}

// What stands before each row in its tile; returns the tile's value. One warp.
template <typename A, typename Op> __device__ __forceinline__ A add_rows(const A *totals, A *carries, int lane, Op op) {
    A total = op.identity(), carry = total;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (lane == r) carry = total;
        total = op(total, totals[r]);
    }
    if (lane < ROWS) carries[lane] = carry;
    return total;
}

// The results of a row from its runs, each scanned by itself, and from what stands before a lane's run.
template <typename Job, typename Out>
__device__ __forceinline__ void write_row(const work<Job> &w, size_t first, const typename Job::element (&values)[RUN],
                                          const typename Job::A (&v)[RUN], typename Job::A before, Out *row, int lane) {
    const typename Job::Op op;
    const int64_t left = (int64_t)w.results - (int64_t)first;
    typename Job::A last = before;
    Out results[RUN];
#pragma unroll
    for (int i = 0; i < RUN; i++) {
        const typename Job::A value = op(before, v[i]);
        if (Job::REFUSES && !Job::fits(last, Job::of(values[i]), value) && lane * RUN + i < left)
            atomicMin((unsigned long long *)w.refused, (unsigned long long)(first + lane * RUN + i));
        Job::put(&results[i], last = value);
    }
    write_run(row, lane, results);
    __syncwarp();
    store_row(row, w.out + first, left, w.write_vectors, lane);
    __syncwarp();
}

// How many warps are to run at once: for so many tiles is room in the shared memory of a large multiprocessor, and for
// so many lanes in its registers.
template <typename Job> constexpr int warps_at_once() {
    if (sizeof(typename Job::element) == 8) return 24;
    if (Job::REFUSES || (sizeof(typename Job::element) == 4 && sizeof(typename Job::Out) == 8)) return 32;
    if (sizeof(typename Job::element) == 1) return 48;
    return sizeof(typename Job::A) == 8 ? 40 : 48;
}

// Copies a warp's rows.
template <typename Job>
__device__ __forceinline__ void load_rows(const work<Job> &w, block_memory<Job> &m, size_t first, int warp, int lane) {
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const size_t at = first + i * ROW;
        load_row(m.rows[warp * EACH + i], w.values + at, (int64_t)w.count - (int64_t)at, w.read_vectors, lane);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
}

// Scans a warp's rows, each by itself: what stands in each before a lane's run, and the rows' totals.
template <typename Job>
__device__ __forceinline__ void scan_rows(block_memory<Job> &m, typename Job::A (&before)[EACH], int warp, int lane) {
    const typename Job::Op op;
    typename Job::element values[RUN];
    typename Job::A v[RUN];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        scan_run<Job>(m.rows[warp * EACH + i], lane, values, v);
        const typename Job::A upto = warp_scan(v[RUN - 1], op);
        before[i] = shuffle_up(upto, 1);
        if (lane == 0) before[i] = op.identity();
        if (lane == WARP - 1) m.totals[warp * EACH + i] = upto;
    }
}

// Writes the results of a warp's rows. Each run is scanned once more: that takes less time than to keep it would take
// registers.
template <typename Job>
__device__ __forceinline__ void write_rows(const work<Job> &w, block_memory<Job> &m, size_t first,
                                           typename Job::A tile_before, const typename Job::A (&before)[EACH], int warp,
                                           int lane) {
    using Out = typename Job::Out;
    const typename Job::Op op;
    typename Job::element values[RUN];
    typename Job::A v[RUN];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        typename Job::element *row = m.rows[warp * EACH + i];
        scan_run<Job>(row, lane, values, v);
        write_row(w, first + i * ROW, values, v, op(tile_before, op(m.carries[warp * EACH + i], before[i])),
                  m.BESIDE ? m.beside[m.BESIDE ? warp : 0] : (Out *)row, lane);
    }
}

template <typename Job>
__global__ void __launch_bounds__(WARPS *WARP, blocks_at_once<WARPS * WARP, warps_at_once<Job>()>())
    pass_kernel(const __grid_constant__ work<Job> w) {
    __shared__ block_memory<Job> m;
    const typename Job::Op op;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    if (threadIdx.x == 0) m.tile = atomicAdd(w.ticket, 1);
    __syncthreads();

    const uint32_t tile = m.tile;
    const size_t first = (size_t)tile * TILE + warp * EACH * ROW; // of the warp's values
    typename Job::A before[EACH];
    load_rows(w, m, first, warp, lane);
    scan_rows(m, before, warp, lane);
    __syncthreads();

    if (warp == 0) {
        const typename Job::A total = add_rows(m.totals, m.carries, lane, op);
        if (lane == 0) publish_group(w.groups.level[0] + tile, total);
    }
    for (int level = warp; level < w.groups.levels; level += WARPS) look_back(w.groups, level, tile, m.nodes, op);
    __syncthreads();

    if (tile == 0 && threadIdx.x == 0 && w.first) *w.first = w.identity;
    write_rows(w, m, first, before_tile(tile, m.nodes, op), before, warp, lane);
}

// ---- launches -----------------------------------------------------------------------------------------------------

constexpr size_t HEAD = 256; // bytes of the scratch before the groups: the counter

size_t tiles_of(const gi_device_scan_job *job) { return divide_up(job->count, TILE); }

__global__ void prepare_kernel(uint4 *words, size_t count, uint64_t *refused) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) words[i] = make_uint4(0, 0, 0, 0);
    if (i == 0) *refused = UINT64_MAX;
}

template <typename Job> work<Job> work_of(const gi_device_scan_job *job) {
    using Out = typename Job::Out;
    work<Job> w = {};
    size_t groups;
    w.values = (const typename Job::element *)job->values;
    w.out = (Out *)job->out + job->exclusive;
    w.first = first_of<Out>(job);
    w.identity = scan_identity<Out>(job->operation);
    w.count = job->count;
    w.results = job->count - job->exclusive;
    w.tiles = (uint32_t)tiles_of(job);
    w.read_vectors = (uintptr_t)w.values % 16 == 0;
    w.write_vectors = (uintptr_t)w.out % 16 == 0;
    w.refused = job->refused;
    w.ticket = (uint32_t *)job->scratch;
    w.groups = groups_of(w.tiles, (group_words *)((char *)job->scratch + HEAD), &groups);
    return w;
}

} // namespace

namespace gi {

size_t scan_lookback_scratch(const gi_device_scan_job *job) {
    size_t groups;
    groups_of(tiles_of(job), nullptr, &groups);
    return HEAD + groups * sizeof(group_words);
}

gi_status scan_lookback(const gi_device_scan_job *job, gi_error *err) {
    const size_t words = scan_lookback_scratch(job) / sizeof(uint4);
    prepare_kernel<<<grid_blocks(divide_up(words, 256)), 256, 0, (cudaStream_t)job->stream>>>((uint4 *)job->scratch,
                                                                                              words, job->refused);
    gi_status status = gi_cuda_check(cudaGetLastError(), "preparing a scan", err);
    if (status != GI_OK) return status;
    return with_job<false>(job->element, job->operation, [&](auto tag) {
        using Job = in_pass<typename decltype(tag)::type>;
        const auto kernel = pass_kernel<Job>;
        kernel<<<grid_blocks(tiles_of(job)), WARPS * WARP, 0, (cudaStream_t)job->stream>>>(work_of<Job>(job));
        return gi_cuda_check(cudaGetLastError(), "starting a scan", err);
    });
}

} // namespace gi
