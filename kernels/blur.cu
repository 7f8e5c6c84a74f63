// The blur stage: checks, and the choice between box and Gaussian. core/blur_rules.h has the rules.
#include "kernels/blur.cuh"

size_t gi_cuda_blur_scratch(const gi_job *job) {
    return gi_blur_is_gaussian((const gi_blur_args *)job->args) ? gi::blur_gauss_scratch(job)
                                                                : gi::blur_box_scratch(job);
}

gi_status gi_cuda_blur(const gi_job *job, gi_error *err) {
    const gi_blur_args *args = (const gi_blur_args *)job->args;
    gi_status status = gi_blur_check(args, job->in.sample, err);
    if (status == GI_OK) status = gi::check_band(job, gi_blur_halo(args), "blur", err);
    if (status != GI_OK || job->out.width == 0 || job->out.height == 0) return status;
    return gi_blur_is_gaussian(args) ? gi::blur_gauss(job, err) : gi::blur_box(job, err);
}
