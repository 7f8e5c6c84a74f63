#include "run/work.h"

// Seconds for each pixel that decoding and encoding take on one core, roughly.
static const double codec_pixel_seconds = 8e-9;

static double bytes_of(const gi_plan *plan, int channels, uint32_t rows) {
    return (double)gi_row_bytes(plan->in.width, channels, plan->in.sample) * rows;
}

// Channels of the image before segment i, or of the result.
static int channels_at(const gi_plan *plan, int i) {
    return i < plan->segment_count ? plan->segments[i].channels_in : plan->out.channels;
}

// One band of a leg. `held`: the segment before which the slot holds it already; -1: it is uploaded.
static void add_band(gi_work *work, const gi_plan *plan, const gi_leg *leg, int held, gi_rows rows, bool uploads) {
    int from = held >= 0 ? held : leg->from;
    uint32_t in = gi_rows_needed(plan, from, leg->to, rows).count;
    if (uploads && held < 0) work->up += bytes_of(plan, channels_at(plan, from), in);
    for (int i = from; i < leg->to; i++) {
        const gi_segment *segment = &plan->segments[i];
        uint32_t out = gi_rows_needed(plan, i + 1, leg->to, rows).count;
        if (!gi_segment_is_identity(segment)) {
            work->read += bytes_of(plan, segment->channels_in, in);
            work->written += bytes_of(plan, segment->channels_out, out);
        }
        in = out;
    }
    double result = bytes_of(plan, channels_at(plan, leg->to), rows.count);
    bool downloads = leg->stored || (leg->last && !plan->measures);
    if (leg->counted != GI_COUNTED_NOTHING || (leg->last && plan->measures)) work->read += result;
    if (uploads && downloads) work->down += result;
}

static void add_leg(gi_work *work, const gi_plan *plan, const gi_leg *leg, int held, const gi_band_rule *rule) {
    const uint32_t height = plan->in.height;
    for (uint64_t y = 0; y < height; y += rule->rows) {
        gi_rows rows = {(uint32_t)y, height - (uint32_t)y};
        if (rows.count > rule->rows) rows.count = rule->rows;
        add_band(work, plan, leg, held, rows, rule->uploads);
    }
    size_t working = gi_band_bytes(plan, leg->from, leg->to, rule->rows, rule->uploads);
    if (working > work->working) work->working = working;
    work->legs++;
}

gi_work gi_work_of(const gi_plan *plan, const gi_band_rule *rule) {
    gi_work work = {.image = (size_t)bytes_of(plan, plan->in.channels, plan->in.height),
                    .window = (size_t)bytes_of(plan, plan->in.channels, gi_window_rows(plan, rule))};
    gi_leg leg = {.last = false};
    int from = 0, resolved = 0, held = -1;
    size_t stored = 0;
    work.bands = rule->rows < plan->in.height ? (plan->in.height - 1) / rule->rows + 1 : 1;
    if (gi_plan_is_nothing(plan)) return work;
    while (!leg.last) {
        leg = gi_leg_next(plan, from, resolved, rule);
        add_leg(&work, plan, &leg, held, rule);
        held = work.bands == 1 && !leg.stored ? leg.to : -1;
        if (leg.stored) {
            size_t next = (size_t)bytes_of(plan, channels_at(plan, leg.to), plan->in.height);
            if (stored + next > work.stored) work.stored = stored + next;
            stored = next;
            from = leg.to;
        }
        if (leg.counted != GI_COUNTED_NOTHING) resolved++;
    }
    return work;
}

bool gi_work_outlasts_codecs(double pixel_seconds) { return pixel_seconds > codec_pixel_seconds; }

bool gi_work_is_heavy(const gi_plan *plan) {
    double pixel_seconds = 0;
    for (int i = 0; i < plan->segment_count; i++) {
        const gi_segment *segment = &plan->segments[i];
        if (segment->kind != GI_STAGE_WINDOW) continue; // the others run at the speed of memory
        pixel_seconds += segment->calls[0].stage->cost(&segment->calls[0].args).core_seconds * segment->channels_in;
    }
    return gi_work_outlasts_codecs(pixel_seconds);
}
