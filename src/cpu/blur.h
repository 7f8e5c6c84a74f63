// What the box and the Gaussian share on the CPU: where a row comes from, and how rows are shared out.
#ifndef GI_CPU_BLUR_H
#define GI_CPU_BLUR_H

#include <stddef.h>
#include <stdint.h>

#include "core/blur_rules.h"
#include "core/checked.h"
#include "core/status.h"
#include "core/window.h"

// A blur over one band.
typedef struct gi_blur_band {
    gi_view in, out;
    gi_window_place place;
    int border;
    int threads;
    // A row of what lies outside: value and opaque alpha (constant), 0 (shrink); and a row of 0. Owned by gi_cpu_blur.
    const void *outside, *blank;
} gi_blur_band;

// The samples of row y of the whole image, y perhaps outside it. What the band does not hold is never asked for.
static inline const void *gi_blur_row(const gi_blur_band *band, int64_t y) {
    int64_t inside = gi_border_index(y, band->place.image_height, band->border);
    return inside < 0 ? band->outside : gi_view_row(&band->in, (uint32_t)(inside - band->place.in_y0));
}

static inline void *gi_blur_out_row(const gi_blur_band *band, int64_t y) {
    return gi_view_row(&band->out, (uint32_t)(y - band->place.out_y0));
}

// How many rows y-radius..y+radius take part in a mean: those inside with border=shrink, else all.
static inline int64_t gi_blur_rows_counted(const gi_blur_band *band, int64_t y, int64_t radius) {
    if (band->border != GI_BORDER_SHRINK) return 2 * radius + 1;
    return gi_window_inside(y, radius, band->place.image_height);
}

// Samples in a row, all channels.
static inline size_t gi_blur_row_samples(const gi_blur_band *band) {
    return (size_t)band->in.width * (size_t)band->in.channels;
}

// Rows that one thread makes, [y0, y1) of the image in order.
typedef struct gi_blur_rows {
    const gi_blur_band *band;
    const void *plan; // of the box or the Gaussian
    void *scratch;    // the thread's own, 64-byte aligned, as large as was asked for
    int64_t y0, y1;
} gi_blur_rows;

typedef void (*gi_blur_rows_fn)(const gi_blur_rows *rows);

// Shares the band's rows out to the threads, a run of neighbouring ones each. GI_ERR_MEMORY possible.
gi_status gi_blur_run(const gi_blur_rows *plan, gi_blur_rows_fn make, size_t scratch_bytes, gi_error *err);

gi_status gi_cpu_blur_box(const gi_blur_band *band, int32_t radius, gi_error *err);
gi_status gi_cpu_blur_gauss(const gi_blur_band *band, double sigma, gi_error *err);

// Takes parts of a thread's scratch in turn, each 64-byte aligned. With `base` NULL it only counts; what does not fit
// size_t counts as SIZE_MAX, which no allocation grants.
typedef struct gi_scratch {
    char *base;
    size_t used;
} gi_scratch;

static inline void *gi_scratch_take(gi_scratch *scratch, size_t count, size_t size) {
    void *part = scratch->base ? scratch->base + scratch->used : NULL;
    size_t bytes;
    if (!gi_mul(count, size, &bytes) || !gi_round_up(bytes, 64, &bytes) ||
        !gi_add(scratch->used, bytes, &scratch->used))
        scratch->used = SIZE_MAX;
    return part;
}

#endif
