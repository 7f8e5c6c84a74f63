// Runs of PNG rows unfiltered (PNG specification, section 9).
#ifndef GI_CODEC_PNG_UNFILTER_H
#define GI_CODEC_PNG_UNFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Rows one below another. Nothing outside the rows is read or written.
typedef struct gi_png_run {
    const uint8_t *filtered; // count rows, each a filter byte and then `size` bytes
    const uint8_t *above;    // the unfiltered row above the first; zeros for the first row of an image or pass
    uint8_t *out;            // the first unfiltered row, of `size` bytes; apart from the two above
    size_t pitch_bytes;      // from one row of `out` to the next
    size_t size;             // bytes of a row: whole pixels, at least one
    size_t pixel;            // bytes of a whole pixel: 1, 2, 3, 4, 6 or 8; 1 where several pixels share a byte
    uint32_t count;
} gi_png_run;

// Runs of a multiple of so many rows are the fastest: as many as the narrowest pixels are unfiltered at once.
enum { GI_PNG_RUN_ROWS = 32 };

// Returns -1, or the first filter byte that is none: the rows from there on are undefined then.
int gi_png_unfilter_run(const gi_png_run *run);

#endif
