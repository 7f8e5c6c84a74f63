// Runs of rows unfiltered, against the definition of the filters. All memory is as large as the rows are and no larger,
// so that a sanitizer sees the first byte outside.
#include <stdlib.h>

#include "codec/png_unfilter.h"
#include "codec/png_unfilter_wave.h"
#include "codec_files.h"
#include "core/simd.h"
#include "png_unfilter_definition.h"

enum { MIXED = 5, SLOW_ONES, FILTER_KINDS, GUARD = 0xA5 };

static uint32_t seed = 1;

static uint8_t random_byte(void) {
    seed = seed * 1664525U + 1013904223U;
    return (uint8_t)(seed >> 24);
}

// Noise alone takes no ties; neighbours that are alike make them common.
static void fill(uint8_t *bytes, size_t size, int spread) {
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(random_byte() % spread);
}

static uint8_t *make(size_t size) {
    uint8_t *memory = malloc(size);
    assert_non_null(memory);
    return memory;
}

typedef struct shape {
    size_t pixel, width, gap; // bytes, pixels, bytes between rows
    uint32_t count;
    int filter; // of all rows, or MIXED, or SLOW_ONES: Average and Paeth mixed
} shape;

// A run of random rows; its memory is the caller's.
static gi_png_run make_run(const shape *of) {
    size_t size = of->pixel * of->width, pitch = size + of->gap;
    uint8_t *filtered = make((size + 1) * of->count), *above = make(size);
    uint8_t *out = make((of->count - 1) * pitch + size);
    int spread = random_byte() % 2 ? 256 : 4;
    fill(filtered, (size + 1) * of->count, spread);
    fill(above, size, spread);
    for (uint32_t y = 0; y < of->count; y++)
        filtered[y * (size + 1)] = (uint8_t)(of->filter == MIXED       ? random_byte() % 5
                                             : of->filter == SLOW_ONES ? 3 + random_byte() % 2
                                                                       : of->filter);
    return (gi_png_run){filtered, above, out, pitch, size, of->pixel, of->count};
}

static void free_run(const gi_png_run *run) {
    free((void *)run->filtered);
    free((void *)run->above);
    free(run->out);
}

static void poison(const gi_png_run *run) { memset(run->out, GUARD, (run->count - 1) * run->pitch_bytes + run->size); }

static void check_rows(const gi_png_run *run, const uint8_t *expected) {
    for (uint32_t y = 0; y < run->count; y++) {
        const uint8_t *row = run->out + y * run->pitch_bytes;
        if (memcmp(row, expected + y * run->size, run->size))
            fail_msg("pixel %zu, size %zu, row %u of %u, filter %d", run->pixel, run->size, y, run->count,
                     run->filtered[y * (run->size + 1)]);
        for (size_t i = run->size; i < run->pitch_bytes && y + 1 < run->count; i++) assert_int_equal(row[i], GUARD);
    }
}

// The same in two calls: the second's row above is the first's last.
static void unfilter_in_parts(const gi_png_run *run) {
    gi_png_run first = *run, second = *run;
    first.count = 1 + random_byte() % (run->count - 1);
    second.count = run->count - first.count;
    second.filtered += first.count * (run->size + 1);
    second.out += first.count * run->pitch_bytes;
    second.above = second.out - run->pitch_bytes;
    assert_int_equal(gi_png_unfilter_run(&first), -1);
    assert_int_equal(gi_png_unfilter_run(&second), -1);
}

static void check_shape(const shape *of) {
    gi_png_run run = make_run(of);
    uint8_t *expected = make(run.size * run.count);
    define_unfiltered(&run, expected);
    for (int level = GI_SIMD_PORTABLE; level <= GI_SIMD_AVX512; level++) {
        if (gi_simd_force((gi_simd)level) != (gi_simd)level) continue;
        poison(&run);
        assert_int_equal(gi_png_unfilter_run(&run), -1);
        check_rows(&run, expected);
        if (run.count < 2 || of->filter < MIXED) continue;
        poison(&run);
        unfilter_in_parts(&run);
        check_rows(&run, expected);
    }
    // The wave itself, for rows too narrow to be worth it as well.
    if (run.count <= gi_png_wave_rows(run.pixel)) {
        poison(&run);
        gi_png_unfilter_wave(&run);
        check_rows(&run, expected);
    }
    free(expected);
    free_run(&run);
}

static const size_t pixels[] = {1, 2, 3, 4, 6, 8};
enum { PIXELS = sizeof pixels / sizeof pixels[0] };

