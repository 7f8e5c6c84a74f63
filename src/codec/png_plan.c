#include "codec/png_plan.h"

#include "codec/bytes.h"
#include "codec/deflate_huffman.h"

// What a level does. In the options `pixel`, `row` and `brief` are the band's.
typedef struct effort {
    uint32_t share;           // one byte in so many is tried
    int candidates;           // how many of the list below are tried
    gi_match_options matches; // for the trial: a quarter of the chain, and not lazy unless the whole band is tried
} effort;

// A filter; whether the near distances alone make its matches: in masks and drawings their runs are cheaper than
// anything further away; and whether samples flatter it: other matches are short of history there, and rows of one
// filter alone are more often good in places than throughout.
typedef struct candidate {
    int filter;
    bool near, doubtful;
} candidate;

static const candidate candidates[] = {{GI_PNG_ADAPTIVE, false, false}, {GI_PNG_NONE, false, false},
                                       {GI_PNG_NONE, true, true},       {GI_PNG_UP, false, true},
                                       {GI_PNG_SUB, false, true},       {GI_PNG_PAETH, false, true},
                                       {GI_PNG_AVERAGE, false, true}};

static const effort efforts[10] = {
    [1] = {16, 3, {0, 0, 1, 0, 32, 8, false}},     [2] = {16, 5, {0, 0, 4, 0, 64, 32, true}},
    [3] = {16, 5, {0, 0, 16, 0, 64, 32, true}},    [4] = {16, 5, {0, 0, 32, 0, 128, 64, true}},
    [5] = {16, 5, {0, 0, 64, 0, 128, 64, true}},   [6] = {16, 5, {0, 0, 128, 0, 128, 64, true}},
    [7] = {4, 7, {0, 0, 256, 0, 258, 258, true}},  [8] = {1, 7, {0, 0, 1024, 0, 258, 258, true}},
    [9] = {1, 7, {0, 0, 4096, 0, 258, 258, true}},
};

static size_t filter_row(const gi_png_row *in, int filter, uint8_t *out) {
    if (filter == GI_PNG_ADAPTIVE)
        gi_png_filter(in, out);
    else
        gi_png_filter_row((gi_png_filter_type)filter, in, out);
    return 1 + in->size;
}

// `size` bytes of row y from x on.
static gi_png_row row_of(const gi_png_planner *planner, const gi_png_band *band, uint32_t y, size_t x, size_t size) {
    const uint8_t *row = band->rows + y * band->pitch_bytes, *above = y ? row - band->pitch_bytes : band->above;
    return (gi_png_row){row + x, (above ? above : planner->zeros + GI_PNG_MARGIN) + x, size, band->pixel};
}

size_t gi_png_filter_rows(const gi_png_planner *planner, const gi_png_band *band, int filter, uint8_t *out) {
    uint8_t *start = out;
    for (uint32_t y = 0; y < band->height; y++) {
        gi_png_row row = row_of(planner, band, y, 0, band->row_bytes);
        out += filter_row(&row, filter, out);
    }
    return (size_t)(out - start);
}

// ---- the sample ---------------------------------------------------------------------------------------------------

enum { WIDE = 4096, LOW = 2 }; // bytes and rows of a window in which matches are looked for

// Windows of the band: rows are tried in part, so that few bytes show what lies one above the other.
typedef struct sample {
    size_t width; // bytes
    uint32_t rows, windows;
    bool whole; // one window, which is the band
} sample;

static sample whole_of(const gi_png_band *band) { return (sample){band->row_bytes, band->height, 1, true}; }

// One byte in `share`, in windows of that size.
static sample sample_of(const gi_png_band *band, uint32_t share, size_t width, uint32_t rows) {
    if (rows > band->height) rows = band->height;
    if (width > band->row_bytes) width = band->row_bytes;
    if (width > band->pixel) width -= width % band->pixel;
    size_t bytes = (band->row_bytes + 1) * band->height, windows = bytes / share / ((width + 1) * rows);
    if (windows == 0) windows = 1;
    if (share == 1 || windows * (width + 1) * rows > bytes / 2) return whole_of(band);
    return (sample){width, rows, (uint32_t)windows, false};
}

