#include "cuda/fault.h"

#ifndef NDEBUG

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    cudaError_t error;
} faults[] = {[GI_FAULT_NO_DRIVER] = {"no-driver", cudaErrorInsufficientDriver},
              [GI_FAULT_OLD_DRIVER] = {"old-driver", cudaErrorInsufficientDriver},
              [GI_FAULT_NO_DEVICE] = {"no-device", cudaErrorNoDevice},
              [GI_FAULT_BUSY] = {"busy", cudaErrorDevicesUnavailable},
              [GI_FAULT_NO_CODE] = {"no-code", cudaErrorNoKernelImageForDevice},
              [GI_FAULT_DEVICE_MEMORY] = {"device-memory", cudaErrorMemoryAllocation},
              [GI_FAULT_HOST_MEMORY] = {"host-memory", cudaErrorMemoryAllocation},
              [GI_FAULT_LOST] = {"lost", cudaErrorIllegalAddress}};

// True when the variable asks for that fault; first and last: in which calls.
static bool asked_for(gi_cuda_fault_kind kind, unsigned long *first, unsigned long *last) {
    const char *text = getenv("GPUIMG_CUDA_FAULT"), *name = faults[kind].name;
    const size_t length = strlen(name);
    char *end;
    if (!text || strncmp(text, name, length) != 0 || (text[length] != '\0' && text[length] != '@')) return false;
    *first = 1;
    *last = ~0UL;
    if (text[length] == '\0') return true;
    *first = strtoul(text + length + 1, &end, 10);
    if (*end == '-') *last = strtoul(end + 1, &end, 10);
    return true;
}

cudaError_t gi_cuda_fault(gi_cuda_fault_kind kind, cudaError_t real) {
    static atomic_ulong calls[sizeof faults / sizeof *faults];
    unsigned long first, last;
    if (!asked_for(kind, &first, &last)) return real;
    const unsigned long call = atomic_fetch_add(&calls[kind], 1) + 1;
    return call >= first && call <= last ? faults[kind].error : real;
}

#endif
