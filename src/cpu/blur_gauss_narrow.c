// The narrow Gaussian: 8-bit samples without alpha, taps in 2^-15, 7 fraction bits between the passes.
#include "cpu/blur_gauss_narrow.h"

#include <string.h>

#include "cpu/blur_gauss.h"
#include "core/simd.h"

enum { FRACTION_BITS = 7, CHUNK = 1024 };

typedef struct narrow_plan {
    const gi_gauss *gauss;
    gi_narrow_taps taps;
} narrow_plan;

// One thread's lines.
typedef struct narrow {
    const gi_blur_band *band;
    const narrow_plan *plan;
    size_t channels, samples, margin; // margin: samples of R pixels
    uint16_t *line;                   // pass 1's row, continued by R pixels to the left and R + 1 to the right
    uint32_t *pairs;                  // its neighbouring pixels, see gi_narrow_line
    gi_gauss_rows rows;
} narrow;

static int32_t pair_of(int32_t low, int32_t high) { return (int32_t)((uint32_t)low | (uint32_t)high << 16); }

static void make_taps(const gi_gauss *gauss, gi_narrow_taps *taps) {
    int radius = gauss->radius;
    taps->down_pairs = radius / 2 + 1;
    taps->across_pairs = radius + 1;
    for (int p = 0; p < taps->down_pairs; p++) taps->down[p] = pair_of(gauss->taps[2 * p], gauss->taps[2 * p + 1]);
    for (int p = 0; p < taps->across_pairs; p++) {
        int left = radius - 2 * p, right = radius - 2 * p - 1; // distances to the left of the centre
        int32_t last = right < -radius ? 0 : gauss->taps[right < 0 ? -right : right];
        taps->across[p] = pair_of(gauss->taps[left < 0 ? -left : left], last);
    }
}

static void take(narrow *n, const gi_blur_rows *rows, gi_scratch *scratch) {
    n->band = rows->band;
    n->plan = rows->plan;
    n->channels = (size_t)rows->band->in.channels;
    n->samples = gi_blur_row_samples(rows->band);
    n->margin = (size_t)n->plan->gauss->radius * n->channels;
    size_t length = n->samples + 2 * n->margin + n->channels;
    n->line = gi_scratch_take(scratch, length, sizeof *n->line);
    n->pairs = gi_scratch_take(scratch, length, sizeof *n->pairs);
}

GI_SIMD_BODY void columns_body(const gi_narrow_columns *columns, const gi_gauss *gauss) {
    int32_t sums[CHUNK];
    for (size_t x = 0; x < columns->samples; x += CHUNK) {
        size_t count = columns->samples - x < CHUNK ? columns->samples - x : CHUNK;
        memset(sums, 0, sizeof sums);
        for (int k = 0; k <= gauss->radius; k++) {
            const uint8_t *above = columns->above[k] + x, *below = columns->below[k] + x;
            const int16_t tap = (int16_t)gauss->taps[k];
#pragma omp simd
            for (size_t i = 0; i < count; i++) sums[i] += tap * (int16_t)(above[i] + below[i]);
        }
        for (size_t i = 0; i < count; i++) columns->out[x + i] = (uint16_t)((sums[i] + 128) >> 8);
    }
}
GI_SIMD_VARIANTS(columns_plain, columns_body, (const gi_narrow_columns *columns, const gi_gauss *gauss),
                 (columns, gauss))

// Pass 1 of a row of which only taps that sum to `inside` are in the image.
static void columns_shrunk(const gi_narrow_columns *columns, const gi_gauss *gauss, uint32_t inside) {
    for (size_t i = 0; i < columns->samples; i++) {
        uint32_t sum = 0;
        for (int k = 0; k <= gauss->radius; k++)
            sum += (uint32_t)gauss->taps[k] * (uint32_t)(columns->above[k][i] + columns->below[k][i]);
        columns->out[i] = (uint16_t)gi_half_up((uint64_t)sum << FRACTION_BITS, inside);
    }
}

static void pass_columns(narrow *n, int64_t y) {
    const gi_gauss *gauss = n->plan->gauss;
    const gi_blur_band *band = n->band;
    int32_t inside = (int32_t)gi_gauss_inside(gauss, band->border, y, band->place.image_height);
    gi_gauss_rows_at(band, gauss->radius, y, &n->rows);
    // An even number of rows; the last one's tap may be 0.
    n->rows.above[gauss->radius + 1] = n->rows.below[gauss->radius + 1] = band->blank;
    gi_narrow_columns columns = {(const uint8_t *const *)n->rows.above, (const uint8_t *const *)n->rows.below,
                                 n->line + n->margin, n->samples};
    if (inside != 1 << gauss->tap_bits)
        columns_shrunk(&columns, gauss, (uint32_t)inside);
    else if (gi_narrow_columns_x86(&columns, &n->plan->taps) == 0)
        columns_plain(&columns, gauss);
}

