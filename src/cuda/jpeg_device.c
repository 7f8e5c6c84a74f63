#include "cuda/jpeg_device.h"

#include <string.h>

// Less is done before the engine's first decoder is made: 64 images of 1080p. Tests have few.
#ifndef GPUIMG_JPEG_PIXELS_BEFORE_ENGINE
#define GPUIMG_JPEG_PIXELS_BEFORE_ENGINE 128000000
#endif

void gi_jpeg_device_init(gi_jpeg_device *device, gi_cuda_start *start) {
    memset(device, 0, sizeof *device);
    device->start = start;
    gi_nvjpeg_device_init(&device->nvjpeg);
    gi_jpeg_decoders_init(&device->decoders, &device->nvjpeg);
    gi_jpeg_encoders_init(&device->encoders, &device->nvjpeg);
    pthread_mutex_init(&device->mutex, NULL);
    pthread_cond_init(&device->wake, NULL);
    atomic_init(&device->pixels, 0);
    atomic_init(&device->over, false);
    atomic_init(&device->ending, false);
}

gi_status gi_jpeg_device_start(gi_jpeg_device *device, gi_error *err) {
    return gi_nvjpeg_device_start(&device->nvjpeg, err);
}

// ---- beside other work --------------------------------------------------------------------------------------------

static bool start_here(gi_jpeg_device *device) {
    return gi_cuda_start_wait(device->start, NULL) == GI_OK && cudaSetDevice(device->start->index) == cudaSuccess &&
           !atomic_load(&device->ending) && gi_jpeg_device_start(device, NULL) == GI_OK;
}

static void wait_for_much_work(gi_jpeg_device *device) {
    pthread_mutex_lock(&device->mutex);
    while (atomic_load(&device->pixels) < GPUIMG_JPEG_PIXELS_BEFORE_ENGINE && !atomic_load(&device->ending))
        pthread_cond_wait(&device->wake, &device->mutex);
    pthread_mutex_unlock(&device->mutex);
}

static void *start_and_grow(void *context) {
    gi_jpeg_device *device = context;
    const bool started = start_here(device);
    atomic_store(&device->over, true);
    if (!started || !device->nvjpeg.engine) return NULL;
    wait_for_much_work(device);
    while (!atomic_load(&device->ending) && gi_jpeg_decoders_grow(&device->decoders)) continue;
    return NULL;
}

static void begin(gi_jpeg_device *device) {
    pthread_mutex_lock(&device->mutex);
    if (!device->begun) {
        device->begun = true;
        device->threaded = pthread_create(&device->thread, NULL, start_and_grow, device) == 0;
        if (!device->threaded) atomic_store(&device->over, true); // then it starts when it is needed
    }
    pthread_mutex_unlock(&device->mutex);
}

const char *gi_jpeg_device_busy(gi_jpeg_device *device) {
    if (atomic_load(&device->over)) return NULL;
    begin(device);
    return "the GPU is still starting";
}

static void wake(gi_jpeg_device *device) {
    pthread_mutex_lock(&device->mutex);
    pthread_cond_signal(&device->wake);
    pthread_mutex_unlock(&device->mutex);
}

// -------------------------------------------------------------------------------------------------------------------

gi_status gi_jpeg_device_decode(gi_jpeg_device *device, const gi_jpeg_source *source, gi_nvjpeg_image *to,
                                cudaStream_t stream, gi_error *err) {
    const int format = source->shape.channels == 1 ? GI_NVJPEG_OUTPUT_Y : GI_NVJPEG_OUTPUT_RGBI;
    gi_status status = gi_jpeg_decoders_run(&device->decoders, source, format, to, stream, err);
    const unsigned long long pixels = (unsigned long long)source->shape.width * source->shape.height;
    const unsigned long long before = atomic_fetch_add(&device->pixels, pixels);
    if (before < GPUIMG_JPEG_PIXELS_BEFORE_ENGINE && before + pixels >= GPUIMG_JPEG_PIXELS_BEFORE_ENGINE) wake(device);
    return status;
}

void gi_jpeg_device_end(gi_jpeg_device *device) {
    atomic_store(&device->ending, true);
    wake(device);
    if (device->threaded) pthread_join(device->thread, NULL);
    gi_jpeg_decoders_end(&device->decoders);
    gi_jpeg_encoders_end(&device->encoders);
    gi_nvjpeg_device_end(&device->nvjpeg);
    pthread_cond_destroy(&device->wake);
    pthread_mutex_destroy(&device->mutex);
}
