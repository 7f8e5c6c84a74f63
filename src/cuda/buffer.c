#include "cuda/buffer.h"

#include "core/checked.h"
#include "cuda/cuda_status.h"

// The driver hands out device memory in larger pieces anyway.
enum { GRANULE_BYTES = 4096 };

static cudaError_t allocate(void **data, size_t bytes, gi_where where) {
    return where == GI_DEVICE ? cudaMalloc(data, bytes) : cudaHostAlloc(data, bytes, cudaHostAllocPortable);
}

static gi_status allocation_failed(cudaError_t error, size_t bytes, gi_where where, gi_error *err) {
    if (error != cudaErrorMemoryAllocation) return gi_cuda_check(error, "allocating memory", err);
    cudaGetLastError();
    if (where == GI_DEVICE)
        return gi_fail(err, GI_ERR_DEVICE_MEMORY, "CUDA: out of device memory (%zu bytes more were needed)", bytes);
    return gi_fail(err, GI_ERR_MEMORY, "CUDA: no page-locked host memory (%zu bytes were needed)", bytes);
}

gi_status gi_cuda_buffer_reserve(gi_cuda_buffer *buffer, size_t bytes, gi_where where, cudaStream_t stream,
                                 gi_error *err) {
    if (bytes <= buffer->bytes && buffer->data) return GI_OK;
    gi_status status = gi_cuda_check(cudaStreamSynchronize(stream), "waiting for the device", err);
    if (status != GI_OK) return status;
    size_t wanted = bytes, grown = 0;
    if (gi_add(buffer->bytes, buffer->bytes / 2, &grown) && grown > wanted) wanted = grown;
    if (!gi_round_up(wanted ? wanted : 1, GRANULE_BYTES, &wanted))
        return gi_fail(err, GI_ERR_LIMIT, "CUDA: a buffer of %zu bytes", bytes);
    gi_cuda_buffer_free(buffer, where);

    void *data = NULL;
    cudaError_t error = allocate(&data, wanted, where);
    if (error == cudaErrorMemoryAllocation && wanted > bytes && bytes > 0) {
        cudaGetLastError();
        wanted = bytes;
        error = allocate(&data, wanted, where);
    }
    if (error != cudaSuccess) return allocation_failed(error, bytes, where, err);
    buffer->data = data;
    buffer->bytes = wanted;
    return GI_OK;
}

void gi_cuda_buffer_free(gi_cuda_buffer *buffer, gi_where where) {
    if (buffer->data && where == GI_DEVICE) cudaFree(buffer->data);
    if (buffer->data && where == GI_PINNED) cudaFreeHost(buffer->data);
    buffer->data = NULL;
    buffer->bytes = 0;
}
