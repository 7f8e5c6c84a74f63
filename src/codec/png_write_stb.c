// IDAT by stb's compressor, which wants the whole image in one piece.
#include <stdlib.h>

#include "codec/png_filter.h"
#include "codec/png_idat.h"
#include "codec/stb.h"
#include "core/checked.h"

typedef struct whole {
    gi_png_idat idat;
    const gi_png_job *job;
    size_t row_bytes, pixel;
    uint8_t *filtered; // every row after its filter byte
    size_t used;
    uint8_t *lines; // two buffers: this row and the one above, behind margins of zeros
    uint8_t *row, *above;
} whole;

static gi_status whole_row(gi_png_idat *idat, const void *samples, gi_error *err) {
    (void)err;
    whole *w = (whole *)idat;
    gi_png_store_row(&w->job->form, w->job->shape, samples, w->row);
    gi_png_row row = {w->row, w->above, w->row_bytes, w->pixel};
    gi_png_filter(&row, w->filtered + w->used);
    uint8_t *above = w->above;
    w->above = w->row;
    w->row = above;
    w->used += w->row_bytes + 1;
    return GI_OK;
}

static gi_status whole_finish(gi_png_idat *idat, gi_error *err) {
    whole *w = (whole *)idat;
    gi_stb_stream stream = {NULL, 0};
    gi_status status = gi_stb_deflate((gi_bytes){w->filtered, w->used}, w->job->options->png_level, &stream, err);
    if (status == GI_OK) status = gi_png_put_chunk(w->job->sink, "IDAT", (gi_bytes){stream.data, stream.size}, err);
    gi_stb_stream_free(&stream);
    return status;
}

static void whole_close(gi_png_idat *idat) {
    whole *w = (whole *)idat;
    free(w->filtered);
    free(w->lines);
    free(w);
}

gi_status gi_png_whole_open(const gi_png_job *job, gi_png_idat **idat, gi_error *err) {
    gi_shape shape = job->shape;
    size_t row_bytes = gi_png_form_row_bytes(&job->form, shape.width), size;
    if (!gi_mul(row_bytes + 1, shape.height, &size) || size > GI_CODEC_BUFFER_LIMIT)
        return gi_fail(err, GI_ERR_LIMIT, "%ux%u %s pixels are more than stb's PNG encoder's limit of 2^30 bytes",
                       shape.width, shape.height, gi_channels_name(shape.channels));
    whole *made = calloc(1, sizeof *made);
    if (!made) return gi_fail(err, GI_ERR_MEMORY, "no memory for an encoder");
    made->idat = (gi_png_idat){whole_row, whole_finish, whole_close};
    made->job = job;
    made->row_bytes = row_bytes;
    made->pixel = (size_t)(gi_png_form_bits(&job->form) + 7) / 8;
    made->filtered = malloc(size);
    made->lines = calloc(2, row_bytes + GI_PNG_MARGIN);
    if (!made->filtered || !made->lines) {
        whole_close(&made->idat);
        return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of pixels", size);
    }
    made->row = made->lines + GI_PNG_MARGIN;
    made->above = made->row + row_bytes + GI_PNG_MARGIN;
    *idat = &made->idat;
    return GI_OK;
}
