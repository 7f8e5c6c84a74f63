// Which CUDA devices there are, or why none. Nothing here creates a context: it costs 0.3 s and memory on the device.
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/architectures.h"
#include "cuda/backend_cuda.h"
#include "cuda/driver.h"
#include "cuda/fault.h"

bool gi_cuda_built(const char **about) {
    *about = "CUDA " GPUIMG_CUDA_TOOLKIT ", code for " GPUIMG_CUDA_ARCHITECTURES;
    return true;
}

// Version 13000 is "13.0". A driver runs what was built for its major version or an older one.
bool gi_cuda_driver(char *reason, size_t size) {
    int driver = gi_cuda_driver_version(), runtime = CUDART_VERSION;
    if (driver == 0 || gi_cuda_fault(GI_FAULT_NO_DRIVER, cudaSuccess) != cudaSuccess) {
        snprintf(reason, size, "no NVIDIA driver is installed");
        return false;
    }
    if (gi_cuda_fault(GI_FAULT_OLD_DRIVER, cudaSuccess) != cudaSuccess) driver = 11040;
    if (driver / 1000 >= runtime / 1000) return true;
    snprintf(reason, size, "the NVIDIA driver is too old: it supports CUDA %d.%d, and this build needs CUDA %d.0",
             driver / 1000, driver % 1000 / 10, runtime / 1000);
    return false;
}

static void no_device_reason(char *reason, size_t size) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible)
        snprintf(reason, size, "no CUDA device is visible (CUDA_VISIBLE_DEVICES is '%.80s')", visible);
    else
        snprintf(reason, size, "the NVIDIA driver shows no CUDA device");
}

int gi_cuda_device_count(char *reason, size_t size) {
    int count = 0;
    if (size > 0) reason[0] = '\0';
    if (!gi_cuda_driver(reason, size)) return 0;
    cudaError_t error = gi_cuda_fault(GI_FAULT_NO_DEVICE, cudaGetDeviceCount(&count));
    if (error == cudaSuccess && count > 0) return count;
    cudaGetLastError();
    switch (error) {
    case cudaSuccess:
    case cudaErrorNoDevice: no_device_reason(reason, size); break;
    case cudaErrorInsufficientDriver:
        snprintf(reason, size, "the NVIDIA driver is too old for CUDA %d.%d", CUDART_VERSION / 1000,
                 CUDART_VERSION % 1000 / 10);
        break;
    default: snprintf(reason, size, "the NVIDIA driver does not start: %s", cudaGetErrorString(error)); break;
    }
    return 0;
}

bool gi_cuda_device_get(int index, gi_cuda_device *device) {
    int count = 0;
    int mode = cudaComputeModeDefault;
    struct cudaDeviceProp properties;
    memset(device, 0, sizeof *device);
    if (cudaGetDeviceCount(&count) != cudaSuccess || index < 0 || index >= count ||
        cudaGetDeviceProperties(&properties, index) != cudaSuccess ||
        cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, index) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    snprintf(device->name, sizeof device->name, "%.95s", properties.name);
    device->major = properties.major;
    device->minor = properties.minor;
    device->memory_bytes = properties.totalGlobalMem;
    device->multiprocessors = properties.multiProcessorCount;
    bool code = gi_cuda_architectures_cover(GPUIMG_CUDA_ARCHITECTURES, properties.major, properties.minor);
    device->usable = code && mode != cudaComputeModeProhibited;
    if (mode == cudaComputeModeProhibited)
        snprintf(device->reason, sizeof device->reason, "its compute mode is 'prohibited'");
    else if (!code)
        snprintf(device->reason, sizeof device->reason, "this build has no code for sm_%d%d, only for %s",
                 properties.major, properties.minor, GPUIMG_CUDA_ARCHITECTURES);
    return true;
}
