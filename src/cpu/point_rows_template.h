// The loops of point_rows.h for one sample type. Included with SAMPLE, its maximum SAMPLE_MAX, a signed type
// DIFFERENCE, the member FIELD of the pattern, NAME(x), and what does a first part of the mix by other means
// (MIX_RGB_FIRST, MIX_RGBA_FIRST) and of a threshold that streams (STREAM_FIRST).
//
// `omp simd` tells the compiler that `in` and `out` are either apart or the same, never shifted.

GI_SIMD_BODY void NAME(threshold_block)(const SAMPLE *in, SAMPLE *out, size_t count, const SAMPLE *level,
                                        const SAMPLE *keep) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        SAMPLE white = in[i] > level[i] ? SAMPLE_MAX : 0;
        out[i] = (SAMPLE)((white & ~keep[i]) | (in[i] & keep[i]));
    }
}

GI_SIMD_BODY void NAME(threshold_body)(const gi_curve_span *span, const gi_threshold_pattern *pattern) {
    const SAMPLE *in = span->in, *level = pattern->level.FIELD, *keep = pattern->keep.FIELD;
    SAMPLE *out = span->out;
    size_t left = span->pixels * (size_t)span->channels;
    if (pattern->uniform) {
        const SAMPLE everywhere = level[0];
        size_t done = pattern->streams ? STREAM_FIRST(in, out, left, everywhere) : 0;
#pragma omp simd
        for (size_t i = done; i < left; i++) out[i] = in[i] > everywhere ? SAMPLE_MAX : 0;
        return;
    }
    for (; left >= GI_PATTERN_SAMPLES; left -= GI_PATTERN_SAMPLES) {
        NAME(threshold_block)(in, out, GI_PATTERN_SAMPLES, level, keep);
        in += GI_PATTERN_SAMPLES;
        out += GI_PATTERN_SAMPLES;
    }
    NAME(threshold_block)(in, out, left, level, keep);
}
GI_SIMD_VARIANTS(NAME(threshold), NAME(threshold_body),
                 (const gi_curve_span *span, const gi_threshold_pattern *pattern), (span, pattern))

// Unrolled by hand: otherwise the loop's own instructions are most of the work.
static void NAME(look_up)(const SAMPLE *in, SAMPLE *out, const gi_curve_span *span, const uint16_t *table) {
    size_t stride = (size_t)span->channels, left = span->pixels;
    for (; left >= 4; left -= 4, in += 4 * stride, out += 4 * stride) {
        SAMPLE v0 = (SAMPLE)table[in[0]], v1 = (SAMPLE)table[in[stride]];
        SAMPLE v2 = (SAMPLE)table[in[2 * stride]], v3 = (SAMPLE)table[in[3 * stride]];
        out[0] = v0;
        out[stride] = v1;
        out[2 * stride] = v2;
        out[3 * stride] = v3;
    }
    for (; left > 0; left--, in += stride, out += stride) *out = (SAMPLE)table[*in];
}

// One channel of `stride` interleaved ones.
static void NAME(curve_channel)(const SAMPLE *in, SAMPLE *out, const gi_curve_span *span, const gi_curve *curve) {
    size_t stride = (size_t)span->channels, end = span->pixels * stride;
    uint32_t level = curve->level;
    switch (curve->kind) {
    case GI_CURVE_TABLE: NAME(look_up)(in, out, span, curve->table); break;
    case GI_CURVE_THRESHOLD:
        for (size_t i = 0; i < end; i += stride) out[i] = in[i] > level ? SAMPLE_MAX : 0;
        break;
    default:
        for (size_t i = 0; i < end; i += stride) out[i] = in[i];
        break;
    }
}

static void NAME(curves)(const gi_curve_span *span, const gi_curve curves[3]) {
    static const gi_curve identity = {GI_CURVE_IDENTITY, 0, NULL};
    const SAMPLE *in = span->in;
    SAMPLE *out = span->out;
    int colours = gi_colour_channels(span->channels);
    for (int c = 0; c < span->channels; c++)
        NAME(curve_channel)(in + c, out + c, span, c < colours ? &curves[c] : &identity);
}

