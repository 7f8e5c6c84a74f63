#include "cuda/cuda_status.h"

static gi_status no_code_for_device(cudaError_t error, gi_error *err) {
    int device = 0, major = 0, minor = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
        return gi_fail(err, GI_ERR_DEVICE, "CUDA: %s", cudaGetErrorString(error));
    return gi_fail(err, GI_ERR_DEVICE,
                   "CUDA device %d: this build has no code that runs on its architecture sm_%d%d (%s); configure with "
                   "-DCMAKE_CUDA_ARCHITECTURES=%d%d",
                   device, major, minor, cudaGetErrorString(error), major, minor);
}

gi_status gi_cuda_check(cudaError_t error, const char *doing, gi_error *err) {
    if (error == cudaSuccess) return GI_OK;
    cudaGetLastError();
    switch (error) {
    case cudaErrorMemoryAllocation: return gi_fail(err, GI_ERR_DEVICE_MEMORY, "CUDA: %s: out of device memory", doing);
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound: return no_code_for_device(error, err);
    default:
        return gi_fail(err, GI_ERR_DEVICE, "CUDA: %s: %s (%s)", doing, cudaGetErrorString(error),
                       cudaGetErrorName(error));
    }
}
