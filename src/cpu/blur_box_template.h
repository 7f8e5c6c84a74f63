// The box blur for one sample type and one width of sums. Included with SAMPLE, PAIR and QUAD (unsigned, of two and
// four samples), SUM, SIGNED (of SUM's width), PREFIX_SUMS and NAME(x); undefines them.
//
// Sums of channel c at pixel x are at [c * plane + x * step]: interleaved as the image is (plane 1), or, with alpha,
// in planes (step 1), so that the alpha of neighbouring pixels lies in neighbouring lanes.

typedef struct NAME(box) {
    const gi_blur_band *band;
    const gi_box_plan *plan;
    ptrdiff_t step, plane;
    SUM *column;            // sums of the 2R + 1 rows around the current one
    SUM *sums;              // F(0); F is continued by R pixels on either side where R < width
    SUM *far;               // F(x - R), then F(x + R + 1), where R >= width
    const SUM *low, *high;  // F(x - R) and F(x + R + 1) at x = 0
    double *half, *inverse; // of the divisor n at [x * step]: floor(n/2) + 1/2, and 1/n
    int64_t counted;        // rows for which half and inverse were made
} NAME(box);

static void NAME(take)(NAME(box) * box, const gi_blur_rows *rows, gi_scratch *scratch) {
    const gi_blur_band *band = rows->band;
    const gi_box_plan *plan = rows->plan;
    size_t channels = (size_t)band->in.channels, width = band->in.width, radius = (size_t)plan->radius;
    bool near = radius < width;
    size_t margin = near ? radius : 0, line = width + 1 + 2 * margin + GI_MAX_CHANNELS;
    box->band = band;
    box->plan = plan;
    box->step = plan->weighted ? 1 : band->in.channels;
    box->plane = plan->weighted ? (ptrdiff_t)line : 1;
    box->counted = -1;
    box->column = gi_scratch_take(scratch, line * channels, sizeof(SUM));
    SUM *sums = gi_scratch_take(scratch, line * channels, sizeof(SUM));
    box->far = gi_scratch_take(scratch, near ? 0 : 2 * line * channels, sizeof(SUM));
    box->half = gi_scratch_take(scratch, plan->multiplies ? 0 : width * channels, sizeof(double));
    box->inverse = gi_scratch_take(scratch, plan->multiplies ? 0 : width * channels, sizeof(double));
    if (!scratch->base) return;
    box->sums = sums + margin * (size_t)box->step;
    box->low = near ? sums : box->far;
    box->high = near ? sums + (2 * margin + 1) * (size_t)box->step : box->far + line * channels;
}

static size_t NAME(scratch)(const gi_blur_rows *rows) {
    NAME(box) box;
    gi_scratch count = {NULL, 0};
    NAME(take)(&box, rows, &count);
    return count.used;
}

GI_SIMD_BODY void NAME(slide_body)(SUM *restrict column, const SAMPLE *enter, const SAMPLE *leave, size_t samples) {
#pragma omp simd
    for (size_t i = 0; i < samples; i++) column[i] += (SUM)((SIGNED)enter[i] - (SIGNED)leave[i]);
}
GI_SIMD_VARIANTS(NAME(slide), NAME(slide_body),
                 (SUM *restrict column, const SAMPLE *enter, const SAMPLE *leave, size_t samples),
                 (column, enter, leave, samples))

GI_SIMD_BODY void NAME(add_times_body)(SUM *restrict column, const SAMPLE *row, size_t samples, SUM times) {
#pragma omp simd
    for (size_t i = 0; i < samples; i++) column[i] += row[i] * times;
}
GI_SIMD_VARIANTS(NAME(add_times), NAME(add_times_body),
                 (SUM *restrict column, const SAMPLE *row, size_t samples, SUM times), (column, row, samples, times))

// Two or four samples, as one integer.
GI_SIMD_BODY SUM NAME(load_pixel)(const SAMPLE *row, size_t x, int channels) {
    PAIR pair;
    QUAD quad;
    if (channels == 2) {
        memcpy(&pair, row + 2 * x, sizeof pair);
        return pair;
    }
    memcpy(&quad, row + 4 * x, sizeof quad);
    return (SUM)quad;
}

GI_SIMD_BODY void NAME(store_pixel)(SAMPLE *row, size_t x, int channels, SUM pixel) {
    PAIR pair = (PAIR)pixel;
    QUAD quad = (QUAD)pixel;
    if (channels == 2)
        memcpy(row + 2 * x, &pair, sizeof pair);
    else
        memcpy(row + 4 * x, &quad, sizeof quad);
}

