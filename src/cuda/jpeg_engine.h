// A device's engine for JPEG. It has several decoders, which one call fills with several files: so the files that wait
// for it while it works are its next call, whichever slots they are for.
#ifndef GI_CUDA_JPEG_ENGINE_H
#define GI_CUDA_JPEG_ENGINE_H

#include "core/backend.h"
#include "cuda/nvjpeg.h"

enum { GI_JPEG_BATCH = 64 }; // files of a call, at most

struct gi_jpeg_wait; // a file that waits

typedef struct gi_jpeg_engine {
    pthread_mutex_t mutex; // of `first` and `working`
    pthread_cond_t ended;
    struct gi_jpeg_wait *first; // of those that wait
    bool working;               // a thread decodes, and has all below to itself
    const gi_nvjpeg *library;
    gi_nvjpeg_handle handle;
    gi_nvjpeg_state state; // NULL: not made yet
    gi_nvjpeg_stream parsed;
    cudaStream_t stream;
    cudaEvent_t done;
    int count, format; // that the state was last set up for; count 0: none
} gi_jpeg_engine;

void gi_jpeg_engine_init(gi_jpeg_engine *engine);

// Makes what decoding needs on the thread's current device, where `device` has the engine and it is not there yet; it
// is made when it is needed, too, and early it costs nobody a wait.
void gi_jpeg_engine_make(gi_jpeg_engine *engine, const gi_nvjpeg_device *device);

// True: the file's image lies in *to, as nvJPEG's `format`. False: the device has no engine, it does not do such a
// file, or it has failed. The file must be page-locked and nothing be in work on *to. Waits. Thread-safe.
bool gi_jpeg_engine_decode(gi_jpeg_engine *engine, const gi_nvjpeg_device *device, const gi_jpeg_source *source,
                           int format, const gi_nvjpeg_image *to);

// Nobody may use it. The device must be the thread's current one if anything was made.
void gi_jpeg_engine_end(gi_jpeg_engine *engine);

#endif
