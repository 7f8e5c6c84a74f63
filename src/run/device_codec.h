// Which images a device's own JPEG codec decodes or encodes (core/backend.h), rather than gpuimg's codecs on the CPU.
#ifndef GI_RUN_DEVICE_CODEC_H
#define GI_RUN_DEVICE_CODEC_H

#include "codec/codec.h"
#include "core/backend.h"
#include "run/plan.h"

// What the device does of an image's two codecs.
typedef struct gi_device_codecs {
    bool decodes, encodes;
    gi_jpeg_source file; // that it decodes
} gi_device_codecs;

// What there is to know of an image before it is chosen.
typedef struct gi_device_codec_request {
    gi_codec_choice codec; // one that asks for a device
    gi_backend *backend;
    bool ready; // the device has started: with auto-fast nothing waits for it
    bool fits;  // the whole image may be on the device
    const gi_decoder *decoder;
    const gi_plan *plan;
    bool needs_rows;                 // of the image as decoded, beside the pipeline's
    const gi_encode_options *encode; // NULL: nothing is encoded
    const gi_messages *messages;     // are told, as notes, what is done on the CPU and why
    const char *name;
} gi_device_codec_request;

gi_device_codecs gi_device_codecs_choose(const gi_device_codec_request *request);

// As the encoder is to write it.
gi_jpeg_form gi_device_jpeg_form(const gi_encode_options *options);

// GI_ERR_DEVICE, with the reason, when the codec cannot be had on the backend, which the run cannot do without. Waits
// for a device that is starting, if it is needed.
gi_status gi_device_codec_check(gi_codec_choice codec, gi_backend *backend, gi_error *err);

#endif
