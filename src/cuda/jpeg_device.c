#include "cuda/jpeg_device.h"

#include <string.h>

#include "cuda/cuda_status.h"

enum { FILES_FOR_EACH_DECODER = 2 }; // one in work, one that waits

void gi_jpeg_device_init(gi_jpeg_device *device, gi_cuda_start *start) {
    memset(device, 0, sizeof *device);
    device->start = start;
    gi_nvjpeg_device_init(&device->nvjpeg);
    gi_jpeg_engine_init(&device->engine);
    pthread_mutex_init(&device->mutex, NULL);
    pthread_cond_init(&device->given, NULL);
    pthread_mutex_init(&device->encoding, NULL);
    pthread_mutex_init(&device->beginning, NULL);
    atomic_init(&device->decoding, 0);
    atomic_init(&device->over, false);
    atomic_init(&device->ending, false);
}

gi_status gi_jpeg_device_start(gi_jpeg_device *device, gi_error *err) {
    return gi_nvjpeg_device_start(&device->nvjpeg, err);
}

// ---- making it early ----------------------------------------------------------------------------------------------

static void make_encoder_early(gi_jpeg_device *device) {
    pthread_mutex_lock(&device->encoding);
    gi_jpeg_device_make_encoder(device, NULL);
    pthread_mutex_unlock(&device->encoding);
}

static void *make_all(void *context) {
    gi_jpeg_device *device = context;
    if (gi_cuda_start_wait(device->start, NULL) == GI_OK && cudaSetDevice(device->start->index) == cudaSuccess &&
        !atomic_load(&device->ending) && gi_jpeg_device_start(device, NULL) == GI_OK) {
        if (!atomic_load(&device->ending)) gi_jpeg_engine_make(&device->engine, &device->nvjpeg);
        if (!atomic_load(&device->ending)) make_encoder_early(device);
    }
    atomic_store(&device->over, true);
    return NULL;
}

static void begin(gi_jpeg_device *device) {
    pthread_mutex_lock(&device->beginning);
    if (!device->begun) {
        device->begun = true;
        device->threaded = pthread_create(&device->thread, NULL, make_all, device) == 0;
        if (!device->threaded) atomic_store(&device->over, true); // then it is made when it is needed
    }
    pthread_mutex_unlock(&device->beginning);
}

const char *gi_jpeg_device_busy(gi_jpeg_device *device) {
    if (!atomic_load(&device->over)) {
        begin(device);
        return "the GPU is still starting";
    }
    const int decoders = device->nvjpeg.engines > 0 ? (int)device->nvjpeg.engines : GI_JPEG_DECODERS / 2;
    return atomic_load(&device->decoding) < decoders * FILES_FOR_EACH_DECODER ? NULL : "the GPU has enough in work";
}

// ---- decoding -----------------------------------------------------------------------------------------------------

static gi_status borrow(gi_jpeg_device *device, gi_nvjpeg_state *state, gi_error *err) {
    pthread_mutex_lock(&device->mutex);
    while (device->lent == GI_JPEG_DECODERS) pthread_cond_wait(&device->given, &device->mutex);
    device->lent++;
    *state = device->idle_count > 0 ? device->idle[--device->idle_count] : NULL;
    pthread_mutex_unlock(&device->mutex);
    if (*state) return GI_OK;
    const gi_nvjpeg_device *nvjpeg = &device->nvjpeg;
    gi_status status =
        gi_nvjpeg_check(nvjpeg->library->JpegStateCreate(nvjpeg->handle, state), "making a decoder", err);
    if (status != GI_OK) *state = NULL;
    return status;
}

static void give_back(gi_jpeg_device *device, gi_nvjpeg_state state) {
    pthread_mutex_lock(&device->mutex);
    device->lent--;
    if (state) device->idle[device->idle_count++] = state;
    pthread_cond_signal(&device->given);
    pthread_mutex_unlock(&device->mutex);
}

static gi_status decode(gi_jpeg_device *device, const gi_jpeg_source *source, gi_nvjpeg_image *to, cudaStream_t stream,
                        gi_error *err) {
    const int format = source->shape.channels == 1 ? GI_NVJPEG_OUTPUT_Y : GI_NVJPEG_OUTPUT_RGBI;
    const gi_nvjpeg_device *nvjpeg = &device->nvjpeg;
    gi_nvjpeg_state state;
    if (gi_jpeg_engine_decode(&device->engine, nvjpeg, source, format, to)) return GI_OK;
    gi_status status = borrow(device, &state, err);
    if (status == GI_OK)
        status = gi_nvjpeg_check(
            nvjpeg->library->Decode(nvjpeg->handle, state, source->data, source->size, format, to, stream), "decoding",
            err);
    // After a failure, too: some of it may be on its way. And a lost device is the better reason.
    const cudaError_t ended = cudaStreamSynchronize(stream);
    if (ended != cudaSuccess) status = gi_cuda_check(ended, "decoding a file", err);
    give_back(device, state);
    return status;
}

gi_status gi_jpeg_device_decode(gi_jpeg_device *device, const gi_jpeg_source *source, gi_nvjpeg_image *to,
                                cudaStream_t stream, gi_error *err) {
    atomic_fetch_add(&device->decoding, 1);
    gi_status status = decode(device, source, to, stream, err);
    atomic_fetch_sub(&device->decoding, 1);
    return status;
}

// ---- the encoder --------------------------------------------------------------------------------------------------

gi_status gi_jpeg_device_make_encoder(gi_jpeg_device *device, gi_error *err) {
    const gi_nvjpeg_device *nvjpeg = &device->nvjpeg;
    gi_status status = GI_OK;
    if (device->params) return GI_OK;
    if (!device->stream)
        status =
            gi_cuda_check(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking), "creating a stream", err);
    if (status != GI_OK) {
        device->stream = NULL;
        return status;
    }
    int code = GI_NVJPEG_SUCCESS;
    if (!device->encoder) code = nvjpeg->library->EncoderStateCreate(nvjpeg->handle, &device->encoder, device->stream);
    if (code != GI_NVJPEG_SUCCESS) {
        device->encoder = NULL;
        return gi_nvjpeg_check(code, "making an encoder", err);
    }
    code = nvjpeg->library->EncoderParamsCreate(nvjpeg->handle, &device->params, device->stream);
    if (code != GI_NVJPEG_SUCCESS) device->params = NULL;
    return gi_nvjpeg_check(code, "making an encoder", err);
}

void gi_jpeg_device_end(gi_jpeg_device *device) {
    atomic_store(&device->ending, true);
    if (device->threaded) pthread_join(device->thread, NULL);
    const gi_nvjpeg *library = device->nvjpeg.library;
    if (device->params) library->EncoderParamsDestroy(device->params);
    if (device->encoder) library->EncoderStateDestroy(device->encoder);
    if (device->stream) cudaStreamDestroy(device->stream);
    for (int i = 0; i < device->idle_count; i++) library->JpegStateDestroy(device->idle[i]);
    gi_jpeg_engine_end(&device->engine);
    gi_nvjpeg_device_end(&device->nvjpeg);
    pthread_mutex_destroy(&device->beginning);
    pthread_mutex_destroy(&device->encoding);
    pthread_cond_destroy(&device->given);
    pthread_mutex_destroy(&device->mutex);
}
