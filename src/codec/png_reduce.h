// Forms of fewer bits a pixel than the samples have, in which every pixel keeps its colour. 8-bit samples only: where a
// reader makes words of a 16-bit file, it would make bytes of the reduced one.
#ifndef GI_CODEC_PNG_REDUCE_H
#define GI_CODEC_PNG_REDUCE_H

#include "codec/png_form.h"

// The form of an image of which is only known that its samples are 0 or 255: gray with 1 bit, a palette of eight
// colours with 4. Plain with alpha, which may have any value, and where a palette's own bytes could outweigh what it
// saves.
gi_png_form gi_png_form_binary(gi_shape shape);

// The form with the fewest bits for these pixels: gray of 1, 2, 4, 8 bits where all are gray, else a palette; plain
// where they have more than 256 colours. Colour channels are not kept: gray levels that need it get a palette, and RGB
// that is gray becomes so. `profiled`: an ICC profile goes with the pixels, which is for either gray or colours: then
// gray stays gray, and RGB does not become it.
gi_png_form gi_png_form_fewest(const gi_view *pixels, bool profiled);

#endif
