// Inclusive scan (prefix sums): n values become their n running reductions under an associative operation.
//
// Formula   s(i) = v(0) op v(1) op ... op v(i). What stands before i, the exclusive scan, is s(i - 1), or the identity.
// Levels    warp:   Kogge and Stone's steps: each lane adds what the lane 1, 2, 4, 8, 16 before it has so far. More
//                   additions than a tree needs, but all lanes step together anyway.
//           block:  threads scan a run of neighbouring values each, one after the other; then the threads' totals are
//                   scanned warp by warp, the warps' totals by the first warp; then each thread runs over its values
//                   again, beginning with what stands before it.
//           device: scan-then-propagate in three launches. Tiles are reduced; one block scans their totals; each
//                   tile is scanned, beginning with what stands before it. One pass with look-back would read the
//                   values once instead of twice, but needs blocks to wait for each other.
// Exact     for integers, whose operations do not depend on grouping. The order of operands is kept.
// Shared    a tile: values are read and written 32 neighbours at a time, as the memory bus likes it, but scanned in
//           runs, as the algorithm likes it; shared memory turns one into the other.
// Bytes     two reads of the values, one write; one read where all fit a tile.
// Bound     memory bandwidth, for large n.
#ifndef GI_KERNELS_SCAN_CUH
#define GI_KERNELS_SCAN_CUH

#include "kernels/reduce.cuh"

namespace gi {

// Lane i gets the reduction of the values of lanes 0..i. All 32 lanes take part.
template <typename T, typename Op> __device__ __forceinline__ T warp_scan(T value, Op op) {
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int delta = 1; delta < WARP; delta *= 2) {
        T before = shuffle_up(value, delta);
        if (lane >= delta) value = op(before, value);
    }
    return value;
}

// Each thread gets the reduction of the values of the threads before it: the exclusive scan. *total is that of all. All
// threads of the block take part, and the room may be used again at once.
template <int Threads, typename T, typename Op>
__device__ __forceinline__ T block_scan(T value, Op op, block_room<Threads, T> &room, T *total) {
    constexpr int WARPS = block_room<Threads, T>::WARPS;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const T upto = warp_scan(value, op);
    T before = shuffle_up(upto, 1);
    if (lane == 0) before = op.identity();
    if (lane == WARP - 1) room.warps[warp] = upto;
    __syncthreads();
    if (warp == 0) {
        T scanned = warp_scan(lane < WARPS ? room.warps[lane] : op.identity(), op);
        __syncwarp(); // all have read before any writes
        if (lane < WARPS) room.warps[lane] = scanned;
    }
    __syncthreads();
    if (warp > 0) before = op(room.warps[warp - 1], before);
    *total = room.warps[WARPS - 1];
    __syncthreads();
    return before;
}

// Scans values[0 .. count) of shared memory in place, beginning with `carry`; returns what to carry on with. All
// threads of the block take part; what they wrote before is seen, what this writes may be read at once.
template <int Threads, typename T, typename Op>
__device__ __forceinline__ T block_scan_array(T *values, int count, T carry, Op op, block_room<Threads, T> &room) {
    // An odd number of values a thread: the threads of a warp then meet in no bank of shared memory.
    const int run = (count + Threads - 1) / Threads | 1;
    const int first = min((int)threadIdx.x * run, count), end = min(first + run, count);
    __syncthreads();
    T own = op.identity(), total;
    for (int i = first; i < end; i++) own = op(own, values[i]);
    T before = op(carry, block_scan(own, op, room, &total));
    for (int i = first; i < end; i++) values[i] = before = op(before, values[i]);
    __syncthreads();
    return op(carry, total);
}

constexpr int SCAN_THREADS = 256;
// Values of a tile: as many bytes as two blocks or more find room for on every architecture.
template <typename T> constexpr int SCAN_TILE = SCAN_THREADS *(sizeof(T) <= 8 ? 9 : 3);

