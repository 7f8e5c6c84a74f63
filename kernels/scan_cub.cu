// The scan of an array by CUB, the library that comes with the CUDA Toolkit: `cub`, what `lookback` is measured by.
//
// Formula   as kernels/array_ops.cuh has it: CUB is given our elements, accumulators and operations.
// Exact     but for the grouping of floats, which is CUB's, and depends on when blocks run.
// Bytes     one read of the values, one write of the results: one pass with look-back along the chain of tiles.
// Bound     memory bandwidth.
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "kernels/scan_array.cuh"

namespace {

using namespace gi;

template <typename Job> struct to_accumulator {
    __device__ typename Job::A operator()(typename Job::element value) const { return Job::of(value); }
};

// An output iterator: *it = value stores the result of index `at`.
template <typename Job> struct results {
    using iterator_category = std::random_access_iterator_tag;
    using value_type = void;
    using difference_type = int64_t;
    using pointer = void;
    struct reference {
        scan_target<Job> target;
        int64_t at;
        __device__ const reference &operator=(const typename Job::A &value) const {
            target((size_t)at, value);
            return *this;
        }
    };
    scan_target<Job> target;
    int64_t at;
    __host__ __device__ reference operator*() const { return {target, at}; }
    __host__ __device__ reference operator[](int64_t i) const { return {target, at + i}; }
    __host__ __device__ results operator+(int64_t i) const { return {target, at + i}; }
    __host__ __device__ results &operator+=(int64_t i) {
        at += i;
        return *this;
    }
};

// `room` NULL: measures alone.
template <typename Job> cudaError_t scan_by_cub(const gi_device_scan_job *job, void *room, size_t *bytes) {
    using E = typename Job::element;
    const auto values = thrust::make_transform_iterator((const E *)job->values, to_accumulator<Job>{});
    return cub::DeviceScan::InclusiveScan(room, *bytes, values, results<Job>{target_of<Job>(job), 0},
                                          typename Job::Op{}, (int64_t)job->count, (cudaStream_t)job->stream);
}

} // namespace

namespace gi {

size_t scan_cub_scratch(const gi_device_scan_job *job) {
    size_t bytes = 0;
    gi_error ignored; // a device that cannot tell will not scan either
    with_job<false>(job->element, job->operation, [&](auto tag) {
        using Job = typename decltype(tag)::type;
        return gi_cuda_check(scan_by_cub<Job>(job, nullptr, &bytes), "measuring for CUB", &ignored);
    });
    return bytes;
}

gi_status scan_cub(const gi_device_scan_job *job, gi_error *err) {
    size_t bytes = scan_cub_scratch(job);
    return with_job<false>(job->element, job->operation, [&](auto tag) {
        using Job = typename decltype(tag)::type;
        using Out = typename Job::Out;
        begin_kernel<<<1, 1, 0, (cudaStream_t)job->stream>>>(first_of<Out>(job), scan_identity<Out>(job->operation),
                                                             job->refused);
        return gi_cuda_check(scan_by_cub<Job>(job, job->scratch, &bytes), "starting CUB's scan", err);
    });
}

} // namespace gi
