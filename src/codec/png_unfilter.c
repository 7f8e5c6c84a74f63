#include "codec/png_unfilter.h"

#include "codec/png_unfilter_row.h"

int gi_png_unfilter_run(const gi_png_run *run) {
    const uint8_t *above = run->above;
    for (uint32_t y = 0; y < run->count; y++) {
        const uint8_t *filtered = run->filtered + (size_t)y * (run->size + 1);
        uint8_t *out = run->out + (size_t)y * run->pitch_bytes;
        if (filtered[0] >= GI_PNG_FILTERS) return filtered[0];
        gi_png_filtered_row row = {filtered, above, out, run->size, run->pixel};
        gi_png_unfilter_row(&row);
        above = out;
    }
    return -1;
}
