// The front of decoding: the format by signature, limits, depth, orientation.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/codec.h"
#include "codec/depth.h"
#include "codec/metadata.h"
#include "codec/orient.h"
#include "codec/reader.h"

struct gi_decoder {
    gi_header header;
    gi_decode_options options;
    gi_bytes bytes; // a file in memory
    gi_reader *reader;
    int turn;        // the orientation to apply; 1: none
    uint8_t *narrow; // NARROW_ROWS rows of 8 bits, where 16 are delivered; NULL: the reader has the depth
    uint8_t *stored; // the whole image as stored, where it is turned
    uint32_t y;      // the next row
    bool failed;
};

enum { NARROW_ROWS = 16 };

// Says what the first bytes are instead.
static gi_status unknown_format(gi_bytes bytes, gi_error *err) {
    char seen[3 * GI_SNIFF_BYTES + 1] = "";
    if (bytes.size == 0) return gi_fail(err, GI_ERR_FORMAT, "the file is empty");
    size_t count = bytes.size < 4 ? bytes.size : 4;
    for (size_t i = 0; i < count; i++) snprintf(seen + 3 * i, 4, " %02x", bytes.data[i]);
    return gi_fail(err, GI_ERR_FORMAT, "neither PNG nor JPEG (it begins with the bytes%s)", seen);
}

static gi_decoder *new_decoder(const gi_decode_options *options, gi_error *err) {
    gi_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder)
        decoder->options = *options;
    else
        gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    return decoder;
}

// Takes `made` over: its reader, where `status` says that there is one.
static gi_status opened(gi_decoder *made, gi_status status, gi_decoder **decoder) {
    if (status != GI_OK) {
        free(made);
        return status;
    }
    made->header = made->reader->header;
    if (made->options.depth == 16) made->header.shape.sample = GI_U16;
    made->turn = made->options.auto_orient ? made->header.orientation : 1;
    if (gi_orient_transposes(made->turn)) {
        gi_shape *shape = &made->header.shape;
        shape->width = made->reader->header.shape.height;
        shape->height = made->reader->header.shape.width;
    }
    *decoder = made;
    return GI_OK;
}

gi_status gi_decoder_open_png(const gi_input *input, const gi_decode_options *options, gi_decoder **decoder,
                              gi_error *err) {
    gi_decoder *made = new_decoder(options, err);
    if (!made) return GI_ERR_MEMORY;
    return opened(made, gi_png_reader_open(input, &made->options, &made->reader, err), decoder);
}

gi_status gi_decoder_open(gi_bytes bytes, const gi_decode_options *options, gi_decoder **decoder, gi_error *err) {
    gi_format format = gi_format_sniff(bytes);
    if (format == GI_FORMAT_UNKNOWN) return unknown_format(bytes, err);
    gi_decoder *made = new_decoder(options, err);
    if (!made) return GI_ERR_MEMORY;
    made->bytes = bytes;
    const gi_input input = gi_bytes_input(&made->bytes);
    gi_status status = format == GI_FORMAT_PNG ? gi_png_reader_open(&input, &made->options, &made->reader, err)
                                               : gi_jpeg_reader_open(bytes, &made->options, &made->reader, err);
    return opened(made, status, decoder);
}

gi_metadata *gi_decoder_take_metadata(gi_decoder *decoder) {
    gi_metadata *metadata = decoder->reader->metadata;
    decoder->reader->metadata = NULL;
    if (metadata) metadata->turned = decoder->turn;
    return metadata;
}

const gi_header *gi_decoder_header(const gi_decoder *decoder) { return &decoder->header; }

const char *gi_decoder_device_reason(const gi_decoder *decoder, gi_bytes *bytes) {
    *bytes = decoder->bytes;
    if (decoder->header.format != GI_FORMAT_JPEG) return "it is no JPEG";
    if (decoder->options.strict) return "all damage is to be found";
    if (decoder->turn != 1) return "its pixels are turned";
    if (decoder->header.shape.sample != GI_U8) return "its samples are brought to 16 bits";
    return decoder->reader->device_reason;
}

// The image as stored, of the samples that are delivered.
static gi_shape stored_shape(const gi_decoder *decoder) {
    gi_shape shape = decoder->reader->header.shape;
    shape.sample = decoder->header.shape.sample;
    return shape;
}

static gi_status widened_rows(gi_decoder *decoder, const gi_view *out, gi_error *err) {
    gi_shape shape = decoder->reader->header.shape;
    size_t samples = (size_t)shape.width * (size_t)shape.channels;
    gi_status status = GI_OK;
    if (!decoder->narrow) decoder->narrow = malloc(samples * NARROW_ROWS);
    if (!decoder->narrow) return gi_fail(err, GI_ERR_MEMORY, "no memory for rows of %u pixels", shape.width);
    for (uint32_t y = 0; y < out->height && status == GI_OK; y += NARROW_ROWS) {
        shape.height = out->height - y < NARROW_ROWS ? out->height - y : NARROW_ROWS;
        gi_view rows = gi_view_packed(decoder->narrow, shape, GI_HOST);
        status = decoder->reader->rows(decoder->reader, &rows, err);
        for (uint32_t i = 0; i < shape.height && status == GI_OK; i++)
            gi_depth_widen(gi_view_row(&rows, i), samples, gi_view_row(out, y + i));
    }
    return status;
}

// The next rows as stored.
static gi_status stored_rows(gi_decoder *decoder, const gi_view *out, gi_error *err) {
    gi_reader *reader = decoder->reader;
    return reader->header.shape.sample == out->sample ? reader->rows(reader, out, err)
                                                      : widened_rows(decoder, out, err);
}

// All rows as stored, for an orientation that needs them in another order.
static gi_status materialise(gi_decoder *decoder, gi_error *err) {
    size_t bytes;
    gi_shape shape = stored_shape(decoder);
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status != GI_OK) return status;
    decoder->stored = malloc(bytes);
    if (!decoder->stored) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of pixels", bytes);
    gi_view all = gi_view_packed(decoder->stored, shape, GI_HOST);
    return stored_rows(decoder, &all, err);
}

gi_status gi_decoder_rows(gi_decoder *decoder, const gi_view *out, gi_error *err) {
    gi_shape shape = decoder->header.shape;
    if (decoder->failed) return gi_fail(err, GI_ERR_USAGE, "rows were asked for after a failure");
    if (out->width != shape.width || out->channels != shape.channels || out->sample != shape.sample)
        return gi_fail(err, GI_ERR_USAGE, "rows of another shape than the image's were asked for");
    if (out->height > shape.height - decoder->y)
        return gi_fail(err, GI_ERR_USAGE, "%u rows were asked for, but %u remain", out->height,
                       shape.height - decoder->y);
    gi_status status = GI_OK;
    if (decoder->turn == 1) {
        status = stored_rows(decoder, out, err);
    } else {
        if (!decoder->stored) status = materialise(decoder, err);
        gi_view all = gi_view_packed(decoder->stored, stored_shape(decoder), GI_HOST);
        if (status == GI_OK) gi_orient_rows(&all, decoder->turn, decoder->y, out);
    }
    decoder->y += out->height;
    decoder->failed = status != GI_OK;
    return status;
}

void gi_decoder_close(gi_decoder *decoder) {
    if (!decoder) return;
    gi_metadata_free(decoder->reader->metadata);
    decoder->reader->close(decoder->reader);
    free(decoder->narrow);
    free(decoder->stored);
    free(decoder);
}
