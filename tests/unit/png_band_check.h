// Checks bands of PNG rows by decoding them with what shares no code with the compressor: stb's inflater, which checks
// the Adler-32 too, and the unfilter.
#ifndef GI_TESTS_PNG_BAND_CHECK_H
#define GI_TESTS_PNG_BAND_CHECK_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/png_band.h"
#include "codec/png_unfilter.h"
#include "inflate_whole.h"

enum { BAND_GUARD = 32, BAND_GUARD_BYTE = 0xA5 };

// Rows in memory of their own, so that a sanitizer sees what is read past them.
typedef struct test_band {
    uint8_t *memory;
    gi_png_band band;
} test_band;

static inline test_band test_band_make(size_t row_bytes, size_t pixel, uint32_t height, bool above) {
    test_band made = {NULL, {NULL, NULL, GI_PNG_MARGIN + row_bytes, row_bytes, pixel, 8, height}};
    made.memory = calloc(height + 1, made.band.pitch_bytes);
    if (!made.memory) abort();
    made.band.rows = made.memory + made.band.pitch_bytes + GI_PNG_MARGIN;
    if (above) made.band.above = made.memory + GI_PNG_MARGIN;
    return made;
}

static inline uint8_t *test_band_row(const test_band *made, uint32_t y) {
    return made->memory + (y + 1) * made->band.pitch_bytes + GI_PNG_MARGIN;
}

// A band as it was compressed.
typedef struct packed_band {
    uint8_t *data;
    size_t size;
    uint32_t adler;
} packed_band;

// NULL data: it failed, or wrote past its bound.
static inline packed_band pack_band(gi_png_compressor *compressor, const gi_png_band *band) {
    size_t filtered = (band->row_bytes + 1) * band->height, bound = gi_png_band_bound(filtered);
    packed_band packed = {malloc(BAND_GUARD + bound + BAND_GUARD), 0, 0};
    if (!packed.data) abort();
    memset(packed.data, BAND_GUARD_BYTE, BAND_GUARD + bound + BAND_GUARD);
    gi_error err;
    bool good =
        gi_png_band_compress(compressor, band, packed.data + BAND_GUARD, &packed.size, &packed.adler, &err) == GI_OK &&
        packed.size <= bound;
    for (size_t i = 0; i < BAND_GUARD; i++)
        good = good && packed.data[i] == BAND_GUARD_BYTE && packed.data[BAND_GUARD + bound + i] == BAND_GUARD_BYTE;
    if (good) {
        memmove(packed.data, packed.data + BAND_GUARD, packed.size);
    } else {
        free(packed.data);
        packed.data = NULL;
    }
    return packed;
}

// Whether the blocks, made a zlib stream, give the band's rows.
static inline bool band_is_whole(const packed_band *packed, const gi_png_band *band) {
    static const uint8_t head[2] = {0x78, 0x01}, last_block[2] = {0x03, 0x00}, empty_block[4] = {0, 0, 0xff, 0xff};
    size_t filtered_size = (band->row_bytes + 1) * band->height, size = packed->size + 8;
    if (packed->size < 5 || memcmp(packed->data + packed->size - 4, empty_block, 4) != 0) return false;
    uint8_t *stream = malloc(size), *filtered = malloc(filtered_size);
    uint8_t *rows = malloc(band->row_bytes * band->height), *zeros = calloc(1, band->row_bytes);
    if (!stream || !filtered || !rows || !zeros) abort();
    memcpy(stream, head, 2);
    memcpy(stream + 2, packed->data, packed->size);
    memcpy(stream + 2 + packed->size, last_block, 2);
    gi_put_be32(stream + 4 + packed->size, packed->adler);
    bool good = inflate_whole((gi_bytes){stream, size}, filtered, filtered_size);
    gi_png_run run = {
        filtered, band->above ? band->above : zeros, rows, band->row_bytes, band->row_bytes, band->pixel, band->height};
    good = good && gi_png_unfilter_run(&run) == -1;
    for (uint32_t y = 0; good && y < band->height; y++)
        good = memcmp(rows + y * band->row_bytes, band->rows + y * band->pitch_bytes, band->row_bytes) == 0;
    free(stream), free(filtered), free(rows), free(zeros);
    return good;
}

#endif
