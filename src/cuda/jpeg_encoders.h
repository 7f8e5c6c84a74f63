// nvJPEG's encoders on a device: few are enough, as one is done with an image long before a decoder has the next, and
// the first image of each costs it some 10 ms.
#ifndef GI_CUDA_JPEG_ENCODERS_H
#define GI_CUDA_JPEG_ENCODERS_H

#include "core/pool.h"
#include "cuda/nvjpeg.h"

typedef struct gi_jpeg_encoder {
    gi_nvjpeg_encoder state;
    gi_nvjpeg_params params;
    cudaStream_t stream; // that it was made on
} gi_jpeg_encoder;

typedef struct gi_jpeg_encoders {
    const gi_nvjpeg_device *nvjpeg;
    gi_pool pool;
} gi_jpeg_encoders;

void gi_jpeg_encoders_init(gi_jpeg_encoders *encoders, const gi_nvjpeg_device *nvjpeg);

// One that lies idle or that is made on the thread's current device; waits while too many are lent. Thread-safe, after
// gi_nvjpeg_device_start.
gi_status gi_jpeg_encoders_take(gi_jpeg_encoders *encoders, gi_jpeg_encoder **encoder, gi_error *err);

// Nothing may be in work with it.
void gi_jpeg_encoders_give(gi_jpeg_encoders *encoders, gi_jpeg_encoder *encoder);

// All must be given back. The device must be the thread's current one if anything was made.
void gi_jpeg_encoders_end(gi_jpeg_encoders *encoders);

#endif