// The windows go down the band and to and fro across it. Their rows, filtered, one after the other.
static gi_bytes filter_sample(const gi_png_planner *planner, const gi_png_band *band, const sample *s, int filter) {
    enum { GOLDEN = 40503, WHOLE = 65536 }; // 2^16 by the golden ratio: places that never crowd
    uint8_t *out = planner->scratch;
    for (uint32_t k = 0; k < s->windows; k++) {
        uint32_t y = (uint32_t)((uint64_t)(band->height - s->rows) * (2 * k + 1) / (2 * s->windows));
        size_t across = (band->row_bytes - s->width) / band->pixel;
        size_t x = across * ((k * GOLDEN + WHOLE / 2) % WHOLE) / WHOLE * band->pixel;
        for (uint32_t end = y + s->rows; y < end; y++) {
            gi_png_row row = row_of(planner, band, y, x, s->width);
            out += filter_row(&row, filter, out);
        }
    }
    return (gi_bytes){planner->scratch, (size_t)(out - planner->scratch)};
}

// In how many of 1000 places eight bytes stand that stood before.
static uint32_t repeats(gi_bytes data) {
    enum { TABLE_BITS = 12 };
    uint64_t table[1 << TABLE_BITS] = {0};
    size_t hits = 0, places = data.size >= 8 ? data.size - 7 : 0;
    for (size_t i = 0; i < places; i++) {
        uint64_t bytes = (uint64_t)gi_le32(data.data + i + 4) << 32 | gi_le32(data.data + i);
        uint64_t *seen = &table[bytes * 0x9E3779B97F4A7C15U >> (64 - TABLE_BITS)];
        hits += *seen == bytes;
        *seen = bytes;
    }
    return places ? (uint32_t)(hits * 1000 / places) : 1000;
}

// ---- the choice ---------------------------------------------------------------------------------------------------

static uint64_t literal_bits(gi_bytes data) {
    gi_block_counts counts = {{0}, {0}};
    gi_block_code code;
    gi_count_bytes(data.data, data.size, counts.litlen);
    counts.litlen[GI_END_OF_BLOCK] = 1;
    gi_block_code_make(&counts, GI_LITERAL_LIMIT, &code);
    return code.body_bits;
}

static gi_match_options near_of(gi_match_options options) {
    options.chain = 0;
    options.lazy = true;
    return options;
}

// The bits of the sample by those options.
static uint64_t bits_of_matches(const gi_png_planner *planner, const sample *s, gi_bytes data,
                                const gi_match_options *options) {
    gi_match_options of_sample = *options;
    of_sample.row = (uint32_t)s->width + 1;
    return gi_matcher_estimate(planner->matcher, data, &of_sample);
}

// Tries the candidates on the sample. Literals are written many times faster than matches, which have to save a few in
// a hundred to be worth it, but at the levels that try the whole band. The choice of a filter for each row is none for
// packed pixels, whose bytes are no numbers.
static void try_candidates(const gi_png_planner *planner, const gi_png_band *band, const sample *s, gi_png_plan *plan) {
    enum { LITERAL_SHARE = 32, DOUBT_SHARE = 48 };
    gi_match_options all = plan->matches, trial = all;
    trial.lazy = s->whole;
    if (trial.chain > 1) trial.chain /= 4;
    uint64_t best = UINT64_MAX;
    for (int i = band->bits < 8; i < efforts[planner->level].candidates; i++) {
        candidate c = candidates[i];
        gi_bytes data = filter_sample(planner, band, s, c.filter);
        gi_match_options options = c.near ? near_of(trial) : trial;
        uint64_t bits = bits_of_matches(planner, s, data, &options);
        uint64_t literals = c.near || bits < data.size ? UINT64_MAX : literal_bits(data); // which take a bit at least
        if (!s->whole) {
            if (c.doubtful) bits += bits / DOUBT_SHARE;
            literals -= literals / LITERAL_SHARE;
        }
        if (bits < best) {
            best = bits;
            plan->filter = c.filter;
            plan->method = GI_PNG_MATCHES;
            plan->matches = c.near ? near_of(all) : all;
        }
        if (literals < best) {
            best = literals;
            plan->filter = c.filter;
            plan->method = GI_PNG_LITERALS;
        }
    }
}

