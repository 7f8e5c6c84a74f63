// A lane of a slot: one stream, and what one band of an image needs on its way to the device, through it and back.
// Bands in different lanes overlap: while one is uploaded, another is worked on and a third is downloaded.
#ifndef GI_CUDA_LANE_H
#define GI_CUDA_LANE_H

#include "cuda/buffer.h"
#include "cuda/marks.h"
#include "cuda/tables.h"
#include "kernels/launch.h"

// All zero is a lane that was not opened yet.
typedef struct gi_cuda_lane {
    cudaStream_t stream;
    cudaEvent_t uploaded;     // the host pixels have been read
    cudaEvent_t sent_whole;   // what was sent has arrived
    cudaEvent_t joined;       // for another lane that waits for this one
    gi_cuda_buffer images[2]; // device; images[now] holds the current one
    int now;
    gi_view current; // device, packed; data NULL: none yet
    gi_cuda_buffer scratch;
    gi_cuda_buffer host_out; // page-locked
    gi_cuda_tables tables;
    gi_view aimed; // page-locked memory of the caller's where the result may go; data NULL: none
    gi_view sent;  // where the current image is on its way to; data NULL: it is not
    gi_cuda_marks marks;
} gi_cuda_lane;

typedef struct gi_cuda_launcher {
    size_t (*scratch)(const gi_job *);
    gi_status (*launch)(const gi_job *, gi_error *);
} gi_cuda_launcher;

// Makes stream and events, unless they are there.
gi_status gi_cuda_lane_open(gi_cuda_lane *lane, gi_error *err);

// Waits for the lane's work and frees all.
void gi_cuda_lane_close(gi_cuda_lane *lane);

// Everything below enqueues and returns, but where a buffer has to grow and where it says that it waits.

// *out = a place for a first image, after which nothing is current.
gi_status gi_cuda_lane_first(gi_cuda_lane *lane, gi_shape shape, gi_view *out, gi_error *err);

// Makes host pixels the current image. They must stay as they are until `uploaded`.
gi_status gi_cuda_lane_upload(gi_cuda_lane *lane, const gi_view *host, gi_error *err);

// *out = a place for the next image, in the buffer that does not hold the current one; keep makes it the current one.
gi_status gi_cuda_lane_next(gi_cuda_lane *lane, gi_shape shape, gi_view *out, gi_error *err);
void gi_cuda_lane_keep(gi_cuda_lane *lane, gi_view made);

// Gives the job scratch and stream, and launches.
gi_status gi_cuda_lane_launch(gi_cuda_lane *lane, gi_cuda_launcher with, gi_job *job, gi_error *err);

// *out = operation(current), in the other buffer. GI_ERR_USAGE for an operation on another kind of image.
gi_status gi_cuda_lane_apply(gi_cuda_lane *lane, const gi_device_point *operation, gi_view *out, gi_error *err);

// Sends the current image to host memory, unless it is on its way.
gi_status gi_cuda_lane_send(gi_cuda_lane *lane, gi_error *err);

// *host = what was sent, once it has arrived: waits.
gi_status gi_cuda_lane_receive(gi_cuda_lane *lane, gi_view *host, gi_error *err);

// What is enqueued from now on waits, on the device, for what `other` has enqueued by now.
gi_status gi_cuda_lane_follow(gi_cuda_lane *lane, gi_cuda_lane *other, gi_error *err);

#endif
