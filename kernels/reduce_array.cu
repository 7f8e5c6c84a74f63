// Reduction of an array: which algorithm does it.
#include "kernels/reduce_array.cuh"

using namespace gi;

size_t gi_cuda_reduce_scratch(const gi_device_reduce_job *job) {
    switch (job->algorithm) {
    case GI_REDUCE_INTERLEAVED:
    case GI_REDUCE_SEQUENTIAL: return reduce_classic_scratch(job);
    case GI_REDUCE_CUB: return reduce_cub_scratch(job);
    default: return reduce_shuffle_scratch(job);
    }
}

gi_status gi_cuda_reduce(const gi_device_reduce_job *job, gi_error *err) {
    switch (job->algorithm) {
    case GI_REDUCE_INTERLEAVED:
    case GI_REDUCE_SEQUENTIAL: return reduce_classic(job, err);
    case GI_REDUCE_CUB: return reduce_cub(job, err);
    default: return reduce_shuffle(job, err);
    }
}
