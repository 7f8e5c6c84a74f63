// The filters of PNG rows against their definition (PNG specification, 9.2), at each instruction set.
#include <stdlib.h>

#include "codec/png_filter.h"
#include "codec_files.h"
#include "core/simd.h"

enum { ROW_MAX = 400, GUARD = 16, GUARD_BYTE = 0xA5 };

static int paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static void define(int type, const gi_png_row *in, uint8_t *out) {
    for (size_t i = 0; i < in->size; i++) {
        int a = i >= in->pixel ? in->row[i - in->pixel] : 0, b = in->above[i];
        int c = i >= in->pixel ? in->above[i - in->pixel] : 0;
        int predicted[GI_PNG_FILTERS] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
        out[i] = (uint8_t)(in->row[i] - predicted[type]);
    }
}

static void check_row(const gi_png_row *in) {
    uint8_t expected[ROW_MAX], out[GUARD + 1 + ROW_MAX + GUARD];
    uint64_t best_cost = UINT64_MAX;
    int best = 0;
    for (int type = 0; type < GI_PNG_FILTERS; type++) {
        uint64_t cost = 0;
        define(type, in, expected);
        for (size_t i = 0; i < in->size; i++) cost += (uint64_t)abs((int8_t)expected[i]);
        if (cost < best_cost) best = type, best_cost = cost;
        memset(out, GUARD_BYTE, sizeof out);
        gi_png_filter_row((gi_png_filter_type)type, in, out + GUARD);
        assert_int_equal(out[GUARD], type);
        assert_memory_equal(out + GUARD + 1, expected, in->size);
        for (size_t i = 0; i < GUARD; i++) {
            assert_int_equal(out[i], GUARD_BYTE);
            assert_int_equal(out[GUARD + 1 + in->size + i], GUARD_BYTE);
        }
    }
    assert_int_equal(gi_png_filter_choose(in), best);
}

// Rows that end where their memory ends, for the sanitizer.
static void check_random(size_t size, size_t pixel, int mask) {
    uint8_t *rows[2];
    for (int k = 0; k < 2; k++) {
        rows[k] = calloc(1, GI_PNG_MARGIN + size);
        assert_non_null(rows[k]);
        for (size_t i = 0; i < size; i++) rows[k][GI_PNG_MARGIN + i] = (uint8_t)((rand() >> 7) & mask);
    }
    // As neighbours in photographs are: the row like the one above, more or less.
    if (mask == 15)
        for (size_t i = 0; i < size; i++) rows[0][GI_PNG_MARGIN + i] = (uint8_t)(rows[0][GI_PNG_MARGIN + i] + 5 * i);
    gi_png_row in = {rows[0] + GI_PNG_MARGIN, rows[1] + GI_PNG_MARGIN, size, pixel};
    check_row(&in);
    free(rows[0]);
    free(rows[1]);
}

static void by_definition(void **state) {
    (void)state;
    static const size_t pixels[] = {1, 2, 3, 4, 6, 8};
    static const int masks[] = {255, 15, 128, 0};
    gi_simd best = gi_simd_level();
    srand(1);
    for (gi_simd level = GI_SIMD_PORTABLE; level <= best; level++) {
        assert_int_equal(gi_simd_force(level), level);
        for (size_t p = 0; p < sizeof pixels / sizeof pixels[0]; p++)
            for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++)
                for (size_t size = pixels[p]; size < ROW_MAX; size += size < 140 ? 1 : 37)
                    check_random(size, pixels[p], masks[m]);
    }
    gi_simd_force(best);
}

// Every left, above and corner, in rows of one pixel after another: (a fifth of) the 2^24 cases of the predictors.
static void every_neighbourhood(void **state) {
    (void)state;
    uint8_t row[GI_PNG_MARGIN + 2 * 256] = {0}, above[GI_PNG_MARGIN + 2 * 256] = {0};
    gi_simd best = gi_simd_level();
    for (gi_simd level = GI_SIMD_PORTABLE; level <= best; level++) {
        gi_simd_force(level);
        for (int corner = 0; corner < 256; corner += 5)
            for (int left = 0; left < 256; left++) {
                uint8_t expected[2 * 256], out[1 + 2 * 256];
                for (int i = 0; i < 256; i++) {
                    row[GI_PNG_MARGIN + 2 * i] = (uint8_t)left;
                    above[GI_PNG_MARGIN + 2 * i] = (uint8_t)corner;
                    above[GI_PNG_MARGIN + 2 * i + 1] = (uint8_t)i;
                }
                gi_png_row in = {row + GI_PNG_MARGIN, above + GI_PNG_MARGIN, 2 * 256, 1};
                define(GI_PNG_PAETH, &in, expected);
                gi_png_filter_row(GI_PNG_PAETH, &in, out);
                assert_memory_equal(out + 1, expected, sizeof expected);
                define(GI_PNG_AVERAGE, &in, expected);
                gi_png_filter_row(GI_PNG_AVERAGE, &in, out);
                assert_memory_equal(out + 1, expected, sizeof expected);
            }
    }
    gi_simd_force(best);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_definition), cmocka_unit_test(every_neighbourhood)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
