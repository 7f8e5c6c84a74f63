// The front of encoding: shape, order and number of rows; alpha and 16 bits where the format has none.
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/depth.h"
#include "codec/jpeg_metadata.h"
#include "codec/jpeg_turbo.h"
#include "codec/reader.h"

struct gi_encoder {
    gi_shape shape; // of the rows that are given
    gi_encode_options options;
    gi_writer *writer;
    gi_metadata *own;  // where the options have none
    gi_jpeg_head head; // of a JPEG: on the way to the sink
    gi_sink sink;      // what the writer writes to
    uint8_t *flat;     // one row as it is written: composited on the background, of 8 bits; NULL: as it is given
    int flat_channels;
    uint32_t y;
    bool failed;
};

// Gray stays gray on a gray background.
static int channels_without_alpha(int channels, const uint8_t background[3]) {
    bool gray = background[0] == background[1] && background[1] == background[2];
    return channels == 2 && gray ? 1 : 3;
}

// Makes room for the rows of a JPEG that are not as they were given, and says why.
static gi_status flatten(gi_encoder *encoder, bool alpha, bool wide, gi_error *err) {
    const gi_encode_options *options = &encoder->options;
    encoder->flat = malloc(gi_row_bytes(encoder->shape.width, encoder->flat_channels, GI_U8));
    if (!encoder->flat) return gi_fail(err, GI_ERR_MEMORY, "no memory for an encoder");
    if (wide) gi_say(options->messages, GI_NOTE, options->file, "JPEG has 8 bits: samples of 16 are rounded");
    if (alpha)
        gi_say(options->messages, GI_NOTE, options->file, "JPEG has no alpha: composited on the background %d,%d,%d",
               options->background[0], options->background[1], options->background[2]);
    return GI_OK;
}

// The options' metadata as the file is to have them, an orientation at the least.
static gi_status fit_metadata(gi_encoder *encoder, gi_shape written, const gi_sink *sink, gi_error *err) {
    gi_encode_options *options = &encoder->options;
    bool jpeg = options->format == GI_FORMAT_JPEG;
    gi_metadata_use use = {options->format, written, options->orientation, options->messages, options->file};
    if (!options->metadata) options->metadata = encoder->own = gi_metadata_new();
    if (!options->metadata) return gi_fail(err, GI_ERR_MEMORY, "no memory for metadata");
    // stb writes gray as three components.
    if (jpeg && (options->codec == GI_CODEC_STB || !gi_turbo_writes(written))) use.shape.channels = 3;
    gi_status status = gi_metadata_fit(options->metadata, &use, err);
    if (status != GI_OK || !jpeg) return status;
    status = gi_jpeg_head_init(&encoder->head, sink, options->metadata, err);
    encoder->sink = gi_jpeg_head_sink(&encoder->head);
    return status;
}

gi_status gi_encoder_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink, gi_encoder **encoder,
                          gi_error *err) {
    if (shape.width == 0 || shape.height == 0 || shape.channels < 1 || shape.channels > GI_MAX_CHANNELS)
        return gi_fail(err, GI_ERR_USAGE, "no image of %ux%u pixels with %d channels", shape.width, shape.height,
                       shape.channels);
    if (shape.sample != GI_U8 && shape.sample != GI_U16)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "only 8 and 16-bit samples can be encoded");
    bool jpeg = options->format == GI_FORMAT_JPEG;
    if (!jpeg && options->format != GI_FORMAT_PNG) return gi_fail(err, GI_ERR_USAGE, "no output format was given");
    if (jpeg && (options->quality < 1 || options->quality > 100))
        return gi_fail(err, GI_ERR_USAGE, "JPEG quality %d is not in 1..100", options->quality);
    if (!jpeg && (options->png_level < 0 || options->png_level > 9))
        return gi_fail(err, GI_ERR_USAGE, "PNG level %d is not in 0..9", options->png_level);
    gi_status status = jpeg ? gi_encode_options_check(options, err) : GI_OK;
    if (status != GI_OK) return status;
    gi_encoder *made = calloc(1, sizeof *made);
    if (!made) return gi_fail(err, GI_ERR_MEMORY, "no memory for an encoder");
    made->shape = shape;
    made->options = *options;
    gi_shape written = shape;
    bool alpha = jpeg && gi_has_alpha(shape.channels), wide = jpeg && shape.sample == GI_U16;
    if (alpha) written.channels = channels_without_alpha(shape.channels, options->background);
    if (wide) written.sample = GI_U8;
    made->flat_channels = written.channels;
    made->sink = *sink;
    status = fit_metadata(made, written, sink, err);
    if (status == GI_OK)
        status = jpeg ? gi_jpeg_writer_open(written, &made->options, &made->sink, &made->writer, err)
                      : gi_png_writer_open(written, &made->options, &made->sink, &made->writer, err);
    if (status == GI_OK && (alpha || wide)) status = flatten(made, alpha, wide, err);
    if (status != GI_OK) {
        gi_encoder_close(made);
        return status;
    }
    *encoder = made;
    return GI_OK;
}

