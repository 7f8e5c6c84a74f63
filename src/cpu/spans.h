// How an image is cut into pieces of work: spans of pixels that fit the first-level cache.
#ifndef GI_CPU_SPANS_H
#define GI_CPU_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/view.h"

// Pixels of a span: 2048 of four u16 samples are 16 KiB. A thread is worth starting for so many spans (some 10 us).
enum { GI_SPAN_PIXELS = 2048, GI_SPANS_PER_THREAD = 16 };

// Rows of pixels; an image without padding between its rows counts as one long row, so that narrow ones go fast too.
typedef struct gi_spans {
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

static inline gi_spans gi_spans_make(const gi_view *view, bool as_one_row) {
    size_t rows = as_one_row ? 1 : view->height;
    gi_spans spans = {as_one_row ? (size_t)view->width * view->height : view->width, 0, 0};
    spans.per_row = spans.row_pixels / GI_SPAN_PIXELS + (spans.row_pixels % GI_SPAN_PIXELS != 0);
    spans.count = (int64_t)(spans.per_row * rows);
    return spans;
}

// How many of `limit` threads the work is worth, at least 1.
static inline int gi_spans_threads(const gi_spans *spans, int limit) {
    int64_t useful = spans->count / GI_SPANS_PER_THREAD;
    if (useful < limit) limit = (int)useful;
    return limit < 1 ? 1 : limit;
}

static inline gi_span gi_spans_at(const gi_spans *spans, int64_t i) {
    size_t row = (size_t)i / spans->per_row;
    size_t x = ((size_t)i % spans->per_row) * GI_SPAN_PIXELS;
    size_t left = spans->row_pixels - x;
    gi_span span = {row, x, left < GI_SPAN_PIXELS ? left : GI_SPAN_PIXELS};
    return span;
}

static inline void *gi_view_pixel(const gi_view *view, size_t row, size_t x) {
    size_t pixel_bytes = (size_t)view->channels * gi_sample_bytes(view->sample);
    return (unsigned char *)view->data + row * view->pitch_bytes + x * pixel_bytes;
}

#endif
