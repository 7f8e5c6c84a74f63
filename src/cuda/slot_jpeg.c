#include "cuda/slot_jpeg.h"

#include <stdio.h>
#include <string.h>

#include "cuda/backend_cuda.h"
#include "cuda/cuda_status.h"
#include "cuda/fault.h"
#include "cuda/slot.h"
#include "cuda/trace.h"

void gi_cuda_jpeg_free(gi_cuda_jpeg *jpeg) {
    const gi_nvjpeg *library = jpeg->library;
    if (jpeg->params) library->EncoderParamsDestroy(jpeg->params);
    if (jpeg->encoder) library->EncoderStateDestroy(jpeg->encoder);
    if (jpeg->parsed) library->JpegStreamDestroy(jpeg->parsed);
    if (jpeg->hardware) library->JpegStateDestroy(jpeg->hardware);
    if (jpeg->state) library->JpegStateDestroy(jpeg->state);
    gi_cuda_buffer_free(&jpeg->in, GI_PINNED);
    gi_cuda_buffer_free(&jpeg->out, GI_PINNED);
    *jpeg = (gi_cuda_jpeg){.library = NULL};
}

gi_status gi_cuda_slot_jpeg_check(gi_backend *backend, gi_error *err) {
    (void)backend;
    return gi_nvjpeg_find(err) ? GI_OK : GI_ERR_DEVICE;
}

static gi_status begin(gi_cuda_slot *slot, bool wants_image, gi_error *err) {
    gi_status status = gi_cuda_slot_begin(slot, wants_image, err);
    if (status == GI_OK) status = gi_nvjpeg_device_start(&slot->backend->nvjpeg, err);
    slot->jpeg.library = slot->backend->nvjpeg.library;
    return status;
}

// ---- decoding -----------------------------------------------------------------------------------------------------

// The engine's decoder, where the device has the engine; without it, or where it fails, the other one does.
static void make_hardware(gi_cuda_slot *slot) {
    gi_cuda_jpeg *jpeg = &slot->jpeg;
    gi_nvjpeg_handle handle = slot->backend->nvjpeg.hardware;
    if (!handle || jpeg->hardware) return;
    if (jpeg->library->JpegStreamCreate(handle, &jpeg->parsed) != GI_NVJPEG_SUCCESS) jpeg->parsed = NULL;
    if (!jpeg->parsed || jpeg->library->JpegStateCreate(handle, &jpeg->hardware) != GI_NVJPEG_SUCCESS)
        jpeg->hardware = NULL;
}

static bool decode_by_hardware(gi_cuda_slot *slot, const gi_jpeg_source *source, gi_nvjpeg_image *to, int format) {
    gi_cuda_jpeg *jpeg = &slot->jpeg;
    const gi_nvjpeg *library = jpeg->library;
    gi_nvjpeg_handle handle = slot->backend->nvjpeg.hardware;
    int not_supported = 1;
    make_hardware(slot);
    if (!jpeg->hardware ||
        library->JpegStreamParseHeader(handle, source->data, source->size, jpeg->parsed) != GI_NVJPEG_SUCCESS ||
        library->DecodeBatchedSupported(handle, jpeg->parsed, &not_supported) != GI_NVJPEG_SUCCESS || not_supported)
        return false;
    if (jpeg->hardware_format != format &&
        library->DecodeBatchedInitialize(handle, jpeg->hardware, 1, 1, format) != GI_NVJPEG_SUCCESS)
        return false;
    jpeg->hardware_format = format;
    if (library->DecodeBatched(handle, jpeg->hardware, &source->data, &source->size, to, slot->lane->stream) ==
        GI_NVJPEG_SUCCESS)
        return true;
    jpeg->hardware_format = 0; // setting it up again is what brings it back
    return false;
}

static gi_status decode(gi_cuda_slot *slot, const gi_jpeg_source *source, const gi_view *image, gi_error *err) {
    gi_cuda_jpeg *jpeg = &slot->jpeg;
    gi_nvjpeg_handle handle = slot->backend->nvjpeg.handle;
    const int format = source->shape.channels == 1 ? GI_NVJPEG_OUTPUT_Y : GI_NVJPEG_OUTPUT_RGBI;
    gi_nvjpeg_image to = {{image->data}, {image->pitch_bytes}};
    if (decode_by_hardware(slot, source, &to, format)) return GI_OK;
    gi_status status = GI_OK;
    if (!jpeg->state)
        status = gi_nvjpeg_check(jpeg->library->JpegStateCreate(handle, &jpeg->state), "making a decoder", err);
    if (status != GI_OK) {
        jpeg->state = NULL;
        return status;
    }
    return gi_nvjpeg_check(
        jpeg->library->Decode(handle, jpeg->state, source->data, source->size, format, &to, slot->lane->stream),
        "decoding", err);
}

