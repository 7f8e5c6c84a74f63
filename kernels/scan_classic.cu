// The scan of an array as lectures build it up: each block scans its values in shared memory, by Kogge and Stone's
// steps or by Brent and Kung's; then the blocks' totals are scanned; then each block begins with what stands before it.
//
// Formula   s(i) = v(0) op ... op v(i), per block of 1024 values:
//             Kogge and Stone  in step s = 1, 2, 4, ..., 512 each value adds that s places before it: 10 steps, in
//             which
//                              nearly all threads work: n log2 n additions. (P. Kogge, H. Stone, 1973)
//             Brent and Kung   a tree upwards (value 2 k s - 1 adds that s before it, s = 1, 2, 4, ...), then one
//                              downwards (value 2 k s + s - 1 adds that s before it, s = ..., 2, 1): 2 n additions, but
//                              twice the steps, and in most of them few threads work. (R. Brent, H. T. Kung, 1982)
// Threads   one for each value (Kogge and Stone), for each two (Brent and Kung: in no step do more than half work).
// Launches  the blocks' totals; their scan (kernels/scan.cuh); the blocks again, from what stands before each.
// Shared    1024 accumulators, for Kogge and Stone twice: a step reads one and writes the other, as all work at once.
// Bytes     two reads of the values, one write of the results. One pass with look-back reads once: scan_lookback.cu.
// Bound     the barriers between steps, and shared memory.
#include "kernels/scan.cuh"
#include "kernels/scan_array.cuh"

namespace {

using namespace gi;

constexpr int BLOCK = 1024;

template <typename A> struct two_rows { A of[2][BLOCK]; };

// Each returns the array with the scan of `values`, which lies in its first row.
template <typename A, typename Op> __device__ const A *kogge_stone(two_rows<A> &values, Op op) {
    const int t = threadIdx.x;
    int from = 0;
    for (int step = 1; step < BLOCK; step *= 2) {
        const A *in = values.of[from];
        values.of[1 - from][t] = t >= step ? op(in[t - step], in[t]) : in[t];
        from = 1 - from;
        __syncthreads();
    }
    return values.of[from];
}

template <typename A, typename Op> __device__ const A *brent_kung(two_rows<A> &values, Op op) {
    A *v = values.of[0];
    for (int step = 1; step < BLOCK; step *= 2) {
        const int i = ((int)threadIdx.x + 1) * 2 * step - 1;
        if (i < BLOCK) v[i] = op(v[i - step], v[i]);
        __syncthreads();
    }
    for (int step = BLOCK / 4; step > 0; step /= 2) {
        const int i = ((int)threadIdx.x + 1) * 2 * step - 1 + step;
        if (i < BLOCK) v[i] = op(v[i - step], v[i]);
        __syncthreads();
    }
    return v;
}

// `totals` set: each block leaves its total there. Else it writes its results, after `before`'s for its number less
// one.
template <typename Job, bool KoggeStone>
__global__ void __launch_bounds__(KoggeStone ? BLOCK : BLOCK / 2)
    blocks_kernel(const typename Job::element *values, size_t count, typename Job::A *totals,
                  const typename Job::A *before, scan_target<Job> target) {
    using A = typename Job::A;
    __shared__ two_rows<A> memory;
    const typename Job::Op op;
    const size_t first = (size_t)blockIdx.x * BLOCK;
    for (int i = (int)threadIdx.x; i < BLOCK; i += (int)blockDim.x)
        memory.of[0][i] = first + i < count ? Job::of(values[first + i]) : op.identity();
    __syncthreads();
    const A *scanned = KoggeStone ? kogge_stone(memory, op) : brent_kung(memory, op);
    if (totals) {
        if (threadIdx.x == 0) totals[blockIdx.x] = scanned[BLOCK - 1];
        return;
    }
    for (int i = (int)threadIdx.x; i < BLOCK; i += (int)blockDim.x)
        target(first + i, blockIdx.x > 0 ? op(before[blockIdx.x - 1], scanned[i]) : scanned[i]);
}

template <typename Job, bool KoggeStone> gi_status launch(const gi_device_scan_job *job, gi_error *err) {
    using A = typename Job::A;
    using Out = typename Job::Out;
    constexpr int THREADS = KoggeStone ? BLOCK : BLOCK / 2;
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const typename Job::element *values = (const typename Job::element *)job->values;
    const size_t blocks = divide_up(job->count, BLOCK);
    A *totals = (A *)job->scratch;
    const scan_target<Job> target = target_of<Job>(job);
    const auto kernel = blocks_kernel<Job, KoggeStone>;
    begin_kernel<<<1, 1, 0, stream>>>(first_of<Out>(job), scan_identity<Out>(job->operation), job->refused);
    if (blocks > 1) {
        kernel<<<(unsigned)blocks, THREADS, 0, stream>>>(values, job->count, totals, nullptr, target);
        gi_status status = scan<A>(blocks, array_load<A>{totals}, typename Job::Op{}, array_store<A>{totals},
                                   totals + blocks, stream, err);
        if (status != GI_OK) return status;
    }
    kernel<<<(unsigned)blocks, THREADS, 0, stream>>>(values, job->count, nullptr, totals, target);
    return gi_cuda_check(cudaGetLastError(), "starting a scan", err);
}

} // namespace

namespace gi {

size_t scan_classic_scratch(const gi_device_scan_job *job) {
    const size_t blocks = divide_up(job->count, BLOCK);
    // Each accumulator is at most `wide`; scan_scratch grows with their size, but for its steps.
    return blocks * sizeof(wide) + larger(scan_scratch<wide>(blocks), scan_scratch<uint64_t>(blocks)) + 16;
}

gi_status scan_classic(const gi_device_scan_job *job, gi_error *err) {
    return with_job<false>(job->element, job->operation, [&](auto tag) {
        using Job = typename decltype(tag)::type;
        static_assert(sizeof(typename Job::A) <= sizeof(wide), "what the scratch is measured by");
        return job->algorithm == GI_SCAN_KOGGE_STONE ? launch<Job, true>(job, err) : launch<Job, false>(job, err);
    });
}

} // namespace gi
