// What a call of a primitive needs on the device: a stream, memory, and the way to and from the host. Calls of several
// threads have a lane each; lanes are kept for later calls.
#ifndef GI_CUDA_ARRAY_LANE_H
#define GI_CUDA_ARRAY_LANE_H

#include <pthread.h>

#include "core/primitives.h"
#include "cuda/staging.h"
#include "kernels/arrays.h"
#include "kernels/matmul.h"

// What kernels leave for the host; on the device, and a copy in page-locked memory.
typedef struct gi_array_result {
    gi_device_number number;
    uint64_t refused;
    uint32_t ticket;
} gi_array_result;

typedef struct gi_array_lane {
    struct gi_array_lane *next; // of those that nobody has
    cudaStream_t stream;        // its own
    cudaStream_t user;          // the one that it was last used on
    cudaEvent_t done;           // what was enqueued there has been done
    bool used;                  // `done` tells of something
    gi_cuda_buffer operands[3]; // device
    gi_cuda_buffer scratch;     // device
    gi_cuda_buffer result;      // device: a gi_array_result
    gi_cuda_buffer host_result; // page-locked
    gi_staging staging;
    gi_cublas *cublas; // NULL until it is asked for
} gi_array_lane;

// Those that nobody has.
typedef struct gi_array_lanes {
    pthread_mutex_t mutex;
    gi_array_lane *idle;
} gi_array_lanes;

void gi_array_lanes_init(gi_array_lanes *lanes);

// Waits for the work of all idle lanes, and frees them.
void gi_array_lanes_clear(gi_array_lanes *lanes);
void gi_array_lanes_free(gi_array_lanes *lanes);

// Takes a lane for work on `user`, or on its own stream where that is OWN_STREAM. What is enqueued there comes after
// the lane's earlier work. The device is the thread's current one.
#define GI_OWN_STREAM ((cudaStream_t)-1)
gi_status gi_array_lane_take(gi_array_lanes *lanes, cudaStream_t user, gi_array_lane **out, gi_error *err);

// Gives it back; its work need not be done. What fails here fails for the next one.
void gi_array_lane_give(gi_array_lanes *lanes, gi_array_lane *lane);

// Makes lane->cublas, unless it is there.
gi_status gi_array_lane_cublas(gi_array_lane *lane, gi_error *err);

// Room for the scratch of a kernel.
gi_status gi_array_lane_scratch(gi_array_lane *lane, size_t bytes, gi_error *err);

// *result = what kernels have left there. Waits for lane->user.
gi_status gi_array_lane_receive(gi_array_lane *lane, gi_array_result *result, gi_error *err);

// Waits for lane->user.
gi_status gi_array_lane_wait(gi_array_lane *lane, gi_error *err);

#endif
