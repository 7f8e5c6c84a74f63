// Rows to JPEG: the checks that do not depend on the library, and stb's way. There pixels are gathered, and the file is
// encoded at the end.
#include <stdlib.h>
#include <string.h>

#include "codec/jpeg_check.h"
#include "codec/jpeg_turbo.h"
#include "codec/reader.h"
#include "codec/stb.h"
#include "core/checked.h"

enum { MAX_SIDE = 65535, LIBJPEG_SIDE = 65500 };

typedef struct stb_writer {
    gi_writer writer;
    gi_shape shape;
    const gi_encode_options *options;
    const gi_sink *sink;
    uint8_t *pixels;
    size_t row_bytes, used;
} stb_writer;

static gi_status stb_rows(gi_writer *writer, const gi_view *rows, gi_error *err) {
    (void)err;
    stb_writer *jpeg = (stb_writer *)writer;
    for (uint32_t y = 0; y < rows->height; y++, jpeg->used += jpeg->row_bytes)
        memcpy(jpeg->pixels + jpeg->used, gi_view_row(rows, y), jpeg->row_bytes);
    return GI_OK;
}

static gi_status stb_finish(gi_writer *writer, gi_error *err) {
    stb_writer *jpeg = (stb_writer *)writer;
    gi_stb_jpeg_job job = {jpeg->pixels, jpeg->shape, jpeg->options->quality};
    return gi_stb_jpeg_encode(&job, jpeg->sink, err);
}

static void stb_close(gi_writer *writer) {
    stb_writer *jpeg = (stb_writer *)writer;
    free(jpeg->pixels);
    free(jpeg);
}

static gi_status stb_writer_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink,
                                 gi_writer **writer, gi_error *err) {
    size_t size, row_bytes = gi_row_bytes(shape.width, shape.channels, shape.sample);
    if (!gi_mul(row_bytes, shape.height, &size) || size > GI_CODEC_BUFFER_LIMIT)
        return gi_fail(err, GI_ERR_LIMIT, "%ux%u %s pixels are more than the JPEG encoder's limit of 2^30 bytes",
                       shape.width, shape.height, gi_channels_name(shape.channels));
    stb_writer *jpeg = calloc(1, sizeof *jpeg);
    if (!jpeg) return gi_fail(err, GI_ERR_MEMORY, "no memory for an encoder");
    jpeg->writer = (gi_writer){stb_rows, stb_finish, stb_close};
    jpeg->shape = shape;
    jpeg->options = options;
    jpeg->sink = sink;
    jpeg->row_bytes = row_bytes;
    jpeg->pixels = malloc(size);
    if (!jpeg->pixels) {
        free(jpeg);
        return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of pixels", size);
    }
    *writer = &jpeg->writer;
    return GI_OK;
}

gi_status gi_jpeg_writer_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink, gi_writer **writer,
                              gi_error *err) {
    if (shape.sample != GI_U8) return gi_fail(err, GI_ERR_UNSUPPORTED, "JPEG holds 8-bit samples only");
    if (shape.width > MAX_SIDE || shape.height > MAX_SIDE)
        return gi_fail(err, GI_ERR_LIMIT, "JPEG holds at most 65535 pixels a side, not %ux%u", shape.width,
                       shape.height);
    bool turbo = options->codec != GI_CODEC_STB && gi_turbo_writes(shape);
    // gi_encode_options_check has left this to libjpeg-turbo.
    if (!turbo && (options->progressive || options->optimize || options->subsampling != GI_SUBSAMPLING_420))
        return gi_fail(err, GI_ERR_LIMIT, "libjpeg-turbo writes at most %d pixels a side, not %ux%u", LIBJPEG_SIDE,
                       shape.width, shape.height);
    if (shape.width > LIBJPEG_SIDE || shape.height > LIBJPEG_SIDE)
        gi_say(options->messages, GI_WARNING, options->file,
               "most programs open no JPEG with more than %d pixels a side, as this has: %ux%u", LIBJPEG_SIDE,
               shape.width, shape.height);
    return turbo ? gi_turbo_writer_open(shape, options, sink, writer, err)
                 : stb_writer_open(shape, options, sink, writer, err);
}
