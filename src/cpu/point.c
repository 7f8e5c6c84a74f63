// Applies a gi_point: cuts the image into spans, shares them out, and takes each through curve -> mix -> curve.
#include "core/point.h"

#include <string.h>

#include "cpu/ops.h"
#include "cpu/point_rows.h"
#include "cpu/spans.h"

typedef enum curves_kind { CURVES_IDENTITY, CURVES_THRESHOLD, CURVES_ANY } curves_kind;

// The curves of all colour channels at one place of the operation.
typedef struct curve_set {
    const gi_curve *curves; // one for each colour channel
    curves_kind kind;
    int channels;
    gi_threshold_pattern pattern; // CURVES_THRESHOLD
} curve_set;

typedef struct point_work {
    const gi_point *point;
    const gi_point_rows *rows;
    const gi_linear_tables *linear; // GI_MIX_LINEAR
    curve_set before, after;
    gi_view in, out;
    gi_spans spans;
} point_work;

static void pattern_set(gi_threshold_pattern *pattern, int i, gi_sample sample, const gi_curve *curve) {
    uint32_t max = gi_sample_max(sample);
    uint32_t level = curve && curve->level < max ? curve->level : max;
    uint32_t keep = !curve || curve->kind == GI_CURVE_IDENTITY ? max : 0;
    if (sample == GI_U8) {
        pattern->level.u8[i] = (uint8_t)level;
        pattern->keep.u8[i] = (uint8_t)keep;
    } else {
        pattern->level.u16[i] = (uint16_t)level;
        pattern->keep.u16[i] = (uint16_t)keep;
    }
}

static void curve_set_make(curve_set *set, const gi_curve *curves, int channels, gi_sample sample) {
    int colours = gi_colour_channels(channels);
    set->curves = curves;
    set->channels = channels;
    set->kind = CURVES_IDENTITY;
    for (int c = 0; c < colours; c++) {
        if (curves[c].kind == GI_CURVE_TABLE)
            set->kind = CURVES_ANY;
        else if (curves[c].kind == GI_CURVE_THRESHOLD && set->kind == CURVES_IDENTITY)
            set->kind = CURVES_THRESHOLD;
    }
    if (set->kind != CURVES_THRESHOLD) return;
    set->pattern.uniform = !gi_has_alpha(channels);
    for (int i = 0; i < GI_PATTERN_SAMPLES; i++) {
        int c = i % channels;
        if (c < colours && (curves[c].kind != GI_CURVE_THRESHOLD || curves[c].level != curves[0].level))
            set->pattern.uniform = false;
        pattern_set(&set->pattern, i, sample, c < colours ? &curves[c] : NULL);
    }
}

static void apply_curves(const point_work *work, const curve_set *set, const void *in, void *out, size_t pixels) {
    gi_curve_span span = {in, out, pixels, set->channels};
    switch (set->kind) {
    case CURVES_THRESHOLD: work->rows->threshold(&span, &set->pattern); break;
    case CURVES_ANY: work->rows->curves(&span, set->curves); break;
    default:
        if (in != out) memcpy(out, in, pixels * (size_t)set->channels * gi_sample_bytes(work->in.sample));
        break;
    }
}

static void apply_span(const point_work *work, gi_span at) {
    const void *in = gi_view_pixel(&work->in, at.row, at.x);
    void *out = gi_view_pixel(&work->out, at.row, at.x);
    if (work->point->mix == GI_MIX_NONE) {
        apply_curves(work, &work->before, in, out, at.pixels);
        return;
    }
    uint16_t curved[GI_SPAN_SHORT * GI_MAX_CHANNELS]; // read and written as the image's samples
    if (work->before.kind != CURVES_IDENTITY) {
        apply_curves(work, &work->before, in, curved, at.pixels);
        in = curved;
    }
    gi_mix_span span = {in, out, at.pixels, work->in.channels};
    if (work->point->mix == GI_MIX_LINEAR)
        work->rows->mix_linear(&span, work->linear);
    else
        work->rows->mix_weights(&span, work->point->weights);
    apply_curves(work, &work->after, out, out, at.pixels);
}

static gi_status check(const gi_cpu_job *job, const gi_point *point, gi_error *err) {
    const gi_view *in = &job->in, *out = &job->out;
    int channels_out = point->mix == GI_MIX_NONE ? in->channels : in->channels - 2;
    if (in->sample != GI_U8 && in->sample != GI_U16)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "point operations take 8-bit or 16-bit samples");
    if (in->channels < 1 || in->channels > GI_MAX_CHANNELS || channels_out < 1 ||
        point->shape.channels != in->channels || point->shape.sample != in->sample)
        return gi_fail(err, GI_ERR_USAGE, "the operation is not for images of %d channels", in->channels);
    if (out->width != in->width || out->height != in->height || out->channels != channels_out ||
        out->sample != in->sample)
        return gi_fail(err, GI_ERR_USAGE, "the output image does not fit the operation");
    return GI_OK;
}

gi_status gi_cpu_point(const gi_cpu_job *job, gi_error *err) {
    const gi_point *point = job->args;
    gi_status status = check(job, point, err);
    if (status != GI_OK) return status;

    point_work work = {.point = point, .in = job->in, .out = job->out};
    work.rows = job->in.sample == GI_U8 ? &gi_point_rows_u8 : &gi_point_rows_u16;
    if (point->mix == GI_MIX_LINEAR) {
        work.linear = gi_linear_tables_get(job->in.sample);
        if (!work.linear) return gi_fail(err, GI_ERR_MEMORY, "out of memory for the tables of linear light");
    }
    curve_set_make(&work.before, point->before, job->in.channels, job->in.sample);
    if (point->mix != GI_MIX_NONE) curve_set_make(&work.after, &point->after, job->out.channels, job->in.sample);
    work.spans = gi_spans_make(&job->in, gi_view_is_packed(&job->in) && gi_view_is_packed(&job->out),
                               point->mix == GI_MIX_NONE ? GI_SPAN_LONG : GI_SPAN_SHORT);

    const int64_t count = work.spans.count;
    const int threads = gi_spans_threads(&job->in, job->threads);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < count; i++) apply_span(&work, gi_spans_at(&work.spans, i));
    return GI_OK;
}
