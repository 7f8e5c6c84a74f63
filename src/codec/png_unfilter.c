#include "codec/png_unfilter.h"

#include <string.h>

#include "codec/png_filter.h"

int gi_png_unfilter_run(const gi_png_run *run) {
    const uint8_t *above = run->above;
    for (uint32_t y = 0; y < run->count; y++) {
        const uint8_t *in = run->filtered + (size_t)y * (run->size + 1);
        uint8_t *row = run->out + (size_t)y * run->pitch_bytes;
        memcpy(row, in + 1, run->size);
        if (!gi_png_unfilter(in[0], row, above, run->size, run->pixel)) return in[0];
        above = row;
    }
    return -1;
}
