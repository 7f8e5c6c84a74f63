// nvJPEG on one device, for all its slots. Its start takes long (half a second on an H200, with the device's), so it is
// begun beside other work; the decoders of the engine take longer still, and are made when there is much to decode.
#ifndef GI_CUDA_JPEG_DEVICE_H
#define GI_CUDA_JPEG_DEVICE_H

#include "cuda/jpeg_decoders.h"
#include "cuda/jpeg_encoders.h"
#include "cuda/start.h"

typedef struct gi_jpeg_device {
    gi_nvjpeg_device nvjpeg;
    gi_jpeg_decoders decoders;
    gi_jpeg_encoders encoders;
    // Making it early.
    gi_cuda_start *start;  // of the device
    pthread_mutex_t mutex; // of the two, and of the waits for `wake`
    bool begun, threaded;
    pthread_t thread;
    pthread_cond_t wake;
    atomic_ullong pixels; // decoded
    atomic_bool over;     // started, well or badly
    atomic_bool ending;   // nobody needs it any more
} gi_jpeg_device;

void gi_jpeg_device_init(gi_jpeg_device *device, gi_cuda_start *start);

// Why one would have to wait for it; NULL: one would not. The first call begins to start it. Thread-safe.
const char *gi_jpeg_device_busy(gi_jpeg_device *device);

// Waits for the library on the device, which must be the thread's. GI_ERR_UNSUPPORTED with the reason. Thread-safe.
gi_status gi_jpeg_device_start(gi_jpeg_device *device, gi_error *err);

// As gi_jpeg_decoders_run, in the format that the image's channels ask for. After gi_jpeg_device_start.
gi_status gi_jpeg_device_decode(gi_jpeg_device *device, const gi_jpeg_source *source, gi_nvjpeg_image *to,
                                cudaStream_t stream, gi_error *err);

// Waits for what is being made. The device must be the thread's current one if it was started.
void gi_jpeg_device_end(gi_jpeg_device *device);

#endif
