// A plan: a pipeline fitted to one kind of image, cut into segments at barriers.
//
// A segment is a run of stages that goes over the image in one pass: here POINT stages composed into one operation. A
// stage that needs a histogram (threshold otsu) begins a segment with a barrier: the histogram of the whole image as it
// then is must be known before any of its rows can be made.
#ifndef GI_RUN_PLAN_H
#define GI_RUN_PLAN_H

#include <stdbool.h>

#include "core/pipeline.h"
#include "core/point.h"
#include "core/status.h"
#include "core/view.h"

typedef struct gi_segment {
    gi_stage_call calls[GI_MAX_STAGES + 1]; // POINT stages, in order; implied ones (otsu's gray) spelt out
    int count;
    int channels_in;
    bool barrier; // the first call wants the histogram of the segment's input
} gi_segment;

typedef struct gi_plan {
    gi_segment *segments; // owned
    int segment_count;    // 0 when the pipeline is `hist` alone
    gi_shape in, out;     // out: what is encoded, or measured by the sink
    bool measures;        // the pipeline ends in hist: no image comes out
    gi_hist_args hist;    // its arguments
} gi_plan;

// Fits the pipeline to images of that shape. GI_ERR_USAGE for values that the depth does not allow. Free with
// gi_plan_free, also after failure.
gi_status gi_plan_make(const gi_pipeline *pipeline, gi_shape shape, gi_plan *plan, gi_error *err);
void gi_plan_free(gi_plan *plan);

// Composes the operation of segment i. `histogram` is that of the segment's input where it has a barrier, else NULL.
gi_status gi_plan_point(const gi_plan *plan, int i, const gi_histogram *histogram, gi_point *point, gi_error *err);

// True when the pipeline begins with gray 601 (or otsu, which implies it), so that a YCbCr JPEG's luma plane serves.
bool gi_pipeline_takes_luma(const gi_pipeline *pipeline);

#endif
