// The reduction of an array as lectures build it up: a tree in shared memory for each block, with interleaved and with
// sequential addressing.
//
// Formula   each block reduces 256 values to one; what the blocks found is reduced likewise, launch after launch, until
//           one value is left: log256(n) launches.
// Threads   thread t of a block loads value t. In each of 8 steps half of the threads that worked before add what
//           another left:
//             interleaved  t with t + s for s = 1, 2, 4, ..., 128, where t is a multiple of 2 s. The workers are spread
//                          over all warps: each warp runs all steps but the last few, for ever fewer lanes
//                          (divergence).
//             sequential   t with t + s for s = 128, 64, ..., 1, where t < s. The workers stand together: whole warps
//                          are done early, and neighbouring threads read neighbouring words of shared memory.
// Shared    256 accumulators.
// Bytes     one read of the values, and a write and a read of an accumulator for every 256 of them.
// Bound     instructions and barriers: a thread adds little for what its start and 9 barriers cost. That is what
//           `shuffle` does otherwise: many values for each thread, and no barrier within a warp.
#include "kernels/reduce_array.cuh"

namespace {

using namespace gi;

constexpr int THREADS = 256;

template <typename A, typename Op> __device__ void interleaved(A *values, Op op) {
    const int t = threadIdx.x;
    for (int step = 1; step < THREADS; step *= 2) {
        if (t % (2 * step) == 0) values[t] = op(values[t], values[t + step]);
        __syncthreads();
    }
}

template <typename A, typename Op> __device__ void sequential(A *values, Op op) {
    const int t = threadIdx.x;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (t < step) values[t] = op(values[t], values[t + step]);
        __syncthreads();
    }
}

// Where a launch reads: the array, or what the launch before found.
template <typename Job> struct of_elements {
    const typename Job::element *from;
    __device__ typename Job::A operator()(size_t i) const { return Job::of(from[i]); }
};

template <typename Job, bool Interleaved, typename Load>
__global__ void __launch_bounds__(THREADS) block_kernel(size_t count, Load load, typename Job::A *found) {
    __shared__ typename Job::A values[THREADS];
    const typename Job::Op op;
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    values[threadIdx.x] = i < count ? load(i) : op.identity();
    __syncthreads();
    if (Interleaved)
        interleaved(values, op);
    else
        sequential(values, op);
    if (threadIdx.x == 0) found[blockIdx.x] = values[0];
}

template <typename Job, bool Interleaved> gi_status launch(const gi_device_reduce_job *job, gi_error *err) {
    using A = typename Job::A;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    size_t left = divide_up(job->count, THREADS);
    // Two places, in turn: after the array's blocks, a launch reads one and writes the other.
    A *found = (A *)job->scratch, *other = found + left;
    if (left != grid_blocks(left)) return gi_fail(err, GI_ERR_LIMIT, "a reduction of %zu values", job->count);
    block_kernel<Job, Interleaved><<<(unsigned)left, THREADS, 0, stream>>>(
        job->count, of_elements<Job>{(const typename Job::element *)job->values}, found);
    while (left > 1) {
        const size_t blocks = divide_up(left, THREADS);
        block_kernel<Job, Interleaved><<<(unsigned)blocks, THREADS, 0, stream>>>(left, array_load<A>{found}, other);
        A *swap = found;
        found = other;
        other = swap;
        left = blocks;
    }
    finish_kernel<Job><<<1, 1, 0, stream>>>(found, job->count, job->result);
    return gi_cuda_check(cudaGetLastError(), "starting a reduction", err);
}

} // namespace

namespace gi {

size_t reduce_classic_scratch(const gi_device_reduce_job *job) {
    const size_t blocks = divide_up(job->count, THREADS);
    return (blocks + divide_up(blocks, THREADS)) * sizeof(wide);
}

gi_status reduce_classic(const gi_device_reduce_job *job, gi_error *err) {
    return with_job<true>(job->element, job->operation, [&](auto tag) {
        using Job = typename decltype(tag)::type;
        static_assert(sizeof(typename Job::A) <= sizeof(wide), "what the scratch is measured by");
        return job->algorithm == GI_REDUCE_INTERLEAVED ? launch<Job, true>(job, err) : launch<Job, false>(job, err);
    });
}

} // namespace gi