// The file in page-locked memory, from which the engine takes it by itself, once it has taken the last one.
static gi_status lock_file(gi_cuda_slot *slot, const gi_jpeg_source *source, gi_jpeg_source *locked, gi_error *err) {
    gi_cuda_buffer *in = &slot->jpeg.in;
    gi_status status = gi_cuda_check(cudaEventSynchronize(slot->lane->uploaded), "uploading a file", err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(in, source->size, GI_PINNED, slot->lane->stream, err);
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
    if (status != GI_OK) return gi_cuda_slot_settle(slot, status);
    gi_trace_begin("decode");
    gi_cuda_marks_begin(&lane->marks, GI_DEVICE_KERNELS, lane->stream);
    status = decode(slot, &locked, &image, err);
    gi_cuda_marks_end(&lane->marks, lane->stream);
    gi_trace_end();
    // After a failure, too: some of it may be on its way.
    gi_status recorded =
        gi_cuda_check(cudaEventRecord(lane->uploaded, lane->stream), "decoding a file", status == GI_OK ? err : NULL);
    if (status == GI_OK) status = recorded;
    if (status == GI_OK) lane->current = image;
    return gi_cuda_slot_settle(slot, status);
}

// ---- encoding -----------------------------------------------------------------------------------------------------

static gi_status make_encoder(gi_cuda_slot *slot, gi_error *err) {
    gi_cuda_jpeg *jpeg = &slot->jpeg;
    gi_nvjpeg_handle handle = slot->backend->nvjpeg.handle;
    int code = GI_NVJPEG_SUCCESS;
    if (!jpeg->encoder) code = jpeg->library->EncoderStateCreate(handle, &jpeg->encoder, slot->lane->stream);
    if (code != GI_NVJPEG_SUCCESS) jpeg->encoder = NULL;
    if (code == GI_NVJPEG_SUCCESS && !jpeg->params) {
        code = jpeg->library->EncoderParamsCreate(handle, &jpeg->params, slot->lane->stream);
        if (code != GI_NVJPEG_SUCCESS) jpeg->params = NULL;
    }
    return gi_nvjpeg_check(code, "making an encoder", err);
}

static int chroma_of(const gi_jpeg_form *form, int channels) {
    if (channels == 1) return GI_NVJPEG_CSS_GRAY;
    if (form->chroma_across == 1) return GI_NVJPEG_CSS_444;
    return form->chroma_down == 1 ? GI_NVJPEG_CSS_422 : GI_NVJPEG_CSS_420;
}

static gi_status encode(gi_cuda_slot *slot, const gi_jpeg_form *form, gi_error *err) {
    gi_cuda_jpeg *jpeg = &slot->jpeg;
    const gi_nvjpeg *library = jpeg->library;
    gi_nvjpeg_handle handle = slot->backend->nvjpeg.handle;
    cudaStream_t stream = slot->lane->stream;
    const gi_view *image = &slot->lane->current;
    const int chroma = chroma_of(form, image->channels), width = (int)image->width, height = (int)image->height;
    const gi_nvjpeg_image from = {{image->data}, {image->pitch_bytes}};
    int code = library->EncoderParamsSetQuality(jpeg->params, form->quality, stream);
    if (code == GI_NVJPEG_SUCCESS)
        code = library->EncoderParamsSetOptimizedHuffman(jpeg->params, form->optimize, stream);
    if (code == GI_NVJPEG_SUCCESS) code = library->EncoderParamsSetSamplingFactors(jpeg->params, chroma, stream);
    if (code == GI_NVJPEG_SUCCESS && image->channels == 1)
        code = library->EncodeYUV(handle, jpeg->encoder, jpeg->params, &from, chroma, width, height, stream);
    else if (code == GI_NVJPEG_SUCCESS)
        code = library->EncodeImage(handle, jpeg->encoder, jpeg->params, &from, GI_NVJPEG_INPUT_RGBI, width, height,
                                    stream);
    return gi_nvjpeg_check(code, "encoding", err);
}

// Sleeps until all of the lane's work is done.
static gi_status wait(gi_cuda_lane *lane, gi_error *err) {
    gi_status status = gi_cuda_check(cudaEventRecord(lane->sent_whole, lane->stream), "encoding the image", err);
    if (status != GI_OK) return status;
    return gi_cuda_check(gi_cuda_fault(GI_FAULT_LOST, cudaEventSynchronize(lane->sent_whole)), "encoding the image",
                         err);
}

// How long the file is shows when it is done; then it is fetched.
static gi_status fetch(gi_cuda_slot *slot, size_t *size, gi_error *err) {
    gi_cuda_jpeg *jpeg = &slot->jpeg;
    gi_cuda_lane *lane = slot->lane;
    gi_nvjpeg_handle handle = slot->backend->nvjpeg.handle;
    const gi_nvjpeg *library = jpeg->library;
    gi_status status = wait(lane, err);
    if (status == GI_OK)
        status = gi_nvjpeg_check(library->EncodeRetrieveBitstream(handle, jpeg->encoder, NULL, size, lane->stream),
                                 "encoding", err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&jpeg->out, *size, GI_PINNED, lane->stream, err);
    if (status != GI_OK) return status;
    gi_cuda_marks_begin(&lane->marks, GI_DEVICE_DOWNLOAD, lane->stream);
    status = gi_nvjpeg_check(
        library->EncodeRetrieveBitstream(handle, jpeg->encoder, jpeg->out.data, size, lane->stream), "encoding", err);
    gi_cuda_marks_end(&lane->marks, lane->stream);
    return status == GI_OK ? wait(lane, err) : status;
}

gi_status gi_cuda_slot_jpeg_encode(gi_slot *base, const gi_jpeg_form *form, const uint8_t **data, size_t *size,
                                   gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_cuda_lane *lane = slot->lane;
    gi_status status = begin(slot, true, err);
    if (status == GI_OK && (lane->current.sample != GI_U8 || gi_has_alpha(lane->current.channels)))
        status = gi_fail(err, GI_ERR_UNSUPPORTED, "JPEG has gray or RGB of 8 bits");
    if (status == GI_OK) status = make_encoder(slot, err);
    if (status != GI_OK) return gi_cuda_slot_settle(slot, status);
    gi_trace_begin("encode");
    gi_cuda_marks_begin(&lane->marks, GI_DEVICE_KERNELS, lane->stream);
    status = encode(slot, form, err);
    gi_cuda_marks_end(&lane->marks, lane->stream);
    if (status == GI_OK) status = fetch(slot, size, err);
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
