// What the filters of PNG mean, one byte at a time (PNG specification, 9.2): the oracle of a run of rows.
#ifndef GI_TESTS_PNG_UNFILTER_DEFINITION_H
#define GI_TESTS_PNG_UNFILTER_DEFINITION_H

#include <stdlib.h>

#include "codec/png_unfilter.h"

static inline int definition_paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// Rows without gaps to `out`, up to the first filter that is none. Returns how many.
static inline uint32_t define_unfiltered(const gi_png_run *run, uint8_t *out) {
    for (uint32_t y = 0; y < run->count; y++, out += run->size) {
        const uint8_t *in = run->filtered + y * (run->size + 1), *up = y ? out - run->size : run->above;
        if (in[0] > 4) return y;
        for (size_t i = 0; i < run->size; i++) {
            int a = i >= run->pixel ? out[i - run->pixel] : 0, b = up[i], c = i >= run->pixel ? up[i - run->pixel] : 0;
            int predicted[5] = {0, a, b, (a + b) / 2, definition_paeth(a, b, c)};
            out[i] = (uint8_t)(in[1 + i] + predicted[in[0]]);
        }
    }
    return run->count;
}

#endif
