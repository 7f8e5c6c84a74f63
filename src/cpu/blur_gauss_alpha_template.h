// The alpha-weighted Gaussian for one sample type. Included after blur_gauss_passes.h with SAMPLE, PAIR and QUAD
// (unsigned, of two and four samples), PRODUCT (holds a QUAD and twice a weighted sample), NUMBER, SHIFTED (right, the
// integer part), TO_NUMBER (of a PRODUCT), NAME(span) and NAME(finish), and NAME(x); undefines the macros.

typedef struct NAME(alpha) {
    const gi_blur_band *band;
    const gi_gauss *gauss;
    ptrdiff_t plane;              // from one channel's line to the next
    NUMBER *line;                 // pass 1's row of channel 0, continued by R pixels on either side
    int weight_bits, colour_bits; // that pass 1 drops; pass 2 drops weight_bits more of the weight
    NUMBER *units;                // U of each pixel
    int64_t down;                 // Ty for which they were made; 0: none
    gi_gauss_rows rows;
} NAME(alpha);

static void NAME(take)(NAME(alpha) * a, const gi_blur_rows *rows, gi_scratch *scratch) {
    a->band = rows->band;
    a->gauss = rows->plan;
    size_t line = a->band->in.width + 2 * (size_t)a->gauss->radius;
    NUMBER *lines = gi_scratch_take(scratch, line * (size_t)a->band->in.channels, sizeof(NUMBER));
    a->units = gi_scratch_take(scratch, a->band->in.width, sizeof(NUMBER));
    bool wide = a->gauss->tap_bits == 24;
    a->weight_bits = wide ? 8 : 0;
    a->colour_bits = wide ? 16 : 0;
    a->down = 0;
    a->plane = (ptrdiff_t)line;
    if (scratch->base) a->line = lines + a->gauss->radius;
}

static size_t NAME(scratch)(const gi_blur_rows *rows) {
    NAME(alpha) a;
    gi_scratch count = {NULL, 0};
    NAME(take)(&a, rows, &count);
    return count.used;
}

// Two or four samples, as one integer.
GI_SIMD_BODY PRODUCT NAME(load_pixel)(const SAMPLE *row, size_t x, int channels) {
    PAIR pair;
    QUAD quad;
    if (channels == 2) {
        memcpy(&pair, row + 2 * x, sizeof pair);
        return pair;
    }
    memcpy(&quad, row + 4 * x, sizeof quad);
    return quad;
}

// Where sample c lies in such an integer.
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SHIFT(c) ((int)(8 * sizeof(SAMPLE)) * (c))
#else
#define SHIFT(c) ((int)(8 * sizeof(SAMPLE)) * (channels - 1 - (c)))
#endif

// sums[c][i] += t(k) * (weighted samples of rows y-k and y+k) for `taps` values of k from `first` on.
GI_SIMD_BODY void NAME(down_taps)(const NAME(alpha) * a, int first, int taps, const NAME(span) * span, int channels) {
    const PRODUCT mask = (SAMPLE)-1;
    const int last = channels - 1;
    const SAMPLE *const *above = (const SAMPLE *const *)a->rows.above + first;
    const SAMPLE *const *below = (const SAMPLE *const *)a->rows.below + first;
    const int32_t *tap = a->gauss->taps + first;
    NUMBER(*restrict sums)[NAME(CHUNK)] = span->sums;
    const size_t x = span->x;
#pragma omp simd
    for (size_t i = 0; i < span->count; i++) {
        NUMBER colour[3] = {0, 0, 0}, weight = 0;
        for (int j = 0; j < taps; j++) {
            PRODUCT p = NAME(load_pixel)(above[j], x + i, channels), q = NAME(load_pixel)(below[j], x + i, channels);
            PRODUCT p_alpha = p >> SHIFT(last) & mask, q_alpha = q >> SHIFT(last) & mask;
            for (int c = 0; c < last; c++) {
                PRODUCT both = (p >> SHIFT(c) & mask) * p_alpha + (q >> SHIFT(c) & mask) * q_alpha;
                colour[c] += (NUMBER)tap[j] * TO_NUMBER(both);
            }
            weight += (NUMBER)tap[j] * TO_NUMBER(p_alpha + q_alpha);
        }
        for (int c = 0; c < last; c++) sums[c][i] += colour[c];
        sums[last][i] += weight;
    }
}

GI_SIMD_BODY void NAME(down_pixels)(const NAME(alpha) * a, const NAME(span) * span, int channels) {
    int k = 0;
    for (; k + 3 <= a->gauss->radius; k += 4) NAME(down_taps)(a, k, 4, span, channels);
    for (; k <= a->gauss->radius; k++) NAME(down_taps)(a, k, 1, span, channels);
}
#undef SHIFT

