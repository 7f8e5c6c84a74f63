#include "codec/png_unfilter.h"

#include "codec/png_filter.h"
#include "codec/png_unfilter_row.h"
#include "codec/png_unfilter_wave.h"

static uint8_t filter_of(const gi_png_run *run, uint32_t y) { return run->filtered[(size_t)y * (run->size + 1)]; }

// Average and Paeth look both left and up: what a row of its own is slow with.
static bool is_slow(uint8_t filter) { return filter >= GI_PNG_AVERAGE; }

// How many of the rows from y on, the first of them slow, are worth a wave; 0 if none. Measured: a step of the wave
// takes the time of WAVE_BYTES of slow rows one by one, and the edges take that of WAVE_START steps.
static uint32_t wave_rows(const gi_png_run *run, uint32_t y, uint32_t count) {
    enum { WAVE_BYTES = 4, WAVE_START = 100 };
    uint32_t rows = gi_png_wave_rows(run->pixel), slow = 0;
    if (rows > count - y) rows = count - y;
    for (uint32_t k = 0; k < rows; k++) slow += is_slow(filter_of(run, y + k));
    return slow * run->size > WAVE_BYTES * (run->size / run->pixel + WAVE_START) ? rows : 0;
}

// `count` rows, whose filters exist. Those that are fast by themselves are left out of waves, unless within one.
static void unfilter_rows(const gi_png_run *run, uint32_t count) {
    const uint8_t *above = run->above;
    for (uint32_t y = 0; y < count;) {
        const uint8_t *filtered = run->filtered + (size_t)y * (run->size + 1);
        uint8_t *out = run->out + (size_t)y * run->pitch_bytes;
        uint32_t rows = is_slow(filtered[0]) ? wave_rows(run, y, count) : 0;
        if (rows) {
            gi_png_run wave = {filtered, above, out, run->pitch_bytes, run->size, run->pixel, rows};
            gi_png_unfilter_wave(&wave);
        } else {
            gi_png_filtered_row row = {filtered, above, out, run->size, run->pixel};
            gi_png_unfilter_row(&row);
            rows = 1;
        }
        above = out + (rows - 1) * run->pitch_bytes;
        y += rows;
    }
}

int gi_png_unfilter_run(const gi_png_run *run) {
    uint32_t good = 0;
    while (good < run->count && filter_of(run, good) < GI_PNG_FILTERS) good++;
    unfilter_rows(run, good);
    return good < run->count ? filter_of(run, good) : -1;
}
