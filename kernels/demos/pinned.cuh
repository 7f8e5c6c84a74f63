// Page-locked host memory for demonstrations: the GPU's copy engines, and mapped its kernels, reach it without the CPU.
#ifndef GI_KERNELS_DEMOS_PINNED_CUH
#define GI_KERNELS_DEMOS_PINNED_CUH

#include "kernels/demos/demo.cuh"

namespace gi {
namespace demo {

// Freed at the end of its scope. Mapped: `device` is its address for kernels.
template <typename T> struct pinned_array {
    T *data = nullptr, *device = nullptr;
    size_t count = 0;

    pinned_array() = default;
    pinned_array(const pinned_array &) = delete;
    pinned_array &operator=(const pinned_array &) = delete;
    ~pinned_array() { cudaFreeHost(data); }

    // Once for each array.
    gi_status allocate(size_t wanted, gi_error *err) {
        count = wanted;
        GI_TRY_CUDA(cudaHostAlloc((void **)&data, wanted * sizeof(T), cudaHostAllocMapped));
        GI_TRY_CUDA(cudaHostGetDevicePointer((void **)&device, data, 0));
        return GI_OK;
    }
};

} // namespace demo
} // namespace gi

#endif
