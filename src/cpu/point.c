// Applies a gi_point: cuts the image into spans, shares them out, and takes each through curve -> mix -> curve.
#include "core/point.h"

#include <string.h>

#include "cpu/ops.h"
#include "cpu/point_spans.h"
#include "cpu/spans.h"

// Results of so many bytes leave most caches before they are looked at again.
enum { STREAM_BYTES = 16 << 20 };

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

static void curve_set_make(gi_curve_set *set, const gi_curve *curves, int channels, gi_sample sample) {
    int colours = gi_colour_channels(channels);
    set->curves = curves;
    set->channels = channels;
    set->kind = GI_CURVES_IDENTITY;
    for (int c = 0; c < colours; c++) {
        if (curves[c].kind == GI_CURVE_TABLE)
            set->kind = GI_CURVES_ANY;
        else if (curves[c].kind == GI_CURVE_THRESHOLD && set->kind == GI_CURVES_IDENTITY)
            set->kind = GI_CURVES_THRESHOLD;
    }
    if (set->kind != GI_CURVES_THRESHOLD) return;
    set->pattern.uniform = !gi_has_alpha(channels);
    for (int i = 0; i < GI_PATTERN_SAMPLES; i++) {
        int c = i % channels;
        if (c < colours && (curves[c].kind != GI_CURVE_THRESHOLD || curves[c].level != curves[0].level))
            set->pattern.uniform = false;
        pattern_set(&set->pattern, i, sample, c < colours ? &curves[c] : NULL);
    }
}

static void apply_curves(const gi_point_work *work, const gi_curve_set *set, const void *in, void *out, size_t pixels) {
    gi_curve_span span = {in, out, pixels, set->channels};
    switch (set->kind) {
    case GI_CURVES_THRESHOLD: work->rows->threshold(&span, &set->pattern); break;
    case GI_CURVES_ANY: work->rows->curves(&span, set->curves); break;
    default:
        if (in != out) memcpy(out, in, pixels * (size_t)set->channels * gi_sample_bytes(work->sample));
        break;
    }
}

// The luma of each pixel, what it becomes, and every colour moved by the difference.
static void shift_colours(const gi_point_work *work, const void *in, void *out, size_t pixels) {
    uint16_t luma[GI_SPAN_SHORT * 2], becomes[GI_SPAN_SHORT * 2];
    gi_mix_span mix = {in, luma, pixels, work->channels};
    work->rows->mix_weights(&mix, work->point->weights);
    apply_curves(work, &work->after, luma, becomes, pixels);
    gi_shift_span span = {in, out, luma, becomes, pixels, work->channels};
    work->rows->shift(&span);
}

void gi_point_apply(const gi_point_work *work, const void *in, void *out, size_t pixels) {
    if (work->point->mix == GI_MIX_NONE) {
        apply_curves(work, &work->before, in, out, pixels);
        return;
    }
    uint16_t curved[GI_SPAN_SHORT * GI_MAX_CHANNELS]; // read and written as the image's samples
    if (work->before.kind != GI_CURVES_IDENTITY) {
        apply_curves(work, &work->before, in, curved, pixels);
        in = curved;
    }
    if (work->point->mix == GI_MIX_SHIFT) {
        shift_colours(work, in, out, pixels);
        return;
    }
    gi_mix_span span = {in, out, pixels, work->channels};
    if (work->point->mix == GI_MIX_LINEAR)
        work->rows->mix_linear(&span, work->linear);
    else
        work->rows->mix_weights(&span, work->point->weights);
    apply_curves(work, &work->after, out, out, pixels);
}

gi_status gi_point_prepare(const gi_point *point, gi_point_work *work, gi_error *err) {
    const int channels = point->shape.channels;
    const gi_sample sample = point->shape.sample;
    if ((sample != GI_U8 && sample != GI_U16) || channels < 1 || channels > GI_MAX_CHANNELS ||
        (channels < 3 && point->mix != GI_MIX_NONE))
        return gi_fail(err, GI_ERR_USAGE, "no operation takes images of %d channels", channels);
    *work = (gi_point_work){.point = point, .channels = channels, .sample = sample};
    work->rows = sample == GI_U8 ? &gi_point_rows_u8 : &gi_point_rows_u16;
    if (point->mix == GI_MIX_LINEAR) {
        work->linear = gi_linear_tables_get(sample);
        if (!work->linear) return gi_fail(err, GI_ERR_MEMORY, "out of memory for the tables of linear light");
    }
    curve_set_make(&work->before, point->before, channels, sample);
    if (point->mix != GI_MIX_NONE) curve_set_make(&work->after, &point->after, channels - 2, sample);
    return GI_OK;
}

static gi_status check(const gi_cpu_job *job, const gi_point *point, gi_error *err) {
    const gi_view *in = &job->in, *out = &job->out;
    if (in->sample != GI_U8 && in->sample != GI_U16)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "point operations take 8-bit or 16-bit samples");
    if (point->shape.channels != in->channels || point->shape.sample != in->sample)
        return gi_fail(err, GI_ERR_USAGE, "the operation is not for images of %d channels", in->channels);
    if (out->width != in->width || out->height != in->height || out->channels != gi_point_channels_out(point) ||
        out->sample != in->sample)
        return gi_fail(err, GI_ERR_USAGE, "the output image does not fit the operation");
    return GI_OK;
}

gi_status gi_cpu_point(const gi_cpu_job *job, gi_error *err) {
    const gi_view *in = &job->in, *out = &job->out;
    gi_point_work work;
    gi_status status = check(job, job->args, err);
    if (status == GI_OK) status = gi_point_prepare(job->args, &work, err);
    if (status != GI_OK) return status;

    // In place the lines are in a cache already.
    work.before.pattern.streams = in->data != out->data && out->pitch_bytes * out->height >= STREAM_BYTES;

    const gi_spans spans = gi_spans_make(in, gi_view_is_packed(in) && gi_view_is_packed(out),
                                         work.point->mix == GI_MIX_NONE ? GI_SPAN_LONG : GI_SPAN_SHORT);
    const int threads = gi_spans_threads(in, job->threads);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < spans.count; i++) {
        gi_span at = gi_spans_at(&spans, i);
        gi_point_apply(&work, gi_view_pixel(in, at.row, at.x), gi_view_pixel(out, at.row, at.x), at.pixels);
    }
    return GI_OK;
}
