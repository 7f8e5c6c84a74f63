// Samples of 8 bits into 16, and back: 255 and 65535 are the same light, and so is all in between as nearly as it goes.
#ifndef GI_CODEC_DEPTH_H
#define GI_CODEC_DEPTH_H

#include <stddef.h>
#include <stdint.h>

// v * 65535 / 255, exactly.
static inline uint16_t gi_depth_up(uint8_t v) { return (uint16_t)(v * 257U); }

// v * 255 / 65535, rounded to nearest; no v lies in the middle. It is (v * 255 + 32767) / 65535 for every v.
static inline uint8_t gi_depth_down(uint16_t v) { return (uint8_t)((v * 255U + 32895U) >> 16); }

// `samples` of them; nothing may overlap. Those of 16 bits may have any alignment.
void gi_depth_widen(const uint8_t *in, size_t samples, void *out);
void gi_depth_narrow(const void *in, size_t samples, uint8_t *out);

#endif
