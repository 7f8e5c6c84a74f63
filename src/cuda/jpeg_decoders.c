#include "cuda/jpeg_decoders.h"

#include <stdlib.h>

#include "cuda/cuda_status.h"

enum { FOR_EACH_ENGINE = 2, ENGINE_MOST = 16 }; // one in work, one that waits

typedef struct decoder {
    gi_nvjpeg_decoder kind;
    gi_nvjpeg_state state;
    gi_nvjpeg_pinned pinned;
    gi_nvjpeg_memory memory;
    gi_nvjpeg_stream parsed;
    gi_nvjpeg_decode_params params;
    cudaEvent_t done;
} decoder;

void gi_jpeg_decoders_init(gi_jpeg_decoders *decoders, const gi_nvjpeg_device *nvjpeg) {
    decoders->nvjpeg = nvjpeg;
    gi_pool_init(&decoders->processors, GI_POOL_MOST);
    gi_pool_init(&decoders->engine, ENGINE_MOST);
}

// ---- making one ---------------------------------------------------------------------------------------------------

static void destroy(const gi_nvjpeg *library, decoder *d) {
    if (d->state) library->JpegStateDestroy(d->state);
    if (d->pinned) library->BufferPinnedDestroy(d->pinned);
    if (d->memory) library->BufferDeviceDestroy(d->memory);
    if (d->parsed) library->JpegStreamDestroy(d->parsed);
    if (d->params) library->DecodeParamsDestroy(d->params);
    if (d->done) cudaEventDestroy(d->done);
    free(d);
}

// *member = NULL where the call fails, whatever it has left there.
#define CREATE(member, call)                                                                                           \
    if (code == GI_NVJPEG_SUCCESS && (code = (call)) != GI_NVJPEG_SUCCESS) (member) = NULL

static int create_all(const gi_nvjpeg_device *nvjpeg, decoder *d) {
    const gi_nvjpeg *library = nvjpeg->library;
    gi_nvjpeg_handle handle = nvjpeg->handle;
    int code = GI_NVJPEG_SUCCESS;
    CREATE(d->state, library->DecoderStateCreate(handle, d->kind, &d->state));
    CREATE(d->pinned, library->BufferPinnedCreate(handle, NULL, &d->pinned));
    CREATE(d->memory, library->BufferDeviceCreate(handle, NULL, &d->memory));
    CREATE(d->parsed, library->JpegStreamCreate(handle, &d->parsed));
    CREATE(d->params, library->DecodeParamsCreate(handle, &d->params));
    if (code == GI_NVJPEG_SUCCESS) code = library->StateAttachPinnedBuffer(d->state, d->pinned);
    if (code == GI_NVJPEG_SUCCESS) code = library->StateAttachDeviceBuffer(d->state, d->memory);
    return code;
}

static gi_status make(const gi_nvjpeg_device *nvjpeg, gi_nvjpeg_decoder kind, decoder **made, gi_error *err) {
    decoder *d = calloc(1, sizeof *d);
    if (!d) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    d->kind = kind;
    gi_status status = gi_nvjpeg_check(create_all(nvjpeg, d), "making a decoder", err);
    if (status == GI_OK) { // who waits for the device sleeps
        const unsigned flags = cudaEventDisableTiming | cudaEventBlockingSync;
        status = gi_cuda_check(cudaEventCreateWithFlags(&d->done, flags), "making a decoder", err);
        if (status != GI_OK) d->done = NULL;
    }
    if (status == GI_OK)
        *made = d;
    else
        destroy(nvjpeg->library, d);
    return status;
}

bool gi_jpeg_decoders_grow(gi_jpeg_decoders *decoders) {
    const gi_nvjpeg_device *nvjpeg = decoders->nvjpeg;
    const unsigned wanted = nvjpeg->engines * FOR_EACH_ENGINE;
    const unsigned there = (unsigned)decoders->engine.there; // nobody else makes any
    if (there >= wanted || there >= ENGINE_MOST) return false;
    decoder *d;
    if (make(nvjpeg, nvjpeg->engine, &d, NULL) != GI_OK) return false;
    gi_pool_add(&decoders->engine, d);
    return true;
}

