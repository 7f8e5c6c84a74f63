// How an image is cut into pieces of work: spans of pixels that fit the first-level cache.
#ifndef GI_CPU_SPANS_H
#define GI_CPU_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/view.h"
#include "cpu/team.h"

// Pixels of a span: long ones for work in one loop, whose start then does not count; short ones where the second loop
// should find what the first one left in the first-level cache (four u16 samples: 16 KiB).
enum { GI_SPAN_LONG = 16384, GI_SPAN_SHORT = 2048 };

// A thread is worth starting for so many pixels (some 10 us).
enum { GI_PIXELS_PER_THREAD = 32768 };

// Rows of pixels; an image without padding between its rows counts as one long row, so that narrow ones go fast too.
typedef struct gi_spans {
    size_t span_pixels;
    size_t row_pixels;
    size_t per_row; // spans in a row
    int64_t count;  // spans in all
} gi_spans;

typedef struct gi_span {
    size_t row, x;
    size_t pixels;
} gi_span;

static inline bool gi_view_is_packed(const gi_view *view) {
    return view->pitch_bytes == gi_row_bytes(view->width, view->channels, view->sample);
}

static inline gi_spans gi_spans_make(const gi_view *view, bool as_one_row, size_t span_pixels) {
    size_t rows = as_one_row ? 1 : view->height;
    gi_spans spans = {span_pixels, as_one_row ? (size_t)view->width * view->height : view->width, 0, 0};
    spans.per_row = spans.row_pixels / span_pixels + (spans.row_pixels % span_pixels != 0);
    spans.count = (int64_t)(spans.per_row * rows);
    return spans;
}

// How many of `limit` threads the work is worth and the system allows, at least 1.
static inline int gi_spans_threads(const gi_view *view, int limit) {
    uint64_t useful = (uint64_t)view->width * view->height / GI_PIXELS_PER_THREAD;
    if (useful < (uint64_t)(limit > 0 ? limit : 1)) limit = (int)useful;
    return gi_cpu_team(limit);
}

static inline gi_span gi_spans_at(const gi_spans *spans, int64_t i) {
    size_t row = (size_t)i / spans->per_row;
    size_t x = ((size_t)i % spans->per_row) * spans->span_pixels;
    size_t left = spans->row_pixels - x;
    gi_span span = {row, x, left < spans->span_pixels ? left : spans->span_pixels};
    return span;
}

static inline void *gi_view_pixel(const gi_view *view, size_t row, size_t x) {
    size_t pixel_bytes = (size_t)view->channels * gi_sample_bytes(view->sample);
    return (unsigned char *)view->data + row * view->pitch_bytes + x * pixel_bytes;
}

#endif
