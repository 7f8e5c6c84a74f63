// Reduction: n values become one under an associative and commutative operation (a sum, a minimum, the better of two).
//
// Formula   v(0) op v(1) op ... op v(n - 1), in some order of the operands; the operation's identity for n = 0.
// Levels    warp:   each lane combines with the one 16, 8, 4, 2, 1 lanes further: a tree of 5 steps in registers. The
//                   lanes of a warp exchange by shuffles, so that there is no shared memory to wait for.
//           block:  each warp reduces its own; by way of shared memory, the first warp reduces what they found.
//           device: each thread first combines many values of its own, which costs no exchange at all; each block
//                   reduces what its threads found. What the blocks found is reduced by a second launch of one block:
//                   the end of the first launch is the barrier over the whole device that a kernel lacks.
//           tree:   neighbours are combined, then neighbours of what that gave: a grouping by position alone, which
//                   floats need to be reproducible (core/float_tree.h).
// Exact     for integers, whose operations do not depend on the order; the order here is that of the values under
//           `tree` alone.
// Bytes     one read of the values.
// Bound     memory bandwidth, for large n.
#ifndef GI_KERNELS_REDUCE_CUH
#define GI_KERNELS_REDUCE_CUH

#include <cstring>
#include <type_traits>

#include "kernels/common.cuh"

