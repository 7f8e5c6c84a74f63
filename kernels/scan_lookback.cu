// The scan of an array in one pass, with decoupled look-back: `lookback`, the default.
//
// Formula   s(i) = v(0) op ... op v(i); sums and products of floats with the runs, rows and tiles of core/float_tree.h,
//           and so the same bits at any time and on any device. Integers and extremes take the same way.
// Threads   a tile is 16 rows of 256 values. A block has 16 warps that work, a row each, 8 neighbouring values (a run) to
//           a lane; and a few warps more that look back (scan_lookback.cuh), each for one tile. A block lives on: it
//           takes one tile after the other, by a counter in memory, so that a tile never waits for one that no block
//           has. For each place i of a block's sequence of tiles a working warp
//             loads   its row into a ring of tiles in shared memory, by copies that run beside it, `Ring` places ahead;
//             adds up the row, `Ahead` places ahead: then the tile's value is made known, and its look-back begins;
//             scans   the row, beginning with what was found to stand before it, and writes it.
//           So neither memory nor other blocks are waited for, as long as they answer within the time of some tiles.
// Shared    the ring. Pieces of 16 bytes are exchanged such that runs are read without bank conflicts; results take the
//           place of the values they come from (a place beside where they are larger), and are then written 512
//           neighbouring bytes at a time, whatever the address.
// Overflow  s(i) modulo 2^64 from s(i - 1) and v(i): the first of all places where that overflows is the first result
//           that does not fit, as all before it are exact.
// Bytes     one read of the values, one write of the results; 32 bytes for each tile of 4096 values.
// Bound     memory bandwidth.
#include <cuda_pipeline.h>

#include "kernels/large_shared.cuh"
#include "kernels/scan.cuh"
#include "kernels/scan_array.cuh"
#include "kernels/scan_lookback.cuh"

namespace {

using namespace gi;

constexpr int RUN = GI_SCAN_RUN, ROW = GI_SCAN_ROW, ROWS = GI_SCAN_ROWS, TILE = GI_SCAN_TILE;
static_assert(GI_SCAN_RUNS == WARP, "a warp takes a row");
constexpr int WORKERS = ROWS * WARP;

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
    group_words *groups;
};

// Ring: tiles in shared memory. Ahead: by how many tiles a tile's value is known before it is scanned.
template <typename Job, int Ring, int Ahead> struct block_memory {
    using E = typename Job::element;
    using Out = typename Job::Out;
    static constexpr bool BESIDE = sizeof(Out) != sizeof(E); // results do not fit in the values' place
    static constexpr int NUMBERS = Ring + 2;
    alignas(16) E ring[Ring][ROWS][ROW];
    alignas(16) Out beside[BESIDE ? ROWS : 1][BESIDE ? ROW : 16 / sizeof(Out)];
    alignas(16) typename Job::A totals[Ahead][ROWS]; // of rows
    typename Job::A carries[Ahead][ROWS];            // what stands before a row in its tile
    typename Job::A before[Ahead];                   // what stands before the tile
    uint32_t tiles[NUMBERS];                         // which tile is at place i of the block's sequence: [i % NUMBERS]
};

// Barriers of the workers and one more warp, some of which only arrive.
__device__ __forceinline__ void barrier_wait(int barrier) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(WORKERS + WARP) : "memory");
}
__device__ __forceinline__ void barrier_arrive(int barrier) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(WORKERS + WARP) : "memory");
}
template <int Ahead> __device__ __forceinline__ int added_up(int place) { return 1 + place % Ahead; }
template <int Ahead> __device__ __forceinline__ int looked_back(int place) { return 1 + Ahead + place % Ahead; }

// Of the workers alone.
__device__ __forceinline__ void workers_wait() { asm volatile("bar.sync 0, %0;" ::"n"(WORKERS) : "memory"); }

// The next tile that no block has; after the last, any number beyond. One thread of a block asks, so that its sequence
// ascends.
template <typename Job> __device__ __forceinline__ uint32_t next_tile(const work<Job> &w, uint32_t last) {
    return last < w.tiles ? atomicAdd(w.ticket, 1) : last;
}

template <typename Job, int Ring, int Ahead>
__device__ __forceinline__ void load(const work<Job> &w, block_memory<Job, Ring, Ahead> &m, int place, int row,
                                     int lane) {
    const uint32_t tile = m.tiles[place % m.NUMBERS];
    const size_t first = (size_t)tile * TILE + row * ROW;
    if (tile < w.tiles)
        load_row(m.ring[place % Ring][row], w.values + first, (int64_t)w.count - (int64_t)first, w.read_vectors, lane);
    __pipeline_commit();
}

