// Scan of an array: which algorithm does it.
#include "kernels/scan_array.cuh"

using namespace gi;

size_t gi_cuda_scan_scratch(const gi_device_scan_job *job) {
    switch (job->algorithm) {
    case GI_SCAN_KOGGE_STONE:
    case GI_SCAN_BRENT_KUNG: return scan_classic_scratch(job);
    case GI_SCAN_CUB: return scan_cub_scratch(job);
    default: return scan_lookback_scratch(job);
    }
}

gi_status gi_cuda_scan(const gi_device_scan_job *job, gi_error *err) {
    if (job->count > (size_t)1 << 40) return gi_fail(err, GI_ERR_LIMIT, "a scan of %zu values", job->count);
    switch (job->algorithm) {
    case GI_SCAN_KOGGE_STONE:
    case GI_SCAN_BRENT_KUNG: return scan_classic(job, err);
    case GI_SCAN_CUB: return scan_cub(job, err);
    default: return scan_lookback(job, err);
    }
}
