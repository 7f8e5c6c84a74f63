// What NVIDIA's driver needs of the file system, within a sandbox.
#ifndef GI_RUN_SANDBOX_GPU_H
#define GI_RUN_SANDBOX_GPU_H

#include "run/sandbox.h"

// Allows the rights (GI_LANDLOCK_...) on what is there. Returns 0 or an errno, which sandbox->failed keeps, too, unless
// the path is at fault.
int gi_sandbox_allow(gi_sandbox *sandbox, const char *path, unsigned rights);

// Allows the driver's devices, shared memory (it and MPS share buffers there), and where they are there already the
// pipes of MPS and the cache of compiled kernels.
void gi_sandbox_allow_gpu(gi_sandbox *sandbox);

// True when this build has CUDA and the machine devices of the driver's. Where its helper has yet to make them, as
// after a start of the system, it is let do so: within a sandbox, no other program runs.
bool gi_sandbox_finds_gpu(void);

#endif
