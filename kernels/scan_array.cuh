// What the algorithms that scan arrays share.
#ifndef GI_KERNELS_SCAN_ARRAY_CUH
#define GI_KERNELS_SCAN_ARRAY_CUH

#include "kernels/array_ops.cuh"

namespace gi {

// Each algorithm's part of gi_cuda_scan and gi_cuda_scan_scratch.
gi_status scan_lookback(const gi_device_scan_job *job, gi_error *err);
gi_status scan_classic(const gi_device_scan_job *job, gi_error *err);
gi_status scan_cub(const gi_device_scan_job *job, gi_error *err);
size_t scan_lookback_scratch(const gi_device_scan_job *job);
size_t scan_classic_scratch(const gi_device_scan_job *job);
size_t scan_cub_scratch(const gi_device_scan_job *job);

// Where results go: what index i of the values amounts to, to place i of the scan, or the next where it is exclusive.
template <typename Job> struct scan_target {
    typename Job::Out *out;
    uint64_t *refused;
    size_t results; // of the values, from the first on, that are wanted: all, or all but the last

    __device__ void refuse(size_t i) const { atomicMin((unsigned long long *)refused, (unsigned long long)i); }
    __device__ void operator()(size_t i, typename Job::A value) const {
        if (i < results && !Job::put(out + i, value)) refuse(i);
    }
};

template <typename Job> scan_target<Job> target_of(const gi_device_scan_job *job) {
    return {(typename Job::Out *)job->out + job->exclusive, job->refused, job->count - job->exclusive};
}

// Where an exclusive scan's identity goes; NULL: nowhere.
template <typename Out> Out *first_of(const gi_device_scan_job *job) {
    return job->exclusive ? (Out *)job->out : nullptr;
}

// What is written before any result.
template <typename Out> __global__ void begin_kernel(Out *first, Out identity, uint64_t *refused) {
    if (first) *first = identity;
    *refused = UINT64_MAX;
}

} // namespace gi

#endif
