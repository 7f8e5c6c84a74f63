#include "run/plan.h"

#include <stdlib.h>
#include <string.h>

// True for a stage that takes a level from the histogram of the (gray) image it is given.
static bool wants_histogram(const gi_stage_call *call) {
    return call->stage->id == GI_STAGE_ID_threshold && call->args.threshold.level == GI_LEVEL_OTSU;
}

static gi_stage_call gray_601(void) {
    gi_stage_call call = {.stage = &gi_stage_table[GI_STAGE_ID_gray]};
    gi_stage_defaults(call.stage, &call.args);
    call.args.gray.weights = GI_GRAY_601;
    return call;
}

// The segment that the next call joins; a new one at a barrier and at the start.
static gi_segment *segment_for(gi_plan *plan, bool barrier) {
    if (plan->segment_count > 0 && !barrier) return &plan->segments[plan->segment_count - 1];
    gi_segment *segment = &plan->segments[plan->segment_count++];
    segment->channels_in = plan->out.channels;
    segment->barrier = barrier;
    return segment;
}

// Adds a POINT call to the plan. Without a histogram its operation can be tried at once, which checks its values.
static gi_status add_call(gi_plan *plan, const gi_stage_call *call, gi_error *err) {
    bool barrier = wants_histogram(call);
    if (barrier && gi_colour_channels(plan->out.channels) == 3) {
        gi_stage_call gray = gray_601();
        gi_status status = add_call(plan, &gray, err);
        if (status != GI_OK) return status;
    }
    gi_segment *segment = segment_for(plan, barrier);
    segment->calls[segment->count++] = *call;
    if (barrier) return GI_OK;
    gi_point_input in = {plan->out.channels, plan->out.sample, NULL};
    gi_point point;
    gi_status status = call->stage->point(&call->args, &in, &point, err);
    if (status != GI_OK) return status;
    plan->out.channels = gi_point_channels_out(&point);
    gi_point_free(&point);
    return GI_OK;
}

static gi_status set_sink(gi_plan *plan, const gi_stage_call *call, gi_error *err) {
    uint32_t levels = gi_sample_max(plan->out.sample) + 1;
    plan->measures = true;
    plan->hist = call->args.hist;
    if (plan->hist.bins > 0 && (uint32_t)plan->hist.bins > levels)
        return gi_fail(err, GI_ERR_USAGE, "hist bins=%d does not fit the image: samples of %d bits have %u levels",
                       (int)plan->hist.bins, plan->out.sample == GI_U8 ? 8 : 16, levels);
    return GI_OK;
}

gi_status gi_plan_make(const gi_pipeline *pipeline, gi_shape shape, gi_plan *plan, gi_error *err) {
    memset(plan, 0, sizeof *plan);
    plan->in = plan->out = shape;
    gi_status status = gi_pipeline_check(pipeline, err);
    if (status != GI_OK) return status;
    if (shape.channels < 1 || shape.channels > GI_MAX_CHANNELS || (shape.sample != GI_U8 && shape.sample != GI_U16))
        return gi_fail(err, GI_ERR_UNSUPPORTED, "no pipeline takes this kind of image");
    // One segment at most for each stage, and one for an implied gray in front.
    plan->segments = calloc((size_t)pipeline->count + 1, sizeof *plan->segments);
    if (!plan->segments) return gi_fail(err, GI_ERR_MEMORY, "no memory for a plan of %d stages", pipeline->count);
    for (int i = 0; i < pipeline->count && status == GI_OK; i++) {
        const gi_stage_call *call = &pipeline->calls[i];
        bool sink = call->stage->kind == GI_STAGE_MEASURE;
        status = sink ? set_sink(plan, call, err) : add_call(plan, call, err);
    }
    return status;
}

void gi_plan_free(gi_plan *plan) {
    if (!plan) return;
    free(plan->segments);
    plan->segments = NULL;
    plan->segment_count = 0;
}

gi_status gi_plan_point(const gi_plan *plan, int i, const gi_histogram *histogram, gi_point *point, gi_error *err) {
    const gi_segment *segment = &plan->segments[i];
    gi_status status = GI_OK;
    *point = gi_point_identity(segment->channels_in, plan->in.sample);
    for (int k = 0; k < segment->count && status == GI_OK; k++) {
        const gi_stage_call *call = &segment->calls[k];
        bool measured = segment->barrier && k == 0;
        gi_point_input in = {gi_point_channels_out(point), plan->in.sample, measured ? histogram : NULL};
        gi_point next, both;
        status = call->stage->point(&call->args, &in, &next, err);
        if (status != GI_OK) break;
        status = gi_point_compose(point, &next, &both, err);
        gi_point_free(&next);
        if (status != GI_OK) break;
        gi_point_free(point);
        *point = both;
    }
    if (status != GI_OK) gi_point_free(point);
    return status;
}

bool gi_pipeline_takes_luma(const gi_pipeline *pipeline) {
    if (pipeline->count == 0) return false;
    const gi_stage_call *first = &pipeline->calls[0];
    bool gray = first->stage->id == GI_STAGE_ID_gray && first->args.gray.weights == GI_GRAY_601;
    return gray || wants_histogram(first);
}
