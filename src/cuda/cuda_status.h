// CUDA's errors as gi_status: used by the backend's host code and by the launchers.
#ifndef GI_CUDA_CUDA_STATUS_H
#define GI_CUDA_CUDA_STATUS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// GI_OK for cudaSuccess. Otherwise fills *err with what was being done ("uploading the image") and CUDA's reason, and
// forgets the error where CUDA lets it be forgotten, so that the next launch is not blamed for it.
//   out of memory                            GI_ERR_DEVICE_MEMORY
//   no code for the device's architecture    GI_ERR_DEVICE, with the architecture named
//   a device that another process has        GI_ERR_DEVICE, which says so
//   a failure that stays (gi_cuda_is_lost)   GI_ERR_DEVICE, which says so
//   anything else                            GI_ERR_DEVICE
gi_status gi_cuda_check(cudaError_t error, const char *doing, gi_error *err);

// True for errors that ruin the process's context: every later call on the device fails too.
bool gi_cuda_is_lost(cudaError_t error);

#ifdef __cplusplus
}
#endif
#endif
