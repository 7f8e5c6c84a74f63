// Matrix product: which algorithm, what it needs, how exact it is. The kernels are in matmul_*.cu, one file for each
// step of the lesson: tiled (and naive), fast, mma, wgmma; cublas calls NVIDIA's.
#include <climits>
#include <cmath>

#include "kernels/matmul.cuh"

namespace {

using namespace gi;

// Up to here tiled16 was the fastest on an H200: its small tiles keep all multiprocessors busy. A deep sum is better
// shared between blocks, as `fast` does.
constexpr double SMALL_PRODUCT = 256.0 * 256 * 256;
constexpr size_t SMALL_DEPTH = 512;

gi_status tf32(const gi_matmul_launch &job, gi_error *err) {
    return matmul_wgmma_takes(job, NULL) == GI_OK ? matmul_wgmma(job, err) : matmul_mma(job, err);
}

gi_status wgmma_alone(const gi_matmul_launch &job, gi_error *err) {
    const gi_status status = matmul_wgmma_takes(job, err);
    return status == GI_OK ? matmul_wgmma(job, err) : status;
}

int resolve(const gi_matmul_launch &job) {
    return job.algorithm == GI_ALGORITHM_AUTO ? gi_matmul_choose(job.m, job.k, job.n) : job.algorithm;
}

bool is_empty(const gi_matmul_launch &job) { return job.m == 0 || job.n == 0 || job.k == 0; }

} // namespace

int gi_matmul_choose(size_t m, size_t k, size_t n) {
    const bool is_small = k <= SMALL_DEPTH && (double)m * (double)k * (double)n <= SMALL_PRODUCT;
    return is_small ? GI_MATMUL_TILED16 : GI_MATMUL_FAST;
}

double gi_matmul_error_bound(int algorithm, size_t k) {
    const double terms = (double)k;
    double factor = 0, step = std::ldexp(1.0, -24);
    switch (algorithm) {
    case GI_MATMUL_TF32:
    case GI_MATMUL_TF32_MMA:
    case GI_MATMUL_TF32_WGMMA: factor = std::ldexp(1.0, -11); break;
    case GI_MATMUL_CUBLAS_TF32: factor = std::ldexp(1.0, -10); break;
    default: return terms * step / (1 - terms * step);
    }
    step = std::ldexp(1.0, -22);
    return (1 + factor) * (1 + factor) * (1 + terms * step) - 1;
}

size_t gi_cuda_matmul_scratch(const gi_matmul_launch *job) {
    if (is_empty(*job)) return 0;
    switch (resolve(*job)) {
    case GI_MATMUL_FAST: return matmul_fast_scratch(*job);
    case GI_MATMUL_CUBLAS:
    case GI_MATMUL_CUBLAS_TF32: return matmul_cublas_scratch();
    default: return 0;
    }
}

gi_status gi_cuda_matmul(const gi_matmul_launch *job, gi_error *err) {
    if (job->m > INT_MAX || job->k > INT_MAX || job->n > INT_MAX)
        return gi_fail(err, GI_ERR_LIMIT, "matmul: a side of more than 2^31 - 1");
    if (job->m == 0 || job->n == 0) return GI_OK;
    if (job->k == 0) // the sum of nothing
        return gi_cuda_check(cudaMemset2DAsync(job->c, job->c_stride * sizeof(float), 0, job->n * sizeof(float), job->m,
                                               (cudaStream_t)job->stream),
                             "setting to zero", err);
    switch (resolve(*job)) {
    case GI_MATMUL_NAIVE: return matmul_naive(*job, err);
    case GI_MATMUL_TILED8: return matmul_tiled(*job, 8, err);
    case GI_MATMUL_TILED16: return matmul_tiled(*job, 16, err);
    case GI_MATMUL_TILED32: return matmul_tiled(*job, 32, err);
    case GI_MATMUL_FAST: return matmul_fast(*job, err);
    case GI_MATMUL_TF32: return tf32(*job, err);
    case GI_MATMUL_TF32_MMA: return matmul_mma(*job, err);
    case GI_MATMUL_TF32_WGMMA: return wgmma_alone(*job, err);
    case GI_MATMUL_CUBLAS: return matmul_cublas(*job, false, err);
    case GI_MATMUL_CUBLAS_TF32: return matmul_cublas(*job, true, err);
    default: return gi_fail(err, GI_ERR_USAGE, "matmul: no such algorithm");
    }
}
