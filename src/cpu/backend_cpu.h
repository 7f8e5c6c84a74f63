// The CPU backend: OpenMP over rows, vectorised inner loops chosen at run time.
#ifndef GI_CPU_BACKEND_CPU_H
#define GI_CPU_BACKEND_CPU_H

#include "core/backend.h"

// GI_ERR_MEMORY possible. Makes no CUDA call.
gi_status gi_backend_cpu_open(gi_backend **backend, gi_error *err);

// Cores this process may run on (its affinity mask and cgroup quota), at least 1.
int gi_cpu_cores(void);

// Instruction set of the vectorised loops: the best that the processor has, or what GPUIMG_SIMD names
// (portable, avx2, avx512; one the processor lacks is ignored).
typedef enum gi_simd { GI_SIMD_PORTABLE, GI_SIMD_AVX2, GI_SIMD_AVX512 } gi_simd;
gi_simd gi_simd_level(void);
const char *gi_simd_name(gi_simd level);

#endif