// ---- decoding -----------------------------------------------------------------------------------------------------

static int decode(const gi_nvjpeg_device *nvjpeg, decoder *d, const gi_jpeg_source *source, int format,
                  gi_nvjpeg_image *to, cudaStream_t stream) {
    const gi_nvjpeg *library = nvjpeg->library;
    gi_nvjpeg_handle handle = nvjpeg->handle;
    int not_supported = 0;
    int code = library->JpegStreamParse(handle, source->data, source->size, 0, 0, d->parsed);
    if (code == GI_NVJPEG_SUCCESS) code = library->DecodeParamsSetOutputFormat(d->params, format);
    if (code == GI_NVJPEG_SUCCESS) code = library->DecoderJpegSupported(d->kind, d->parsed, d->params, &not_supported);
    if (code == GI_NVJPEG_SUCCESS && not_supported) return GI_NVJPEG_JPEG_NOT_SUPPORTED;
    if (code == GI_NVJPEG_SUCCESS) code = library->DecodeJpegHost(handle, d->kind, d->state, d->params, d->parsed);
    if (code == GI_NVJPEG_SUCCESS)
        code = library->DecodeJpegTransferToDevice(handle, d->kind, d->state, d->parsed, stream);
    if (code == GI_NVJPEG_SUCCESS) code = library->DecodeJpegDevice(handle, d->kind, d->state, to, stream);
    return code;
}

static gi_status wait(decoder *d, cudaStream_t stream, gi_error *err) {
    cudaError_t ended = cudaEventRecord(d->done, stream);
    if (ended == cudaSuccess) ended = cudaEventSynchronize(d->done);
    return gi_cuda_check(ended, "decoding a file", err);
}

static gi_status run(const gi_nvjpeg_device *nvjpeg, decoder *d, const gi_jpeg_source *source, int format,
                     gi_nvjpeg_image *to, cudaStream_t stream, gi_error *err) {
    gi_status status = gi_nvjpeg_check(decode(nvjpeg, d, source, format, to, stream), "decoding", err);
    // After a failure, too: some of it may be on its way. And a lost device is the better reason.
    gi_status ended = wait(d, stream, err);
    return ended != GI_OK ? ended : status;
}

static gi_status take_other(gi_jpeg_decoders *decoders, decoder **d, gi_error *err) {
    *d = gi_pool_take(&decoders->processors);
    if (*d) return GI_OK;
    gi_status status = make(decoders->nvjpeg, decoders->nvjpeg->processors, d, err);
    if (status != GI_OK) gi_pool_less(&decoders->processors);
    return status;
}

gi_status gi_jpeg_decoders_run(gi_jpeg_decoders *decoders, const gi_jpeg_source *source, int format,
                               gi_nvjpeg_image *to, cudaStream_t stream, gi_error *err) {
    const gi_nvjpeg_device *nvjpeg = decoders->nvjpeg;
    decoder *d = gi_pool_try(&decoders->engine);
    if (d) {
        gi_error why = {.status = GI_OK};
        gi_status status = run(nvjpeg, d, source, format, to, stream, &why);
        gi_pool_give(&decoders->engine, d);
        if (status == GI_ERR_DEVICE && err) *err = why;
        if (status == GI_OK || status == GI_ERR_DEVICE) return status; // else it may be a file that the others do
    }
    gi_status status = take_other(decoders, &d, err);
    if (status != GI_OK) return status;
    status = run(nvjpeg, d, source, format, to, stream, err);
    gi_pool_give(&decoders->processors, d);
    return status;
}

static void end(const gi_nvjpeg *library, gi_pool *pool) {
    for (decoder *d; (d = gi_pool_try(pool));) destroy(library, d);
    gi_pool_end(pool);
}

void gi_jpeg_decoders_end(gi_jpeg_decoders *decoders) {
    end(decoders->nvjpeg->library, &decoders->engine);
    end(decoders->nvjpeg->library, &decoders->processors);
}
