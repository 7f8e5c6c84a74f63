#include "run/bands.h"

static uint32_t add_saturated(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

uint32_t gi_halo_sum(const gi_plan *plan, int from, int to) {
    uint32_t sum = 0;
    for (int i = from; i < to; i++) sum = add_saturated(sum, plan->segments[i].halo);
    return sum;
}

gi_rows gi_rows_needed(const gi_plan *plan, int from, int to, gi_rows rows) {
    uint32_t halo = gi_halo_sum(plan, from, to);
    uint32_t above = smaller(halo, rows.y), below = smaller(halo, plan->in.height - rows.y - rows.count);
    return (gi_rows){rows.y - above, above + rows.count + below};
}

static size_t bytes_of(const gi_plan *plan, int channels, uint32_t rows) {
    return gi_row_bytes(plan->in.width, channels, plan->in.sample) * rows;
}

// True when the segment's result takes the place of its input: a backend that reads its input where it lies must not
// write there, but into what it made itself it may.
static bool in_place(const gi_segment *segment, bool uploads, bool owned) {
    return !uploads && owned && segment->kind == GI_STAGE_POINT && segment->channels_in == segment->channels_out;
}

size_t gi_band_bytes(const gi_plan *plan, int from, int to, uint32_t rows, bool uploads) {
    size_t buffers[2] = {0, 0};
    int now = 0;
    bool owned = uploads;
    uint32_t halo = gi_halo_sum(plan, from, to), height = plan->in.height;
    uint32_t input = smaller(height, add_saturated(rows, add_saturated(halo, halo)));
    if (uploads)
        buffers[0] =
            bytes_of(plan, from < plan->segment_count ? plan->segments[from].channels_in : plan->out.channels, input);
    for (int i = from; i < to; i++) {
        const gi_segment *segment = &plan->segments[i];
        if (gi_segment_is_identity(segment) || in_place(segment, uploads, owned)) continue;
        halo = gi_halo_sum(plan, i + 1, to);
        size_t bytes =
            bytes_of(plan, segment->channels_out, smaller(height, add_saturated(rows, add_saturated(halo, halo))));
        if (owned) now = 1 - now;
        if (bytes > buffers[now]) buffers[now] = bytes;
        owned = true;
    }
    return buffers[0] + buffers[1];
}

// True when every segment alone, and the counting of the result, fits.
static bool all_fit(const gi_plan *plan, uint32_t rows, const gi_band_rule *rule) {
    for (int i = 0; i < plan->segment_count; i++)
        if (gi_band_bytes(plan, i, i + 1, rows, rule->uploads) > rule->memory) return false;
    int end = plan->segment_count;
    return gi_band_bytes(plan, end, end, rows, rule->uploads) <= rule->memory;
}

uint32_t gi_band_rows(const gi_plan *plan, const gi_band_rule *rule, bool *fits) {
    uint32_t most = smaller(rule->rows, plan->in.height);
    *fits = true;
    if (most <= 1) most = 1;
    if (rule->memory == 0 || all_fit(plan, most, rule)) return most;
    uint32_t good = 0, bad = most; // more rows never take less
    while (bad - good > 1) {
        uint32_t middle = good + (bad - good) / 2;
        if (all_fit(plan, middle, rule))
            good = middle;
        else
            bad = middle;
    }
    *fits = good > 0;
    return good > 0 ? good : 1;
}

int gi_leg_end(const gi_plan *plan, int from, int to, const gi_band_rule *rule) {
    bool whole = rule->rows >= plan->in.height;
    int windows = 0;
    for (int i = from; i < to; i++) {
        bool window = plan->segments[i].kind == GI_STAGE_WINDOW;
        bool tall = !whole && window && windows > 0 && gi_halo_sum(plan, from, i + 1) > rule->rows;
        bool large = rule->memory > 0 && gi_band_bytes(plan, from, i + 1, rule->rows, rule->uploads) > rule->memory;
        if (i > from && (tall || large)) return i;
        windows += window;
    }
    return to;
}
