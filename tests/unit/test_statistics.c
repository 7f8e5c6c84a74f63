#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "core/histogram.h"
#include "core/scan.h"

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % limit);
}

static void expect_near(double got, long double expected, double tolerance) {
    if (!(fabsl(got - expected) <= tolerance * (1 + fabsl(expected)))) fail_msg("%.17g, not %.17Lg", got, expected);
}

static uint32_t naive_percentile(const uint64_t *counts, uint64_t n, uint64_t p) {
    uint64_t cumulative = counts[0];
    uint32_t v = 0;
    while (cumulative * 100 < p * n) cumulative += counts[++v];
    return v;
}

// Otsu by the textbook's means and weights; the variance of every level.
static long double between(const uint64_t *counts, uint32_t levels, uint32_t t) {
    long double w0 = 0, w1 = 0, s0 = 0, s1 = 0;
    for (uint32_t v = 0; v < levels; v++) {
        long double c = (long double)counts[v];
        if (v <= t)
            w0 += c, s0 += c * v;
        else
            w1 += c, s1 += c * v;
    }
    if (!(w0 > 0) || !(w1 > 0)) return 0;
    long double apart = s0 / w0 - s1 / w1;
    return w0 * w1 * apart * apart;
}

static void check_against_naive(const uint64_t *counts, uint32_t levels) {
    gi_statistics s;
    long double n = 0, sum = 0, squares = 0, bits = 0;
    gi_statistics_of(counts, levels, &s);
    for (uint32_t v = 0; v < levels; v++) {
        n += (long double)counts[v];
        sum += (long double)counts[v] * v;
    }
    for (uint32_t v = 0; v < levels; v++) {
        long double c = (long double)counts[v], deviation = v - sum / n;
        squares += c * deviation * deviation;
        if (counts[v]) bits -= c / n * log2l(c / n);
    }
    assert_true(s.pixels == (uint64_t)n);
    expect_near(s.mean, sum / n, 1e-15);
    expect_near(s.std, sqrtl(squares / n), 1e-15);
    expect_near(s.entropy, bits, 1e-14);
    assert_int_equal(s.median, naive_percentile(counts, s.pixels, 50));
    for (int i = 0; i < GI_PERCENTILE_COUNT; i++)
        assert_int_equal(s.percentiles[i], naive_percentile(counts, s.pixels, (uint64_t)gi_percentile_points[i]));
    assert_true(counts[s.min] > 0 && counts[s.max] > 0);
    for (uint32_t v = 0; v < s.min; v++) assert_true(counts[v] == 0);
    for (uint32_t v = s.max + 1; v < levels; v++) assert_true(counts[v] == 0);
    assert_true(s.clipped_shadows == counts[0] && s.clipped_highlights == counts[levels - 1]);
    assert_int_equal(s.otsu, gi_otsu_level(counts, levels));
}

static void agrees_with_naive_formulas(void **state) {
    (void)state;
    random_state = 31;
    uint64_t counts[256];
    for (int round = 0; round < 300; round++) {
        memset(counts, 0, sizeof counts);
        uint32_t bins = 1 + random_below(256);
        for (uint32_t i = 0; i < bins; i++) counts[random_below(256)] += 1 + random_below(round % 2 ? 5 : 1000000);
        check_against_naive(counts, 256);
        gi_statistics s;
        gi_statistics_of(counts, 256, &s);
        if (s.min == s.max) continue;
        long double best = between(counts, 256, s.otsu);
        for (uint32_t t = 0; t < 256; t++) assert_true(between(counts, 256, t) <= best * (1 + 1e-15L));
        for (uint32_t t = 0; t < s.otsu; t++) assert_true(between(counts, 256, t) <= best);
    }
}

static void agrees_with_naive_formulas_u16(void **state) {
    (void)state;
    random_state = 32;
    uint64_t *counts = calloc(65536, sizeof *counts);
    assert_non_null(counts);
    for (int round = 0; round < 5; round++) {
        for (uint32_t i = 0; i < 30000; i++) counts[random_below(65536)] += random_below(100);
        check_against_naive(counts, 65536);
    }
    free(counts);
}

static void of_nothing_gives_zeros(void **state) {
    (void)state;
    uint64_t counts[256] = {0};
    gi_statistics s, zero;
    memset(&zero, 0, sizeof zero);
    memset(&s, 0x5A, sizeof s);
    gi_statistics_of(counts, 256, &s);
    assert_memory_equal(&s, &zero, sizeof s);
    assert_int_equal(gi_otsu_level(counts, 256), 0);
}

