// The wide Gaussian for one sample type. Included with SAMPLE and NAME(x); undefines them.

// sums[i] += t(k) * (above[k][x + i] + below[k][x + i]) for `taps` values of k from `first` on.
GI_SIMD_BODY void NAME(down_taps)(const wide *w, int first, int taps, size_t x, size_t count, double *restrict sums) {
    const SAMPLE *const *above = (const SAMPLE *const *)w->rows.above + first;
    const SAMPLE *const *below = (const SAMPLE *const *)w->rows.below + first;
    const int32_t *tap = w->gauss->taps + first;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        double sum = sums[i];
        for (int j = 0; j < taps; j++)
            sum += (double)tap[j] * (double)((int32_t)above[j][x + i] + (int32_t)below[j][x + i]);
        sums[i] = sum;
    }
}

// Pass 1 of samples [x, x + count).
GI_SIMD_BODY void NAME(down_body)(const wide *w, size_t x, size_t count, double *restrict sums) {
    for (size_t i = 0; i < count; i++) sums[i] = 0;
    int k = 0;
    for (; k + 3 <= w->gauss->radius; k += 4) NAME(down_taps)(w, k, 4, x, count, sums);
    for (; k <= w->gauss->radius; k++) NAME(down_taps)(w, k, 1, x, count, sums);
}
GI_SIMD_VARIANTS(NAME(down), NAME(down_body), (const wide *w, size_t x, size_t count, double *restrict sums),
                 (w, x, count, sums))

// (sum + 2^15) >> 16, or half_up(2^8 * sum, inside) where not all taps are in the image.
GI_SIMD_BODY void NAME(round_down_body)(const double *sums, double *out, size_t count, int64_t inside) {
    if (inside == (int64_t)1 << 24) {
#pragma omp simd
        for (size_t i = 0; i < count; i++) out[i] = (double)(int32_t)((sums[i] + 0x1p15) * 0x1p-16);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = (double)gi_half_up((uint64_t)sums[i] << FRACTION_BITS, (uint64_t)inside);
}
GI_SIMD_VARIANTS(NAME(round_down), NAME(round_down_body),
                 (const double *sums, double *out, size_t count, int64_t inside), (sums, out, count, inside))

GI_SIMD_BODY void NAME(round_across_body)(const double *sums, SAMPLE *out, size_t count) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) out[i] = (SAMPLE)(int32_t)((sums[i] + 0x1p31) * 0x1p-32);
}
GI_SIMD_VARIANTS(NAME(round_across), NAME(round_across_body), (const double *sums, SAMPLE *out, size_t count),
                 (sums, out, count))

// Pass 2's rounding with border=shrink, each column by its own taps.
static void NAME(round_shrunk)(const wide *w, const double *sums, SAMPLE *out, size_t first, size_t count) {
    const size_t channels = (size_t)w->band->in.channels;
    for (size_t i = 0; i < count; i++) {
        int64_t x = (int64_t)((first + i) / channels);
        int64_t inside = gi_gauss_inside(w->gauss, GI_BORDER_SHRINK, x, w->band->in.width);
        out[i] = (SAMPLE)gi_half_up((uint64_t)sums[i], (uint64_t)inside << FRACTION_BITS);
    }
}

static void NAME(make_rows)(const gi_blur_rows *rows) {
    const gi_blur_band *band = rows->band;
    const int channels = band->in.channels;
    double sums[CHUNK_double];
    wide w;
    gi_scratch scratch = {rows->scratch, 0};
    take(&w, rows, &scratch);
    double *line = w.line + w.margin;
    for (int64_t y = rows->y0; y < rows->y1; y++) {
        SAMPLE *out = gi_blur_out_row(band, y);
        gi_gauss_rows_at(band, w.gauss->radius, y, &w.rows);
        int64_t inside = gi_gauss_inside(w.gauss, band->border, y, band->place.image_height);
        for (size_t x = 0; x < w.samples; x += CHUNK_double) {
            size_t count = w.samples - x < CHUNK_double ? w.samples - x : CHUNK_double;
            NAME(down)(&w, x, count, sums);
            NAME(round_down)(sums, line + x, count, inside);
        }
        for (int c = 0; c < channels; c++) {
            double outside = ((const SAMPLE *)band->outside)[c] * (double)(1 << FRACTION_BITS);
            extend_double(line + c, channels, band->in.width, w.gauss->radius, band->border, outside);
        }
        for (size_t x = 0; x < w.samples; x += CHUNK_double) {
            size_t count = w.samples - x < CHUNK_double ? w.samples - x : CHUNK_double;
            across_double(line + x, channels, w.gauss, sums, count);
            if (band->border == GI_BORDER_SHRINK)
                NAME(round_shrunk)(&w, sums, out + x, x, count);
            else
                NAME(round_across)(sums, out + x, count);
        }
    }
}

#undef SAMPLE
#undef NAME