// Where sample c lies in such an integer.
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SHIFT(c) ((int)(8 * sizeof(SAMPLE)) * (c))
#else
#define SHIFT(c) ((int)(8 * sizeof(SAMPLE)) * (channels - 1 - (c)))
#endif

// column += times * (enter - leave), colours times their alpha.
GI_SIMD_BODY void NAME(slide_pixels)(const NAME(box) * box, const SAMPLE *enter, const SAMPLE *leave, SUM times,
                                     int channels) {
    const SUM mask = (SAMPLE)-1;
    const size_t width = box->band->in.width;
    const ptrdiff_t plane = box->plane;
    SUM *column = box->column, *alpha = column + (channels - 1) * plane;
#pragma omp simd
    for (size_t x = 0; x < width; x++) {
        SUM in = NAME(load_pixel)(enter, x, channels), out = NAME(load_pixel)(leave, x, channels);
        SUM in_alpha = in >> SHIFT(channels - 1) & mask, out_alpha = out >> SHIFT(channels - 1) & mask;
        for (int c = 0; c + 1 < channels; c++)
            column[c * plane + (ptrdiff_t)x] +=
                times * ((in >> SHIFT(c) & mask) * in_alpha - (out >> SHIFT(c) & mask) * out_alpha);
        alpha[x] += times * (in_alpha - out_alpha);
    }
}

GI_SIMD_BODY void NAME(slide_weighted_body)(const NAME(box) * box, const SAMPLE *enter, const SAMPLE *leave,
                                            SUM times) {
    if (box->band->in.channels == 2)
        NAME(slide_pixels)(box, enter, leave, times, 2);
    else
        NAME(slide_pixels)(box, enter, leave, times, 4);
}
GI_SIMD_VARIANTS(NAME(slide_weighted), NAME(slide_weighted_body),
                 (const NAME(box) * box, const SAMPLE *enter, const SAMPLE *leave, SUM times),
                 (box, enter, leave, times))

// The column sums of row y from nothing: each row that the window reaches once, times what it stands for.
static void NAME(start)(NAME(box) * box, int64_t y) {
    const gi_blur_band *band = box->band;
    int64_t radius = box->plan->radius, height = band->place.image_height;
    int64_t first = y - radius > 0 ? y - radius : 0, last = y + radius < height - 1 ? y + radius : height - 1;
    size_t line = box->plan->weighted ? (size_t)box->plane : band->in.width;
    memset(box->column, 0, line * (size_t)band->in.channels * sizeof(SUM));
    for (int64_t r = first; r <= last + 1; r++) {
        int64_t times = gi_border_count(r, y - radius, y + radius, height, band->border);
        const SAMPLE *row = r <= last ? gi_blur_row(band, r) : band->outside;
        if (r > last) times = band->border == GI_BORDER_CONSTANT ? 2 * radius - (last - first) : 0;
        if (times == 0) continue;
        if (!box->plan->weighted) {
            NAME(add_times)(box->column, row, gi_blur_row_samples(band), (SUM)times);
            continue;
        }
        NAME(slide_weighted)(box, row, band->blank, (SUM)times);
    }
}

// From the column sums of row y - 1 to those of row y.
static void NAME(advance)(NAME(box) * box, int64_t y) {
    const gi_blur_band *band = box->band;
    const SAMPLE *enter = gi_blur_row(band, y + box->plan->radius);
    const SAMPLE *leave = gi_blur_row(band, y - 1 - box->plan->radius);
    if (box->plan->weighted)
        NAME(slide_weighted)(box, enter, leave, 1);
    else
        NAME(slide)(box->column, enter, leave, gi_blur_row_samples(band));
}

// The sum of 2R + 1 pixels outside the image, for border=constant; 0 for shrink.
static SUM NAME(outside_column)(const NAME(box) * box, int c) {
    const SAMPLE *pixel = box->band->outside;
    int alpha = box->band->in.channels - 1;
    SUM v = pixel[c];
    if (box->plan->weighted && c < alpha) v *= pixel[alpha];
    return v * (SUM)(2 * box->plan->radius + 1);
}

// Continues F by R pixels past both ends, R below the width, for channel c: F(k + 1) = F(k) + column(k).
static void NAME(extend)(NAME(box) * box, int c) {
    const ptrdiff_t step = box->step, width = box->band->in.width, radius = (ptrdiff_t)box->plan->radius;
    const SUM outside = NAME(outside_column)(box, c), *column = box->column + c * box->plane;
    const SUM *right = &outside, *left = &outside;
    ptrdiff_t inward = 0;
    if (box->band->border == GI_BORDER_REFLECT101 || box->band->border == GI_BORDER_REPLICATE) {
        inward = box->band->border == GI_BORDER_REFLECT101 && width > 1 ? step : 0;
        right = column + (width - 1) * step - inward;
        left = column + inward;
    }
    SUM *begin = box->sums + c * box->plane, *end = begin + width * step;
    for (ptrdiff_t i = 0; i < radius; i++) {
        end[(i + 1) * step] = end[i * step] + right[-i * inward];
        begin[-(i + 1) * step] = begin[-i * step] - left[i * inward];
    }
}