// Every lane gets the row's total: by neighbours, as the last of a scan by Kogge and Stone's steps is.
template <typename Job, int Ring, int Ahead>
__device__ __forceinline__ void add_up(const work<Job> &w, block_memory<Job, Ring, Ahead> &m, int place, int row,
                                       int lane) {
    const typename Job::Op op;
    __pipeline_wait_prior(Ring - Ahead);
    __syncwarp();
    if (m.tiles[place % m.NUMBERS] < w.tiles) {
        typename Job::element values[RUN];
        typename Job::A v[RUN];
        read_run(m.ring[place % Ring][row], lane, values);
#pragma unroll
        for (int i = 0; i < RUN; i++) v[i] = Job::of(values[i]);
        const typename Job::A total = warp_tree(thread_tree(v, op), op);
        if (lane == 0) m.totals[place % Ahead][row] = total;
    }
    __syncwarp();
    barrier_arrive(added_up<Ahead>(place));
}

// s(i) for a lane's values, and what stands before them.
template <typename Job>
__device__ __forceinline__ void scan_run(typename Job::A (&v)[RUN], typename Job::A *before, typename Job::A tile_before,
                                         typename Job::A carry, int lane) {
    const typename Job::Op op;
#pragma unroll
    for (int step = 1; step < RUN; step *= 2) {
#pragma unroll
        for (int i = RUN - 1; i >= step; i--) v[i] = op(v[i - step], v[i]);
    }
    typename Job::A runs = shuffle_up(warp_scan(v[RUN - 1], op), 1);
    if (lane == 0) runs = op.identity();
    *before = op(tile_before, op(carry, runs));
#pragma unroll
    for (int i = 0; i < RUN; i++) v[i] = op(*before, v[i]);
}

template <typename Job, int Ring, int Ahead>
__device__ __forceinline__ void scan_row(const work<Job> &w, block_memory<Job, Ring, Ahead> &m, int place, int row,
                                         int lane) {
    using Out = typename Job::Out;
    using E = typename Job::element;
    const size_t first = (size_t)m.tiles[place % m.NUMBERS] * TILE + row * ROW;
    const int64_t left = (int64_t)w.results - (int64_t)first;
    E *values_row = m.ring[place % Ring][row];
    Out *results_row = m.BESIDE ? m.beside[row] : (Out *)values_row;
    E values[RUN];
    Out results[RUN];
    typename Job::A v[RUN], before;
    read_run(values_row, lane, values);
#pragma unroll
    for (int i = 0; i < RUN; i++) v[i] = Job::of(values[i]);
    scan_run<Job>(v, &before, m.before[place % Ahead], m.carries[place % Ahead][row], lane);
    if (Job::REFUSES) {
#pragma unroll
        for (int i = 0; i < RUN; i++)
            if (!Job::fits(i ? v[i - 1] : before, Job::of(values[i]), v[i]) && lane * RUN + i < left)
                atomicMin((unsigned long long *)w.refused, (unsigned long long)(first + lane * RUN + i));
    }
#pragma unroll
    for (int i = 0; i < RUN; i++) Job::put(&results[i], v[i]);
    write_run(results_row, lane, results);
    if (first == 0 && lane == 0 && w.first) *w.first = w.identity;
    __syncwarp();
    store_row(results_row, w.out + first, left, w.write_vectors, lane);
    __syncwarp();
}

template <typename Job, int Ring, int Ahead>
__device__ void work_on(const work<Job> &w, block_memory<Job, Ring, Ahead> &m, int row, int lane) {
    const bool asks = row == 0 && lane == 0;
    uint32_t next = 0;
    for (int i = 0; i < Ring; i++) {
        // One by one, so that neighbouring tiles go to different blocks.
        if (asks) m.tiles[i] = next = next_tile(w, next);
        workers_wait();
        load(w, m, i, row, lane);
        if (i >= Ring - Ahead) add_up(w, m, i - (Ring - Ahead), row, lane);
    }
    if (asks) m.tiles[Ring] = next = next_tile(w, next);
    for (int i = 0; m.tiles[i % m.NUMBERS] < w.tiles; i++) {
        if (asks) next = next_tile(w, next); // a place further than is loaded next: the answer takes a while
        barrier_wait(looked_back<Ahead>(i));
        scan_row(w, m, i, row, lane);
        if (asks) m.tiles[(i + Ring + 1) % m.NUMBERS] = next;
        load(w, m, i + Ring, row, lane);
        add_up(w, m, i + Ahead, row, lane);
    }
}

