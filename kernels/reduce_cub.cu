// The reduction of an array by CUB, the library that comes with the CUDA Toolkit: `cub`, what `shuffle` is measured by.
//
// Formula   as kernels/array_ops.cuh has it: CUB is given our elements, accumulators and operations.
// Exact     but for the grouping of floats, which is CUB's, and by the device's size.
// Bytes     one read of the values; 16 bytes a thread at a time.
// Bound     memory bandwidth; two launches, and a third that makes the result of the last accumulator.
#include <cub/device/device_reduce.cuh>

#include "kernels/reduce_array.cuh"

namespace {

using namespace gi;

template <typename Job> struct to_accumulator {
    __device__ typename Job::A operator()(typename Job::element value) const { return Job::of(value); }
};

// As an argument of the host's it is a plain value: identities are the device's to make.
template <typename A> A first_value(gi_operation operation) {
    const bool most = operation == GI_OPERATION_MAX;
    if constexpr (std::is_same<A, double>::value)
        return operation == GI_OPERATION_PROD ? GI_TREE_PROD_IDENTITY : GI_TREE_SUM_IDENTITY;
    else if constexpr (std::is_same<A, wide>::value)
        return {0, 0};
    else if constexpr (std::is_same<A, magnitude>::value)
        return {1, 0, 0};
    else
        return most ? (A)~largest_of<A>() : largest_of<A>();
}

// `found` NULL: measures alone.
template <typename Job>
cudaError_t reduce_by_cub(const gi_device_reduce_job *job, typename Job::A *found, void *room, size_t *bytes) {
    return cub::DeviceReduce::TransformReduce(room, *bytes, (const typename Job::element *)job->values, found,
                                              (int64_t)job->count, typename Job::Op{}, to_accumulator<Job>{},
                                              first_value<typename Job::A>(job->operation), (cudaStream_t)job->stream);
}

constexpr size_t FOUND = 256; // bytes before CUB's own

} // namespace

namespace gi {

size_t reduce_cub_scratch(const gi_device_reduce_job *job) {
    size_t bytes = 0;
    gi_error ignored; // a device that cannot tell will not reduce either
    with_job<true>(job->element, job->operation, [&](auto tag) {
        using Job = typename decltype(tag)::type;
        return gi_cuda_check(reduce_by_cub<Job>(job, nullptr, nullptr, &bytes), "measuring for CUB", &ignored);
    });
    return FOUND + bytes;
}

gi_status reduce_cub(const gi_device_reduce_job *job, gi_error *err) {
    size_t bytes = reduce_cub_scratch(job) - FOUND;
    return with_job<true>(job->element, job->operation, [&](auto tag) {
        using Job = typename decltype(tag)::type;
        typename Job::A *found = (typename Job::A *)job->scratch;
        const cudaError_t error = reduce_by_cub<Job>(job, found, (char *)job->scratch + FOUND, &bytes);
        if (error != cudaSuccess) return gi_cuda_check(error, "starting CUB's reduction", err);
        finish_kernel<Job><<<1, 1, 0, (cudaStream_t)job->stream>>>(found, job->count, job->result);
        return gi_cuda_check(cudaGetLastError(), "starting a reduction", err);
    });
}

} // namespace gi
