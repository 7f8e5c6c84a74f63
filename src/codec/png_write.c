// Rows to PNG. Rows are filtered as they come; the file is compressed and written at the end.
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/checksum.h"
#include "codec/exif.h"
#include "codec/png_check.h"
#include "codec/png_filter.h"
#include "codec/reader.h"
#include "codec/stb.h"
#include "core/checked.h"

typedef struct png_writer {
    gi_writer writer;
    gi_shape shape;
    const gi_encode_options *options;
    const gi_sink *sink;
    size_t row_bytes;
    uint8_t *filtered; // every row after its filter byte
    size_t used;
    uint8_t *lines; // three buffers: this row and the one above, behind margins of zeros, and scratch
    uint8_t *row, *above, *scratch;
} png_writer;

// 16-bit samples are big-endian in the file.
static void store_row(const png_writer *png, uint8_t *out, const void *row) {
    memcpy(out, row, png->row_bytes);
    if (png->shape.sample != GI_U16) return;
    for (size_t i = 0; i < png->row_bytes; i += 2) {
        uint16_t value;
        memcpy(&value, out + i, 2);
        gi_put_be16(out + i, value);
    }
}

static gi_status png_rows(gi_writer *writer, const gi_view *rows, gi_error *err) {
    (void)err;
    png_writer *png = (png_writer *)writer;
    size_t pixel = gi_row_bytes(1, png->shape.channels, png->shape.sample);
    for (uint32_t y = 0; y < rows->height; y++) {
        uint8_t *out = png->filtered + png->used;
        if (png->options->png_level == 0) {
            out[0] = 0;
            store_row(png, out + 1, gi_view_row(rows, y));
        } else {
            store_row(png, png->row, gi_view_row(rows, y));
            gi_png_filter(out, png->row, png->above, png->row_bytes, pixel, png->scratch);
            uint8_t *above = png->above;
            png->above = png->row;
            png->row = above;
        }
        png->used += png->row_bytes + 1;
    }
    return GI_OK;
}

static gi_status put(const gi_sink *sink, const void *data, size_t size, gi_error *err) {
    return sink->write(sink->context, data, size, err);
}

static gi_status put_chunk(const gi_sink *sink, const char *name, gi_bytes body, gi_error *err) {
    uint8_t head[8], tail[4];
    gi_put_be32(head, (uint32_t)body.size);
    memcpy(head + 4, name, 4);
    gi_put_be32(tail, gi_crc32(gi_crc32(0, name, 4), body.data, body.size));
    gi_status status = put(sink, head, sizeof head, err);
    if (status == GI_OK && body.size) status = put(sink, body.data, body.size, err);
    if (status == GI_OK) status = put(sink, tail, sizeof tail, err);
    return status;
}

static gi_status put_head(const png_writer *png, gi_error *err) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    static const uint8_t colours[5] = {0, GI_PNG_GRAY, GI_PNG_GRAY_ALPHA, GI_PNG_RGB, GI_PNG_RGBA};
    uint8_t ihdr[13] = {0}, exif[GI_EXIF_BYTES];
    gi_put_be32(ihdr, png->shape.width);
    gi_put_be32(ihdr + 4, png->shape.height);
    ihdr[8] = png->shape.sample == GI_U16 ? 16 : 8;
    ihdr[9] = colours[png->shape.channels];
    gi_status status = put(png->sink, signature, sizeof signature, err);
    if (status == GI_OK) status = put_chunk(png->sink, "IHDR", (gi_bytes){ihdr, sizeof ihdr}, err);
    if (status == GI_OK && png->options->orientation > 1) {
        gi_exif_write(png->options->orientation, exif);
        status = put_chunk(png->sink, "eXIf", (gi_bytes){exif, sizeof exif}, err);
    }
    return status;
}

// Level 0: stored blocks, written as they are made.
static gi_status put_stored(const png_writer *png, gi_error *err) {
    enum { BLOCK = 65535 };
    size_t size = png->used, blocks = (size + BLOCK - 1) / BLOCK;
    uint8_t *stream = malloc(size + 5 * blocks + 6), *p = stream;
    if (!p) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of compressed data", size);
    gi_put_be16(p, 0x7801);
    p += 2;
    for (size_t done = 0; done < size;) {
        size_t length = size - done < BLOCK ? size - done : BLOCK;
        *p++ = done + length == size; // the last block
        *p++ = (uint8_t)length;
        *p++ = (uint8_t)(length >> 8);
        *p++ = (uint8_t)~length;
        *p++ = (uint8_t)(~length >> 8);
        memcpy(p, png->filtered + done, length);
        p += length;
        done += length;
    }
    gi_put_be32(p, gi_adler32(1, png->filtered, size));
    gi_status status = put_chunk(png->sink, "IDAT", (gi_bytes){stream, (size_t)(p + 4 - stream)}, err);
    free(stream);
    return status;
}

static gi_status put_compressed(const png_writer *png, gi_error *err) {
    gi_stb_stream stream = {NULL, 0};
    gi_status status = gi_stb_deflate((gi_bytes){png->filtered, png->used}, png->options->png_level, &stream, err);
    if (status == GI_OK) status = put_chunk(png->sink, "IDAT", (gi_bytes){stream.data, stream.size}, err);
    gi_stb_stream_free(&stream);
    return status;
}

static gi_status png_finish(gi_writer *writer, gi_error *err) {
    png_writer *png = (png_writer *)writer;
    gi_status status = put_head(png, err);
    if (status == GI_OK) status = png->options->png_level == 0 ? put_stored(png, err) : put_compressed(png, err);
    if (status == GI_OK) status = put_chunk(png->sink, "IEND", (gi_bytes){NULL, 0}, err);
    return status;
}

static void png_close(gi_writer *writer) {
    png_writer *png = (png_writer *)writer;
    free(png->filtered);
    free(png->lines);
    free(png);
}

gi_status gi_png_writer_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink, gi_writer **writer,
                             gi_error *err) {
    size_t row_bytes = gi_row_bytes(shape.width, shape.channels, shape.sample), size;
    if (!gi_mul(row_bytes + 1, shape.height, &size) || size > GI_CODEC_BUFFER_LIMIT)
        return gi_fail(err, GI_ERR_LIMIT, "%ux%u %s pixels are more than the PNG encoder's limit of 2^30 bytes",
                       shape.width, shape.height, gi_channels_name(shape.channels));
    png_writer *png = calloc(1, sizeof *png);
    if (!png) return gi_fail(err, GI_ERR_MEMORY, "no memory for an encoder");
    png->writer = (gi_writer){png_rows, png_finish, png_close};
    png->shape = shape;
    png->options = options;
    png->sink = sink;
    png->row_bytes = row_bytes;
    png->filtered = malloc(size);
    png->lines = calloc(3, row_bytes + GI_PNG_MARGIN);
    if (!png->filtered || !png->lines) {
        png_close(&png->writer);
        return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of pixels", size);
    }
    png->row = png->lines + GI_PNG_MARGIN;
    png->above = png->row + row_bytes + GI_PNG_MARGIN;
    png->scratch = png->above + row_bytes;
    *writer = &png->writer;
    return GI_OK;
}
