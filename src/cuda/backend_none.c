// The CUDA backend of a build without CUDA: no devices, and the reason.
#include <stdio.h>

#include "cuda/backend_cuda.h"

static const char reason_text[] = "this gpuimg was built without CUDA (configure with -DGPUIMG_CUDA=ON)";

bool gi_cuda_built(const char **about) {
    *about = "not built (configure with -DGPUIMG_CUDA=ON and the CUDA Toolkit)";
    return false;
}

bool gi_cuda_driver(char *reason, size_t size) {
    snprintf(reason, size, "%s", reason_text);
    return false;
}

int gi_cuda_device_count(char *reason, size_t size) {
    snprintf(reason, size, "%s", reason_text);
    return 0;
}

bool gi_cuda_device_get(int index, gi_cuda_device *device) {
    (void)index;
    (void)device;
    return false;
}

bool gi_cuda_nvjpeg(char *about, size_t size) {
    snprintf(about, size, "%s", reason_text);
    return false;
}

gi_status gi_backend_cuda_open(int index, gi_backend **backend, gi_error *err) {
    (void)index;
    *backend = NULL;
    return gi_fail(err, GI_ERR_DEVICE, "%s", reason_text);
}
