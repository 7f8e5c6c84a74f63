// Rows to PNG: in which form, and through which compressor.
#include <stdlib.h>
#include <string.h>

#include "codec/memory_sink.h"
#include "codec/metadata.h"
#include "codec/png_idat.h"
#include "codec/png_reduce.h"

// PNG counts pixels in 31 bits.
#define SIDE_LIMIT 0x7FFFFFFFU

enum { TRIAL_BYTES = 1 << 20 }; // of samples, by which the form of a larger image is chosen: those of a band

typedef struct png_writer {
    gi_writer writer;
    gi_png_job job;
    gi_png_idat *idat; // NULL while rows are held
    bool begun;        // the head was written
    // Where fewer bits are tried: the first rows or the whole image, its data ours; else NULL.
    gi_view held;
    uint32_t y; // rows that are held
} png_writer;

static gi_status open_idat(const gi_png_job *job, gi_png_idat **idat, gi_error *err) {
    bool stb = job->options->codec == GI_CODEC_STB && job->options->png_level > 0;
    return stb ? gi_png_whole_open(job, idat, err) : gi_png_bands_open(job, idat, err);
}

static gi_status give_rows(gi_png_idat *idat, const gi_view *rows, gi_error *err) {
    gi_status status = GI_OK;
    for (uint32_t y = 0; y < rows->height && status == GI_OK; y++) status = idat->row(idat, gi_view_row(rows, y), err);
    return status;
}

// The whole file, in the job's form.
static gi_status write_held(const gi_png_job *job, const gi_view *held, gi_error *err) {
    gi_png_idat *idat = NULL;
    gi_status status = open_idat(job, &idat, err);
    if (status != GI_OK) return status;
    status = gi_png_put_head(job, err);
    if (status == GI_OK) status = give_rows(idat, held, err);
    if (status == GI_OK) status = idat->finish(idat, err);
    if (status == GI_OK) status = gi_png_put_end(job, err);
    idat->close(idat);
    return status;
}

