// Device and page-locked memory that is allocated once, grown when needed and reused: allocating takes milliseconds.
#ifndef GI_CUDA_BUFFER_H
#define GI_CUDA_BUFFER_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/view.h"

typedef enum gi_cuda_origin {
    GI_FROM_CUDA,  // allocated by it
    GI_REGISTERED, // of the host's own, page-locked afterwards
    GI_PAGEABLE    // the system would not lock so much memory: copies are right but slower, and wait
} gi_cuda_origin;

typedef struct gi_cuda_buffer {
    void *data; // aligned to 256 bytes at least; to 64 where GI_PAGEABLE
    size_t bytes;
    gi_cuda_origin origin;
} gi_cuda_buffer;

// Makes the buffer at least `bytes` large, by half more than before where memory allows, so that a slowly growing
// series allocates seldom. `where` is GI_DEVICE or GI_PINNED, the same for the buffer's whole life. When it grows, its
// content is lost, after work on `stream`, which may use it, has been waited for. Nothing is allocated for 0 bytes. On
// failure the buffer is empty: GI_ERR_DEVICE_MEMORY or GI_ERR_MEMORY.
gi_status gi_cuda_buffer_reserve(gi_cuda_buffer *buffer, size_t bytes, gi_where where, cudaStream_t stream,
                                 gi_error *err);

// Makes memory of gi_large_alloc, with what it holds, the content of an empty GI_PINNED buffer. False, and nothing has
// changed, where it cannot be locked or is too small to be worth it.
bool gi_cuda_buffer_take(gi_cuda_buffer *buffer, void *data, size_t bytes);

void gi_cuda_buffer_free(gi_cuda_buffer *buffer, gi_where where);

#endif
