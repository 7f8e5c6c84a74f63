// A codec of raw pixels behind a PNG signature, for tests of the executor. A file is the signature, a fake_header, the
// pixels; an encoded one is "<FORMAT ORIENTATION WIDTHxHEIGHTxCHANNELS>" and the pixels.
#ifndef GI_TESTS_FAKE_CODEC_H
#define GI_TESTS_FAKE_CODEC_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_format.h"

enum { FAKE_GOOD, FAKE_BAD_HEADER, FAKE_BAD_PIXELS, FAKE_BAD_END };

typedef struct fake_header {
    uint32_t width, height;
    int32_t channels, orientation, fault;
} fake_header;

struct gi_metadata {
    int unused;
};

struct gi_decoder {
    gi_header header;
    bool metadata; // were asked for
    const uint8_t *pixels;
    uint32_t y;
    int fault;
};

struct gi_encoder {
    gi_shape shape;
    gi_sink sink;
    uint32_t y;
};

static atomic_int fake_decoders_opened, fake_decoders_open, fake_encoders_open, fake_luma_asked;
static atomic_int fake_rows_asked;                                         // at once, at most
static atomic_int fake_metadata_held, fake_metadata_written;               // bags; encoders that were given one
static atomic_int fake_decoder_threads, fake_encoder_threads, fake_binary; // as asked for last

gi_status gi_decoder_open(gi_bytes bytes, const gi_decode_options *options, gi_decoder **decoder, gi_error *err) {
    fake_header h;
    *decoder = NULL;
    atomic_fetch_add(&fake_decoders_opened, 1);
    atomic_store(&fake_decoder_threads, options->threads);
    if (options->jpeg_luma) atomic_fetch_add(&fake_luma_asked, 1);
    memcpy(&h, bytes.data + 8, sizeof h);
    if (h.fault == FAKE_BAD_HEADER) return gi_fail(err, GI_ERR_FORMAT, "bad header");
    gi_decoder *made = calloc(1, sizeof *made);
    atomic_fetch_add(&fake_decoders_open, 1);
    made->header = (gi_header){.shape = {h.width, h.height, h.channels, GI_U8},
                               .format = GI_FORMAT_PNG,
                               .bits = 8,
                               .orientation = h.orientation};
    made->pixels = bytes.data + 8 + sizeof h;
    made->fault = h.fault;
    made->metadata = options->metadata;
    *decoder = made;
    return GI_OK;
}

gi_status gi_header_of_damaged(const gi_input *input, gi_header *header, gi_error *err) {
    (void)input;
    *header = (gi_header){.bits = 0};
    return gi_fail(err, GI_ERR_FORMAT, "no header of what is damaged");
}

gi_status gi_header_of_refused_jpeg(gi_bytes bytes, gi_header *header, gi_error *err) {
    (void)bytes;
    *header = (gi_header){.bits = 0};
    return gi_fail(err, GI_ERR_FORMAT, "no header of what is damaged");
}

// No file of these tests is so large that it is left open.
gi_status gi_decoder_open_png(const gi_input *input, const gi_decode_options *options, gi_decoder **decoder,
                              gi_error *err) {
    (void)input, (void)options, (void)decoder;
    return gi_fail(err, GI_ERR_UNSUPPORTED, "an open file");
}

gi_metadata *gi_decoder_take_metadata(gi_decoder *decoder) {
    if (!decoder->metadata) return NULL;
    atomic_fetch_add(&fake_metadata_held, 1);
    return calloc(1, sizeof(gi_metadata));
}

void gi_metadata_free(gi_metadata *metadata) {
    if (metadata) atomic_fetch_sub(&fake_metadata_held, 1);
    free(metadata);
}

const gi_header *gi_decoder_header(const gi_decoder *decoder) { return &decoder->header; }

const char *gi_decoder_device_reason(const gi_decoder *decoder, gi_bytes *bytes) {
    (void)decoder;
    *bytes = (gi_bytes){NULL, 0};
    return "it is of a test";
}

const char *gi_encode_device_reason(gi_shape shape, const gi_encode_options *options) {
    (void)shape, (void)options;
    return "it is of a test";
}

gi_status gi_encode_made_jpeg(gi_bytes made, gi_shape shape, const gi_encode_options *options, const gi_sink *sink,
                              gi_error *err) {
    (void)shape, (void)options;
    return sink->write(sink->context, made.data, made.size, err);
}

gi_status gi_decoder_rows(gi_decoder *decoder, const gi_view *out, gi_error *err) {
    size_t row = gi_row_bytes(out->width, out->channels, out->sample);
    if (decoder->fault == FAKE_BAD_PIXELS) return gi_fail(err, GI_ERR_FORMAT, "bad pixels");
    if (out->height > decoder->header.shape.height - decoder->y) return gi_fail(err, GI_ERR_USAGE, "too many rows");
    if ((int)out->height > atomic_load(&fake_rows_asked)) atomic_store(&fake_rows_asked, (int)out->height);
    if (decoder->fault == FAKE_BAD_END && out->height == decoder->header.shape.height - decoder->y)
        return gi_fail(err, GI_ERR_FORMAT, "bad end");
    for (uint32_t y = 0; y < out->height; y++)
        memcpy(gi_view_row(out, y), decoder->pixels + row * (decoder->y + y), row);
    decoder->y += out->height;
    return GI_OK;
}

void gi_decoder_close(gi_decoder *decoder) {
    if (decoder) atomic_fetch_sub(&fake_decoders_open, 1);
    free(decoder);
}

gi_status gi_encoder_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink, gi_encoder **encoder,
                          gi_error *err) {
    char text[64];
    gi_encoder *made = calloc(1, sizeof *made);
    atomic_fetch_add(&fake_encoders_open, 1);
    atomic_store(&fake_encoder_threads, options->threads);
    atomic_store(&fake_binary, options->binary);
    if (options->metadata) atomic_fetch_add(&fake_metadata_written, 1);
    made->shape = shape;
    made->sink = *sink;
    *encoder = made;
    int length = snprintf(text, sizeof text, "<%s %d %ux%ux%d>", gi_format_name(options->format), options->orientation,
                          shape.width, shape.height, shape.channels);
    return sink->write(sink->context, text, (size_t)length, err);
}

gi_status gi_encoder_rows(gi_encoder *encoder, const gi_view *rows, gi_error *err) {
    gi_status status = GI_OK;
    size_t bytes = gi_row_bytes(rows->width, rows->channels, rows->sample);
    if (rows->width != encoder->shape.width || rows->channels != encoder->shape.channels)
        return gi_fail(err, GI_ERR_USAGE, "other rows than announced");
    for (uint32_t y = 0; y < rows->height && status == GI_OK; y++)
        status = encoder->sink.write(encoder->sink.context, gi_view_row(rows, y), bytes, err);
    encoder->y += rows->height;
    return status;
}

gi_status gi_encoder_finish(gi_encoder *encoder, gi_error *err) {
    return encoder->y == encoder->shape.height ? GI_OK : gi_fail(err, GI_ERR_USAGE, "%u rows given", encoder->y);
}

void gi_encoder_close(gi_encoder *encoder) {
    if (encoder) atomic_fetch_sub(&fake_encoders_open, 1);
    free(encoder);
}

#endif
