// Runs of rows unfiltered, against the definition of the filters.
#include <stdlib.h>

#include "codec/png_unfilter.h"
#include "codec_files.h"

static int paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// out[i] from its neighbours, one byte at a time (PNG specification, 9.2).
static void define(const gi_png_run *run, uint8_t *out) {
    for (uint32_t y = 0; y < run->count; y++) {
        const uint8_t *in = run->filtered + y * (run->size + 1), *up = y ? out - run->size : run->above;
        for (size_t i = 0; i < run->size; i++) {
            int a = i >= run->pixel ? out[i - run->pixel] : 0, b = up[i], c = i >= run->pixel ? up[i - run->pixel] : 0;
            int predicted[5] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
            out[i] = (uint8_t)(in[1 + i] + predicted[in[0]]);
        }
        out += run->size;
    }
}

enum { PIXELS_MAX = 70, COUNT_MAX = 19, SIZE_MAX_BYTES = PIXELS_MAX * 8, GAP = 5 };

static void check_run(size_t pixel, size_t width, uint32_t count, int filter) {
    static uint8_t filtered[(SIZE_MAX_BYTES + 1) * COUNT_MAX + GI_PNG_SLACK], above[SIZE_MAX_BYTES];
    static uint8_t out[(SIZE_MAX_BYTES + GAP) * COUNT_MAX], expected[SIZE_MAX_BYTES * COUNT_MAX];
    gi_png_run run = {filtered, above, out, pixel * width + GAP, pixel * width, pixel, count};
    for (size_t i = 0; i < sizeof filtered; i++) filtered[i] = (uint8_t)rand();
    for (size_t i = 0; i < sizeof above; i++) above[i] = (uint8_t)rand();
    for (uint32_t y = 0; y < count; y++) filtered[y * (run.size + 1)] = (uint8_t)(filter < 5 ? filter : rand() % 5);
    memset(out, 0xA5, sizeof out);
    define(&run, expected);
    assert_int_equal(gi_png_unfilter_run(&run), -1);
    for (uint32_t y = 0; y < count; y++) {
        assert_memory_equal(out + y * run.pitch_bytes, expected + y * run.size, run.size);
        for (size_t i = 0; i < GAP; i++) assert_int_equal(out[y * run.pitch_bytes + run.size + i], 0xA5);
    }
}

static void by_definition(void **state) {
    (void)state;
    static const size_t pixels[] = {1, 2, 3, 4, 6, 8};
    srand(1);
    for (size_t p = 0; p < sizeof pixels / sizeof pixels[0]; p++)
        for (size_t width = 1; width <= PIXELS_MAX; width += width < 24 ? 1 : 7)
            for (uint32_t count = 1; count <= COUNT_MAX; count += count < 9 ? 1 : 5)
                for (int filter = 0; filter < 6; filter++) check_run(pixels[p], width, count, filter);
}

static void no_such_filter(void **state) {
    (void)state;
    uint8_t filtered[10 * 4 + GI_PNG_SLACK] = {0}, above[3] = {0}, out[30];
    gi_png_run run = {filtered, above, out, 3, 3, 3, 10};
    for (int y = 0; y < 10; y++) {
        filtered[4 * y] = 5;
        assert_int_equal(gi_png_unfilter_run(&run), 5);
        filtered[4 * y] = 200;
        assert_int_equal(gi_png_unfilter_run(&run), 200);
        filtered[4 * y] = 0;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_definition), cmocka_unit_test(no_such_filter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
