// Bands of rows, each filtered and compressed by itself into an IDAT chunk; all chunks together are one zlib stream.
//
// A ring of slots: one is being filled, the others are with the crew or done, in order. What goes to the sink is the
// oldest, once it is done and its slot is wanted for another band.
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/checksum.h"
#include "codec/png_band.h"
#include "codec/png_idat.h"
#include "core/checked.h"
#include "core/crew.h"

// Filtered bytes of a band where none are told: enough that a band's own Huffman codes and empty history do not show in
// the file's size, and few enough that a band stays in a core's cache from filter to compressor.
enum { BAND_BYTES = 1024 * 1024 };

// A zlib stream's two ends: its header (a window of 32 KiB; the level in it is a hint that no decoder reads), and an
// empty final block with the Adler-32 behind it.
enum { STREAM_HEAD = 2, STREAM_TAIL = 6 };

typedef struct bands bands;

typedef struct slot {
    gi_task task; // the first member
    const bands *all;
    gi_png_compressor *compressor;
    uint8_t *memory; // the row above the band, then its rows, each behind a margin of zeros
    uint8_t *chunk;  // with room for the stream's ends and the CRC
    uint32_t height; // rows so far
    bool first;      // of the image
    // Of the task, once done:
    gi_status status;
    gi_error error;
    size_t body;    // bytes of the chunk's data
    uint32_t crc;   // of its name and data
    uint32_t adler; // of the band's filtered bytes
} slot;

struct bands {
    gi_png_idat idat;
    const gi_png_job *job;
    size_t row_bytes, pitch_bytes;
    uint32_t band_rows, rows_left; // rows_left: of the image, not yet given
    gi_crew *crew;
    slot *slots;
    int count;
    int filling, pending; // the slot being filled, and how many before it are with the crew
    uint32_t adler;       // of what was written
};

static uint8_t *row_of(const slot *s, uint32_t y) {
    return s->memory + s->all->pitch_bytes * ((size_t)y + 1) + GI_PNG_MARGIN;
}

static void compress(gi_task *task) {
    slot *s = (slot *)task;
    const bands *b = s->all;
    const gi_png_form *form = &b->job->form;
    gi_png_band band = {.rows = row_of(s, 0),
                        .above = s->first ? NULL : row_of(s, 0) - b->pitch_bytes,
                        .pitch_bytes = b->pitch_bytes,
                        .row_bytes = b->row_bytes,
                        .pixel = (size_t)(gi_png_form_bits(form) + 7) / 8,
                        .bits = form->depth,
                        .height = s->height};
    uint8_t *body = s->chunk + GI_PNG_CHUNK_HEAD;
    size_t head = s->first ? STREAM_HEAD : 0, size = 0;
    if (s->first) gi_put_be16(body, 0x7801);
    s->status = gi_png_band_compress(s->compressor, &band, body + head, &size, &s->adler, &s->error);
    s->body = head + size;
    memcpy(s->chunk + 4, "IDAT", 4);
    s->crc = gi_crc32(0, s->chunk + 4, s->body + 4);
}

// Waits for the oldest band that is with the crew and writes its chunk; the last one takes the stream's end along.
static gi_status write_oldest(bands *b, bool last, gi_error *err) {
    slot *s = &b->slots[(b->filling + b->count - b->pending) % b->count];
    gi_crew_wait(b->crew, &s->task);
    b->pending--;
    if (s->status != GI_OK) {
        if (err) *err = s->error;
        return s->status;
    }
    b->adler = gi_adler32_combine(b->adler, s->adler, (uint64_t)(b->row_bytes + 1) * s->height);
    uint8_t *end = s->chunk + GI_PNG_CHUNK_HEAD + s->body;
    if (last) {
        gi_put_be16(end, 0x0300); // a final block of fixed codes: the end of block alone
        gi_put_be32(end + 2, b->adler);
        s->crc = gi_crc32(s->crc, end, STREAM_TAIL);
        s->body += STREAM_TAIL;
        end += STREAM_TAIL;
    }
    gi_put_be32(s->chunk, (uint32_t)s->body);
    gi_put_be32(end, s->crc);
    return b->job->sink->write(b->job->sink->context, s->chunk, (size_t)(end - s->chunk) + GI_PNG_CHUNK_TAIL, err);
}

// Gives the filled band to the crew and makes the next slot ready: that of the oldest band, where all are in use.
static gi_status give(bands *b, gi_error *err) {
    slot *full = &b->slots[b->filling];
    gi_crew_give(b->crew, &full->task);
    b->filling = (b->filling + 1) % b->count;
    b->pending++;
    if (b->rows_left == 0) return GI_OK;
    slot *next = &b->slots[b->filling];
    // With one slot the row above is in the band itself, which compressing leaves as it is.
    gi_status status = b->pending == b->count ? write_oldest(b, false, err) : GI_OK;
    memcpy(row_of(next, 0) - b->pitch_bytes, row_of(full, full->height - 1), b->row_bytes);
    next->first = false;
    next->height = 0;
    return status;
}

