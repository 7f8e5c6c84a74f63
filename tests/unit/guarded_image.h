// An image in memory for tests: rows with padding between them, guard bytes all round, random pixels from a seed.
#ifndef GI_TESTS_GUARDED_IMAGE_H
#define GI_TESTS_GUARDED_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/view.h"

// An odd number of samples: rows are not aligned for vectors.
enum { GUARD_BYTES = 66, GUARD_VALUE = 0xA5 };

typedef struct guarded_image {
    unsigned char *memory;
    size_t size;
    gi_view view;
} guarded_image;

// `padding` samples follow each row. Everything is filled with the guard value: an output is poisoned. A NULL view.data
// means out of memory.
static inline guarded_image guarded_image_make(gi_shape shape, size_t padding) {
    guarded_image image = {NULL, 0, gi_view_packed(NULL, shape, GI_HOST)};
    image.view.pitch_bytes += padding * gi_sample_bytes(shape.sample);
    image.size = 2 * GUARD_BYTES + image.view.pitch_bytes * shape.height;
    image.memory = malloc(image.size);
    if (!image.memory) return image;
    memset(image.memory, GUARD_VALUE, image.size);
    image.view.data = image.memory + GUARD_BYTES;
    return image;
}

static inline void guarded_image_free(guarded_image *image) { free(image->memory); }

// Numerical Recipes' generator, its upper bits; enough for tests and the same everywhere.
static inline uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 16;
}

static inline void guarded_image_randomise(guarded_image *image, uint32_t seed) {
    size_t row_bytes = gi_row_bytes(image->view.width, image->view.channels, image->view.sample);
    for (uint32_t y = 0; y < image->view.height; y++) {
        unsigned char *row = gi_view_row(&image->view, y);
        for (size_t i = 0; i < row_bytes; i++) row[i] = (unsigned char)next_random(&seed);
    }
}

static inline uint32_t sample_at(const gi_view *view, uint32_t y, size_t i) {
    const void *row = gi_view_row(view, y);
    return view->sample == GI_U8 ? ((const uint8_t *)row)[i] : ((const uint16_t *)row)[i];
}

// True when nothing but the rows' pixels was written to.
static inline bool guards_are_whole(const guarded_image *image) {
    const gi_view *view = &image->view;
    size_t row_bytes = gi_row_bytes(view->width, view->channels, view->sample);
    size_t rows_end = GUARD_BYTES + view->pitch_bytes * view->height;
    for (size_t i = 0; i < image->size; i++) {
        bool in_rows = i >= GUARD_BYTES && i < rows_end;
        if (in_rows && (i - GUARD_BYTES) % view->pitch_bytes < row_bytes) continue;
        if (image->memory[i] != GUARD_VALUE) return false;
    }
    return true;
}

#endif
