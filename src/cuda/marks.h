// When the device itself does the work of a lane, by events around each piece of it: for statistics and traces. Without
// a watch (core/backend.h) nothing is recorded.
#ifndef GI_CUDA_MARKS_H
#define GI_CUDA_MARKS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "core/backend.h"

enum { GI_CUDA_MARKS = 16 }; // pieces of work of one band; what comes after them is told as one with the last

typedef struct gi_cuda_mark {
    cudaEvent_t begin, end;
    gi_device_work work;
} gi_cuda_mark;

// All zero has no watch.
typedef struct gi_cuda_marks {
    const gi_watch *watch;
    cudaEvent_t origin; // at origin_ms of the host's clock
    double origin_ms;
    gi_cuda_mark marks[GI_CUDA_MARKS];
    int count; // in use
    bool failed;
} gi_cuda_marks;

// Around what is enqueued on the stream. The first call of all is for a stream that is idle.
void gi_cuda_marks_begin(gi_cuda_marks *marks, gi_device_work work, cudaStream_t stream);
void gi_cuda_marks_end(gi_cuda_marks *marks, cudaStream_t stream);

// Tells the watch what was marked, once the device is done with it: after a wait. `lane`: of the slot.
void gi_cuda_marks_tell(gi_cuda_marks *marks, int lane);

void gi_cuda_marks_free(gi_cuda_marks *marks);

#endif