static gi_status bands_row(gi_png_idat *idat, const void *samples, gi_error *err) {
    bands *b = (bands *)idat;
    slot *s = &b->slots[b->filling];
    gi_png_store_row(&b->job->form, b->job->shape, samples, row_of(s, s->height));
    s->height++;
    b->rows_left--;
    return s->height == b->band_rows || b->rows_left == 0 ? give(b, err) : GI_OK;
}

static gi_status bands_finish(gi_png_idat *idat, gi_error *err) {
    bands *b = (bands *)idat;
    gi_status status = GI_OK;
    while (b->pending && status == GI_OK) status = write_oldest(b, b->pending == 1, err);
    return status;
}

static void bands_close(gi_png_idat *idat) {
    bands *b = (bands *)idat;
    for (; b->pending; b->pending--)
        gi_crew_wait(b->crew, &b->slots[(b->filling + b->count - b->pending) % b->count].task);
    gi_crew_close(b->crew);
    for (int i = 0; b->slots && i < b->count; i++) {
        gi_png_compressor_close(b->slots[i].compressor);
        free(b->slots[i].memory);
        free(b->slots[i].chunk);
    }
    free(b->slots);
    free(b);
}

static gi_status open_slot(bands *b, slot *s, gi_error *err) {
    size_t filtered = (b->row_bytes + 1) * b->band_rows;
    gi_png_compressor_options options = {.level = b->job->options->png_level,
                                         .codec = b->job->options->codec,
                                         .row_bytes = b->row_bytes,
                                         .height_max = b->band_rows};
    s->task.run = compress;
    s->all = b;
    s->first = true;
    s->memory = calloc((size_t)b->band_rows + 1, b->pitch_bytes);
    s->chunk = malloc(GI_PNG_CHUNK_HEAD + STREAM_HEAD + gi_png_band_bound(filtered) + STREAM_TAIL + GI_PNG_CHUNK_TAIL);
    if (!s->memory || !s->chunk)
        return gi_fail(err, GI_ERR_MEMORY, "no memory for %u rows of %zu bytes", b->band_rows, b->row_bytes);
    return gi_png_compressor_open(&options, &s->compressor, err);
}

// Rows of a band, of which *count make the image: as even as they come.
static uint32_t rows_of_band(const gi_png_job *job, size_t row_bytes, uint64_t *count) {
    uint32_t height = job->shape.height;
    uint64_t most = (job->options->png_band ? job->options->png_band : BAND_BYTES) / (row_bytes + 1);
    if (most == 0) most = 1;
    uint64_t least = (height + most - 1) / most; // bands
    uint32_t rows = (uint32_t)((height + least - 1) / least);
    *count = ((uint64_t)height + rows - 1) / rows;
    return rows;
}

static gi_status open_slots(bands *b, uint64_t count, gi_error *err) {
    uint64_t threads = b->job->options->threads > 1 ? (uint64_t)b->job->options->threads : 1;
    if (threads > count) threads = count;
    gi_status status = gi_crew_open((int)threads - 1, &b->crew, err);
    if (status != GI_OK) return status;
    // One more than threads, so that there is one to fill while each of them has one.
    b->count = (int)(threads > 1 ? threads + 1 : 1);
    b->slots = calloc((size_t)b->count, sizeof *b->slots);
    if (!b->slots) return gi_fail(err, GI_ERR_MEMORY, "no memory for an encoder");
    for (int i = 0; i < b->count && status == GI_OK; i++) status = open_slot(b, &b->slots[i], err);
    return status;
}

gi_status gi_png_bands_open(const gi_png_job *job, gi_png_idat **idat, gi_error *err) {
    size_t row_bytes = gi_png_form_row_bytes(&job->form, job->shape.width);
    // Also what keeps a chunk below 2^31 bytes.
    if (row_bytes >= GI_PNG_BAND_LIMIT)
        return gi_fail(err, GI_ERR_LIMIT, "rows of %u %s pixels are more than the PNG encoder's limit of 2^30 bytes",
                       job->shape.width, gi_channels_name(job->shape.channels));
    bands *made = calloc(1, sizeof *made);
    if (!made) return gi_fail(err, GI_ERR_MEMORY, "no memory for an encoder");
    uint64_t count;
    made->idat = (gi_png_idat){bands_row, bands_finish, bands_close};
    made->job = job;
    made->row_bytes = row_bytes;
    made->pitch_bytes = row_bytes + GI_PNG_MARGIN;
    made->rows_left = job->shape.height;
    made->band_rows = rows_of_band(job, row_bytes, &count);
    made->adler = 1;
    gi_status status = open_slots(made, count, err);
    if (status == GI_OK)
        *idat = &made->idat;
    else
        bands_close(&made->idat);
    return status;
}
