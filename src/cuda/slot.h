// A slot of the CUDA backend: a few lanes (lane.h), through which bands of an image go side by side, and what they
// share.
#ifndef GI_CUDA_SLOT_H
#define GI_CUDA_SLOT_H

#include <stdatomic.h>

#include "core/backend.h"
#include "cuda/array_lane.h"
#include "cuda/jpeg_device.h"
#include "cuda/lane.h"
#include "cuda/resolved.h"
#include "cuda/slot_jpeg.h"
#include "cuda/start.h"

// Two keep both directions of the bus and the kernels busy; the third covers the time in which the host wakes up, takes
// what has arrived and fills the lane again.
enum { GI_CUDA_LANES = 3 };

typedef struct gi_cuda_backend {
    gi_backend base;
    gi_cuda_start start;
    gi_jpeg_device jpeg;
    atomic_bool failed; // an error has ruined the context: every later call would fail with the same words
    gi_array_lanes arrays;
} gi_cuda_backend;

// Waits for the device's start, and makes it the thread's.
gi_status gi_cuda_backend_use(gi_cuda_backend *backend, gi_error *err);

// Every use ends so, with its status: after a failure the device may be as good as new, or lost to this process, which
// then `stream` shows.
gi_status gi_cuda_backend_settle(gi_cuda_backend *backend, cudaStream_t stream, gi_status status);

typedef struct gi_cuda_slot {
    gi_slot base;
    gi_cuda_backend *backend;
    gi_cuda_lane lanes[GI_CUDA_LANES];
    gi_cuda_lane *lane;     // the one that calls are for
    gi_cuda_buffer host_in; // page-locked
    void *plain;            // host memory in its place while there is no context; NULL: none, or host_in has it
    size_t plain_bytes;
    gi_cuda_counts counted;
    gi_cuda_buffer host_counts;
    gi_cuda_resolved resolved[GI_MAX_RESOLVED];
    gi_cuda_buffer levels, host_levels; // of the resolved operations: GI_MAX_RESOLVED of uint32_t
    gi_cuda_jpeg jpeg;
    cudaEvent_t shared; // counts are cleared, operations are made: for all lanes
} gi_cuda_slot;

// Every call on a slot begins so: uses the device, and opens the lane. `wants_image`: GI_ERR_USAGE where the lane holds
// none.
gi_status gi_cuda_slot_begin(gi_cuda_slot *slot, bool wants_image, gi_error *err);

// ... and ends so, with its status.
gi_status gi_cuda_slot_settle(gi_cuda_slot *slot, gi_status status);

// The lane's next work comes after all that the other lanes have in work.
gi_status gi_cuda_slot_follow_all(gi_cuda_slot *slot, gi_error *err);

// What the lane has enqueued is for the other lanes too: those that call after_shared come after it.
gi_status gi_cuda_slot_share(gi_cuda_slot *slot, gi_error *err);
gi_status gi_cuda_slot_after_shared(gi_cuda_slot *slot, gi_error *err);

// Tells the watch what the lanes have done, after a wait for all of it.
void gi_cuda_slot_tell_all(gi_cuda_slot *slot);

// GI_ERR_USAGE for an operation on another kind of image than the lane's.
gi_status gi_cuda_slot_check_kind(const gi_cuda_slot *slot, const gi_point *operation, gi_error *err);

// gi_backend_ops of counts and of operations made of them (slot_counts.c).
gi_status gi_cuda_slot_measure(gi_slot *slot, const gi_point *through, bool first, gi_error *err);
gi_status gi_cuda_slot_counts(gi_slot *slot, gi_histogram *histogram, gi_error *err);
gi_status gi_cuda_slot_resolve(gi_slot *slot, int index, const gi_stage_call *call, const gi_point *rest,
                               gi_error *err);
gi_status gi_cuda_slot_point_resolved(gi_slot *slot, int index, gi_error *err);
uint32_t gi_cuda_slot_resolved_level(gi_slot *slot, int index);

#endif