// F(k) of channel c for any k, from the prefix sums of the row alone.
static SUM NAME(far_sum)(const NAME(box) * box, int64_t k, int c) {
    const int64_t step = box->step, width = box->band->in.width;
    const SUM *f = box->sums + c * box->plane, *column = box->column + c * box->plane;
    if (k >= 0 && k <= width) return f[k * step];
    SUM row = f[width * step], outside_first, outside_last;
    switch (box->band->border) {
    case GI_BORDER_REFLECT101:
        if (width > 1) {
            int64_t period = 2 * (width - 1), place = k % period;
            if (place < 0) place += period;
            SUM mirrored = f[(width - 1) * step]; // columns 0..width-2, from the right end on
            SUM partial = place <= width ? f[place * step] : row + mirrored - f[(period - place + 1) * step];
            return (SUM)((k - place) / period) * (row + mirrored - f[step]) + partial;
        }
        // One column: every column is that one.
        // fall through
    case GI_BORDER_REPLICATE:
        outside_first = column[0];
        outside_last = column[(width - 1) * step];
        break;
    default: outside_first = outside_last = NAME(outside_column)(box, c); break;
    }
    return k < 0 ? outside_first * (SUM)k : row + outside_last * (SUM)(k - width);
}

// Fills F so that low and high hold for every x.
static void NAME(prefix)(NAME(box) * box) {
    const int channels = box->band->in.channels;
    const ptrdiff_t step = box->step, width = box->band->in.width;
    if (!box->plan->weighted) PREFIX_SUMS(box->column, box->sums, (size_t)width, channels);
    for (int c = 0; c < channels; c++) {
        ptrdiff_t at = c * box->plane;
        if (box->plan->weighted) PREFIX_SUMS(box->column + at, box->sums + at, (size_t)width, 1);
        if (box->plan->radius < width) {
            NAME(extend)(box, c);
            continue;
        }
        SUM *low = box->far + at, *high = box->far + (box->high - box->low) + at;
        for (ptrdiff_t x = 0; x < width; x++) {
            low[x * step] = NAME(far_sum)(box, x - box->plan->radius, c);
            high[x * step] = NAME(far_sum)(box, x + box->plan->radius + 1, c);
        }
    }
}

GI_SIMD_BODY void NAME(multiply_body)(const NAME(box) * box, SAMPLE *out) {
    const SUM *low = box->low, *high = box->high;
    const uint32_t half = (uint32_t)box->plan->count / 2, multiplier = box->plan->multiplier, shift = box->plan->shift;
    const float half_small = (float)half + 0.5F, inverse = 1 / (float)box->plan->count;
    size_t samples = gi_blur_row_samples(box->band);
    if (sizeof(SAMPLE) == 1 && box->plan->small) {
#pragma omp simd
        for (size_t i = 0; i < samples; i++)
            out[i] = (SAMPLE)gi_box_divide_small((uint32_t)(high[i] - low[i]), half_small, inverse);
        return;
    }
#pragma omp simd
    for (size_t i = 0; i < samples; i++)
        out[i] = (SAMPLE)gi_box_divide((uint32_t)(high[i] - low[i]), half, multiplier, shift);
}
GI_SIMD_VARIANTS(NAME(multiply), NAME(multiply_body), (const NAME(box) * box, SAMPLE *out), (box, out))

// Divides by each sample's own n, in double arithmetic: (sum + floor(n/2) + 1/2) / n is at least 1/2n away from every
// integer, and its error, 2^-51 of a quotient below 2^16, is less (n < 2^31). So the integer part is right.
GI_SIMD_BODY void NAME(divide_body)(const NAME(box) * box, SAMPLE *out) {
    const SUM *low = box->low, *high = box->high;
    const double *half = box->half, *inverse = box->inverse;
    size_t samples = gi_blur_row_samples(box->band);
#pragma omp simd
    for (size_t i = 0; i < samples; i++)
        out[i] = (SAMPLE)(int32_t)(((double)(SIGNED)(high[i] - low[i]) + half[i]) * inverse[i]);
}
GI_SIMD_VARIANTS(NAME(divide), NAME(divide_body), (const NAME(box) * box, SAMPLE *out), (box, out))

