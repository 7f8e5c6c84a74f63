// Failures on demand, so that what is said and done about them can be tested on any machine. In debug builds the
// variable GPUIMG_CUDA_FAULT=NAME[@FIRST[-LAST]] makes calls of that kind fail, from the FIRST (1) to the LAST (for
// ever); in others (NDEBUG) nothing of it is there.
#ifndef GI_CUDA_FAULT_H
#define GI_CUDA_FAULT_H

#include <cuda_runtime_api.h>

typedef enum gi_cuda_fault_kind {
    GI_FAULT_NO_DRIVER,     // no-driver: asking for the driver and its devices
    GI_FAULT_OLD_DRIVER,    // old-driver: likewise
    GI_FAULT_NO_DEVICE,     // no-device: likewise
    GI_FAULT_BUSY,          // busy: creating the context
    GI_FAULT_NO_CODE,       // no-code: loading the kernels
    GI_FAULT_DEVICE_MEMORY, // device-memory: allocating it
    GI_FAULT_HOST_MEMORY,   // host-memory: allocating page-locked memory
    GI_FAULT_LOST           // lost: waiting for the device's work; such an error stays with the process
} gi_cuda_fault_kind;

#ifdef NDEBUG
static inline cudaError_t gi_cuda_fault(gi_cuda_fault_kind kind, cudaError_t real) {
    (void)kind;
    return real;
}
#else
// What a call of that kind returned, or the failure that is asked for in its place.
cudaError_t gi_cuda_fault(gi_cuda_fault_kind kind, cudaError_t real);
#endif

#endif