// What pass 1's row has at pixel x, inside the image or not.
static void fill_pixel(narrow *n, int64_t x) {
    int64_t from = gi_border_index(x, n->band->in.width, n->band->border);
    uint16_t *pixel = n->line + (ptrdiff_t)n->margin + x * (int64_t)n->channels;
    const uint16_t *source = n->line + n->margin + (size_t)(from < 0 ? 0 : from) * n->channels;
    const uint8_t *outside = n->band->outside;
    for (size_t c = 0; c < n->channels; c++)
        pixel[c] = (uint16_t)(from < 0 ? (unsigned)outside[c] << FRACTION_BITS : source[c]);
}

// Continues pass 1's row by R pixels to the left and R + 1 to the right.
static void extend(narrow *n) {
    const int64_t width = n->band->in.width, radius = n->plan->gauss->radius;
    for (int64_t k = 1; k <= radius; k++) fill_pixel(n, -k);
    for (int64_t k = 0; k <= radius; k++) fill_pixel(n, width + k);
}

GI_SIMD_BODY void make_pairs_body(const uint16_t *line, uint32_t *restrict pairs, size_t count, size_t channels) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) pairs[i] = line[i] | (uint32_t)line[i + channels] << 16;
}
GI_SIMD_VARIANTS(make_pairs, make_pairs_body,
                 (const uint16_t *line, uint32_t *restrict pairs, size_t count, size_t channels),
                 (line, pairs, count, channels))

GI_SIMD_BODY void line_body(const gi_narrow_line *line, const gi_narrow_taps *taps) {
    int32_t sums[CHUNK];
    for (size_t x = 0; x < line->samples; x += CHUNK) {
        size_t count = line->samples - x < CHUNK ? line->samples - x : CHUNK;
        memset(sums, 0, sizeof sums);
        for (int p = 0; p < taps->across_pairs; p++) {
            const uint32_t *pairs = line->pairs + x + 2 * (size_t)p * line->channels;
            const int16_t low = (int16_t)taps->across[p], high = (int16_t)(taps->across[p] >> 16);
#pragma omp simd
            for (size_t i = 0; i < count; i++) sums[i] += low * (int16_t)pairs[i] + high * (int16_t)(pairs[i] >> 16);
        }
        for (size_t i = 0; i < count; i++) line->out[x + i] = (uint8_t)((sums[i] + (1 << 21)) >> 22);
    }
}
GI_SIMD_VARIANTS(line_plain, line_body, (const gi_narrow_line *line, const gi_narrow_taps *taps), (line, taps))

// Pass 2 once more for the columns whose taps are not all in the image.
static void shrink_ends(const narrow *n, uint8_t *out) {
    const gi_gauss *gauss = n->plan->gauss;
    const int64_t width = n->band->in.width, radius = gauss->radius;
    for (int64_t x = 0; x < width; x++) {
        if (x == radius && x < width - radius) x = width - radius;
        uint32_t inside = (uint32_t)gi_gauss_inside(gauss, GI_BORDER_SHRINK, x, width);
        for (size_t c = 0; c < n->channels; c++) {
            uint32_t sum = 0;
            for (int64_t k = -radius; k <= radius; k++)
                sum += (uint32_t)gauss->taps[k < 0 ? -k : k] * n->line[(size_t)(x + radius + k) * n->channels + c];
            out[(size_t)x * n->channels + c] = (uint8_t)gi_half_up(sum, inside << FRACTION_BITS);
        }
    }
}

static void make_rows(const gi_blur_rows *rows) {
    narrow n;
    gi_scratch scratch = {rows->scratch, 0};
    take(&n, rows, &scratch);
    for (int64_t y = rows->y0; y < rows->y1; y++) {
        uint8_t *out = gi_blur_out_row(rows->band, y);
        pass_columns(&n, y);
        extend(&n);
        make_pairs(n.line, n.pairs, n.samples + 2 * n.margin, n.channels);
        gi_narrow_line line = {n.pairs, out, n.samples, n.channels};
        if (gi_narrow_line_x86(&line, &n.plan->taps) == 0) line_plain(&line, &n.plan->taps);
        if (rows->band->border == GI_BORDER_SHRINK) shrink_ends(&n, out);
    }
}

gi_status gi_cpu_gauss_narrow(const gi_blur_band *band, const gi_gauss *gauss, gi_error *err) {
    narrow_plan plan = {.gauss = gauss};
    make_taps(gauss, &plan.taps);
    gi_blur_rows rows = {.band = band, .plan = &plan};
    narrow n;
    gi_scratch count = {NULL, 0};
    take(&n, &rows, &count);
    return gi_blur_run(&rows, make_rows, count.used, err);
}
