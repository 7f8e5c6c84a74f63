// The Gaussian weighted by alpha, in its narrow and its wide form (core/blur_rules.h). Weights and weighted colours lie
// in planes, so that the alpha of neighbouring pixels lies in neighbouring lanes.
#include <string.h>

#include "cpu/blur_gauss.h"
#include "core/simd.h"

// 8 bits: all sums stay below 2^49, exact in double arithmetic.
#define NUMBER double
#define NAME(x) x##_u8
#include "cpu/blur_gauss_passes.h"
#undef NUMBER
#undef NAME

// 16 bits: sums reach 2^64.
#define NUMBER uint64_t
#define NAME(x) x##_u16
#include "cpu/blur_gauss_passes.h"
#undef NUMBER
#undef NAME

// Sums of pixels [x, x + count), in planes.
typedef struct span_u8 {
    double (*sums)[CHUNK_u8];
    size_t x, count;
} span_u8;

typedef struct span_u16 {
    uint64_t (*sums)[CHUNK_u16];
    size_t x, count;
} span_u16;

// min(255, half_up(sum, divisor)), or 0 where the divisor is 0. Both are integers, the sum below 2^49, the divisor up
// to 2^40: (sum + divisor/2) / divisor is an integer or at least 2^-41 away from one, more than the quotient's one
// rounding.
GI_SIMD_BODY double quotient_u8(double sum, double divisor) {
    double q = divisor > 0 ? (sum + 0.5 * divisor) / (divisor > 0 ? divisor : 1) : 0;
    return q < 255 ? q : 255;
}

// Quotients of a span, to interleaved samples.
GI_SIMD_BODY void finish_body(const span_u8 *span, const double *units, uint8_t *restrict out, int channels) {
    const double *colour_0 = span->sums[0], *colour_1 = span->sums[1], *colour_2 = span->sums[2];
    const double *weight = span->sums[channels - 1];
    if (channels == 2) {
#pragma omp simd
        for (size_t i = 0; i < span->count; i++) {
            out[2 * i] = (uint8_t)(int32_t)quotient_u8(colour_0[i], weight[i]);
            out[2 * i + 1] = (uint8_t)(int32_t)quotient_u8(weight[i], units[i]);
        }
        return;
    }
#pragma omp simd
    for (size_t i = 0; i < span->count; i++) {
        out[4 * i] = (uint8_t)(int32_t)quotient_u8(colour_0[i], weight[i]);
        out[4 * i + 1] = (uint8_t)(int32_t)quotient_u8(colour_1[i], weight[i]);
        out[4 * i + 2] = (uint8_t)(int32_t)quotient_u8(colour_2[i], weight[i]);
        out[4 * i + 3] = (uint8_t)(int32_t)quotient_u8(weight[i], units[i]);
    }
}
GI_SIMD_VARIANTS(finish_u8, finish_body,
                 (const span_u8 *span, const double *units, uint8_t *restrict out, int channels),
                 (span, units, out, channels))

static uint16_t quotient_u16(uint64_t sum, uint64_t divisor) {
    uint64_t q = divisor ? gi_half_up(sum, divisor) : 0;
    return (uint16_t)(q < 65535 ? q : 65535);
}

static void finish_u16(const span_u16 *span, const uint64_t *units, uint16_t *out, int channels) {
    const int last = channels - 1;
    for (size_t i = 0; i < span->count; i++, out += channels) {
        for (int c = 0; c < last; c++) out[c] = quotient_u16(span->sums[c][i], span->sums[last][i]);
        out[last] = quotient_u16(span->sums[last][i], units[i]);
    }
}

#define SAMPLE uint8_t
#define PAIR uint16_t
#define QUAD uint32_t
#define PRODUCT uint32_t
#define NUMBER double
#define SHIFTED(sum, bits) ((bits) ? (double)(int32_t)((sum) * (1.0 / (double)((int64_t)1 << (bits)))) : (sum))
#define TO_NUMBER(x) ((double)(int32_t)(x))
#define NAME(x) x##_u8
#include "cpu/blur_gauss_alpha_template.h"

#define SAMPLE uint16_t
#define PAIR uint32_t
#define QUAD uint64_t
#define PRODUCT uint64_t
#define NUMBER uint64_t
#define SHIFTED(sum, bits) ((sum) >> (bits))
#define TO_NUMBER(x) (x)
#define NAME(x) x##_u16
#include "cpu/blur_gauss_alpha_template.h"

gi_status gi_cpu_gauss_alpha(const gi_blur_band *band, const gi_gauss *gauss, gi_error *err) {
    gi_blur_rows rows = {.band = band, .plan = gauss};
    if (band->in.sample == GI_U8) return gi_blur_run(&rows, make_rows_u8, scratch_u8(&rows), err);
    return gi_blur_run(&rows, make_rows_u16, scratch_u16(&rows), err);
}
