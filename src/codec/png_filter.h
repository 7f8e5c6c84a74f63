// The row filters of PNG, both ways (PNG specification, section 9).
#ifndef GI_CODEC_PNG_FILTER_H
#define GI_CODEC_PNG_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

// Bytes that are kept zero in front of every row given to gi_png_filter, so that "the pixel to the left" exists.
enum { GI_PNG_MARGIN = 8 };

// Undoes the filter of `row` in place. row[-1] is not touched; `above` is the unfiltered row above (zeros for the
// first row of an image or pass); `pixel` is the bytes of a whole pixel, at least 1. False when there is no filter
// `type`.
int gi_png_unfilter(int type, uint8_t *row, const uint8_t *above, size_t size, size_t pixel);

// Writes 1 + size bytes: the filter whose result has the least sum of absolute values, then the row so filtered. `row`
// and `above` have GI_PNG_MARGIN zeros in front; `scratch` holds size bytes.
void gi_png_filter(uint8_t *out, const uint8_t *row, const uint8_t *above, size_t size, size_t pixel, uint8_t *scratch);

#endif
