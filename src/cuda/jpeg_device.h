// nvJPEG on one device, for all its slots. Whatever it needs takes long to make (tens to hundreds of milliseconds
// each), so there is little of it, and it is made beside other work where that is begun early: an encoder, which is
// done with an image long before a decoder has the next; the decoders of the engine; and for files that this does not
// do, or where there is none, a few decoders that use the CPU as well.
#ifndef GI_CUDA_JPEG_DEVICE_H
#define GI_CUDA_JPEG_DEVICE_H

#include "cuda/jpeg_engine.h"
#include "cuda/start.h"

enum { GI_JPEG_DECODERS = 16 };

typedef struct gi_jpeg_device {
    gi_nvjpeg_device nvjpeg;
    gi_jpeg_engine engine;
    atomic_int decoding; // files
    // Decoders beside the engine.
    pthread_mutex_t mutex; // of the three
    pthread_cond_t given;
    int lent, idle_count;
    gi_nvjpeg_state idle[GI_JPEG_DECODERS];
    // The encoder's, each NULL until it is made.
    pthread_mutex_t encoding; // held while someone uses it
    cudaStream_t stream;      // that it was made on
    gi_nvjpeg_encoder encoder;
    gi_nvjpeg_params params;
    // Making it early.
    gi_cuda_start *start; // of the device
    pthread_mutex_t beginning;
    bool begun, threaded;
    pthread_t thread;
    atomic_bool over;   // made, well or badly
    atomic_bool ending; // nobody needs it any more
} gi_jpeg_device;

void gi_jpeg_device_init(gi_jpeg_device *device, gi_cuda_start *start);

// Why one would have to wait for the decoders; NULL: one would not. The first call begins to make all there is to make.
// Thread-safe.
const char *gi_jpeg_device_busy(gi_jpeg_device *device);

// Waits for the library on the device, which must be the thread's. GI_ERR_UNSUPPORTED with the reason. Thread-safe.
gi_status gi_jpeg_device_start(gi_jpeg_device *device, gi_error *err);

// Decodes the file, in page-locked memory, into *to, on which nothing may be in work. Waits. After
// gi_jpeg_device_start. Thread-safe.
gi_status gi_jpeg_device_decode(gi_jpeg_device *device, const gi_jpeg_source *source, gi_nvjpeg_image *to,
                                cudaStream_t stream, gi_error *err);

// Makes the encoder where it is not there yet, with `encoding` held.
gi_status gi_jpeg_device_make_encoder(gi_jpeg_device *device, gi_error *err);

// Waits for what is being made. The device must be the thread's current one if it was started.
void gi_jpeg_device_end(gi_jpeg_device *device);

#endif