template <typename T, typename Load, typename Op>
__global__ void __launch_bounds__(SCAN_THREADS) scan_totals_kernel(size_t n, Load load, Op op, T *totals) {
    __shared__ block_room<SCAN_THREADS, T> room;
    const size_t first = (size_t)blockIdx.x * SCAN_TILE<T>;
    T value = op.identity();
    // Neighbours go to neighbouring threads here too; each thread's values are combined out of order, which an
    // operation that is commutative as well does not mind.
    for (int i = (int)threadIdx.x; i < SCAN_TILE<T>; i += SCAN_THREADS)
        if (first + i < n) value = op(value, load(first + i));
    value = block_reduce(value, op, room);
    if (threadIdx.x == 0) totals[blockIdx.x] = value;
}

// Replaces each tile's total by what stands before the tile. One block.
template <typename T, typename Op>
__global__ void __launch_bounds__(SCAN_THREADS) scan_carries_kernel(size_t tiles, T *totals, Op op) {
    __shared__ T values[SCAN_TILE<T>];
    __shared__ block_room<SCAN_THREADS, T> room;
    T carry = op.identity();
    for (size_t first = 0; first < tiles; first += SCAN_TILE<T>) {
        const int count = (int)min(tiles - first, (size_t)SCAN_TILE<T>);
        for (int i = (int)threadIdx.x; i < count; i += SCAN_THREADS) values[i] = totals[first + i];
        const T next = block_scan_array(values, count, carry, op, room);
        for (int i = (int)threadIdx.x; i < count; i += SCAN_THREADS) totals[first + i] = i ? values[i - 1] : carry;
        carry = next;
        __syncthreads();
    }
}

template <typename T, typename Load, typename Op, typename Store>
__global__ void __launch_bounds__(SCAN_THREADS)
    scan_tiles_kernel(size_t n, Load load, Op op, Store store, const T *carries) {
    __shared__ T values[SCAN_TILE<T>];
    __shared__ block_room<SCAN_THREADS, T> room;
    const size_t first = (size_t)blockIdx.x * SCAN_TILE<T>;
    const int count = (int)min(n - first, (size_t)SCAN_TILE<T>);
    for (int i = (int)threadIdx.x; i < count; i += SCAN_THREADS) values[i] = load(first + i);
    block_scan_array(values, count, carries ? carries[blockIdx.x] : op.identity(), op, room);
    for (int i = (int)threadIdx.x; i < count; i += SCAN_THREADS) store(first + i, values[i]);
}

// Where results go: store(i, s(i)). The plainest place is an array; it may be that which the values come from.
template <typename T> struct array_store {
    T *to;
    __device__ void operator()(size_t i, T value) const { to[i] = value; }
};

// Bytes of device memory that `scan` of so many values needs.
template <typename T> size_t scan_scratch(size_t n) {
    const size_t tiles = divide_up(n, SCAN_TILE<T>);
    return tiles > 1 ? tiles * sizeof(T) : 0;
}

// Enqueues: store(i, load(0) op ... op load(i)) for each i < n. `op` is also commutative. n < 2^31 tiles.
template <typename T, typename Load, typename Op, typename Store>
gi_status scan(size_t n, Load load, Op op, Store store, void *scratch, cudaStream_t stream, gi_error *err) {
    const size_t tiles = divide_up(n, SCAN_TILE<T>);
    T *carries = tiles > 1 ? (T *)scratch : nullptr;
    if (tiles == 0) return GI_OK;
    if (tiles != grid_blocks(tiles)) return gi_fail(err, GI_ERR_LIMIT, "a scan of %zu values", n);
    if (carries) {
        scan_totals_kernel<T><<<(unsigned)tiles, SCAN_THREADS, 0, stream>>>(n, load, op, carries);
        scan_carries_kernel<T><<<1, SCAN_THREADS, 0, stream>>>(tiles, carries, op);
    }
    scan_tiles_kernel<T><<<(unsigned)tiles, SCAN_THREADS, 0, stream>>>(n, load, op, store, carries);
    return gi_cuda_check(cudaGetLastError(), "starting a scan", err);
}

} // namespace gi

#endif