// Pass 1 of a span.
GI_SIMD_BODY void NAME(down_body)(const NAME(alpha) * a, const NAME(span) * span) {
    if (a->band->in.channels == 2)
        NAME(down_pixels)(a, span, 2);
    else
        NAME(down_pixels)(a, span, 4);
}
GI_SIMD_VARIANTS(NAME(down), NAME(down_body), (const NAME(alpha) * a, const NAME(span) * span), (a, span))

// out[i] = sums[i] rounded half up to what is left without `bits` bits.
GI_SIMD_BODY void NAME(drop_body)(const NUMBER *sums, NUMBER *restrict out, size_t count, int bits) {
    const NUMBER half = (NUMBER)(bits ? (int64_t)1 << (bits - 1) : 0);
#pragma omp simd
    for (size_t i = 0; i < count; i++) out[i] = SHIFTED(sums[i] + half, bits);
}
GI_SIMD_VARIANTS(NAME(drop), NAME(drop_body), (const NUMBER *sums, NUMBER *restrict out, size_t count, int bits),
                 (sums, out, count, bits))

static NAME(span) NAME(span_at)(size_t x, size_t width, NUMBER (*sums)[NAME(CHUNK)]) {
    NAME(span) span = {sums, x, width - x < NAME(CHUNK) ? width - x : NAME(CHUNK)};
    return span;
}

static void NAME(pass_down)(NAME(alpha) * a, int64_t y) {
    NUMBER sums[GI_MAX_CHANNELS][NAME(CHUNK)];
    const int channels = a->band->in.channels;
    const size_t width = a->band->in.width;
    gi_gauss_rows_at(a->band, a->gauss->radius, y, &a->rows);
    for (size_t x = 0; x < width; x += NAME(CHUNK)) {
        NAME(span) span = NAME(span_at)(x, width, sums);
        memset(sums, 0, sizeof sums);
        NAME(down)(a, &span);
        for (int c = 0; c < channels; c++) {
            int bits = c == channels - 1 ? a->weight_bits : a->colour_bits;
            NAME(drop)(sums[c], a->line + c * a->plane + x, span.count, bits);
        }
    }
}

// Continues pass 1's lines: a column of constant pixels has the full sum of taps.
static void NAME(extend_lines)(NAME(alpha) * a) {
    const int channels = a->band->in.channels, bits = a->gauss->tap_bits;
    const SAMPLE *pixel = a->band->outside;
    for (int c = 0; c < channels; c++) {
        uint64_t weight = pixel[channels - 1];
        uint64_t v =
            c == channels - 1 ? weight << (bits - a->weight_bits) : (weight * pixel[c]) << (bits - a->colour_bits);
        NAME(extend)(a->line + c * a->plane, 1, a->band->in.width, a->gauss->radius, a->band->border, (NUMBER)v);
    }
}

// U of each pixel of row y; most rows share those of the one before.
static void NAME(set_units)(NAME(alpha) * a, int64_t y) {
    const gi_blur_band *band = a->band;
    int64_t down = gi_gauss_inside(a->gauss, band->border, y, band->place.image_height);
    if (down == a->down) return;
    a->down = down;
    for (int64_t x = 0; x < band->in.width; x++) {
        int64_t across = gi_gauss_inside(a->gauss, band->border, x, band->in.width);
        a->units[x] = (NUMBER)((down * across) >> (2 * a->weight_bits));
    }
}

static void NAME(pass_across)(NAME(alpha) * a, int64_t y) {
    NUMBER sums[GI_MAX_CHANNELS][NAME(CHUNK)];
    const int channels = a->band->in.channels, last = channels - 1;
    const size_t width = a->band->in.width;
    SAMPLE *out = gi_blur_out_row(a->band, y);
    NAME(set_units)(a, y);
    for (size_t x = 0; x < width; x += NAME(CHUNK)) {
        NAME(span) span = NAME(span_at)(x, width, sums);
        for (int c = 0; c < channels; c++) NAME(across)(a->line + c * a->plane + x, 1, a->gauss, sums[c], span.count);
        if (a->weight_bits)
            for (size_t i = 0; i < span.count; i++) sums[last][i] = (NUMBER)((uint64_t)sums[last][i] >> a->weight_bits);
        NAME(finish)(&span, a->units + x, out + x * (size_t)channels, channels);
    }
}

static void NAME(make_rows)(const gi_blur_rows *rows) {
    NAME(alpha) a;
    gi_scratch scratch = {rows->scratch, 0};
    NAME(take)(&a, rows, &scratch);
    for (int64_t y = rows->y0; y < rows->y1; y++) {
        NAME(pass_down)(&a, y);
        NAME(extend_lines)(&a);
        NAME(pass_across)(&a, y);
    }
}

#undef SAMPLE
#undef PAIR
#undef QUAD
#undef PRODUCT
#undef NUMBER
#undef SHIFTED
#undef TO_NUMBER
#undef NAME
