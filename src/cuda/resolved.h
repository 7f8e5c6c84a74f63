// Operations made from counts on the device, without the host (backend.h: resolve).
#ifndef GI_CUDA_RESOLVED_H
#define GI_CUDA_RESOLVED_H

#include <stdbool.h>

#include "core/pipeline.h"
#include "cuda/buffer.h"
#include "kernels/launch.h"

// A slot's place for one such operation. All zero is empty.
typedef struct gi_cuda_resolved {
    gi_cuda_buffer tables; // device
    gi_device_point op;    // its curves lie in `tables`, its tables of linear light with the slot
    bool made;             // op is valid, once the work enqueued for it is done
} gi_cuda_resolved;

// Counts on the device, channel after channel; no channels: nothing was measured.
typedef struct gi_cuda_counts {
    gi_cuda_buffer buffer;
    int channels;
    gi_sample sample;
} gi_cuda_counts;

// What an operation is made of.
typedef struct gi_cuda_resolve {
    const gi_stage_call *call;
    const gi_device_point *rest; // what follows the stage, on the device while the work enqueued here runs
    const gi_cuda_counts *counts;
    uint32_t *level;         // device: where the level goes (otsu), or 0
    gi_cuda_buffer *scratch; // device; grown as needed
    cudaStream_t stream;
} gi_cuda_resolve;

// Enqueues the making of *resolved. GI_ERR_USAGE for a stage that takes no counts, counts of another kind of image, or
// a `rest` that cannot follow.
gi_status gi_cuda_resolved_make(gi_cuda_resolved *resolved, const gi_cuda_resolve *from, gi_error *err);
void gi_cuda_resolved_free(gi_cuda_resolved *resolved);

#endif
