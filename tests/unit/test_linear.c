#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>

#include "core/point.h"

static const gi_linear_tables *tables(gi_sample sample) {
    const gi_linear_tables *t = gi_linear_tables_get(sample);
    assert_non_null(t);
    return t;
}

static uint32_t gray(const gi_linear_tables *t, uint32_t r, uint32_t g, uint32_t b) {
    return gi_linear_encode(t, t->red[r] + t->green[g] + t->blue[b]);
}

static void neutral_grays_are_fixed_points(void **state) {
    (void)state;
    for (gi_sample sample = GI_U8; sample <= GI_U16; sample++)
        for (uint32_t v = 0; v <= gi_sample_max(sample); v++) assert_int_equal(gray(tables(sample), v, v, v), v);
}

// The gray value before rounding, straight from IEC 61966-2-1.
static long double exact_gray(const uint32_t rgb[3], uint32_t max) {
    static const long double weights[] = {0.2126L, 0.7152L, 0.0722L};
    long double light = 0;
    for (int c = 0; c < 3; c++) {
        long double x = (long double)rgb[c] / max;
        light += weights[c] * (x <= 0.04045L ? x / 12.92L : powl((x + 0.055L) / 1.055L, 2.4L));
    }
    long double code = light <= 0.0031308L ? 12.92L * light : 1.055L * powl(light, 1 / 2.4L) - 0.055L;
    return code * max;
}

// The tables round linear light to 2^-30, which can tip a value that close to the middle of two codes: the slope of the
// encoding is 12.92 at most, and the sum is off by at most 2 units (three roundings and that of the threshold).
static void random_colours_are_rounded_right(void **state) {
    (void)state;
    uint64_t random = 20;
    for (gi_sample sample = GI_U8; sample <= GI_U16; sample++) {
        uint32_t max = gi_sample_max(sample);
        long double doubt = 2 * 12.92L * max / 1073741824.0L;
        int doubtful = 0;
        for (int i = 0; i < 200000; i++) {
            uint32_t rgb[3], limit = max >> (i % 8); // dark colours as well: there the curve is steepest
            for (int c = 0; c < 3; c++) {
                random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                rgb[c] = (uint32_t)((random >> 33) % (limit + 1));
            }
            long double exact = exact_gray(rgb, max);
            uint32_t got = gray(tables(sample), rgb[0], rgb[1], rgb[2]);
            if (fabsl(exact - floorl(exact) - 0.5L) <= doubt) {
                doubtful++;
                assert_true(fabsl(exact - got) <= 0.5L + doubt);
            } else {
                assert_int_equal(got, (uint32_t)floorl(exact + 0.5L));
            }
        }
        assert_true(doubtful < 1000);
    }
}

static uint64_t fnv1a(const uint32_t *table, uint32_t count) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (uint32_t i = 0; i < count; i++)
        for (int byte = 0; byte < 4; byte++) {
            hash ^= table[i] >> (8 * byte) & 0xFF;
            hash *= UINT64_C(0x100000001B3);
        }
    return hash;
}

// Hashes of the same tables computed with 40 decimal digits by Python's decimal module; no entry lies nearer
// than 1.5e-6 to a rounding tie, so that every long double of 53 bits or more must give them.
static void tables_are_those_of_exact_arithmetic(void **state) {
    (void)state;
    const gi_linear_tables *t = tables(GI_U8);
    assert_true(fnv1a(t->red, 256) == UINT64_C(0x0FDE3BED2E5D080B));
    assert_true(fnv1a(t->green, 256) == UINT64_C(0x5E442E9075F61A51));
    assert_true(fnv1a(t->blue, 256) == UINT64_C(0x5007E660CEABCAAD));
    assert_true(fnv1a(t->threshold, 256) == UINT64_C(0xA0CC8CB5D6E715F2));
    t = tables(GI_U16);
    assert_true(fnv1a(t->red, 65536) == UINT64_C(0x5614625BCB2CC79E));
    assert_true(fnv1a(t->green, 65536) == UINT64_C(0x88DB2FC8056820C5));
    assert_true(fnv1a(t->blue, 65536) == UINT64_C(0x6E501FAC786FCB47));
    assert_true(fnv1a(t->threshold, 65536) == UINT64_C(0xCA5EEDA64222FB6D));
}

static void tables_keep_their_promises(void **state) {
    (void)state;
    for (gi_sample sample = GI_U8; sample <= GI_U16; sample++) {
        const gi_linear_tables *t = tables(sample);
        uint32_t max = gi_sample_max(sample);
        assert_int_equal(t->red[0] + t->green[0] + t->blue[0] + t->threshold[0], 0);
        assert_true(t->red[max] + t->green[max] + t->blue[max] <= (1U << 30) + 2);
        for (uint32_t v = 1; v <= max; v++) {
            assert_true(t->threshold[v] > t->threshold[v - 1]);
            assert_true(t->red[v] > t->red[v - 1] && t->green[v] > t->green[v - 1] && t->blue[v] > t->blue[v - 1]);
            assert_int_equal(gi_linear_encode(t, t->threshold[v]), v);
            assert_int_equal(gi_linear_encode(t, t->threshold[v] - 1), v - 1);
        }
        for (uint32_t i = 0; i < GI_LINEAR_COARSE_COUNT; i++) {
            uint32_t code = t->coarse[i], sum = i << GI_LINEAR_COARSE_SHIFT;
            assert_true(code == 0 || t->threshold[code] <= sum);
            assert_true(code == max || t->threshold[code + 1] > sum);
        }
    }
}

static void *get_tables(void *sample) { return (void *)(uintptr_t)gi_linear_tables_get(*(gi_sample *)sample); }

static void threads_get_the_same_tables(void **state) {
    (void)state;
    pthread_t threads[8];
    gi_sample samples[] = {GI_U8, GI_U16};
    for (int i = 0; i < 8; i++) assert_int_equal(pthread_create(&threads[i], NULL, get_tables, &samples[i % 2]), 0);
    for (int i = 0; i < 8; i++) {
        void *got = NULL;
        assert_int_equal(pthread_join(threads[i], &got), 0);
        assert_ptr_equal(got, tables(samples[i % 2]));
    }
    assert_null(gi_linear_tables_get(GI_F32));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_get_the_same_tables),          cmocka_unit_test(neutral_grays_are_fixed_points),
        cmocka_unit_test(random_colours_are_rounded_right),     cmocka_unit_test(tables_keep_their_promises),
        cmocka_unit_test(tables_are_those_of_exact_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