GI_SIMD_BODY void NAME(unweigh_pixels)(const NAME(box) * box, SAMPLE *restrict out, int channels) {
    const ptrdiff_t plane = box->plane;
    const SUM *low = box->low, *high = box->high;
    const SUM *alpha_low = low + (channels - 1) * plane, *alpha_high = high + (channels - 1) * plane;
    const double *half = box->half, *inverse = box->inverse;
    const size_t width = box->band->in.width;
#pragma omp simd
    for (size_t x = 0; x < width; x++) {
        SUM sum = alpha_high[x] - alpha_low[x];
        double alpha = (double)(SIGNED)sum, alpha_half = (double)(SIGNED)(sum / 2) + 0.5;
        double alpha_inverse = alpha > 0 ? 1 / alpha : 0;
        SUM pixel = (SUM)(int32_t)((alpha + half[x]) * inverse[x]) << SHIFT(channels - 1);
        for (int c = 0; c + 1 < channels; c++) {
            ptrdiff_t i = c * plane + (ptrdiff_t)x;
            double colour = (double)(SIGNED)(high[i] - low[i]);
            pixel |= (SUM)(int32_t)((colour + alpha_half) * alpha_inverse) << SHIFT(c);
        }
        NAME(store_pixel)(out, x, channels, pixel);
    }
}

// Colours are divided by the sum of alpha: see gi_box_plan.by_double.
GI_SIMD_BODY void NAME(unweigh_body)(const NAME(box) * box, SAMPLE *out) {
    if (box->band->in.channels == 2)
        NAME(unweigh_pixels)(box, out, 2);
    else
        NAME(unweigh_pixels)(box, out, 4);
}
GI_SIMD_VARIANTS(NAME(unweigh), NAME(unweigh_body), (const NAME(box) * box, SAMPLE *out), (box, out))
#undef SHIFT

// Pixels of the window around (x, y) that take part.
static int64_t NAME(window_count)(const NAME(box) * box, int64_t x, int64_t rows) {
    int64_t radius = box->plan->radius;
    if (box->band->border != GI_BORDER_SHRINK) return rows * (2 * radius + 1);
    return rows * gi_window_inside(x, radius, box->band->in.width);
}

// The same in integers, for sums that double does not hold.
static void NAME(unweigh_exact)(const NAME(box) * box, SAMPLE *out, int64_t y) {
    const int channels = box->band->in.channels;
    const ptrdiff_t width = box->band->in.width, alpha_at = (channels - 1) * box->plane;
    int64_t rows = gi_blur_rows_counted(box->band, y, box->plan->radius);
    for (ptrdiff_t x = 0; x < width; x++, out += channels) {
        uint64_t alpha = (SUM)(box->high[alpha_at + x] - box->low[alpha_at + x]);
        for (int c = 0; c + 1 < channels; c++) {
            ptrdiff_t i = c * box->plane + x;
            out[c] = alpha ? (SAMPLE)gi_half_up((SUM)(box->high[i] - box->low[i]), alpha) : 0;
        }
        out[channels - 1] = (SAMPLE)gi_half_up(alpha, (uint64_t)NAME(window_count)(box, x, rows));
    }
}

// Makes the divisors of a row; most rows share those of the one before.
static void NAME(set_divisors)(NAME(box) * box, int64_t y) {
    int64_t rows = gi_blur_rows_counted(box->band, y, box->plan->radius);
    if (rows == box->counted) return;
    box->counted = rows;
    ptrdiff_t step = box->step, width = box->band->in.width;
    for (ptrdiff_t x = 0; x < width; x++) {
        int64_t n = NAME(window_count)(box, x, rows);
        for (ptrdiff_t i = x * step; i < (x + 1) * step; i++) {
            box->half[i] = (double)(n / 2) + 0.5;
            box->inverse[i] = 1 / (double)n;
        }
    }
}

static void NAME(rows)(const gi_blur_rows *rows) {
    NAME(box) box;
    gi_scratch scratch = {rows->scratch, 0};
    NAME(take)(&box, rows, &scratch);
    for (int64_t y = rows->y0; y < rows->y1; y++) {
        SAMPLE *out = gi_blur_out_row(rows->band, y);
        if (y == rows->y0)
            NAME(start)(&box, y);
        else
            NAME(advance)(&box, y);
        NAME(prefix)(&box);
        if (box.plan->multiplies) {
            NAME(multiply)(&box, out);
        } else if (box.plan->weighted && !box.plan->by_double) {
            NAME(unweigh_exact)(&box, out, y);
        } else {
            NAME(set_divisors)(&box, y);
            if (box.plan->weighted)
                NAME(unweigh)(&box, out);
            else
                NAME(divide)(&box, out);
        }
    }
}

#undef SAMPLE
#undef PAIR
#undef QUAD
#undef SUM
#undef SIGNED
#undef PREFIX_SUMS
#undef NAME
