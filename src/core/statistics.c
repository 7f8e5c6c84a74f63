// Statistics of exact counts. The number of pixels must fit 64 bits; nothing below then overflows:
// sums of v * count stay under 2^80, sums of squared deviations under 2^96.
#include <math.h>
#include <string.h>

#include "core/histogram.h"
#include "core/scan.h"

__extension__ typedef unsigned __int128 uint128;

const int gi_percentile_points[GI_PERCENTILE_COUNT] = {1, 5, 25, 75, 95, 99};

// The smallest level whose cumulative count reaches p per cent of n, n > 0.
static uint32_t percentile(const uint64_t *counts, uint64_t n, int p) {
    uint128 wanted = (uint128)n * (unsigned)p;
    uint64_t cumulative = 0;
    uint32_t v = 0;
    for (;; v++) {
        cumulative += counts[v];
        if ((uint128)cumulative * 100 >= wanted) return v;
    }
}

// Variance is D/n - (r/n)^2 with D and r the exact sums of squared and plain deviations from the integer nearest to the
// mean. Then D >= |r| and |r| <= n/2, so that the subtraction loses one bit at most, however small the variance.
static void mean_and_deviation(const uint64_t *counts, gi_statistics *s) {
    uint128 n = s->pixels, sum = 0, squares = 0;
    for (uint32_t v = s->min; v <= s->max; v++) sum += (uint128)counts[v] * v;
    uint32_t centre = (uint32_t)((2 * sum + n) / (2 * n));
    for (uint32_t v = s->min; v <= s->max; v++) {
        uint64_t deviation = v > centre ? v - centre : centre - v;
        squares += (uint128)counts[v] * (deviation * deviation);
    }
    uint128 at_centre = n * centre;
    long double rest = (long double)(sum > at_centre ? sum - at_centre : at_centre - sum) / (long double)n;
    s->mean = (double)sum / (double)n;
    s->std = (double)sqrtl((long double)squares / (long double)n - rest * rest);
}

static double entropy_bits(const uint64_t *counts, const gi_statistics *s) {
    long double n = (long double)s->pixels, bits = 0;
    for (uint32_t v = s->min; v <= s->max; v++)
        if (counts[v] != 0) bits += (long double)counts[v] / n * log2l(n / (long double)counts[v]);
    return (double)bits;
}

void gi_statistics_of(const uint64_t *counts, uint32_t levels, gi_statistics *out) {
    memset(out, 0, sizeof *out);
    out->pixels = gi_reduce_counts(counts, levels);
    out->min = levels;
    for (uint32_t v = 0; v < levels; v++) {
        if (counts[v] == 0) continue;
        if (out->min == levels) out->min = v;
        out->max = v;
    }
    if (out->pixels == 0) {
        out->min = 0;
        return;
    }
    out->clipped_shadows = counts[0];
    out->clipped_highlights = counts[levels - 1];
    out->median = percentile(counts, out->pixels, 50);
    for (int i = 0; i < GI_PERCENTILE_COUNT; i++)
        out->percentiles[i] = percentile(counts, out->pixels, gi_percentile_points[i]);
    out->otsu = gi_otsu_level(counts, levels);
    out->entropy = entropy_bits(counts, out);
    mean_and_deviation(counts, out);
}
