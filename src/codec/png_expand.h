// Stored PNG samples to gray, gray+alpha, RGB or RGBA of 8 bits, or of 16 in the machine's byte order.
#ifndef GI_CODEC_PNG_EXPAND_H
#define GI_CODEC_PNG_EXPAND_H

#include "codec/png_check.h"

typedef struct gi_png_expander {
    const gi_png_info *info;
    gi_sample sample;        // delivered
    bool plain;              // rows are delivered as they are stored
    int channels;            // delivered
    uint8_t colours[256][4]; // of a palette image: RGBA; black and opaque past the end of PLTE
    uint8_t samples[256][8]; // of a depth below 8: the samples of a byte, in order; of gray as they are delivered
} gi_png_expander;

// Samples are delivered in 16 bits only where they are stored so, and in 8 where `depth` is 8.
void gi_png_expander_init(gi_png_expander *expander, const gi_png_info *info, int depth);

// Expands one unfiltered row of `width` pixels. Returns the greatest palette index seen that is past the end of PLTE,
// or -1 when there is none.
int gi_png_expand(const gi_png_expander *expander, const uint8_t *row, uint32_t width, void *out);

#endif
