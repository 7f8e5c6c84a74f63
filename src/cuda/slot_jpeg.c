#include "cuda/slot_jpeg.h"

#include <stdio.h>
#include <string.h>

#include "cuda/backend_cuda.h"
#include "cuda/cuda_status.h"
#include "cuda/fault.h"
#include "cuda/slot.h"
#include "cuda/trace.h"

void gi_cuda_jpeg_free(gi_cuda_jpeg *jpeg) {
    gi_cuda_buffer_free(&jpeg->in, GI_PINNED);
    gi_cuda_buffer_free(&jpeg->out, GI_PINNED);
}

gi_status gi_cuda_slot_jpeg_check(gi_backend *backend, gi_error *err) {
    (void)backend;
    return gi_nvjpeg_find(err) ? GI_OK : GI_ERR_DEVICE;
}

const char *gi_cuda_slot_jpeg_busy(gi_backend *backend) {
    return gi_jpeg_device_busy(&((gi_cuda_backend *)backend)->jpeg);
}

static gi_status begin(gi_cuda_slot *slot, bool wants_image, gi_error *err) {
    gi_status status = gi_cuda_slot_begin(slot, wants_image, err);
    return status == GI_OK ? gi_jpeg_device_start(&slot->backend->jpeg, err) : status;
}

// Sleeps until all of the lane's work is done.
static gi_status wait(gi_cuda_lane *lane, const char *doing, gi_error *err) {
    gi_status status = gi_cuda_check(cudaEventRecord(lane->sent_whole, lane->stream), doing, err);
    if (status != GI_OK) return status;
    return gi_cuda_check(gi_cuda_fault(GI_FAULT_LOST, cudaEventSynchronize(lane->sent_whole)), doing, err);
}

// ---- decoding -----------------------------------------------------------------------------------------------------

// The file in page-locked memory, from which the engine takes it by itself.
static gi_status lock_file(gi_cuda_slot *slot, const gi_jpeg_source *source, gi_jpeg_source *locked, gi_error *err) {
    gi_cuda_buffer *in = &slot->jpeg.in;
    gi_status status = gi_cuda_buffer_reserve(in, source->size, GI_PINNED, slot->lane->stream, err);
    if (status != GI_OK) return status;
    memcpy(in->data, source->data, source->size);
    *locked = *source;
    locked->data = in->data;
    return GI_OK;
}

gi_status gi_cuda_slot_jpeg_decode(gi_slot *base, const gi_jpeg_source *source, gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_cuda_lane *lane = slot->lane;
    gi_jpeg_source locked;
    gi_view image;
    lane->current.data = NULL;
    gi_status status = begin(slot, false, err);
    if (status == GI_OK) status = lock_file(slot, source, &locked, err);
    if (status == GI_OK) status = gi_cuda_lane_first(lane, source->shape, &image, err);
    if (status == GI_OK) status = wait(lane, "decoding a file", err); // for what may still use that memory
    if (status != GI_OK) return gi_cuda_slot_settle(slot, status);
    gi_nvjpeg_image to = {{image.data}, {image.pitch_bytes}};
    gi_trace_begin("decode");
    status = gi_jpeg_device_decode(&slot->backend->jpeg, &locked, &to, lane->stream, err);
    gi_trace_end();
    if (status == GI_OK) lane->current = image;
    return gi_cuda_slot_settle(slot, status);
}

// ---- encoding -----------------------------------------------------------------------------------------------------

static int chroma_of(const gi_jpeg_form *form, int channels) {
    if (channels == 1) return GI_NVJPEG_CSS_GRAY;
    if (form->chroma_across == 1) return GI_NVJPEG_CSS_444;
    return form->chroma_down == 1 ? GI_NVJPEG_CSS_422 : GI_NVJPEG_CSS_420;
}

