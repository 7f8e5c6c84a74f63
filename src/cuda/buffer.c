#include "cuda/buffer.h"

#include <stdlib.h>

#include "core/checked.h"
#include "core/large.h"
#include "cuda/cuda_status.h"
#include "cuda/fault.h"

// The driver hands out device memory in larger pieces anyway.
enum { GRANULE_BYTES = 4096 };

static cudaError_t allocate(void **data, size_t bytes, gi_where where) {
    gi_cuda_fault_kind kind = where == GI_DEVICE ? GI_FAULT_DEVICE_MEMORY : GI_FAULT_HOST_MEMORY;
    cudaError_t asked = gi_cuda_fault(kind, cudaSuccess);
    if (asked != cudaSuccess) return asked;
    return where == GI_DEVICE ? cudaMalloc(data, bytes) : cudaHostAlloc(data, bytes, cudaHostAllocPortable);
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
    cudaError_t error = allocate(&buffer->data, wanted, where);
    buffer->bytes = wanted;
    if (error == cudaErrorMemoryAllocation && wanted > bytes) {
        cudaGetLastError();
        error = allocate(&buffer->data, bytes, where);
        buffer->bytes = bytes;
    }
    if (error == cudaErrorMemoryAllocation && where == GI_PINNED) {
        cudaGetLastError();
        buffer->data = gi_large_alloc(bytes);
        buffer->bytes = bytes;
        buffer->pageable = buffer->data != NULL;
        if (buffer->data) error = cudaSuccess;
    }
    if (error != cudaSuccess) *buffer = (gi_cuda_buffer){NULL, 0, false};
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

void gi_cuda_buffer_free(gi_cuda_buffer *buffer, gi_where where) {
    if (buffer->pageable)
        free(buffer->data);
    else if (buffer->data && where == GI_DEVICE)
        cudaFree(buffer->data);
    else if (buffer->data)
        cudaFreeHost(buffer->data);
    *buffer = (gi_cuda_buffer){NULL, 0, false};
}