// All widths and counts, but of the wider not all pairs.
static void narrow_rows(void **state) {
    (void)state;
    for (size_t p = 0; p < PIXELS; p++)
        for (uint32_t width = 1; width <= 70; width++)
            for (uint32_t count = 1; count <= 40; count++)
                for (int filter = 0; filter < FILTER_KINDS && (width < 20 || (width + count) % 5 == 0); filter++)
                    check_shape(&(shape){pixels[p], width, width % 3 * 5, count, filter});
}

static void wide_rows(void **state) {
    (void)state;
    static const size_t widths[] = {127, 500, 1023, 1920, 4099};
    static const uint32_t counts[] = {1, 3, 8, 17, 32, 71};
    for (size_t p = 0; p < PIXELS; p++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
                for (int filter = 0; filter < FILTER_KINDS; filter++)
                    check_shape(&(shape){pixels[p], widths[w], w % 2 * 9, counts[c], filter});
}

// Long fast stretches, and single slow rows amid them: all the ways by which a row can go.
static void stretches(void **state) {
    (void)state;
    for (int turn = 0; turn < 600; turn++) {
        gi_png_run run = make_run(&(shape){pixels[turn % PIXELS], 1 + random_byte(), 0, 1 + random_byte(), 0});
        uint8_t filter = 0, *expected = make(run.size * run.count);
        for (uint32_t y = 0; y < run.count; y++) {
            if (random_byte() < 40) filter = random_byte() % 5;
            ((uint8_t *)run.filtered)[y * (run.size + 1)] = random_byte() < 8 ? 4 : filter;
        }
        define_unfiltered(&run, expected);
        for (int level = GI_SIMD_PORTABLE; level <= GI_SIMD_AVX512; level++) {
            gi_simd_force((gi_simd)level);
            poison(&run);
            assert_int_equal(gi_png_unfilter_run(&run), -1);
            check_rows(&run, expected);
        }
        free(expected);
        free_run(&run);
    }
}

// A row in which every left stands beside this corner and this above: the even pixels become the lefts, whatever Paeth
// adds, and the odd ones are added nothing to.
static void check_paeth(uint8_t corner, uint8_t above) {
    enum { LEFTS = 256, SIZE = 2 * LEFTS };
    uint8_t filtered[1 + SIZE] = {4}, up[SIZE], expected[SIZE], out[SIZE], before = 0, before_up = 0;
    for (int left = 0; left < LEFTS; left++) {
        up[2 * left] = corner, up[2 * left + 1] = above;
        filtered[1 + 2 * left] = (uint8_t)(left - definition_paeth(before, corner, before_up));
        expected[2 * left] = (uint8_t)left;
        expected[2 * left + 1] = before = (uint8_t)definition_paeth(left, above, corner);
        before_up = above;
    }
    gi_png_run run = {filtered, up, out, SIZE, SIZE, 1, 1};
    assert_int_equal(gi_png_unfilter_run(&run), -1);
    assert_memory_equal(out, expected, SIZE);
    if (gi_png_wave_rows(1) == 0) return;
    poison(&run);
    gi_png_unfilter_wave(&run);
    assert_memory_equal(out, expected, SIZE);
}

static void every_paeth(void **state) {
    (void)state;
    gi_simd_force(GI_SIMD_AVX512); // one row alone goes the portable way all the same
    for (int corner = 0; corner < 256; corner++)
        for (int above = 0; above < 256; above++) check_paeth((uint8_t)corner, (uint8_t)above);
}

static void no_such_filter(void **state) {
    (void)state;
    for (uint32_t bad = 0; bad < 40; bad++) {
        gi_png_run run = make_run(&(shape){3, 200, 0, 40, SLOW_ONES});
        uint8_t *filtered = (uint8_t *)run.filtered, *expected = make(run.size * run.count);
        filtered[bad * (run.size + 1)] = bad % 2 ? 5 : 200;
        assert_int_equal(define_unfiltered(&run, expected), bad);
        assert_int_equal(gi_png_unfilter_run(&run), bad % 2 ? 5 : 200);
        for (uint32_t y = 0; y < bad; y++)
            assert_memory_equal(run.out + y * run.pitch_bytes, expected + y * run.size, run.size);
        free(expected);
        free_run(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(narrow_rows), cmocka_unit_test(wide_rows),
                                       cmocka_unit_test(stretches), cmocka_unit_test(every_paeth),
                                       cmocka_unit_test(no_such_filter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
