// A JPEG in bands. A restart marker ends all that the entropy coder remembers, so rows of MCUs between two of them can
// be encoded as a file of their own, by any thread, and give the same bytes as within the whole image: chroma is
// subsampled within an MCU. Each band is one restart interval. Of the first one the headers stay, with the whole
// image's height; of the others the entropy-coded data alone; and what ends a band becomes RST0, RST1, ... RST7, RST0,
// ...
#include "codec/jpeg_turbo.h"

#ifdef GPUIMG_HAVE_JPEG

#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/memory_sink.h"
#include "core/crew.h"

enum {
    BANDED_PIXELS = 1 << 21, // up to here in one piece
    BAND_PIXELS = 1 << 18,   // at least, while the restart interval allows it: starting a band costs little then
    MOST_MCUS = 65535        // of a restart interval
};

typedef struct band {
    gi_task task; // first
    gi_turbo_job job;
    uint8_t *pixels;    // gathered for a thread; NULL: rows go to the encoder as they come
    uint32_t rows;      // so far
    gi_writer *encoder; // while rows go to it
    gi_memory_file file;
    gi_sink sink; // to `file`
    gi_status status;
    gi_error why;
} band;

typedef struct banded_writer {
    gi_writer writer;
    gi_turbo_job job; // of the whole image
    const gi_sink *sink;
    uint32_t band_rows, bands;
    uint32_t full, written; // bands that have all their rows; bands that the sink has
    gi_crew *crew;          // NULL: one thread
    uint32_t places;
    band *ring; // band i has place i % places
} banded_writer;

// ---- one band -----------------------------------------------------------------------------------------------------

// Rows into the encoder, which is opened before the first and closed behind the last.
static gi_status encode(band *b, const gi_view *rows, gi_error *err) {
    gi_status status = GI_OK;
    if (!b->encoder) status = gi_turbo_piece_open(&b->job, &b->sink, &b->encoder, err);
    if (status == GI_OK) status = b->encoder->rows(b->encoder, rows, err);
    if (status == GI_OK && b->rows == b->job.shape.height) status = b->encoder->finish(b->encoder, err);
    if (b->encoder && (status != GI_OK || b->rows == b->job.shape.height)) {
        b->encoder->close(b->encoder);
        b->encoder = NULL;
    }
    return status;
}

static void encode_task(gi_task *task) {
    band *b = (band *)task;
    gi_view rows = gi_view_packed(b->pixels, b->job.shape, GI_HOST);
    b->status = encode(b, &rows, &b->why);
}

static uint32_t rows_of_band(const banded_writer *jpeg, uint32_t i) {
    return i + 1 < jpeg->bands ? jpeg->band_rows : jpeg->job.shape.height - i * jpeg->band_rows;
}

static void begin_band(banded_writer *jpeg, band *b) {
    b->job.shape.height = rows_of_band(jpeg, jpeg->full);
    b->rows = 0;
    b->file.size = 0;
    b->status = GI_OK;
}

static void gather(band *b, const gi_view *rows) {
    size_t row_bytes = gi_row_bytes(rows->width, rows->channels, rows->sample);
    uint8_t *to = b->pixels + (b->rows - rows->height) * row_bytes;
    for (uint32_t y = 0; y < rows->height; y++) memcpy(to + y * row_bytes, gi_view_row(rows, y), row_bytes);
}

// ---- joining ------------------------------------------------------------------------------------------------------

// Where the entropy-coded data begins; the frame header is given the whole image's height on the way.
static size_t pass_headers(const gi_memory_file *file, uint32_t height) {
    gi_bytes all = {file->data, file->size};
    gi_jpeg_segment segment = {0};
    size_t at = 0, skipped = 0;
    while (segment.code != GI_JPEG_SOS && gi_jpeg_next_segment(all, &at, &segment, &skipped))
        if (segment.code == GI_JPEG_SOF0) gi_put_be16(file->data + segment.offset + 3, height);
    return at;
}

// Once it is encoded, the oldest band goes to the sink, and its place is free.
static gi_status write_oldest(banded_writer *jpeg, gi_error *err) {
    uint32_t index = jpeg->written++;
    band *b = &jpeg->ring[index % jpeg->places];
    if (jpeg->crew) gi_crew_wait(jpeg->crew, &b->task);
    if (b->status != GI_OK) {
        if (err) *err = b->why;
        return b->status;
    }
    size_t headers = pass_headers(&b->file, jpeg->job.shape.height), from = index ? headers : 0;
    if (index + 1 < jpeg->bands) b->file.data[b->file.size - 1] = (uint8_t)(GI_JPEG_RST0 + index % 8); // was EOI
    return jpeg->sink->write(jpeg->sink->context, b->file.data + from, b->file.size - from, err);
}

// ---- the writer ---------------------------------------------------------------------------------------------------

