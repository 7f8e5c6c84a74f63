// The rules of core/blur_rules.h, one pixel at a time.
#ifndef TESTS_BLUR_REFERENCE_H
#define TESTS_BLUR_REFERENCE_H

#include "core/blur_rules.h"
#include "core/gauss.h"
#include "window_images.h"

// -1: outside.
static inline int64_t reference_index(int64_t i, int64_t n, int border) {
    if (n > 1 && border == GI_BORDER_REFLECT101) i %= 2 * (n - 1);
    while (i < 0 || i >= n) {
        if (border == GI_BORDER_REPLICATE) return i < 0 ? 0 : n - 1;
        if (border != GI_BORDER_REFLECT101) return -1;
        if (n == 1) return 0;
        i = i < 0 ? -i : 2 * (n - 1) - i;
    }
    return i;
}

typedef struct reference {
    const gi_view *in;
    const gi_blur_args *args;
    const gi_gauss *gauss; // NULL: box
    int64_t radius;
} reference;

static inline uint64_t reference_tap(const reference *r, int64_t k) {
    if (!r->gauss) return 1;
    if (k < 0) k = -k;
    return k > r->gauss->radius ? 0 : (uint64_t)r->gauss->taps[k];
}

// Sample c of a pixel, colours times alpha where there is alpha; y or x may be -1: outside.
static inline uint64_t reference_value(const reference *r, int64_t y, int64_t x, int c) {
    const bool alpha = gi_has_alpha(r->in->channels), outside = y < 0 || x < 0;
    const int last = r->in->channels - 1;
    const uint64_t max = gi_sample_max(r->in->sample);
    if (outside && r->args->border == GI_BORDER_SHRINK) return 0;
    uint64_t v = outside ? (uint64_t)r->args->value : sample_of(r->in, y, x, c);
    if (!alpha) return v;
    uint64_t a = outside ? max : sample_of(r->in, y, x, last);
    return c == last ? a : v * a;
}

// The sum of t(k) * values down column x of channel c, rounded as pass 1 of the Gaussian does.
static inline uint64_t reference_column(const reference *r, int64_t y, int64_t x, int c) {
    const int64_t height = r->in->height;
    uint64_t sum = 0, inside = 0;
    for (int64_t k = -r->radius; k <= r->radius; k++) {
        int64_t row = reference_index(y + k, height, r->args->border);
        sum += reference_tap(r, k) * reference_value(r, row, x, c);
        if (row >= 0 || r->args->border != GI_BORDER_SHRINK) inside += reference_tap(r, k);
    }
    if (!r->gauss) return sum;
    const bool wide = r->gauss->tap_bits == 24;
    if (!gi_has_alpha(r->in->channels)) return ((sum << (wide ? 8 : 7)) + inside / 2) / inside;
    if (!wide) return sum;
    return c == r->in->channels - 1 ? (sum + (1U << 7)) >> 8 : (sum + (1U << 15)) >> 16;
}

// The sum of the taps that count around i in a line of n.
static inline uint64_t reference_inside(const reference *r, int64_t i, int64_t n) {
    uint64_t inside = 0;
    for (int64_t k = -r->radius; k <= r->radius; k++)
        if (r->args->border != GI_BORDER_SHRINK || (i + k >= 0 && i + k < n)) inside += reference_tap(r, k);
    return inside;
}

static inline uint32_t reference_quotient(uint64_t sum, uint64_t divisor, uint64_t max) {
    if (divisor == 0) return 0;
    uint64_t q = (sum + divisor / 2) / divisor;
    return (uint32_t)(q < max ? q : max);
}

static inline void reference_pixel(const reference *r, const gi_view *out, int64_t y, int64_t x,
                                   const uint64_t sums[GI_MAX_CHANNELS]) {
    const int channels = out->channels, last = channels - 1;
    const uint64_t max = gi_sample_max(out->sample);
    const uint64_t across = reference_inside(r, x, out->width), down = reference_inside(r, y, out->height);
    const bool wide = r->gauss && r->gauss->tap_bits == 24;
    if (!gi_has_alpha(channels)) {
        uint64_t one = r->gauss ? across << (wide ? 8 : 7) : across * down;
        for (int c = 0; c < channels; c++) set_sample(out, y, x, c, reference_quotient(sums[c], one, max));
        return;
    }
    uint64_t weight = wide ? sums[last] >> 8 : sums[last], one = wide ? (down * across) >> 16 : down * across;
    for (int c = 0; c < last; c++) set_sample(out, y, x, c, reference_quotient(sums[c], weight, max));
    set_sample(out, y, x, last, reference_quotient(weight, one, max));
}

static inline guarded_image reference_blur(const guarded_image *in, const gi_blur_args *args) {
    gi_gauss gauss;
    reference r = {.in = &in->view, .args = args, .radius = args->radius < 0 ? 1 : args->radius};
    if (args->sigma >= 0) {
        gi_gauss_make(args->sigma, in->view.sample, &gauss);
        r.gauss = &gauss;
        r.radius = gauss.radius;
    }
    const int64_t width = in->view.width, height = in->view.height;
    guarded_image out = image_make(gi_view_shape(&in->view));
    uint64_t *columns = malloc(((size_t)width + 1) * sizeof *columns); // the last one: outside
    uint64_t *sums = calloc((size_t)width * GI_MAX_CHANNELS, sizeof *sums);
    assert_non_null(columns);
    assert_non_null(sums);
    for (int64_t y = 0; y < height; y++) {
        memset(sums, 0, (size_t)width * GI_MAX_CHANNELS * sizeof *sums);
        for (int c = 0; c < in->view.channels; c++) {
            for (int64_t x = 0; x < width; x++) columns[x] = reference_column(&r, y, x, c);
            // A column of constant pixels: every tap counts.
            columns[width] = args->border == GI_BORDER_CONSTANT ? reference_column(&r, y, -1, c) : 0;
            for (int64_t x = 0; x < width; x++)
                for (int64_t k = -r.radius; k <= r.radius; k++) {
                    int64_t from = reference_index(x + k, width, args->border);
                    sums[x * GI_MAX_CHANNELS + c] += reference_tap(&r, k) * columns[from < 0 ? width : from];
                }
        }
        for (int64_t x = 0; x < width; x++) reference_pixel(&r, &out.view, y, x, sums + x * GI_MAX_CHANNELS);
    }
    free(sums);
    free(columns);
    return out;
}

#endif
