#include "cuda/buffer.h"

#include <stdlib.h>

#include "core/checked.h"
#include "core/large.h"
#include "cuda/cuda_status.h"
#include "cuda/fault.h"

// The driver hands out device memory in larger pieces anyway.
enum { GRANULE_BYTES = 4096 };

// Small memory shares its pages.
static bool lock(void *data, size_t bytes) {
    if (bytes < GI_HUGE_PAGE_BYTES) return false;
    if (cudaHostRegister(data, bytes, cudaHostRegisterPortable) == cudaSuccess) return true;
    cudaGetLastError();
    return false;
}

// Has the system fill the pages, by as many threads as allocate at the same time. The driver would do it for one after
// the other.
static void touch(void *data, size_t bytes) {
    enum { PAGE_BYTES = 4096 };
    volatile char *at = data;
    for (size_t i = 0; i < bytes; i += PAGE_BYTES) at[i] = 0;
}

// Locks huge pages, which takes the driver a tenth of the time that cudaHostAlloc does.
static bool allocate_huge(gi_cuda_buffer *buffer, size_t bytes) {
    if (bytes < GI_HUGE_PAGE_BYTES) return false;
    void *data = gi_large_alloc(bytes);
    if (!data) return false;
    touch(data, bytes);
    if (!lock(data, bytes)) {
        free(data);
        return false;
    }
    *buffer = (gi_cuda_buffer){data, bytes, GI_REGISTERED};
    return true;
}

static cudaError_t allocate(gi_cuda_buffer *buffer, size_t bytes, gi_where where) {
    gi_cuda_fault_kind kind = where == GI_DEVICE ? GI_FAULT_DEVICE_MEMORY : GI_FAULT_HOST_MEMORY;
    cudaError_t error = gi_cuda_fault(kind, cudaSuccess);
    if (error != cudaSuccess) return error;
    if (where == GI_PINNED && allocate_huge(buffer, bytes)) return cudaSuccess;
    *buffer = (gi_cuda_buffer){NULL, bytes, GI_FROM_CUDA};
    return where == GI_DEVICE ? cudaMalloc(&buffer->data, bytes)
                              : cudaHostAlloc(&buffer->data, bytes, cudaHostAllocPortable);
}

static gi_status allocation_failed(cudaError_t error, size_t bytes, gi_where where, gi_error *err) {
    if (error != cudaErrorMemoryAllocation) return gi_cuda_check(error, "allocating memory", err);
    cudaGetLastError();
    if (where == GI_DEVICE)
        return gi_fail(err, GI_ERR_DEVICE_MEMORY, "CUDA: out of device memory (%zu bytes more were needed)", bytes);
    return gi_fail(err, GI_ERR_MEMORY, "CUDA: out of host memory (%zu bytes were needed)", bytes);
}

// At least `bytes`, and as many as `wanted` where there are so many.
static cudaError_t fill(gi_cuda_buffer *buffer, size_t bytes, size_t wanted, gi_where where) {
    cudaError_t error = allocate(buffer, wanted, where);
    if (error == cudaErrorMemoryAllocation && wanted > bytes) {
        cudaGetLastError();
        error = allocate(buffer, bytes, where);
    }
    if (error == cudaErrorMemoryAllocation && where == GI_PINNED) {
        cudaGetLastError();
        *buffer = (gi_cuda_buffer){gi_large_alloc(bytes), bytes, GI_PAGEABLE};
        if (buffer->data) error = cudaSuccess;
    }
    if (error != cudaSuccess) *buffer = (gi_cuda_buffer){.data = NULL};
    return error;
}

gi_status gi_cuda_buffer_reserve(gi_cuda_buffer *buffer, size_t bytes, gi_where where, cudaStream_t stream,
                                 gi_error *err) {
    if (bytes <= buffer->bytes) return GI_OK;
    gi_status status = gi_cuda_check(cudaStreamSynchronize(stream), "waiting for the device", err);
    if (status != GI_OK) return status;
    size_t wanted = bytes, grown = 0;
    if (gi_add(buffer->bytes, buffer->bytes / 2, &grown) && grown > wanted) wanted = grown;
    if (!gi_round_up(wanted, GRANULE_BYTES, &wanted))
        return gi_fail(err, GI_ERR_LIMIT, "CUDA: a buffer of %zu bytes", bytes);
    gi_cuda_buffer_free(buffer, where);
    cudaError_t error = fill(buffer, bytes, wanted, where);
    return error == cudaSuccess ? GI_OK : allocation_failed(error, bytes, where, err);
}

bool gi_cuda_buffer_take(gi_cuda_buffer *buffer, void *data, size_t bytes) {
    if (gi_cuda_fault(GI_FAULT_HOST_MEMORY, cudaSuccess) != cudaSuccess || !lock(data, bytes)) return false;
    *buffer = (gi_cuda_buffer){data, bytes, GI_REGISTERED};
    return true;
}

void gi_cuda_buffer_free(gi_cuda_buffer *buffer, gi_where where) {
    if (buffer->data && buffer->origin == GI_FROM_CUDA) {
        if (where == GI_DEVICE)
            cudaFree(buffer->data);
        else
            cudaFreeHost(buffer->data);
    } else if (buffer->data) {
        if (buffer->origin == GI_REGISTERED) cudaHostUnregister(buffer->data);
        free(buffer->data);
    }
    *buffer = (gi_cuda_buffer){.data = NULL};
}
