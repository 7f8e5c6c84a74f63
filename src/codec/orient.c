#include "codec/orient.h"

#include <string.h>

// Where upright pixel (x, y) lies in the stored image: start + x * step_x + y * step_y, in bytes.
typedef struct walk {
    ptrdiff_t start, step_x, step_y;
} walk;

static walk walk_of(const gi_view *in, int orientation) {
    ptrdiff_t pixel = (ptrdiff_t)gi_row_bytes(1, in->channels, in->sample), row = (ptrdiff_t)in->pitch_bytes;
    ptrdiff_t right = (ptrdiff_t)(in->width - 1) * pixel, bottom = (ptrdiff_t)(in->height - 1) * row;
    switch (orientation) {
    case 2: return (walk){right, -pixel, row};           // mirrored left to right
    case 3: return (walk){right + bottom, -pixel, -row}; // turned by 180 degrees
    case 4: return (walk){bottom, pixel, -row};          // mirrored top to bottom
    case 5: return (walk){0, row, pixel};                // transposed
    case 6: return (walk){bottom, -row, pixel};          // shown turned clockwise
    case 7: return (walk){right + bottom, -row, -pixel}; // transposed along the other diagonal
    case 8: return (walk){right, row, -pixel};           // shown turned anticlockwise
    default: return (walk){0, pixel, row};
    }
}

// One row; the pixel's size is a constant where it is inlined.
static inline void copy_row(uint8_t *out, const uint8_t *in, ptrdiff_t step, size_t count, size_t pixel) {
    for (size_t x = 0; x < count; x++, in += step, out += pixel) memcpy(out, in, pixel);
}

static void copy_any(uint8_t *out, const uint8_t *in, ptrdiff_t step, size_t count, size_t pixel) {
    switch (pixel) {
    case 1: copy_row(out, in, step, count, 1); break;
    case 2: copy_row(out, in, step, count, 2); break;
    case 3: copy_row(out, in, step, count, 3); break;
    case 4: copy_row(out, in, step, count, 4); break;
    case 6: copy_row(out, in, step, count, 6); break;
    default: copy_row(out, in, step, count, 8); break;
    }
}

void gi_orient_rows(const gi_view *in, int orientation, uint32_t y0, const gi_view *out) {
    // Blocks, so that a transposing walk uses each cache line for several rows.
    enum { BLOCK_ROWS = 32, BLOCK_COLUMNS = 64 };
    walk w = walk_of(in, orientation);
    size_t pixel = gi_row_bytes(1, in->channels, in->sample);
    const uint8_t *base = in->data;
    for (uint32_t top = 0; top < out->height; top += BLOCK_ROWS) {
        uint32_t bottom = out->height - top < BLOCK_ROWS ? out->height : top + BLOCK_ROWS;
        for (uint32_t left = 0; left < out->width; left += BLOCK_COLUMNS) {
            uint32_t columns = out->width - left < BLOCK_COLUMNS ? out->width - left : BLOCK_COLUMNS;
            for (uint32_t y = top; y < bottom; y++)
                copy_any((uint8_t *)gi_view_row(out, y) + left * pixel,
                         base + w.start + (ptrdiff_t)left * w.step_x + (ptrdiff_t)(y0 + y) * w.step_y, w.step_x,
                         columns, pixel);
        }
    }
}
