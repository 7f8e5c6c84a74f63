// EXIF orientations applied to whole images.
#ifndef GI_CODEC_ORIENT_H
#define GI_CODEC_ORIENT_H

#include "core/view.h"

// True for the orientations 5..8, which exchange width and height.
static inline bool gi_orient_transposes(int orientation) { return orientation >= 5; }

// Writes rows [y0, y0 + out->height) of the upright image to `out`. `in` is the whole image as stored, of the same
// channels and sample (u8 or u16); out->width is in->width, or in->height where the orientation transposes.
void gi_orient_rows(const gi_view *in, int orientation, uint32_t y0, const gi_view *out);

#endif
