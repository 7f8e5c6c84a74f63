// Starting a device beside other work: its context takes a few tenths of a second, in which a first image is decoded.
#ifndef GI_CUDA_START_H
#define GI_CUDA_START_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cuda/backend_cuda.h"

typedef struct gi_cuda_start {
    int wanted; // device, or GI_CUDA_ANY
    pthread_t thread;
    bool threaded;         // it runs, or ran, in `thread`
    pthread_mutex_t mutex; // of `over` as waited for, and of the join
    pthread_cond_t ended;
    atomic_bool over; // all below is set, for good
    int index;        // the device that was started
    gi_status status;
    gi_error why;
} gi_cuda_start;

// Begins to start the device, in the calling thread where no other can be had. *start is not to be moved.
void gi_cuda_start_begin(gi_cuda_start *start, int wanted);

// Waits for the end of it. GI_OK: device start->index has a context and can run this build's kernels. GI_ERR_DEVICE:
// why not.
gi_status gi_cuda_start_wait(gi_cuda_start *start, gi_error *err);

// Waits, and frees what is the start's own; the context stays.
void gi_cuda_start_end(gi_cuda_start *start);

#endif