// Fewer bits do not always make the smaller file: a palette has bytes of its own, and what repeats in bytes may not do
// so in bits. So both files are made: *smaller = that of these jobs which makes the smaller one of the rows that are
// held, and *file = it (NULL: not asked for).
static gi_status try_forms(const gi_png_job *const jobs[2], const gi_view *held, int *smaller, gi_memory_file *file,
                           gi_error *err) {
    gi_memory_file files[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
    gi_status status = GI_OK;
    for (int i = 0; i < 2 && status == GI_OK; i++) {
        gi_sink sink = gi_memory_sink(&files[i]);
        gi_png_job job = *jobs[i];
        job.shape.height = held->height;
        job.sink = &sink;
        status = write_held(&job, held, err);
    }
    *smaller = files[1].size < files[0].size;
    if (status == GI_OK && file) {
        *file = files[*smaller];
        files[*smaller].data = NULL;
    }
    free(files[0].data);
    free(files[1].data);
    return status;
}

static gi_status write_smaller(const gi_png_job *fewer, const gi_png_job *plain, const gi_view *held, gi_error *err) {
    const gi_png_job *jobs[2] = {fewer, plain};
    gi_memory_file file = {NULL, 0, 0};
    int smaller;
    gi_status status = try_forms(jobs, held, &smaller, &file, err);
    if (status == GI_OK) status = plain->sink->write(plain->sink->context, file.data, file.size, err);
    free(file.data);
    return status;
}

// Chooses the form of a mask by its first rows, and goes on with them.
static gi_status end_trial(png_writer *png, gi_error *err) {
    gi_png_job plain = png->job, binary = png->job;
    const gi_png_job *jobs[2] = {&binary, &plain};
    int smaller;
    binary.form = gi_png_form_binary(plain.shape);
    gi_status status = try_forms(jobs, &png->held, &smaller, NULL, err);
    if (status != GI_OK) return status;
    png->job.form = jobs[smaller]->form;
    status = open_idat(&png->job, &png->idat, err);
    if (status == GI_OK) status = gi_png_put_head(&png->job, err);
    png->begun = true;
    if (status == GI_OK) status = give_rows(png->idat, &png->held, err);
    free(png->held.data);
    png->held.data = NULL;
    return status;
}

static void hold_rows(png_writer *png, const gi_view *rows) {
    for (uint32_t y = 0; y < rows->height; y++)
        memcpy(gi_view_row(&png->held, png->y++), gi_view_row(rows, y), png->held.pitch_bytes);
}

static gi_status png_rows(gi_writer *writer, const gi_view *rows, gi_error *err) {
    png_writer *png = (png_writer *)writer;
    gi_view left = *rows;
    gi_status status = GI_OK;
    if (png->held.data) {
        const uint32_t room = png->held.height - png->y, count = rows->height < room ? rows->height : room;
        const gi_view first = gi_view_rows(rows, 0, count);
        hold_rows(png, &first);
        if (png->y < png->held.height || png->y == png->job.shape.height) return GI_OK;
        left = gi_view_rows(rows, count, rows->height - count);
        status = end_trial(png, err);
    }
    if (status == GI_OK && !png->begun) status = gi_png_put_head(&png->job, err);
    png->begun = true;
    return status == GI_OK ? give_rows(png->idat, &left, err) : status;
}

static gi_status png_finish(gi_writer *writer, gi_error *err) {
    png_writer *png = (png_writer *)writer;
    if (!png->held.data) {
        gi_status status = png->idat->finish(png->idat, err);
        return status == GI_OK ? gi_png_put_end(&png->job, err) : status;
    }
    gi_png_job fewer = png->job;
    bool on = png->job.options->png_reduce == GI_PNG_REDUCE_ON;
    const gi_metadata *metadata = png->job.options->metadata;
    fewer.form =
        on ? gi_png_form_fewest(&png->held, metadata && metadata->icc.size > 0) : gi_png_form_binary(png->job.shape);
    bool same = fewer.form.colour == png->job.form.colour && fewer.form.depth == png->job.form.depth;
    return same ? write_held(&png->job, &png->held, err) : write_smaller(&fewer, &png->job, &png->held, err);
}

static void png_close(gi_writer *writer) {
    png_writer *png = (png_writer *)writer;
    if (png->idat) png->idat->close(png->idat);
    free(png->held.data);
    free(png);
}

// Makes room for so many rows.
static gi_status hold(png_writer *png, uint32_t rows, gi_error *err) {
    size_t bytes;
    gi_shape shape = png->job.shape;
    shape.height = rows;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status != GI_OK) return status;
    png->held = gi_view_packed(malloc(bytes), shape, GI_HOST);
    return png->held.data ? GI_OK : gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of pixels", bytes);
}

// How many rows are held before the form is chosen; 0: it is the plain one.
static uint32_t rows_to_hold(gi_shape shape, const gi_encode_options *options) {
    if (shape.sample != GI_U8) return 0;
    if (options->png_reduce == GI_PNG_REDUCE_ON) return shape.height;
    if (options->png_reduce == GI_PNG_REDUCE_OFF || !options->binary) return 0;
    gi_png_form binary = gi_png_form_binary(shape), plain = gi_png_form_plain(shape);
    if (binary.depth == plain.depth) return 0;
    size_t bytes = options->png_band ? options->png_band : TRIAL_BYTES;
    size_t rows = bytes / gi_row_bytes(shape.width, shape.channels, shape.sample) + 1;
    return rows < shape.height ? (uint32_t)rows : shape.height;
}

gi_status gi_png_writer_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink, gi_writer **writer,
                             gi_error *err) {
    if (shape.width > SIDE_LIMIT || shape.height > SIDE_LIMIT)
        return gi_fail(err, GI_ERR_LIMIT, "%ux%u pixels are more than PNG's limit of 2^31 - 1 a side", shape.width,
                       shape.height);
    png_writer *png = calloc(1, sizeof *png);
    if (!png) return gi_fail(err, GI_ERR_MEMORY, "no memory for an encoder");
    const uint32_t held = rows_to_hold(shape, options);
    png->writer = (gi_writer){png_rows, png_finish, png_close};
    png->job = (gi_png_job){shape, gi_png_form_plain(shape), options, sink};
    gi_status status = held ? hold(png, held, err) : open_idat(&png->job, &png->idat, err);
    if (status == GI_OK)
        *writer = &png->writer;
    else
        png_close(&png->writer);
    return status;
}
