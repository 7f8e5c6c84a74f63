// Stored PNG samples to 8-bit gray, gray+alpha, RGB or RGBA.
#ifndef GI_CODEC_PNG_EXPAND_H
#define GI_CODEC_PNG_EXPAND_H

#include "codec/png_check.h"

typedef struct gi_png_expander {
    const gi_png_info *info;
    bool plain;              // rows are delivered as they are stored
    int channels;            // delivered
    uint8_t colours[256][4]; // of a palette image: RGBA; black and opaque past the end of PLTE
    uint8_t samples[256][8]; // of a depth below 8: the samples of a byte, in order; of gray as they are delivered
} gi_png_expander;

void gi_png_expander_init(gi_png_expander *expander, const gi_png_info *info);

// Expands one unfiltered row of `width` pixels. Returns the greatest palette index seen that is past the end of PLTE,
// or -1 when there is none.
int gi_png_expand(const gi_png_expander *expander, const uint8_t *row, uint32_t width, uint8_t *out);

#endif
