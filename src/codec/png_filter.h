// The row filters of PNG (PNG specification, section 9); png_unfilter.h undoes them.
#ifndef GI_CODEC_PNG_FILTER_H
#define GI_CODEC_PNG_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

// Bytes that are kept zero in front of every row to filter, so that "the pixel to the left" exists.
enum { GI_PNG_MARGIN = 8 };

typedef enum gi_png_filter_type {
    GI_PNG_NONE,
    GI_PNG_SUB,
    GI_PNG_UP,
    GI_PNG_AVERAGE,
    GI_PNG_PAETH,
    GI_PNG_FILTERS
} gi_png_filter_type;

// A row to filter. Both rows have GI_PNG_MARGIN zeros in front; nothing is read past their `size` bytes.
typedef struct gi_png_row {
    const uint8_t *row, *above;
    size_t size, pixel; // bytes of the row; of a whole pixel, at most GI_PNG_MARGIN
} gi_png_row;

// Writes 1 + size bytes, no more: `type`, then the row filtered so.
void gi_png_filter_row(gi_png_filter_type type, const gi_png_row *row, uint8_t *out);

// The filter whose result has the least sum of absolute values (of bytes read as signed); the first of equals.
gi_png_filter_type gi_png_filter_choose(const gi_png_row *row);

// Both in one: the chosen filter, then the row filtered so.
void gi_png_filter(const gi_png_row *row, uint8_t *out);

#endif
