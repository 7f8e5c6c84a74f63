#include "cuda/jpeg_encoders.h"

#include <stdlib.h>

#include "cuda/cuda_status.h"

enum { ENCODERS_MOST = 4 };

void gi_jpeg_encoders_init(gi_jpeg_encoders *encoders, const gi_nvjpeg_device *nvjpeg) {
    encoders->nvjpeg = nvjpeg;
    gi_pool_init(&encoders->pool, ENCODERS_MOST);
}

static void destroy(const gi_nvjpeg *library, gi_jpeg_encoder *e) {
    if (e->params) library->EncoderParamsDestroy(e->params);
    if (e->state) library->EncoderStateDestroy(e->state);
    if (e->stream) cudaStreamDestroy(e->stream);
    free(e);
}

static gi_status create_all(const gi_nvjpeg_device *nvjpeg, gi_jpeg_encoder *e, gi_error *err) {
    const gi_nvjpeg *library = nvjpeg->library;
    gi_status status =
        gi_cuda_check(cudaStreamCreateWithFlags(&e->stream, cudaStreamNonBlocking), "creating a stream", err);
    if (status != GI_OK) {
        e->stream = NULL;
        return status;
    }
    int code = library->EncoderStateCreate(nvjpeg->handle, &e->state, e->stream);
    if (code != GI_NVJPEG_SUCCESS)
        e->state = NULL;
    else if ((code = library->EncoderParamsCreate(nvjpeg->handle, &e->params, e->stream)) != GI_NVJPEG_SUCCESS)
        e->params = NULL;
    if (code != GI_NVJPEG_SUCCESS) return gi_nvjpeg_check(code, "making an encoder", err);
    // Images come on other streams.
    return gi_cuda_check(cudaStreamSynchronize(e->stream), "making an encoder", err);
}

static gi_status make(const gi_nvjpeg_device *nvjpeg, gi_jpeg_encoder **made, gi_error *err) {
    gi_jpeg_encoder *e = calloc(1, sizeof *e);
    if (!e) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    gi_status status = create_all(nvjpeg, e, err);
    if (status == GI_OK)
        *made = e;
    else
        destroy(nvjpeg->library, e);
    return status;
}

gi_status gi_jpeg_encoders_take(gi_jpeg_encoders *encoders, gi_jpeg_encoder **encoder, gi_error *err) {
    *encoder = gi_pool_take(&encoders->pool);
    if (*encoder) return GI_OK;
    gi_status status = make(encoders->nvjpeg, encoder, err);
    if (status != GI_OK) gi_pool_less(&encoders->pool);
    return status;
}

void gi_jpeg_encoders_give(gi_jpeg_encoders *encoders, gi_jpeg_encoder *encoder) {
    gi_pool_give(&encoders->pool, encoder);
}

void gi_jpeg_encoders_end(gi_jpeg_encoders *encoders) {
    for (gi_jpeg_encoder *e; (e = gi_pool_try(&encoders->pool));) destroy(encoders->nvjpeg->library, e);
    gi_pool_end(&encoders->pool);
}
