#include "codec/png_plan.h"

#include "codec/bytes.h"
#include "codec/deflate_huffman.h"

// What a level does. In the options `pixel`, `row` and `brief` are the band's.
typedef struct effort {
    uint32_t share;           // one byte in so many is tried
    int filters;              // how many of the list below are tried
    gi_match_options matches; // for the trial: a quarter of the chain, and not lazy unless the whole band is tried
} effort;

static const int filters_to_try[] = {GI_PNG_ADAPTIVE, GI_PNG_NONE, GI_PNG_SUB, GI_PNG_UP, GI_PNG_PAETH, GI_PNG_AVERAGE};

static const effort efforts[10] = {
    [1] = {16, 2, {0, 0, 1, 0, 32, 8, false}},     [2] = {16, 4, {0, 0, 4, 0, 32, 16, true}},
    [3] = {16, 4, {0, 0, 8, 0, 64, 16, true}},     [4] = {16, 4, {0, 0, 32, 0, 64, 32, true}},
    [5] = {8, 4, {0, 0, 64, 0, 128, 64, true}},    [6] = {8, 4, {0, 0, 128, 0, 128, 64, true}},
    [7] = {4, 6, {0, 0, 256, 0, 258, 258, true}},  [8] = {1, 6, {0, 0, 1024, 0, 258, 258, true}},
    [9] = {1, 6, {0, 0, 4096, 0, 258, 258, true}},
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

// Windows of the band: rows are tried in part, so that few bytes show what lies one above the other.
typedef struct sample {
    size_t width; // bytes
    uint32_t rows, windows;
} sample;

static sample whole_of(const gi_png_band *band) { return (sample){band->row_bytes, band->height, 1}; }

// One byte in `share`, in windows of at most `width` bytes across.
static sample sample_of(const gi_png_band *band, uint32_t share, size_t width) {
    enum { ROWS = 8 };
    uint32_t rows = band->height < ROWS ? band->height : ROWS;
    if (width > band->row_bytes) width = band->row_bytes;
    if (width > band->pixel) width -= width % band->pixel;
    size_t windows = (band->row_bytes + 1) * band->height / share / ((width + 1) * rows);
    if (share == 1 || windows == 0) return whole_of(band);
    return (sample){width, rows, (uint32_t)windows};
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
    enum { TABLE_BITS = 11 };
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

// Tries the filters on the sample. Literals are written many times faster than matches, which have to save a few in a
// hundred to be worth it, but at the levels that try the whole band. Returns the bits of the best for 1000 bytes.
static uint64_t try_filters(const gi_png_planner *planner, const gi_png_band *band, const sample *s,
                            gi_png_plan *plan) {
    gi_match_options trial = plan->matches;
    trial.row = (uint32_t)s->width + 1;
    trial.lazy = s->rows == band->height;
    if (trial.chain > 1) trial.chain /= 4;
    uint64_t best = UINT64_MAX;
    size_t size = 1;
    for (int i = 0; i < efforts[planner->level].filters; i++) {
        gi_bytes data = filter_sample(planner, band, s, filters_to_try[i]);
        uint64_t bits = gi_matcher_estimate(planner->matcher, data, &trial);
        size = data.size;
        if (bits < best) {
            best = bits;
            plan->filter = filters_to_try[i];
            plan->method = GI_PNG_MATCHES;
        }
        if (bits < data.size) continue; // literals take a bit at least
        uint64_t literals = literal_bits(data);
        if (literals - (trial.lazy ? 0 : literals / 32) < best) {
            best = literals;
            plan->filter = filters_to_try[i];
            plan->method = GI_PNG_LITERALS;
        }
    }
    return best * 1000 / size;
}

// How many places to compare with: more where that pays, as where there is a period; none in masks and the like, whose
// runs are cheaper than anything further away.
static void choose_chain(const gi_png_planner *planner, const gi_png_band *band, const sample *s, bool deep,
                         gi_png_plan *plan) {
    enum { DEEP = 64, DEEP_NICE = 128, DEEP_PERCENT = 87, NEAR_PERCENT = 97, WHOLE_PERCENT = 100 };
    if (plan->method != GI_PNG_MATCHES) return;
    gi_bytes data = filter_sample(planner, band, s, plan->filter);
    gi_match_options normal = plan->matches;
    normal.row = (uint32_t)s->width + 1;
    gi_match_options near = normal, far = normal;
    bool whole = s->rows == band->height;
    near.chain = 0;
    near.lazy = true;
    uint64_t bits = gi_matcher_estimate(planner->matcher, data, &normal);
    if (gi_matcher_estimate(planner->matcher, data, &near) * 100 <= bits * (whole ? WHOLE_PERCENT : NEAR_PERCENT)) {
        plan->matches.chain = 0;
        plan->matches.lazy = true;
        return;
    }
    if (!deep || normal.chain >= DEEP) return;
    far.chain = DEEP;
    far.nice = DEEP_NICE;
    if (gi_matcher_estimate(planner->matcher, data, &far) * 100 > bits * DEEP_PERCENT) return;
    plan->matches.chain = DEEP;
    plan->matches.nice = DEEP_NICE;
}

// In a photograph nothing repeats, be it filtered or not.
static bool is_photograph(const gi_png_planner *planner, const gi_png_band *band, const sample *s) {
    enum { REPEATS = 50 };
    return repeats(filter_sample(planner, band, s, GI_PNG_ADAPTIVE)) < REPEATS &&
           repeats(filter_sample(planner, band, s, GI_PNG_NONE)) < REPEATS;
}

// Gray kept as colour: every sample of a pixel but alpha is the same, and so is every residual. Then they repeat in
// threes, where each is as far from the next of its kind as in any photograph.
static bool is_gray_in_colour(const gi_png_planner *planner, const gi_png_band *band, const sample *s) {
    if (band->bits != 8 || (band->pixel != 3 && band->pixel != 4)) return false;
    gi_bytes rows = filter_sample(planner, band, s, GI_PNG_NONE);
    size_t row_size = s->width + 1;
    for (const uint8_t *row = rows.data; row < rows.data + rows.size; row += row_size)
        for (size_t i = 1; i + band->pixel <= row_size; i += band->pixel)
            if (row[i] != row[i + 1] || row[i] != row[i + 2]) return false;
    return true;
}

gi_png_plan gi_png_plan_make(const gi_png_planner *planner, const gi_png_band *band) {
    enum { NARROW = 512, PHOTOGRAPH_SHARE = 16, CHEAP = 160, CHEAP_SHARE = 8, BRIEF = 4 };
    const effort *e = &efforts[planner->level];
    gi_png_plan plan = {GI_PNG_NONE, GI_PNG_STORED, e->matches, false};
    if (planner->level == 0) return plan;
    plan.matches.pixel = (uint32_t)band->pixel;
    plan.matches.row = (uint32_t)band->row_bytes + 1;
    // Where pixels are smaller or larger than a byte, a few bytes of them repeat where eight do not.
    if (band->bits < 8 || band->pixel == 3 || band->pixel == 4) plan.matches.brief = BRIEF;
    sample s = sample_of(band, PHOTOGRAPH_SHARE, NARROW);
    plan.brief = is_gray_in_colour(planner, band, &s);
    if (e->share > 1 && is_photograph(planner, band, &s)) {
        plan.filter = GI_PNG_ADAPTIVE;
        plan.method = GI_PNG_LITERALS;
        return plan;
    }
    s = sample_of(band, e->share, NARROW);
    uint64_t bits = try_filters(planner, band, &s, &plan);
    if (bits < CHEAP && e->share > 1) {
        // Flat areas are quickly tried, and narrow windows cut their matches short.
        s = sample_of(band, CHEAP_SHARE, SIZE_MAX);
        try_filters(planner, band, &s, &plan);
    }
    choose_chain(planner, band, &s, bits >= CHEAP && planner->level > 1, &plan);
    return plan;
}