static void counts_reduce_and_scan(void **state) {
    (void)state;
    uint64_t counts[] = {3, 0, UINT64_C(1) << 40, 7}, sums[4];
    assert_true(gi_reduce_counts(counts, 0) == 0 && gi_reduce_counts(counts, 1) == 3);
    assert_true(gi_reduce_counts(counts, 4) == (UINT64_C(1) << 40) + 10);
    gi_scan_counts(counts, sums, 4);
    for (uint32_t i = 0; i < 4; i++) assert_true(sums[i] == gi_reduce_counts(counts, i + 1));
    gi_scan_counts(counts, counts, 4);
    assert_memory_equal(counts, sums, sizeof sums);
}

static void of_one_level(void **state) {
    (void)state;
    static const uint32_t where[] = {0, 1, 100, 254, 255};
    for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
        uint64_t counts[256] = {0};
        counts[where[i]] = 12345;
        gi_statistics s;
        gi_statistics_of(counts, 256, &s);
        assert_true(s.pixels == 12345);
        assert_true(s.min == where[i] && s.max == where[i] && s.median == where[i] && s.otsu == 0);
        for (int p = 0; p < GI_PERCENTILE_COUNT; p++) assert_int_equal(s.percentiles[p], where[i]);
        assert_true(!(s.mean < where[i]) && !(s.mean > where[i]));
        assert_true(!(s.std < 0) && !(s.std > 0) && !signbit(s.std));
        assert_true(!(s.entropy < 0) && !(s.entropy > 0) && !signbit(s.entropy));
        assert_true(s.clipped_shadows == (where[i] == 0 ? 12345U : 0));
        assert_true(s.clipped_highlights == (where[i] == 255 ? 12345U : 0));
    }
}

// Cumulative counts that meet p per cent exactly, and miss it by one.
static void percentiles_are_exact(void **state) {
    (void)state;
    uint64_t counts[256] = {0};
    gi_statistics s;
    counts[10] = 50;
    counts[20] = 50;
    gi_statistics_of(counts, 256, &s);
    assert_int_equal(s.median, 10);
    counts[10] = 49;
    counts[20] = 51;
    gi_statistics_of(counts, 256, &s);
    assert_int_equal(s.median, 20);
    memset(counts, 0, sizeof counts);
    counts[0] = UINT64_C(1) << 57; // a hundred times this passes 64 bits
    counts[255] = (UINT64_C(1) << 57) + 1;
    gi_statistics_of(counts, 256, &s);
    assert_int_equal(s.median, 255);
    counts[255]--;
    gi_statistics_of(counts, 256, &s);
    assert_int_equal(s.median, 0);
}

static void huge_counts_do_not_overflow(void **state) {
    (void)state;
    uint64_t *counts = malloc(65536 * sizeof *counts);
    assert_non_null(counts);
    static const int shifts[] = {0, 40, 47}; // 2^47 * 65536 = 2^63 pixels
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        for (uint32_t v = 0; v < 65536; v++) counts[v] = UINT64_C(1) << shifts[i];
        gi_statistics s;
        gi_statistics_of(counts, 65536, &s);
        assert_true(s.pixels == UINT64_C(1) << (16 + shifts[i]));
        expect_near(s.mean, 32767.5L, 0);
        expect_near(s.std, sqrtl((65536.0L * 65536.0L - 1) / 12), 1e-16);
        expect_near(s.entropy, 16, 0);
        assert_int_equal(s.median, 32767);
        assert_int_equal(s.otsu, 32767);
    }
    free(counts);
}

// One pixel that differs among 10^18: the textbook's E[v^2] - E[v]^2 has no correct digit left.
static void small_deviations_keep_their_digits(void **state) {
    (void)state;
    for (uint64_t n = 10; n <= UINT64_C(1000000000000000000); n *= 10) {
        uint64_t counts[256] = {0};
        counts[254] = 1;
        counts[255] = n - 1;
        gi_statistics s;
        gi_statistics_of(counts, 256, &s);
        long double expected = sqrtl((long double)(n - 1)) / (long double)n;
        if (!(fabsl(s.std - expected) <= 2e-16L * expected)) fail_msg("%.17g, not %.17Lg", s.std, expected);
        assert_int_equal(s.otsu, 254);
    }
}

static void otsu_breaks_ties_downwards(void **state) {
    (void)state;
    uint64_t counts[256] = {0};
    counts[10] = counts[200] = 7; // every level from 10 to 199 parts them
    assert_int_equal(gi_otsu_level(counts, 256), 10);
    memset(counts, 0, sizeof counts);
    counts[50] = counts[100] = counts[150] = 3; // symmetric: 50 and 100 tie exactly
    assert_int_equal(gi_otsu_level(counts, 256), 50);
    memset(counts, 0, sizeof counts);
    for (uint32_t v = 0; v < 256; v++) counts[v] = v < 128 ? v * v % 17 : (255 - v) * (255 - v) % 17;
    counts[126] = counts[129] = 1000; // symmetric about 127.5
    uint32_t level = gi_otsu_level(counts, 256);
    assert_true(between(counts, 256, 254 - level) <= between(counts, 256, level) * (1 + 1e-15L));
    assert_true(level <= 127);
}

