// Inner loops of the narrow Gaussian, for 8-bit samples.
#ifndef GI_CPU_BLUR_GAUSS_NARROW_H
#define GI_CPU_BLUR_GAUSS_NARROW_H

#include <stddef.h>
#include <stdint.h>

#include "core/gauss.h"

enum { GI_NARROW_MAX_RADIUS = 128, GI_NARROW_MAX_PAIRS = GI_NARROW_MAX_RADIUS + 1 };

// Taps in pairs of signed words (the first in the low half), as multiply-add instructions take them.
typedef struct gi_narrow_taps {
    int32_t down[GI_NARROW_MAX_PAIRS];   // t(0),t(1)  t(2),t(3)  ...
    int32_t across[GI_NARROW_MAX_PAIRS]; // t(-R),t(-R+1)  ...  t(R),0
    int down_pairs, across_pairs;
} gi_narrow_taps;

// Pass 1: out[i] = (sum of t(k) * (above[k][i] + below[k][i]) + 2^7) >> 8, for k below 2 * down_pairs.
typedef struct gi_narrow_columns {
    const uint8_t *const *above, *const *below;
    uint16_t *out;
    size_t samples;
} gi_narrow_columns;

// Pass 2: out[i] = (sum of both halves of pairs[i + 2 * j * channels] times those of across[j] + 2^21) >> 22.
// pairs[i] holds pass 1's results at i and at i + channels.
typedef struct gi_narrow_line {
    const uint32_t *pairs;
    uint8_t *out;
    size_t samples, channels;
} gi_narrow_line;

// By explicit multiply-add, for AVX2 and AVX-512. Does all samples, or none and returns 0: the instruction set lacks
// it, or there are too few samples.
size_t gi_narrow_columns_x86(const gi_narrow_columns *columns, const gi_narrow_taps *taps);
size_t gi_narrow_line_x86(const gi_narrow_line *line, const gi_narrow_taps *taps);

#endif