// What stands before each row of a tile, and before the tile, for every `Ahead`th place from `slot` on.
template <typename Job, int Ring, int Ahead>
__device__ void look_back_for(const work<Job> &w, block_memory<Job, Ring, Ahead> &m, int slot, int lane) {
    using A = typename Job::A;
    const typename Job::Op op;
    for (int i = slot;; i += Ahead) {
        barrier_wait(added_up<Ahead>(slot));
        const uint32_t tile = m.tiles[i % m.NUMBERS];
        if (tile >= w.tiles) break;
        A total = op.identity(), carry = total;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (lane == r) carry = total;
            total = op(total, m.totals[slot][r]);
        }
        const A before = look_back(w.groups, tile, total, op);
        if (lane < ROWS) m.carries[slot][lane] = carry;
        if (lane == 0) m.before[slot] = before;
        __syncwarp();
        barrier_arrive(looked_back<Ahead>(slot));
    }
}

template <typename Job, int Ring, int Ahead>
__global__ void __launch_bounds__(WORKERS + Ahead *WARP) pass_kernel(const __grid_constant__ work<Job> w) {
    extern __shared__ __align__(16) unsigned char memory[];
    block_memory<Job, Ring, Ahead> &m = *(block_memory<Job, Ring, Ahead> *)memory;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    if (warp < ROWS)
        work_on(w, m, warp, lane);
    else
        look_back_for(w, m, warp - ROWS, lane);
}

// ---- launches -----------------------------------------------------------------------------------------------------

constexpr size_t HEAD = 256; // bytes of the scratch before the groups: the counter

size_t tiles_of(const gi_device_scan_job *job) { return divide_up(job->count, TILE); }

__global__ void prepare_kernel(uint4 *words, size_t count, uint64_t *refused) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) words[i] = make_uint4(0, 0, 0, 0);
    if (i == 0) *refused = UINT64_MAX;
}

template <typename Job, int Ring, int Ahead> gi_status launch(const work<Job> &w, cudaStream_t stream, gi_error *err) {
    constexpr int THREADS = WORKERS + Ahead * WARP;
    const auto kernel = pass_kernel<Job, Ring, Ahead>;
    const size_t shared = sizeof(block_memory<Job, Ring, Ahead>);
    size_t blocks;
    gi_status status = allow_shared(kernel, THREADS, shared, &blocks, err);
    if (status != GI_OK) return status;
    kernel<<<(unsigned)smaller(blocks, w.tiles), THREADS, shared, stream>>>(w);
    return gi_cuda_check(cudaGetLastError(), "starting a scan", err);
}

template <typename Job> gi_status start(const gi_device_scan_job *job, gi_error *err) {
    using E = typename Job::element;
    using Out = typename Job::Out;
    // As many tiles as a large shared memory holds; half of them on their way, half looked back for.
    constexpr int RING = sizeof(E) == 8 ? 6 : 10, AHEAD = sizeof(E) == 8 ? 3 : 5;
    work<Job> w = {};
    size_t most;
    gi_status status = most_shared(&most, err);
    if (status != GI_OK) return status;
    w.values = (const E *)job->values;
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
    w.groups = (group_words *)((char *)job->scratch + HEAD);
    if (sizeof(block_memory<Job, RING, AHEAD>) <= most)
        return launch<Job, RING, AHEAD>(w, (cudaStream_t)job->stream, err);
    return launch<Job, 1, 1>(w, (cudaStream_t)job->stream, err);
}

} // namespace

namespace gi {

size_t scan_lookback_scratch(const gi_device_scan_job *job) {
    return HEAD + group_count(tiles_of(job)) * sizeof(group_words);
}

gi_status scan_lookback(const gi_device_scan_job *job, gi_error *err) {
    const size_t words = scan_lookback_scratch(job) / sizeof(uint4);
    prepare_kernel<<<grid_blocks(divide_up(words, 256)), 256, 0, (cudaStream_t)job->stream>>>(
        (uint4 *)job->scratch, words, job->refused);
    gi_status status = gi_cuda_check(cudaGetLastError(), "preparing a scan", err);
    if (status != GI_OK) return status;
    return with_job<false>(job->element, job->operation, [&](auto tag) {
        return start<in_pass<typename decltype(tag)::type>>(job, err);
    });
}

} // namespace gi
