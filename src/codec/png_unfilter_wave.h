// Many rows of a PNG unfiltered at once, where the processor has AVX2.
#ifndef GI_CODEC_PNG_UNFILTER_WAVE_H
#define GI_CODEC_PNG_UNFILTER_WAVE_H

#include "codec/png_unfilter.h"

// The most rows that one call takes, by the bytes of a pixel; 0 where there is no wave.
uint32_t gi_png_wave_rows(size_t pixel);

// Unfilters `count` rows, 1 to gi_png_wave_rows(pixel), whose filters exist. It takes about as long for one row as for
// all. Reads nothing outside the rows.
void gi_png_unfilter_wave(const gi_png_run *run);

#endif
