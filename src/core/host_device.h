// Marks the inline functions that kernels call too, so that both backends compute by one definition.
#ifndef GI_CORE_HOST_DEVICE_H
#define GI_CORE_HOST_DEVICE_H

#ifdef __CUDACC__
#define GI_HOST_DEVICE __host__ __device__
#else
#define GI_HOST_DEVICE
#endif

#endif
