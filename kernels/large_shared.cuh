// Blocks with more dynamic shared memory than the 48 KiB that every kernel may have, and how many to plan for.
#ifndef GI_KERNELS_LARGE_SHARED_CUH
#define GI_KERNELS_LARGE_SHARED_CUH

#include "kernels/common.cuh"

namespace gi {

// For __launch_bounds__: how many blocks of so many threads are `Warps` warps, or as many as a multiprocessor of the
// architecture compiled for can run.
template <int Threads, int Warps> constexpr int blocks_at_once() {
#if !defined(__CUDA_ARCH__)
    constexpr int MOST = 64;
#elif __CUDA_ARCH__ < 800
    constexpr int MOST = 32;
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
    constexpr int MOST = 48;
#else
    constexpr int MOST = 64;
#endif
    return (Warps < MOST ? Warps : MOST) * WARP / Threads;
}

// *most = bytes of shared memory that a block on the current device can have at most.
inline gi_status most_shared(size_t *most, gi_error *err) {
    int device = 0, bytes = 0;
    gi_status status = gi_cuda_check(cudaGetDevice(&device), "asking for the device", err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                               "asking for the shared memory", err);
    *most = (size_t)bytes;
    return status;
}

// Lets the kernel's blocks have so much, and says in *blocks how many then run at once. Always the same for a kernel:
// it is the process's, and another thread that set less before this one's launch would make it fail.
template <typename Kernel>
gi_status allow_shared(Kernel kernel, int threads, size_t shared, size_t *blocks, gi_error *err) {
    gi_status status =
        gi_cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
                      "asking for shared memory", err);
    return status == GI_OK ? resident_blocks(kernel, threads, blocks, err, shared) : status;
}

} // namespace gi

#endif