static gi_status encode(gi_cuda_slot *slot, const gi_jpeg_encoder *e, const gi_jpeg_form *form, gi_error *err) {
    const gi_nvjpeg_device *nvjpeg = &slot->backend->jpeg.nvjpeg;
    const gi_nvjpeg *library = nvjpeg->library;
    gi_nvjpeg_handle handle = nvjpeg->handle;
    cudaStream_t stream = slot->lane->stream;
    const gi_view *image = &slot->lane->current;
    const int chroma = chroma_of(form, image->channels), width = (int)image->width, height = (int)image->height;
    const gi_nvjpeg_image from = {{image->data}, {image->pitch_bytes}};
    int code = library->EncoderParamsSetQuality(e->params, form->quality, stream);
    if (code == GI_NVJPEG_SUCCESS) code = library->EncoderParamsSetOptimizedHuffman(e->params, form->optimize, stream);
    if (code == GI_NVJPEG_SUCCESS) code = library->EncoderParamsSetSamplingFactors(e->params, chroma, stream);
    if (code == GI_NVJPEG_SUCCESS && image->channels == 1)
        code = library->EncodeYUV(handle, e->state, e->params, &from, chroma, width, height, stream);
    else if (code == GI_NVJPEG_SUCCESS)
        code = library->EncodeImage(handle, e->state, e->params, &from, GI_NVJPEG_INPUT_RGBI, width, height, stream);
    return gi_nvjpeg_check(code, "encoding", err);
}

// How long the file is shows when it is done; then it is fetched.
static gi_status fetch(gi_cuda_slot *slot, const gi_jpeg_encoder *e, size_t *size, gi_error *err) {
    const gi_nvjpeg_device *nvjpeg = &slot->backend->jpeg.nvjpeg;
    const gi_nvjpeg *library = nvjpeg->library;
    gi_cuda_buffer *out = &slot->jpeg.out;
    gi_cuda_lane *lane = slot->lane;
    gi_status status = wait(lane, "encoding the image", err);
    if (status == GI_OK)
        status = gi_nvjpeg_check(library->EncodeRetrieveBitstream(nvjpeg->handle, e->state, NULL, size, lane->stream),
                                 "encoding", err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(out, *size, GI_PINNED, lane->stream, err);
    if (status != GI_OK) return status;
    gi_cuda_marks_begin(&lane->marks, GI_DEVICE_DOWNLOAD, lane->stream);
    status = gi_nvjpeg_check(library->EncodeRetrieveBitstream(nvjpeg->handle, e->state, out->data, size, lane->stream),
                             "encoding", err);
    gi_cuda_marks_end(&lane->marks, lane->stream);
    return status == GI_OK ? wait(lane, "encoding the image", err) : status;
}

static gi_status encode_and_fetch(gi_cuda_slot *slot, const gi_jpeg_encoder *e, const gi_jpeg_form *form, size_t *size,
                                  gi_error *err) {
    gi_cuda_lane *lane = slot->lane;
    gi_cuda_marks_begin(&lane->marks, GI_DEVICE_KERNELS, lane->stream);
    gi_status status = encode(slot, e, form, err);
    gi_cuda_marks_end(&lane->marks, lane->stream);
    if (status == GI_OK) status = fetch(slot, e, size, err);
    if (status == GI_OK) return GI_OK;
    // The next image is another stream's. And a lost device is the better reason.
    const cudaError_t ended = cudaStreamSynchronize(lane->stream);
    return ended != cudaSuccess ? gi_cuda_check(ended, "encoding the image", err) : status;
}

gi_status gi_cuda_slot_jpeg_encode(gi_slot *base, const gi_jpeg_form *form, const uint8_t **data, size_t *size,
                                   gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_cuda_lane *lane = slot->lane;
    gi_status status = begin(slot, true, err);
    if (status == GI_OK && (lane->current.sample != GI_U8 || gi_has_alpha(lane->current.channels)))
        status = gi_fail(err, GI_ERR_UNSUPPORTED, "JPEG has gray or RGB of 8 bits");
    // What is to be encoded is made first: meanwhile others use the encoders.
    if (status == GI_OK) status = wait(lane, "working on the image", err);
    if (status != GI_OK) return gi_cuda_slot_settle(slot, status);
    gi_jpeg_encoders *encoders = &slot->backend->jpeg.encoders;
    gi_jpeg_encoder *encoder;
    gi_trace_begin("encode");
    status = gi_jpeg_encoders_take(encoders, &encoder, err);
    if (status == GI_OK) {
        status = encode_and_fetch(slot, encoder, form, size, err);
        gi_jpeg_encoders_give(encoders, encoder);
    }
    gi_trace_end();
    *data = slot->jpeg.out.data;
    if (status == GI_OK) gi_cuda_marks_tell(&lane->marks, (int)(lane - slot->lanes));
    return gi_cuda_slot_settle(slot, status);
}

bool gi_cuda_nvjpeg(char *about, size_t size) {
    gi_error why = {.status = GI_OK};
    const gi_nvjpeg *library = gi_nvjpeg_find(&why);
    snprintf(about, size, "%s", library ? library->about : why.text);
    return library != NULL;
}
