// A source of spans for inflate.
#ifndef INFLATE_SPANS_H
#define INFLATE_SPANS_H

#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"

// Of `step` bytes, each in memory of its own so that reading past one is found; 0: all at once.
typedef struct spans {
    gi_bytes left;
    size_t step;
    uint8_t *copy;
} spans;

static inline gi_bytes next_span(void *context) {
    spans *s = context;
    gi_bytes span = {s->left.data, s->step && s->step < s->left.size ? s->step : s->left.size};
    s->left = (gi_bytes){s->left.data + span.size, s->left.size - span.size};
    free(s->copy);
    s->copy = malloc(span.size ? span.size : 1);
    if (span.size) memcpy(s->copy, span.data, span.size);
    span.data = s->copy;
    return span;
}

#endif
