// The form in which a PNG stores an image's samples: colour type, depth, palette; and rows brought into it.
#ifndef GI_CODEC_PNG_FORM_H
#define GI_CODEC_PNG_FORM_H

#include "codec/png_check.h"
#include "codec/png_colours.h"
#include "core/view.h"

typedef struct gi_png_form {
    int colour;             // GI_PNG_*
    int depth;              // bits of a sample in the file: 1, 2, 4, 8, 16
    bool binary;            // samples are 0 or 255: the palette's index follows from their bits
    gi_png_colours colours; // of a palette
} gi_png_form;

// Every channel and bit as it is.
gi_png_form gi_png_form_plain(gi_shape shape);

// Bits of a pixel in the file.
int gi_png_form_bits(const gi_png_form *form);

// Bytes of a row of `width` pixels in the file, without the filter byte.
size_t gi_png_form_row_bytes(const gi_png_form *form, uint32_t width);

// One row of an image of that shape into gi_png_form_row_bytes bytes. A form with fewer bits than the samples have
// takes 8-bit samples alone. Samples that are not of the form are written as some others that are.
void gi_png_store_row(const gi_png_form *form, gi_shape shape, const void *row, uint8_t *out);

#endif
