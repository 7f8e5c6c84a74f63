// Files made by hand for the codec's tests, and messages that are counted.
#ifndef CODEC_FILES_H
#define CODEC_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/bytes.h"
#include "codec/checksum.h"
#include "codec/codec.h"

// A growing file.
typedef struct made_file {
    uint8_t *data;
    size_t size;
} made_file;

static inline void made_put(made_file *file, const void *data, size_t size) {
    file->data = realloc(file->data, file->size + size + 1);
    assert_non_null(file->data);
    if (size) memcpy(file->data + file->size, data, size);
    file->size += size;
}

static inline void made_free(made_file *file) {
    free(file->data);
    *file = (made_file){NULL, 0};
}

static inline gi_bytes made_bytes(const made_file *file) { return (gi_bytes){file->data, file->size}; }

static inline gi_status made_read(void *context, size_t at, void *to, size_t size, gi_error *err) {
    (void)err;
    const made_file *file = context;
    assert_true(at <= file->size && size <= file->size - at);
    if (size) memcpy(to, file->data + at, size);
    return GI_OK;
}

// The file as one that is read in pieces; it must stay where it is.
static inline gi_input made_input(const made_file *file) {
    return (gi_input){file->size, made_read, (void *)(uintptr_t)file};
}

static inline gi_status made_write(void *context, const void *data, size_t size, gi_error *err) {
    (void)err;
    made_put(context, data, size);
    return GI_OK;
}

static inline gi_sink made_sink(made_file *file) { return (gi_sink){made_write, file}; }

static inline void made_signature(made_file *file) { made_put(file, "\x89PNG\r\n\x1A\n", 8); }

static inline void made_chunk(made_file *file, const char *name, const void *body, size_t size) {
    uint8_t number[4];
    gi_put_be32(number, (uint32_t)size);
    made_put(file, number, 4);
    made_put(file, name, 4);
    made_put(file, body, size);
    gi_put_be32(number, gi_crc32(0, file->data + file->size - size - 4, size + 4));
    made_put(file, number, 4);
}

typedef struct made_ihdr {
    uint32_t width, height;
    int depth, colour, interlace;
} made_ihdr;

static inline void made_header(made_file *file, made_ihdr h) {
    uint8_t ihdr[13] = {0};
    gi_put_be32(ihdr, h.width);
    gi_put_be32(ihdr + 4, h.height);
    ihdr[8] = (uint8_t)h.depth;
    ihdr[9] = (uint8_t)h.colour;
    ihdr[12] = (uint8_t)h.interlace;
    made_chunk(file, "IHDR", ihdr, sizeof ihdr);
}

// A zlib stream of stored blocks.
static inline made_file made_zlib(const uint8_t *data, size_t size) {
    made_file stream = {NULL, 0};
    uint8_t adler[4];
    made_put(&stream, "\x78\x01", 2);
    for (size_t done = 0; done < size || size == 0;) {
        size_t length = size - done < 60000 ? size - done : 60000;
        uint8_t head[5] = {done + length == size, (uint8_t)length, (uint8_t)(length >> 8), (uint8_t)~length,
                           (uint8_t)(~length >> 8)};
        made_put(&stream, head, 5);
        made_put(&stream, data + done, length);
        done += length;
        if (size == 0) break;
    }
    gi_put_be32(adler, gi_adler32(1, data, size));
    made_put(&stream, adler, 4);
    return stream;
}

// Signature, IHDR and IDAT with `rows` (filter bytes included), IEND.
static inline made_file made_png(made_ihdr h, const uint8_t *rows, size_t size) {
    made_file file = {NULL, 0}, stream = made_zlib(rows, size);
    made_signature(&file);
    made_header(&file, h);
    made_chunk(&file, "IDAT", stream.data, stream.size);
    made_chunk(&file, "IEND", NULL, 0);
    made_free(&stream);
    return file;
}

// Messages by severity; the last text.
typedef struct made_log {
    int count[GI_FLAW + 1];
    char text[512];
} made_log;

static inline void made_say(void *context, gi_severity severity, const char *file, const char *text) {
    (void)file;
    made_log *log = context;
    log->count[severity]++;
    strncpy(log->text, text, sizeof log->text - 1);
}

// Decodes a whole file. On success *pixels is the caller's; on failure it is NULL.
static inline gi_status made_decode(gi_bytes bytes, const gi_decode_options *options, gi_header *header,
                                    uint8_t **pixels, gi_error *err) {
    gi_decoder *decoder = NULL;
    *pixels = NULL;
    gi_status status = gi_decoder_open(bytes, options, &decoder, err);
    if (status != GI_OK) return status;
    *header = *gi_decoder_header(decoder);
    size_t size;
    assert_int_equal(gi_shape_bytes(header->shape, &size, err), GI_OK);
    *pixels = malloc(size);
    assert_non_null(*pixels);
    memset(*pixels, 0xA5, size);
    gi_view view = gi_view_packed(*pixels, header->shape, GI_HOST);
    // In two parts where there are two rows, so that the state between calls is used.
    gi_view first = gi_view_rows(&view, 0, header->shape.height / 2);
    gi_view second = gi_view_rows(&view, first.height, header->shape.height - first.height);
    if (first.height) status = gi_decoder_rows(decoder, &first, err);
    if (status == GI_OK) status = gi_decoder_rows(decoder, &second, err);
    gi_decoder_close(decoder);
    if (status != GI_OK) {
        free(*pixels);
        *pixels = NULL;
    }
    return status;
}

static inline void assert_text_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' does not contain '%s'", text, part);
}

#endif
