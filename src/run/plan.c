#include "run/plan.h"

#include <stdlib.h>
#include <string.h>

static bool is_threshold(const gi_stage_call *call) { return call->stage->id == GI_STAGE_ID_threshold; }

bool gi_plan_is_nothing(const gi_plan *plan) {
    bool nothing = !plan->measures;
    for (int i = 0; i < plan->segment_count; i++) nothing &= gi_segment_is_identity(&plan->segments[i]);
    return nothing;
}

bool gi_call_is_otsu(const gi_stage_call *call) {
    return is_threshold(call) && call->args.threshold.level == GI_LEVEL_OTSU;
}

// What a stage must know of the image before it.
static gi_counted counted_for(const gi_stage_call *call, int channels) {
    bool colour = gi_colour_channels(channels) == 3;
    if (call->stage->id == GI_STAGE_ID_equalize)
        return colour && call->args.equalize.mode == GI_EQUALIZE_LUMA ? GI_COUNTED_LUMA : GI_COUNTED_IMAGE;
    return gi_call_is_otsu(call) ? GI_COUNTED_IMAGE : GI_COUNTED_NOTHING;
}

static gi_stage_call gray_601(void) {
    gi_stage_call call = {.stage = &gi_stage_table[GI_STAGE_ID_gray]};
    gi_stage_defaults(call.stage, &call.args);
    call.args.gray.weights = GI_GRAY_601;
    return call;
}

gi_point gi_luma_point(int channels, gi_sample sample) {
    gi_point point = gi_point_identity(channels, sample);
    point.mix = GI_MIX_WEIGHTS;
    point.weights[0] = GI_LUMA_RED;
    point.weights[1] = GI_LUMA_GREEN;
    point.weights[2] = GI_LUMA_BLUE;
    return point;
}

static gi_segment *add_segment(gi_plan *plan, gi_stage_kind kind) {
    gi_segment *segment = &plan->segments[plan->segment_count++];
    segment->kind = kind;
    segment->calls = &plan->calls[plan->call_count];
    segment->channels_in = segment->channels_out = plan->out.channels;
    if (kind == GI_STAGE_POINT) segment->point = gi_point_identity(plan->out.channels, plan->out.sample);
    return segment;
}

static void add_call(gi_plan *plan, gi_segment *segment, const gi_stage_call *call) {
    plan->calls[plan->call_count++] = *call;
    segment->count++;
}

// The segment that the next POINT call joins: the last one, unless nothing composes with what it ends in.
static gi_segment *segment_to_join(gi_plan *plan) {
    gi_segment *last = plan->segment_count > 0 ? &plan->segments[plan->segment_count - 1] : NULL;
    bool open = last && last->kind == GI_STAGE_POINT && last->counted != GI_COUNTED_LUMA;
    return open ? last : add_segment(plan, GI_STAGE_POINT);
}

static gi_status add_point(gi_plan *plan, const gi_stage_call *call, gi_error *err) {
    gi_point_input in = {plan->out.channels, plan->out.sample, NULL};
    gi_point point, both;
    gi_status status = call->stage->point(&call->args, &in, &point, err);
    if (status != GI_OK) return status;
    gi_segment *segment = segment_to_join(plan);
    status = gi_point_compose(&segment->point, &point, &both, err);
    plan->binary = is_threshold(call) || (plan->binary && gi_point_is_identity(&point));
    gi_point_free(&point);
    if (status != GI_OK) return status;
    gi_point_free(&segment->point);
    segment->point = both;
    add_call(plan, segment, call);
    plan->out.channels = segment->channels_out = gi_point_channels_out(&both);
    return GI_OK;
}

// A stage that is made from counts keeps the channels.
static gi_status add_barrier(gi_plan *plan, const gi_stage_call *call, gi_error *err) {
    if (gi_call_is_otsu(call) && gi_colour_channels(plan->out.channels) == 3) {
        gi_stage_call gray = gray_601();
        gi_status status = add_point(plan, &gray, err);
        if (status != GI_OK) return status;
    }
    if (plan->barrier_count == GI_MAX_RESOLVED)
        return gi_fail(err, GI_ERR_USAGE, "more than %d stages that need a histogram", (int)GI_MAX_RESOLVED);
    gi_segment *segment = add_segment(plan, GI_STAGE_POINT);
    segment->counted = counted_for(call, plan->out.channels);
    segment->resolved = plan->barrier_count++;
    plan->binary = is_threshold(call);
    add_call(plan, segment, call);
    return GI_OK;
}

static gi_status add_window(gi_plan *plan, const gi_stage_call *call, gi_error *err) {
    gi_status status = call->stage->check(&call->args, plan->out.sample, err);
    if (status != GI_OK) return status;
    gi_segment *segment = add_segment(plan, GI_STAGE_WINDOW);
    segment->halo = call->stage->halo(&call->args);
    segment->scratch = call->stage->scratch(&call->args);
    plan->binary = false;
    add_call(plan, segment, call);
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

static gi_status add_stage(gi_plan *plan, const gi_stage_call *call, gi_error *err) {
    if (call->stage->kind == GI_STAGE_MEASURE) return set_sink(plan, call, err);
    if (call->stage->kind == GI_STAGE_WINDOW) return add_window(plan, call, err);
    bool barrier = counted_for(call, plan->out.channels) != GI_COUNTED_NOTHING;
    return barrier ? add_barrier(plan, call, err) : add_point(plan, call, err);
}

gi_status gi_plan_make(const gi_pipeline *pipeline, gi_shape shape, gi_plan *plan, gi_error *err) {
    memset(plan, 0, sizeof *plan);
    plan->in = plan->out = shape;
    gi_status status = gi_pipeline_check(pipeline, err);
    if (status != GI_OK) return status;
    if (shape.channels < 1 || shape.channels > GI_MAX_CHANNELS || (shape.sample != GI_U8 && shape.sample != GI_U16))
        return gi_fail(err, GI_ERR_UNSUPPORTED, "no pipeline takes this kind of image");
    // One segment and call at most for each stage, and one for an implied gray in front.
    size_t room = (size_t)pipeline->count + 1;
    plan->segments = calloc(room, sizeof *plan->segments);
    plan->calls = calloc(room, sizeof *plan->calls);
    if (!plan->segments || !plan->calls)
        return gi_fail(err, GI_ERR_MEMORY, "no memory for a plan of %d stages", pipeline->count);
    for (int i = 0; i < pipeline->count && status == GI_OK; i++) status = add_stage(plan, &pipeline->calls[i], err);
    return status;
}

void gi_plan_free(gi_plan *plan) {
    if (!plan) return;
    for (int i = 0; plan->segments && i < plan->segment_count; i++)
        if (plan->segments[i].kind == GI_STAGE_POINT) gi_point_free(&plan->segments[i].point);
    free(plan->segments);
    free(plan->calls);
    plan->segments = NULL;
    plan->calls = NULL;
    plan->segment_count = plan->call_count = 0;
}

bool gi_segment_is_identity(const gi_segment *segment) {
    return segment->kind == GI_STAGE_POINT && segment->counted == GI_COUNTED_NOTHING &&
           gi_point_is_identity(&segment->point);
}

bool gi_pipeline_takes_luma(const gi_pipeline *pipeline) {
    if (pipeline->count == 0) return false;
    const gi_stage_call *first = &pipeline->calls[0];
    bool gray = first->stage->id == GI_STAGE_ID_gray && first->args.gray.weights == GI_GRAY_601;
    return gray || gi_call_is_otsu(first);
}
