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

// After one of these the context is of no use any more, and CUDA gives the process no other.
bool gi_cuda_is_lost(cudaError_t error) {
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown: return true;
    default: return false;
    }
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
    case cudaErrorDevicesUnavailable:
        return gi_fail(err, GI_ERR_DEVICE, "CUDA: %s: the device is busy: another process has it for itself", doing);
    default:
        if (gi_cuda_is_lost(error))
            return gi_fail(err, GI_ERR_DEVICE, "CUDA: %s: the device failed and is lost to this process: %s (%s)",
                           doing, cudaGetErrorString(error), cudaGetErrorName(error));
        return gi_fail(err, GI_ERR_DEVICE, "CUDA: %s: %s (%s)", doing, cudaGetErrorString(error),
                       cudaGetErrorName(error));
    }
}