// (colour * alpha + background * (255 - alpha)) / 255, rounded half up (never a tie: 255 is odd).
static void flatten_row(const gi_encoder *encoder, const uint8_t *row) {
    int in = encoder->shape.channels, out = encoder->flat_channels;
    const uint8_t *background = encoder->options.background;
    uint8_t *to = encoder->flat;
    for (uint32_t x = 0; x < encoder->shape.width; x++, row += in) {
        unsigned alpha = row[in - 1];
        for (int c = 0; c < out; c++)
            *to++ = (uint8_t)((row[in == 2 ? 0 : c] * alpha + background[c] * (255 - alpha) + 127) / 255);
    }
}

// Likewise, with one rounding for both: the sum over 65535 has 16 bits, and over 257 it has 8. 65535 * 257 is odd, too.
static void flatten_words(const gi_encoder *encoder, const uint8_t *row) {
    const uint64_t divisor = 65535ULL * 257ULL;
    size_t in = (size_t)encoder->shape.channels;
    int out = encoder->flat_channels;
    uint8_t *to = encoder->flat;
    for (uint32_t x = 0; x < encoder->shape.width; x++, row += 2 * in) {
        uint16_t pixel[GI_MAX_CHANNELS]; // the caller's row may have any alignment
        memcpy(pixel, row, 2 * in);
        uint64_t alpha = pixel[in - 1];
        for (int c = 0; c < out; c++) {
            uint64_t under = gi_depth_up(encoder->options.background[c]);
            *to++ = (uint8_t)((pixel[in == 2 ? 0 : c] * alpha + under * (65535 - alpha) + divisor / 2) / divisor);
        }
    }
}

static gi_status flattened_rows(gi_encoder *encoder, const gi_view *rows, gi_error *err) {
    gi_shape shape = {rows->width, 1, encoder->flat_channels, GI_U8};
    gi_view line = gi_view_packed(encoder->flat, shape, GI_HOST);
    gi_status status = GI_OK;
    for (uint32_t y = 0; y < rows->height && status == GI_OK; y++) {
        const void *row = gi_view_row(rows, y);
        if (rows->sample == GI_U8)
            flatten_row(encoder, row);
        else if (gi_has_alpha(rows->channels))
            flatten_words(encoder, row);
        else
            gi_depth_narrow(row, (size_t)rows->width * (size_t)rows->channels, encoder->flat);
        status = encoder->writer->rows(encoder->writer, &line, err);
    }
    return status;
}

gi_status gi_encoder_rows(gi_encoder *encoder, const gi_view *rows, gi_error *err) {
    gi_shape shape = encoder->shape;
    if (encoder->failed) return gi_fail(err, GI_ERR_USAGE, "rows were given after a failure");
    if (rows->width != shape.width || rows->channels != shape.channels || rows->sample != shape.sample)
        return gi_fail(err, GI_ERR_USAGE, "rows of another shape than the image's were given");
    if (rows->height > shape.height - encoder->y)
        return gi_fail(err, GI_ERR_USAGE, "%u rows were given, but %u are missing", rows->height,
                       shape.height - encoder->y);
    gi_status status =
        encoder->flat ? flattened_rows(encoder, rows, err) : encoder->writer->rows(encoder->writer, rows, err);
    encoder->y += rows->height;
    encoder->failed = status != GI_OK;
    return status;
}

gi_status gi_encoder_finish(gi_encoder *encoder, gi_error *err) {
    if (encoder->failed) return gi_fail(err, GI_ERR_USAGE, "the encoder has failed before");
    if (encoder->y != encoder->shape.height)
        return gi_fail(err, GI_ERR_USAGE, "only %u of %u rows were given", encoder->y, encoder->shape.height);
    encoder->failed = true; // nothing may follow
    return encoder->writer->finish(encoder->writer, err);
}

void gi_encoder_close(gi_encoder *encoder) {
    if (!encoder) return;
    if (encoder->writer) encoder->writer->close(encoder->writer);
    gi_jpeg_head_free(&encoder->head);
    gi_metadata_free(encoder->own);
    free(encoder->flat);
    free(encoder);
}
