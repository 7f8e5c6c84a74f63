// A plan: a pipeline fitted to one kind of image, cut into segments.
//
// A segment is one step over the image: a run of POINT stages composed into one operation, or one WINDOW stage. A stage
// that needs a histogram (threshold otsu, equalize) begins a POINT segment with a barrier: the whole image as it then
// is must be counted before any of the segment's rows can be made.
#ifndef GI_RUN_PLAN_H
#define GI_RUN_PLAN_H

#include <stdbool.h>

#include "core/backend.h"
#include "core/pipeline.h"
#include "core/point.h"
#include "core/status.h"
#include "core/view.h"

typedef enum gi_counted { GI_COUNTED_NOTHING, GI_COUNTED_IMAGE, GI_COUNTED_LUMA } gi_counted;

typedef struct gi_segment {
    gi_stage_kind kind;         // GI_STAGE_POINT or GI_STAGE_WINDOW
    const gi_stage_call *calls; // in order, implied ones (otsu's gray) spelt out; one for WINDOW
    int count;
    int channels_in, channels_out;
    // POINT: the calls' operation. With a barrier: what follows the first call, which is resolved from the counts.
    gi_point point;
    gi_counted counted; // what the barrier in front counts; GI_COUNTED_NOTHING: no barrier
    int resolved;       // number of the barrier's operation in the slot
    uint32_t halo;      // WINDOW: rows looked at up and down; UINT32_MAX: the whole image
    uint32_t scratch;   // WINDOW: bytes that it takes for itself for each sample of its input
} gi_segment;

typedef struct gi_plan {
    gi_segment *segments; // owned
    int segment_count;    // 0 when the pipeline is `hist` alone
    gi_stage_call *calls; // owned: those of the segments
    int call_count;
    int barrier_count; // at most GI_MAX_RESOLVED
    gi_shape in, out;  // out: what is encoded, or measured by the sink
    bool binary;       // every colour sample of the result is 0 or the largest: a threshold is the last that changes it
    bool measures;     // the pipeline ends in hist: no image comes out
    gi_hist_args hist; // its arguments
} gi_plan;

// Fits the pipeline to images of that shape. GI_ERR_USAGE for values that the depth does not allow, and for more
// barriers than a slot keeps operations of. Free with gi_plan_free, also after failure.
gi_status gi_plan_make(const gi_pipeline *pipeline, gi_shape shape, gi_plan *plan, gi_error *err);
void gi_plan_free(gi_plan *plan);

// True when segment i changes no pixel, so that it can be left out.
bool gi_segment_is_identity(const gi_segment *segment);

// True when the decoded rows are the result.
bool gi_plan_is_nothing(const gi_plan *plan);

// True for threshold with a level that is taken from the histogram.
bool gi_call_is_otsu(const gi_stage_call *call);

// True when the pipeline begins with gray 601 (or otsu, which implies it), so that a YCbCr JPEG's luma plane serves.
bool gi_pipeline_takes_luma(const gi_pipeline *pipeline);

// The Rec. 601 luma of images of 3 or 4 channels, as the gray stage has it.
gi_point gi_luma_point(int channels, gi_sample sample);

#endif
