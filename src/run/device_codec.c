#include "run/device_codec.h"

static gi_status find(gi_backend *backend, gi_error *err) {
    if (!backend->ops->jpeg_check)
        return gi_fail(err, GI_ERR_DEVICE, "nvJPEG works on CUDA devices, and this run is on '%s'", backend->name);
    return backend->ops->jpeg_check(backend, err);
}

gi_status gi_device_codec_check(gi_codec_choice codec, gi_backend *backend, gi_error *err) {
    if (codec != GI_CODEC_NVJPEG) return GI_OK;
    gi_status status = find(backend, err);
    if (status == GI_OK) backend->ops->jpeg_busy(backend); // begins to start it
    const bool lost = status == GI_OK && backend->ops->lost && backend->ops->lost(backend, true, err);
    return lost ? GI_ERR_DEVICE : status;
}

static const char *decode_reason(const gi_device_codec_request *request, gi_bytes *bytes) {
    const char *reason = gi_decoder_device_reason(request->decoder, bytes);
    if (!reason && request->needs_rows) reason = "the report shows a picture of it";
    if (!reason && !request->fits) reason = "it is worked on in bands";
    if (reason) return reason;
    // Also begins to start it.
    const char *busy = request->backend->ops->jpeg_busy(request->backend);
    return request->codec == GI_CODEC_NVJPEG ? NULL : request->ready ? busy : "the GPU is still starting";
}

// Pixels that are in host memory already are worth no way to the device for the encoder alone.
static const char *encode_reason(const gi_device_codec_request *request, bool on_device) {
    const char *reason = gi_encode_device_reason(request->plan->out, request->encode);
    if (!reason && !request->fits) reason = "it is worked on in bands";
    if (!reason && !on_device && request->codec != GI_CODEC_NVJPEG) reason = "its pixels are not on the GPU";
    return reason;
}

gi_device_codecs gi_device_codecs_choose(const gi_device_codec_request *request) {
    gi_device_codecs device = {.decodes = false};
    gi_error why = {.status = GI_OK};
    gi_bytes bytes;
    if (find(request->backend, &why) != GI_OK) {
        gi_say(request->messages, GI_NOTE, request->name, "decoded and encoded on the CPU: %s", why.text);
        return device;
    }
    const char *reason = decode_reason(request, &bytes);
    device.decodes = reason == NULL;
    if (reason) gi_say(request->messages, GI_NOTE, request->name, "decoded on the CPU: %s", reason);
    device.file = (gi_jpeg_source){bytes.data, bytes.size, request->plan->in};
    if (!request->encode) return device;
    reason = encode_reason(request, device.decodes || !gi_plan_is_nothing(request->plan));
    device.encodes = reason == NULL;
    if (reason) gi_say(request->messages, GI_NOTE, request->name, "encoded on the CPU: %s", reason);
    return device;
}

gi_jpeg_form gi_device_jpeg_form(const gi_encode_options *options) {
    return (gi_jpeg_form){.quality = options->quality,
                          .chroma_across = options->subsampling == GI_SUBSAMPLING_444 ? 1 : 2,
                          .chroma_down = options->subsampling == GI_SUBSAMPLING_420 ? 2 : 1,
                          .optimize = options->optimize};
}