// `channels` is a constant in each call, so that the stride is one too.
GI_SIMD_BODY void NAME(mix_pixels)(const SAMPLE *restrict in, SAMPLE *restrict out, size_t pixels, int channels,
                                   const uint32_t weights[3]) {
    const uint32_t red = weights[0], green = weights[1], blue = weights[2];
#pragma omp simd
    for (size_t i = 0; i < pixels; i++) {
        const SAMPLE *p = in + i * (size_t)channels;
        SAMPLE gray = (SAMPLE)((red * p[0] + green * p[1] + blue * p[2] + 16384U) >> 15);
        if (channels == 4) {
            out[2 * i] = gray;
            out[2 * i + 1] = p[3];
        } else {
            out[i] = gray;
        }
    }
}

GI_SIMD_BODY void NAME(mix_weights_body)(const gi_mix_span *span, const uint32_t weights[3]) {
    const SAMPLE *in = span->in;
    SAMPLE *out = span->out;
    if (span->channels == 4) {
        size_t done = MIX_RGBA_FIRST(in, out, span->pixels, weights);
        NAME(mix_pixels)(in + 4 * done, out + 2 * done, span->pixels - done, 4, weights);
    } else {
        size_t done = MIX_RGB_FIRST(in, out, span->pixels, weights);
        NAME(mix_pixels)(in + 3 * done, out + done, span->pixels - done, 3, weights);
    }
}
GI_SIMD_VARIANTS(NAME(mix_weights), NAME(mix_weights_body), (const gi_mix_span *span, const uint32_t weights[3]),
                 (span, weights))

static void NAME(mix_linear)(const gi_mix_span *span, const gi_linear_tables *tables) {
    const SAMPLE *in = span->in;
    SAMPLE *out = span->out;
    for (size_t i = 0; i < span->pixels; i++, in += span->channels) {
        *out++ = (SAMPLE)gi_linear_encode(tables, tables->red[in[0]] + tables->green[in[1]] + tables->blue[in[2]]);
        if (span->channels == 4) *out++ = in[3];
    }
}

// Twice the samples' width holds any difference and sum.
GI_SIMD_BODY void NAME(shift_block)(const SAMPLE *in, SAMPLE *out, const DIFFERENCE *difference, size_t count) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        DIFFERENCE moved = (DIFFERENCE)(in[i] + difference[i]);
        moved = moved < 0 ? 0 : moved;
        out[i] = (SAMPLE)(moved > SAMPLE_MAX ? SAMPLE_MAX : moved);
    }
}

// The differences are first laid out sample by sample, so that the sums need no shuffles. `channels` is a constant in
// each call.
GI_SIMD_BODY void NAME(shift_pixels)(const gi_shift_span *span, size_t channels) {
    enum { BLOCK_PIXELS = 256 };
    DIFFERENCE difference[BLOCK_PIXELS * GI_MAX_CHANNELS];
    const SAMPLE *in = span->in, *luma = span->luma, *becomes = span->becomes;
    SAMPLE *out = span->out;
    const size_t step = channels - 2;
    for (size_t left = span->pixels; left > 0;) {
        size_t pixels = left < BLOCK_PIXELS ? left : BLOCK_PIXELS;
        for (size_t i = 0; i < pixels; i++) {
            DIFFERENCE gain = (DIFFERENCE)(becomes[i * step] - luma[i * step]);
            for (size_t c = 0; c < 3; c++) difference[i * channels + c] = gain;
            if (channels == 4) difference[i * channels + 3] = 0;
        }
        NAME(shift_block)(in, out, difference, pixels * channels);
        in += pixels * channels;
        out += pixels * channels;
        luma += pixels * step;
        becomes += pixels * step;
        left -= pixels;
    }
}

GI_SIMD_BODY void NAME(shift_body)(const gi_shift_span *span) {
    if (span->channels == 4)
        NAME(shift_pixels)(span, 4);
    else
        NAME(shift_pixels)(span, 3);
}
GI_SIMD_VARIANTS(NAME(shift), NAME(shift_body), (const gi_shift_span *span), (span))

const gi_point_rows NAME(gi_point_rows) = {NAME(threshold), NAME(curves), NAME(mix_weights), NAME(mix_linear),
                                           NAME(shift)};