// Two levels whose variances differ by less than a double can tell, with counts near 2^62.
static void otsu_is_exact_where_doubles_are_not(void **state) {
    (void)state;
    uint64_t counts[256] = {0};
    uint64_t big = UINT64_C(1) << 60;
    counts[50] = big;
    counts[100] = big;
    counts[150] = big + 1; // the upper class a trace heavier: parting it off wins
    assert_int_equal(gi_otsu_level(counts, 256), 100);
    counts[50] = big + 1;
    counts[150] = big;
    assert_int_equal(gi_otsu_level(counts, 256), 50);
    uint64_t *wide = calloc(65536, sizeof *wide);
    assert_non_null(wide);
    wide[0] = UINT64_MAX / 3;
    wide[32767] = UINT64_MAX / 3;
    wide[65534] = UINT64_MAX / 3;
    assert_int_equal(gi_otsu_level(wide, 65536), 0);
    wide[0]--;
    assert_int_equal(gi_otsu_level(wide, 65536), 32767);
    free(wide);
}

static void histograms_add(void **state) {
    (void)state;
    gi_histogram a, b, other, deep;
    gi_error err;
    assert_int_equal(gi_histogram_init(&a, 3, GI_U8, &err), GI_OK);
    assert_int_equal(gi_histogram_init(&b, 3, GI_U8, &err), GI_OK);
    assert_int_equal(gi_histogram_init(&other, 4, GI_U8, &err), GI_OK);
    assert_int_equal(gi_histogram_init(&deep, 3, GI_U16, &err), GI_OK);
    assert_int_equal(a.levels, 256);
    assert_int_equal(deep.levels, 65536);
    for (size_t i = 0; i < 3 * 256; i++) {
        assert_true(a.counts[i] == 0);
        a.counts[i] = i;
        b.counts[i] = UINT64_C(1) << 40;
    }
    assert_int_equal(gi_histogram_add(&a, &b, &err), GI_OK);
    for (size_t i = 0; i < 3 * 256; i++) assert_true(a.counts[i] == i + (UINT64_C(1) << 40));
    assert_ptr_equal(gi_histogram_channel(&a, 2), a.counts + 512);
    assert_int_equal(gi_histogram_add(&a, &other, &err), GI_ERR_USAGE);
    assert_int_equal(gi_histogram_add(&a, &deep, &err), GI_ERR_USAGE);
    gi_histogram_free(&a);
    gi_histogram_free(&a);
    gi_histogram_free(&b);
    gi_histogram_free(&other);
    gi_histogram_free(&deep);
    gi_histogram_free(NULL);
    assert_int_equal(gi_histogram_init(&a, 0, GI_U8, &err), GI_ERR_UNSUPPORTED);
    assert_int_equal(gi_histogram_init(&a, 5, GI_U8, &err), GI_ERR_UNSUPPORTED);
    assert_int_equal(gi_histogram_init(&a, 1, GI_F32, &err), GI_ERR_UNSUPPORTED);
    assert_null(a.counts);
}

static void rebins(void **state) {
    (void)state;
    uint64_t counts[256], out[257], total = 0;
    for (uint32_t v = 0; v < 256; v++) total += counts[v] = v + (UINT64_C(1) << 40);
    for (uint32_t bins = 1; bins <= 256; bins++) {
        uint64_t sum = 0;
        memset(out, 0x5A, sizeof out);
        gi_histogram_rebin(counts, 256, out, bins);
        for (uint32_t b = 0; b < bins; b++) {
            uint64_t expected = 0;
            for (uint32_t v = 0; v < 256; v++)
                if (v * bins / 256 == b) expected += counts[v];
            assert_true(out[b] == expected);
            sum += out[b];
        }
        assert_true(sum == total);
        assert_true(out[bins] == UINT64_C(0x5A5A5A5A5A5A5A5A));
    }
    uint64_t *deep = calloc(2 * 65536, sizeof *deep);
    assert_non_null(deep);
    deep[65535] = 9;
    deep[1] = 4;
    gi_histogram_rebin(deep, 65536, deep + 65536, 65536);
    assert_memory_equal(deep, deep + 65536, 65536 * sizeof *deep);
    free(deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_naive_formulas),
        cmocka_unit_test(agrees_with_naive_formulas_u16),
        cmocka_unit_test(of_nothing_gives_zeros),
        cmocka_unit_test(counts_reduce_and_scan),
        cmocka_unit_test(of_one_level),
        cmocka_unit_test(percentiles_are_exact),
        cmocka_unit_test(huge_counts_do_not_overflow),
        cmocka_unit_test(small_deviations_keep_their_digits),
        cmocka_unit_test(otsu_breaks_ties_downwards),
        cmocka_unit_test(otsu_is_exact_where_doubles_are_not),
        cmocka_unit_test(histograms_add),
        cmocka_unit_test(rebins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
