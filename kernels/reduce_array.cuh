// What the algorithms that reduce arrays share.
#ifndef GI_KERNELS_REDUCE_ARRAY_CUH
#define GI_KERNELS_REDUCE_ARRAY_CUH

#include "kernels/array_ops.cuh"
#include "kernels/reduce.cuh"

namespace gi {

// Each algorithm's part of gi_cuda_reduce and gi_cuda_reduce_scratch.
gi_status reduce_shuffle(const gi_device_reduce_job *job, gi_error *err);
gi_status reduce_classic(const gi_device_reduce_job *job, gi_error *err);
gi_status reduce_cub(const gi_device_reduce_job *job, gi_error *err);
size_t reduce_shuffle_scratch(const gi_device_reduce_job *job);
size_t reduce_classic_scratch(const gi_device_reduce_job *job);
size_t reduce_cub_scratch(const gi_device_reduce_job *job);

// The result from the last accumulator. One thread.
template <typename Job>
__global__ void finish_kernel(const typename Job::A *value, size_t count, gi_device_number *result) {
    *result = Job::finish(*value, count);
}

} // namespace gi

#endif
