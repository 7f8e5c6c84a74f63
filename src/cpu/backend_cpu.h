// The CPU backend: OpenMP over rows, vectorised inner loops chosen at run time.
#ifndef GI_CPU_BACKEND_CPU_H
#define GI_CPU_BACKEND_CPU_H

#include "core/backend.h"

// GI_ERR_MEMORY possible. Makes no CUDA call.
gi_status gi_backend_cpu_open(gi_backend **backend, gi_error *err);

// Cores this process may run on (its affinity mask and cgroup quota), at least 1.
int gi_cpu_cores(void);

#endif
