// Device and page-locked memory that is allocated once, grown when needed and reused: allocating takes milliseconds.
#ifndef GI_CUDA_BUFFER_H
#define GI_CUDA_BUFFER_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/view.h"

typedef struct gi_cuda_buffer {
    void *data; // aligned to 256 bytes at least; to 64 where `pageable`
    size_t bytes;
    bool pageable; // the system would not lock so much memory: copies are right but slower, and wait
} gi_cuda_buffer;

// Makes the buffer at least `bytes` large, by half more than before where memory allows, so that a slowly growing
// series allocates seldom. `where` is GI_DEVICE or GI_PINNED, the same for the buffer's whole life. When it grows, its
// content is lost, after work on `stream`, which may use it, has been waited for. Nothing is allocated for 0 bytes. On
// failure the buffer is empty: GI_ERR_DEVICE_MEMORY or GI_ERR_MEMORY.
gi_status gi_cuda_buffer_reserve(gi_cuda_buffer *buffer, size_t bytes, gi_where where, cudaStream_t stream,
                                 gi_error *err);
void gi_cuda_buffer_free(gi_cuda_buffer *buffer, gi_where where);

#endif