namespace gi {

// What an operation is: T identity() and T operator()(T, T), both on the device. It may hold pointers.
template <typename T> struct sum {
    __device__ T identity() const { return 0; }
    __device__ T operator()(T a, T b) const { return a + b; }
};

// Where values come from: value = load(i). The plainest source is an array.
template <typename T> struct array_load {
    const T *from;
    __device__ T operator()(size_t i) const { return from[i]; }
};

// A value of any type as 32-bit words, which is what a shuffle moves.
template <typename T> struct shuffle_words {
    static_assert(std::is_trivially_copyable<T>::value && sizeof(T) % 4 == 0, "shuffles move whole 32-bit words");
    static constexpr int COUNT = sizeof(T) / 4;
    uint32_t of[COUNT];
};

// What `exchange` gives for each word of a value.
template <typename T, typename Exchange> __device__ __forceinline__ T shuffle(T value, Exchange exchange) {
    shuffle_words<T> words;
    memcpy(words.of, &value, sizeof value);
#pragma unroll
    for (int i = 0; i < words.COUNT; i++) words.of[i] = exchange(words.of[i]);
    memcpy(&value, words.of, sizeof value);
    return value;
}

// The value of the lane `delta` further; of one's own where there is none.
template <typename T> __device__ __forceinline__ T shuffle_down(T value, int delta) {
    return shuffle(value, [delta](uint32_t word) { return __shfl_down_sync(ALL_LANES, word, delta); });
}

// The value of the lane `delta` before; of one's own where there is none.
template <typename T> __device__ __forceinline__ T shuffle_up(T value, int delta) {
    return shuffle(value, [delta](uint32_t word) { return __shfl_up_sync(ALL_LANES, word, delta); });
}

// The value of the lane whose number differs in the bits of `mask`.
template <typename T> __device__ __forceinline__ T shuffle_xor(T value, int mask) {
    return shuffle(value, [mask](uint32_t word) { return __shfl_xor_sync(ALL_LANES, word, mask); });
}

// Lane 0 gets the reduction of all lanes' values; what the others get is of no use. All 32 lanes take part.
template <typename T, typename Op> __device__ __forceinline__ T warp_reduce(T value, Op op) {
#pragma unroll
    for (int delta = WARP / 2; delta > 0; delta /= 2) value = op(value, shuffle_down(value, delta));
    return value;
}

// Every lane gets the sum of all lanes' values, of integers of 32 or 64 bits. All 32 lanes take part.
template <typename T> __device__ __forceinline__ T warp_sum(T value) {
#if __CUDA_ARCH__ >= 800
    constexpr bool AT_ONCE = sizeof(T) == 4; // by an instruction of its own
#else
    constexpr bool AT_ONCE = false;
#endif
    if constexpr (AT_ONCE) {
        value = __reduce_add_sync(ALL_LANES, value);
    } else {
#pragma unroll
        for (int mask = WARP / 2; mask > 0; mask /= 2) value += __shfl_xor_sync(ALL_LANES, value, mask);
    }
    return value;
}

// Shared memory that a block of `Threads` needs to reduce or scan.
template <int Threads, typename T> struct block_room {
    static_assert(Threads % WARP == 0 && Threads <= WARP * WARP, "one warp handles what the warps found");
    static constexpr int WARPS = Threads / WARP;
    T warps[WARPS];
};

// Thread 0 gets the reduction of all threads' values. All threads of the block take part, and the room may be used
// again after a barrier.
template <int Threads, typename T, typename Op>
__device__ __forceinline__ T block_reduce(T value, Op op, block_room<Threads, T> &room) {
    constexpr int WARPS = block_room<Threads, T>::WARPS;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    value = warp_reduce(value, op);
    if (lane == 0) room.warps[warp] = value;
    __syncthreads();
    if (warp == 0) value = warp_reduce(lane < WARPS ? room.warps[lane] : op.identity(), op);
    return value;
}

// Every lane gets the tree of all lanes' values: lane 0 with 1, 2 with 3, ...; then 01 with 23; and so on. `op` is
// commutative to the bit. All 32 lanes take part.
template <typename T, typename Op> __device__ __forceinline__ T warp_tree(T value, Op op) {
#pragma unroll
    for (int mask = 1; mask < WARP; mask *= 2) value = op(value, shuffle_xor(value, mask));
    return value;
}

// values[0] by the tree over `Count` values in registers, a power of two.
template <int Count, typename T, typename Op> __device__ __forceinline__ T thread_tree(T (&values)[Count], Op op) {
#pragma unroll
    for (int step = 1; step < Count; step *= 2) {
#pragma unroll
        for (int i = 0; i < Count; i += 2 * step) values[i] = op(values[i], values[i + step]);
    }
    return values[0];
}

// How many values a block of `Threads` takes in one tree.
constexpr int TREE_EACH = 16;
template <int Threads> constexpr int BLOCK_TREE = Threads *TREE_EACH;

// Thread 0 gets the tree of load(0), load(1), ... of which there are `count` <= BLOCK_TREE; those that are missing are
// the identity, which changes no bit. The room may be used again at once.
template <int Threads, typename T, typename Load, typename Op>
__device__ __forceinline__ T block_tree(int count, Load load, Op op, block_room<Threads, T> &room) {
    constexpr int WARPS = block_room<Threads, T>::WARPS;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, first = (int)threadIdx.x * TREE_EACH;
    T values[TREE_EACH];
#pragma unroll
    for (int i = 0; i < TREE_EACH; i++) values[i] = first + i < count ? load(first + i) : op.identity();
    T value = warp_tree(thread_tree(values, op), op);
    if (lane == 0) room.warps[warp] = value;
    __syncthreads();
    if (warp == 0) value = warp_tree(lane < WARPS ? room.warps[lane] : op.identity(), op);
    __syncthreads();
    return value;
}

constexpr int REDUCE_THREADS = 256;
// Values a thread takes at least, so that a small reduction does not start blocks that only cost a second launch.
constexpr int REDUCE_VALUES = 8;
// More blocks than any device runs at once help nothing, and the second launch would have to read their results.
constexpr size_t REDUCE_BLOCKS = 1024;

template <typename T, typename Load, typename Op>
__global__ void __launch_bounds__(REDUCE_THREADS) reduce_kernel(size_t n, Load load, Op op, T *out) {
    __shared__ block_room<REDUCE_THREADS, T> room;
    const size_t stride = (size_t)gridDim.x * REDUCE_THREADS;
    T value = op.identity();
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * REDUCE_THREADS + threadIdx.x; i < n; i += stride) value = op(value, load(i));
    value = block_reduce(value, op, room);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}

inline size_t reduce_blocks(size_t n) {
    return larger(smaller(divide_up(n, REDUCE_THREADS * REDUCE_VALUES), REDUCE_BLOCKS), 1);
}

// Bytes of device memory that `reduce` of so many values needs.
template <typename T> size_t reduce_scratch(size_t n) {
    return reduce_blocks(n) == 1 ? 0 : reduce_blocks(n) * sizeof(T);
}

// Enqueues: *out (device memory) = the reduction of load(0) .. load(n - 1).
template <typename T, typename Load, typename Op>
gi_status reduce(size_t n, Load load, Op op, T *out, void *scratch, cudaStream_t stream, gi_error *err) {
    const size_t blocks = reduce_blocks(n);
    T *partial = blocks == 1 ? out : (T *)scratch;
    reduce_kernel<T><<<(unsigned)blocks, REDUCE_THREADS, 0, stream>>>(n, load, op, partial);
    if (blocks > 1) reduce_kernel<T><<<1, REDUCE_THREADS, 0, stream>>>(blocks, array_load<T>{partial}, op, out);
    return gi_cuda_check(cudaGetLastError(), "starting a reduction", err);
}

} // namespace gi

#endif