// How many places to compare with: none where the near ones do as well, of which only windows right across the image
// can tell; more where that pays for the time it takes, as where there is a period or text.
static void choose_chain(const gi_png_planner *planner, const gi_png_band *band, const sample *s, gi_png_plan *plan) {
    enum { DEEP = 64, DEEP_NICE = 128, MUCH_DEEPER = 16, MUCH_DEEPER_PERCENT = 92, DEEPER_PERCENT = 97 };
    if (plan->method != GI_PNG_MATCHES || plan->matches.chain == 0) return;
    gi_bytes data = filter_sample(planner, band, s, plan->filter);
    gi_match_options near = near_of(plan->matches), far = plan->matches;
    uint64_t bits = bits_of_matches(planner, s, data, &plan->matches);
    if (s->width == band->row_bytes && bits_of_matches(planner, s, data, &near) <= bits) {
        plan->matches = near;
        return;
    }
    if (planner->level == 1 || far.chain >= DEEP) return;
    uint64_t percent = DEEP / far.chain >= MUCH_DEEPER ? MUCH_DEEPER_PERCENT : DEEPER_PERCENT;
    far.chain = DEEP;
    far.nice = DEEP_NICE;
    if (bits_of_matches(planner, s, data, &far) * 100 <= bits * percent) plan->matches = far;
}

static bool repeats_little(const gi_png_planner *planner, const gi_png_band *band, size_t width, uint32_t rows) {
    enum { SHARE = 32, REPEATS = 50 };
    sample s = sample_of(band, SHARE, width, rows);
    return repeats(filter_sample(planner, band, &s, GI_PNG_ADAPTIVE)) < REPEATS &&
           repeats(filter_sample(planner, band, &s, GI_PNG_NONE)) < REPEATS;
}

// In a photograph nothing repeats, be it filtered or not: not from row to row, nor along them.
static bool is_photograph(const gi_png_planner *planner, const gi_png_band *band) {
    enum { NARROW = 512, HIGH = 8 };
    return repeats_little(planner, band, NARROW, HIGH) && repeats_little(planner, band, WIDE, LOW);
}

// Where pixels are smaller or larger than a byte, a few bytes of them repeat where eight do not; and rows of less than
// a byte to a pixel are short enough for more places.
static void fit_matches(gi_match_options *matches, const gi_png_band *band) {
    enum { BRIEF = 4, PACKED_CHAINS = 4 };
    matches->pixel = (uint32_t)band->pixel;
    matches->row = (uint32_t)band->row_bytes + 1;
    if (band->bits < 8 || band->pixel == 3 || band->pixel == 4) matches->brief = BRIEF;
    if (band->bits < 8) matches->chain *= PACKED_CHAINS;
}

gi_png_plan gi_png_plan_make(const gi_png_planner *planner, const gi_png_band *band) {
    const effort *e = &efforts[planner->level];
    gi_png_plan plan = {GI_PNG_NONE, GI_PNG_STORED, e->matches};
    if (planner->level == 0) return plan;
    fit_matches(&plan.matches, band);
    if (e->share > 1 && is_photograph(planner, band)) {
        plan.filter = GI_PNG_ADAPTIVE;
        plan.method = GI_PNG_LITERALS;
        return plan;
    }
    sample s = sample_of(band, e->share, WIDE, LOW);
    try_candidates(planner, band, &s, &plan);
    choose_chain(planner, band, &s, &plan);
    return plan;
}
