#include "run/bands.h"

// A band of so many bytes, its result and the little that the codecs hold of it share a core's second-level cache; a
// larger one is worth a team of threads.
enum { STREAMED_BYTES = 1 << 20, STREAMED_HEAVY_BYTES = 4 << 20 };
enum { DEVICE_BYTES = 4 << 20 };  // with less, the calls for a band take the host longer than its copies take the bus
enum { STREAMED_ROWS_STEP = 16 }; // JPEG codecs make and take rows by 8 or 16
enum { STREAMED_HALOS = 8 };      // rows of a band for each of the halo: a quarter of them or less is worked on twice

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
    size_t buffers[2] = {0, 0}, scratch = 0;
    int now = 0;
    bool owned = uploads;
    uint32_t halo = gi_halo_sum(plan, from, to), height = plan->in.height;
    uint32_t input = smaller(height, add_saturated(rows, add_saturated(halo, halo)));
    if (uploads)
        buffers[0] =
            bytes_of(plan, from < plan->segment_count ? plan->segments[from].channels_in : plan->out.channels, input);
    for (int i = from; i < to; i++) {
        const gi_segment *segment = &plan->segments[i];
        size_t samples = (size_t)plan->in.width * (size_t)segment->channels_in * input;
        if (samples * segment->scratch > scratch) scratch = samples * segment->scratch;
        halo = gi_halo_sum(plan, i + 1, to);
        input = smaller(height, add_saturated(rows, add_saturated(halo, halo)));
        if (gi_segment_is_identity(segment) || in_place(segment, uploads, owned)) continue;
        size_t bytes = bytes_of(plan, segment->channels_out, input);
        if (owned) now = 1 - now;
        if (bytes > buffers[now]) buffers[now] = bytes;
        owned = true;
    }
    return buffers[0] + buffers[1] + scratch;
}

// The end of the run that begins at segment `from`: a WINDOW segment, if any, and the POINT segments after it.
static int run_end(const gi_plan *plan, int from) {
    int i = from + 1;
    while (i < plan->segment_count && plan->segments[i].kind != GI_STAGE_WINDOW) i++;
    return i < plan->segment_count ? i : plan->segment_count;
}

static bool fits_memory(const gi_plan *plan, int from, int to, uint32_t rows, const gi_band_rule *rule) {
    return rule->memory == 0 || gi_band_bytes(plan, from, to, rows, rule->uploads) <= rule->memory;
}

// True when the whole plan fits, or (`apart`) every run of it alone.
static bool plan_fits(const gi_plan *plan, bool apart, uint32_t rows, const gi_band_rule *rule) {
    if (!apart) return fits_memory(plan, 0, plan->segment_count, rows, rule);
    for (int i = 0; i < plan->segment_count; i = run_end(plan, i))
        if (!fits_memory(plan, i, run_end(plan, i), rows, rule)) return false;
    return true;
}

// The most rows that fit, up to `most`; 0: not even one.
static uint32_t most_rows(const gi_plan *plan, bool apart, uint32_t most, const gi_band_rule *rule) {
    if (plan_fits(plan, apart, most, rule)) return most;
    uint32_t good = 0, bad = most; // more rows never take less
    while (bad - good > 1) {
        uint32_t middle = good + (bad - good) / 2;
        if (plan_fits(plan, apart, middle, rule))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

uint32_t gi_band_rows(const gi_plan *plan, const gi_band_rule *rule, bool *fits) {
    uint32_t most = smaller(rule->rows, plan->in.height);
    if (most == 0) most = 1;
    uint32_t rows = most_rows(plan, false, most, rule);
    // Bands that are lower than the summed halo do more work on halos than on rows.
    if (rows < most && rows < gi_halo_sum(plan, 0, plan->segment_count)) rows = most_rows(plan, true, most, rule);
    *fits = rows > 0;
    return rows > 0 ? rows : 1;
}

int gi_leg_end(const gi_plan *plan, int from, int to, const gi_band_rule *rule) {
    bool whole = rule->rows >= plan->in.height;
    for (int i = run_end(plan, from); i < to; i = run_end(plan, i)) {
        int end = run_end(plan, i) < to ? run_end(plan, i) : to;
        bool windows = plan->segments[from].kind == GI_STAGE_WINDOW || i > run_end(plan, from);
        bool tall = !whole && windows && gi_halo_sum(plan, from, end) > rule->rows;
        if (tall || !fits_memory(plan, from, end, rule->rows, rule)) return i;
    }
    return to;
}

// The next barrier from segment `from` on whose operation is not known yet, or the plan's end.
static int next_barrier(const gi_plan *plan, int from, int resolved) {
    int i = from;
    while (i < plan->segment_count &&
           (plan->segments[i].counted == GI_COUNTED_NOTHING || plan->segments[i].resolved < resolved))
        i++;
    return i;
}

gi_leg gi_leg_next(const gi_plan *plan, int from, int resolved, const gi_band_rule *rule) {
    int stop = next_barrier(plan, from, resolved), end = gi_leg_end(plan, from, stop, rule);
    gi_leg leg = {.from = from, .to = end};
    if (end < stop) {
        leg.stored = true;
    } else if (stop < plan->segment_count) {
        bool worth = plan->segments[stop].channels_in < plan->segments[from].channels_in;
        for (int i = from; i < stop; i++) worth |= plan->segments[i].kind == GI_STAGE_WINDOW;
        leg.counted = plan->segments[stop].counted;
        leg.stored = worth && rule->rows < plan->in.height;
    } else {
        leg.last = true;
    }
    return leg;
}

// Bands of about that size, but several times the halo.
static uint32_t rows_of(const gi_plan *plan, size_t bytes) {
    size_t row = bytes_of(plan, plan->in.channels, 1);
    size_t rows = bytes / (row ? row : 1);
    uint64_t halos = (uint64_t)gi_halo_sum(plan, 0, plan->segment_count) * STREAMED_HALOS;
    if (rows < halos) rows = halos;
    if (rows == 0) rows = 1;
    rows = (rows + STREAMED_ROWS_STEP - 1) / STREAMED_ROWS_STEP * STREAMED_ROWS_STEP;
    return rows < plan->in.height ? (uint32_t)rows : plan->in.height;
}

uint32_t gi_band_rows_streamed(const gi_plan *plan, bool heavy) {
    return rows_of(plan, heavy ? STREAMED_HEAVY_BYTES : STREAMED_BYTES);
}

uint32_t gi_band_rows_device(const gi_plan *plan, bool streams) {
    // Counting alone brings nothing back that a copy could be hidden behind.
    if (plan->barrier_count > 0 || (plan->measures && !streams)) return plan->in.height;
    return rows_of(plan, DEVICE_BYTES);
}

uint32_t gi_window_rows(const gi_plan *plan, const gi_band_rule *rule) {
    const uint32_t height = plan->in.height;
    gi_leg leg = gi_leg_next(plan, 0, 0, rule);
    if ((!leg.last && !leg.stored) || rule->rows >= height) return height;
    uint32_t halo = gi_halo_sum(plan, leg.from, leg.to);
    return smaller(height, add_saturated(rule->rows, add_saturated(halo, halo)));
}
