// One row of a PNG unfiltered by itself.
#ifndef GI_CODEC_PNG_UNFILTER_ROW_H
#define GI_CODEC_PNG_UNFILTER_ROW_H

#include <stddef.h>
#include <stdint.h>

typedef struct gi_png_filtered_row {
    const uint8_t *filtered; // the filter byte, a gi_png_filter_type, and then `size` bytes
    const uint8_t *above;    // `size` bytes
    uint8_t *out;            // `size` bytes, apart from the two above
    size_t size, pixel;      // as in gi_png_run
} gi_png_filtered_row;

// Reads and writes nothing outside the rows.
void gi_png_unfilter_row(const gi_png_filtered_row *row);

#endif
