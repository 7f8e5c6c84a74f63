// One row of a PNG unfiltered by itself.
#ifndef GI_CODEC_PNG_UNFILTER_ROW_H
#define GI_CODEC_PNG_UNFILTER_ROW_H

#include <stddef.h>
#include <stdint.h>

enum { GI_PNG_NONE, GI_PNG_SUB, GI_PNG_UP, GI_PNG_AVERAGE, GI_PNG_PAETH, GI_PNG_FILTERS };

typedef struct gi_png_filtered_row {
    const uint8_t *filtered; // the filter byte, one of the above, and then `size` bytes
    const uint8_t *above;    // `size` bytes
    uint8_t *out;            // `size` bytes, apart from the two above
    size_t size, pixel;      // as in gi_png_run
} gi_png_filtered_row;

// Reads and writes nothing outside the rows.
void gi_png_unfilter_row(const gi_png_filtered_row *row);

#endif
