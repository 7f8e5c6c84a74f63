#include "codec/png_stream.h"

#include <stdlib.h>

#include "codec/inflate.h"
#include "codec/png_spans.h"
#include "codec/png_unfilter.h"
#include "core/ahead.h"
#include "core/checked.h"

enum {
    BLOCK_BYTES = 256 << 10,    // about so much: it stays in a core's cache between inflating and unfiltering
    STEP_ROWS = 8,              // blocks are multiples of so many rows, and of GI_PNG_RUN_ROWS where they have as many
    DEPTH = 4,                  // blocks ahead of the caller
    THREAD_PIXELS = 512 * 1024, // smaller images are done before another thread is of use
};

// A place between two blocks of rows.
typedef struct place {
    int pass;
    uint32_t y;
} place;

struct gi_png_stream {
    const gi_png_info *info;
    const gi_decode_options *options;
    gi_png_spans *spans;
    gi_inflate *inflate;
    gi_ahead *ahead;
    place made;          // belongs to the thread that makes blocks
    place used;          // where the caller's next block begins
    const uint8_t *rows; // of the caller's block, the next one
    uint32_t left;       // rows of it
    size_t row_bytes;    // of each, with its filter byte
};

static gi_png_pass pass_at(const gi_png_info *info, int pass) {
    if (info->interlaced) return gi_png_pass_of(info, pass);
    return (gi_png_pass){info->width, info->height, 0, 0, 1, 1};
}

// The next block begins at *at, which is moved to its end: its rows, and the bytes of each with its filter byte.
static uint32_t next_block(const gi_png_info *info, place *at, size_t *row_bytes) {
    gi_png_pass pass = pass_at(info, at->pass);
    for (; pass.width == 0 || at->y == pass.height; pass = pass_at(info, at->pass)) *at = (place){at->pass + 1, 0};
    *row_bytes = gi_png_row_bytes(info, pass.width) + 1;
    size_t rows = BLOCK_BYTES / *row_bytes, step = rows < GI_PNG_RUN_ROWS ? STEP_ROWS : GI_PNG_RUN_ROWS;
    rows = rows < STEP_ROWS ? STEP_ROWS : rows / step * step;
    uint32_t left = pass.height - at->y, count = rows < left ? (uint32_t)rows : left;
    at->y += count;
    return count;
}

static bool is_end(const gi_png_info *info, place at) {
    int last = info->interlaced ? 6 : 0;
    for (int i = at.pass; i <= last; i++) {
        gi_png_pass pass = pass_at(info, i);
        if (pass.width && pass.height && (i > at.pass || at.y < pass.height)) return false;
    }
    return true;
}

static gi_status finish(gi_png_stream *s, gi_error *err) {
    bool more = false;
    gi_status status = gi_inflate_finish(s->inflate, &more, err);
    if (status == GI_OK && more)
        gi_say(s->options->messages, GI_FLAW, s->options->file, "more compressed data than the image needs");
    return status;
}

static gi_status make_block(void *context, void *block, gi_error *err) {
    gi_png_stream *s = context;
    size_t row_bytes;
    uint32_t count = next_block(s->info, &s->made, &row_bytes);
    gi_status status = gi_inflate_read(s->inflate, block, count * row_bytes, err);
    bool last = is_end(s->info, s->made);
    if (status == GI_OK && last) status = finish(s, err);
    if (status == GI_OK && !last) return GI_OK;
    // A file that could not be read, or a chunk that is damaged, is the reason of whatever came of its data.
    gi_status cause = gi_png_spans_finish(s->spans, err);
    return cause != GI_OK ? cause : status;
}

// How many blocks there are, and the bytes of the largest.
static gi_status measure(const gi_png_info *info, uint64_t *blocks, size_t *bytes, gi_error *err) {
    place at = {0, 0};
    *blocks = 0;
    *bytes = 0;
    while (!is_end(info, at)) {
        size_t row_bytes, size;
        uint32_t count = next_block(info, &at, &row_bytes);
        if (!gi_mul(row_bytes, count, &size))
            return gi_fail(err, GI_ERR_LIMIT, "rows of %u pixels do not fit this machine's memory", info->width);
        if (size > *bytes) *bytes = size;
        ++*blocks;
    }
    return GI_OK;
}

gi_status gi_png_stream_open(const gi_input *input, const gi_png_info *info, const gi_decode_options *options,
                             gi_png_stream **stream, gi_error *err) {
    size_t need = 0;
    gi_ahead_job job = {.make = make_block, .depth = DEPTH};
    gi_status status = gi_png_filtered_bytes(info, &need, err);
    if (status == GI_OK) status = measure(info, &job.blocks, &job.block_bytes, err);
    if (status != GI_OK) return status;
    gi_png_stream *s = calloc(1, sizeof *s);
    if (!s) return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    s->info = info;
    s->options = options;
    job.context = s;
    job.threaded = options->threads > 1 && (uint64_t)info->width * info->height > THREAD_PIXELS;
    status = gi_png_spans_open(input, info, &s->spans, err);
    gi_inflate_source source = {gi_png_spans_next, s->spans, info->idat_bytes};
    if (status == GI_OK) status = gi_inflate_open(&source, options->codec, need, &s->inflate, err);
    if (status == GI_OK && job.threaded) gi_inflate_use_threads(s->inflate, options->threads);
    if (status == GI_OK) status = gi_ahead_open(&job, &s->ahead, err);
    if (status == GI_OK)
        *stream = s;
    else
        gi_png_stream_close(s);
    return status;
}

gi_status gi_png_stream_rows(gi_png_stream *stream, uint32_t most, const uint8_t **rows, uint32_t *count,
                             gi_error *err) {
    if (!stream->left) {
        void *block;
        gi_status status = gi_ahead_next(stream->ahead, &block, err);
        if (status != GI_OK) return status;
        stream->rows = block;
        stream->left = next_block(stream->info, &stream->used, &stream->row_bytes);
    }
    *rows = stream->rows;
    *count = most < stream->left ? most : stream->left;
    stream->rows += *count * stream->row_bytes;
    stream->left -= *count;
    return GI_OK;
}

void gi_png_stream_close(gi_png_stream *stream) {
    if (!stream) return;
    gi_ahead_close(stream->ahead); // before what its thread uses
    gi_inflate_close(stream->inflate);
    gi_png_spans_close(stream->spans);
    free(stream);
}
