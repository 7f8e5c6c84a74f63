// A point operation made ready to be applied to spans of pixels: by gi_cpu_point, and by what looks at an image through
// one without storing it.
#ifndef GI_CPU_POINT_SPANS_H
#define GI_CPU_POINT_SPANS_H

#include <stddef.h>

#include "core/point.h"
#include "core/status.h"
#include "cpu/point_rows.h"

typedef enum gi_curves_kind { GI_CURVES_IDENTITY, GI_CURVES_THRESHOLD, GI_CURVES_ANY } gi_curves_kind;

// The curves of all colour channels at one place of the operation.
typedef struct gi_curve_set {
    const gi_curve *curves; // one for each colour channel
    gi_curves_kind kind;
    int channels;
    gi_threshold_pattern pattern; // GI_CURVES_THRESHOLD
} gi_curve_set;

typedef struct gi_point_work {
    const gi_point *point;
    const gi_point_rows *rows;
    const gi_linear_tables *linear; // GI_MIX_LINEAR
    gi_curve_set before, after;
    int channels;
    gi_sample sample;
} gi_point_work;

// Makes *work ready; the point must outlive it. GI_ERR_USAGE: there is no such image; GI_ERR_MEMORY: no tables for
// GI_MIX_LINEAR.
gi_status gi_point_prepare(const gi_point *point, gi_point_work *work, gi_error *err);

// Applies it to pixels in a row, with a mix to at most GI_SPAN_SHORT of them (cpu/spans.h). `out` may be `in` when the
// channels stay the same.
void gi_point_apply(const gi_point_work *work, const void *in, void *out, size_t pixels);

#endif
