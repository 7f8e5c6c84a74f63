// The CUDA backend. A build without CUDA has the same functions (backend_none.c): no devices, and a reason why.
#ifndef GI_CUDA_BACKEND_CUDA_H
#define GI_CUDA_BACKEND_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#include "core/backend.h"

typedef struct gi_cuda_device {
    char name[96];
    int major, minor;    // compute capability
    size_t memory_bytes; // total
    int multiprocessors;
    bool usable;      // this build has code for it
    char reason[160]; // why not usable; "" otherwise
} gi_cuda_device;

// True when built with CUDA. *about: toolkit version and architectures, or how to build with it.
bool gi_cuda_built(const char **about);

// False when the driver is missing or too old, or CUDA not built in, with the reason. Takes a few milliseconds: starts
// no driver.
bool gi_cuda_driver(char *reason, size_t size);

// Number of devices the driver shows; when 0, `reason` says why (no driver, driver too old, none visible, not built).
int gi_cuda_device_count(char *reason, size_t size);

// False for an index out of range. Creates no context.
bool gi_cuda_device_get(int index, gi_cuda_device *device);

// True when nvJPEG is there for --codec nvjpeg: then `about` is its version, else the reason.
bool gi_cuda_nvjpeg(char *about, size_t size);

enum { GI_CUDA_ANY = -1 };

// Opens device `index`: GI_ERR_DEVICE with the reason when it is not usable. Its context (0.3-0.4 s) is created in the
// background: what needs it waits, and fails with GI_ERR_DEVICE where there is none to be had. GI_CUDA_ANY opens the
// first device that is usable, and looks for it in the background too.
gi_status gi_backend_cuda_open(int index, gi_backend **backend, gi_error *err);

#endif