static gi_status banded_rows(gi_writer *writer, const gi_view *rows, gi_error *err) {
    banded_writer *jpeg = (banded_writer *)writer;
    gi_status status = GI_OK;
    for (uint32_t y = 0; y < rows->height && status == GI_OK;) {
        band *b = &jpeg->ring[jpeg->full % jpeg->places];
        if (b->rows == b->job.shape.height) {
            if (jpeg->full - jpeg->written == jpeg->places) status = write_oldest(jpeg, err);
            if (status != GI_OK) break;
            begin_band(jpeg, b);
        }
        uint32_t room = b->job.shape.height - b->rows, left = rows->height - y, count = left < room ? left : room;
        gi_view part = gi_view_rows(rows, y, count);
        y += count;
        b->rows += count;
        if (b->pixels)
            gather(b, &part);
        else
            status = encode(b, &part, err);
        if (status != GI_OK || b->rows < b->job.shape.height) continue;
        jpeg->full++;
        if (jpeg->crew)
            gi_crew_give(jpeg->crew, &b->task);
        else
            status = write_oldest(jpeg, err);
    }
    return status;
}

static gi_status banded_finish(gi_writer *writer, gi_error *err) {
    banded_writer *jpeg = (banded_writer *)writer;
    gi_status status = GI_OK;
    while (jpeg->written < jpeg->full && status == GI_OK) status = write_oldest(jpeg, err);
    return status;
}

static void banded_close(gi_writer *writer) {
    banded_writer *jpeg = (banded_writer *)writer;
    for (; jpeg->crew && jpeg->written < jpeg->full; jpeg->written++)
        gi_crew_wait(jpeg->crew, &jpeg->ring[jpeg->written % jpeg->places].task);
    gi_crew_close(jpeg->crew);
    for (uint32_t i = 0; jpeg->ring && i < jpeg->places; i++) {
        band *b = &jpeg->ring[i];
        if (b->encoder) b->encoder->close(b->encoder);
        free(b->pixels);
        free(b->file.data);
    }
    free(jpeg->ring);
    free(jpeg);
}

// The crew and its bands' pixels, or the one band of a single thread.
static gi_status make_places(banded_writer *jpeg, gi_error *err) {
    int threads = jpeg->job.options->threads;
    gi_status status = GI_OK;
    if (threads > 1) status = gi_crew_open(threads - 1, &jpeg->crew, err);
    if (status != GI_OK) return status;
    // One that is being filled beside one in every other thread's hands, and one that waits for them.
    jpeg->places = jpeg->crew ? (uint32_t)gi_crew_threads(jpeg->crew) + 2 : 1;
    if (jpeg->places > jpeg->bands) jpeg->places = jpeg->bands;
    jpeg->ring = calloc(jpeg->places, sizeof *jpeg->ring);
    if (!jpeg->ring) return gi_fail(err, GI_ERR_MEMORY, "no memory for a JPEG encoder");
    for (uint32_t i = 0; i < jpeg->places; i++) {
        band *b = &jpeg->ring[i];
        b->task.run = encode_task;
        b->sink = gi_memory_sink(&b->file);
        b->job = jpeg->job;
        b->job.shape.height = jpeg->band_rows;
        b->rows = jpeg->band_rows; // as if full and written: it is begun anew
        size_t size;
        status = jpeg->crew ? gi_shape_bytes(b->job.shape, &size, err) : GI_OK;
        if (status != GI_OK) return status;
        if (jpeg->crew && !(b->pixels = malloc(size)))
            return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of pixels", size);
    }
    return GI_OK;
}

// The band's height is a matter of the image's shape and subsampling alone.
static void choose_band(banded_writer *jpeg) {
    gi_turbo_job *job = &jpeg->job;
    uint32_t across = gi_turbo_mcu_width(job), down = gi_turbo_mcu_height(job);
    uint32_t mcus = (job->shape.width + across - 1) / across, row_pixels = mcus * across * down;
    uint32_t mcu_rows = (BAND_PIXELS + row_pixels - 1) / row_pixels;
    if (mcu_rows > MOST_MCUS / mcus) mcu_rows = MOST_MCUS / mcus;
    job->restart_interval = mcu_rows * mcus;
    jpeg->band_rows = mcu_rows * down;
    jpeg->bands = (job->shape.height + jpeg->band_rows - 1) / jpeg->band_rows;
}

gi_status gi_turbo_bands_open(const gi_turbo_job *job, const gi_sink *sink, gi_writer **writer, gi_error *err) {
    banded_writer *jpeg = calloc(1, sizeof *jpeg);
    if (!jpeg) return gi_fail(err, GI_ERR_MEMORY, "no memory for a JPEG encoder");
    jpeg->writer = (gi_writer){banded_rows, banded_finish, banded_close};
    jpeg->job = *job;
    jpeg->sink = sink;
    choose_band(jpeg);
    gi_status status = make_places(jpeg, err);
    if (status == GI_OK)
        *writer = &jpeg->writer;
    else
        banded_close(&jpeg->writer);
    return status;
}

gi_status gi_turbo_writer_open(gi_shape shape, const gi_encode_options *options, const gi_sink *sink,
                               gi_writer **writer, gi_error *err) {
    gi_turbo_job job = {.shape = shape, .options = options};
    bool whole = options->optimize || options->progressive || (uint64_t)shape.width * shape.height <= BANDED_PIXELS;
    return whole ? gi_turbo_piece_open(&job, sink, writer, err) : gi_turbo_bands_open(&job, sink, writer, err);
}

#endif
