// The rasteriser and its font.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/stroke_font.h"

enum { SIDE = 40 };

static const gi_pen white = {{255, 255, 255}, 1, 1};

static int open_canvas(void **state) {
    static gi_canvas canvas;
    *state = &canvas;
    return gi_canvas_init(&canvas, SIDE, SIDE, NULL) == GI_OK ? 0 : -1;
}

static int close_canvas(void **state) {
    gi_canvas_free(*state);
    return 0;
}

static int red_at(const gi_canvas *canvas, int x, int y) { return canvas->pixels[3 * (y * SIDE + x)]; }

static double sum_of(const gi_canvas *canvas) {
    double sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++) sum += canvas->pixels[3 * i] / 255.0;
    return sum;
}

static void test_fill_covers_by_area(void **state) {
    gi_canvas *canvas = *state;
    const gi_xy box[4] = {{2.25F, 3}, {5.5F, 3}, {5.5F, 5}, {2.25F, 5}};
    gi_canvas_fill(canvas, box, 4, &white);
    assert_int_equal(red_at(canvas, 2, 3), 191);
    assert_int_equal(red_at(canvas, 3, 3), 255);
    assert_int_equal(red_at(canvas, 5, 4), 128);
    assert_int_equal(red_at(canvas, 6, 4), 0);
    assert_int_equal(red_at(canvas, 3, 2), 0);
    assert_int_equal(red_at(canvas, 3, 5), 0);
}

static void test_fill_of_a_triangle(void **state) {
    gi_canvas *canvas = *state;
    const gi_xy triangle[3] = {{1, 1}, {31, 1}, {16, 31}};
    gi_canvas_fill(canvas, triangle, 3, &white);
    assert_true(fabs(sum_of(canvas) - 450) < 2);
}

static void test_opacity_and_colour(void **state) {
    gi_canvas *canvas = *state;
    const gi_pen pen = {{200, 100, 0}, 0.5F, 0};
    const gi_xy all[4] = {{-100, -100}, {1e6F, -100}, {1e6F, 1e6F}, {-100, 1e6F}};
    gi_canvas_fill(canvas, all, 4, &pen);
    for (int i = 0; i < SIDE * SIDE; i++) {
        assert_int_equal(canvas->pixels[3 * i], 100);
        assert_int_equal(canvas->pixels[3 * i + 1], 50);
        assert_int_equal(canvas->pixels[3 * i + 2], 0);
    }
}

static void test_fine_lines_fill_their_pixels(void **state) {
    gi_canvas *canvas = *state;
    const gi_xy line[2] = {{5.5F, 10.5F}, {20.5F, 10.5F}};
    gi_canvas_stroke(canvas, line, 2, &white);
    for (int x = 6; x < 20; x++) {
        assert_int_equal(red_at(canvas, x, 10), 255);
        assert_int_equal(red_at(canvas, x, 9), 0);
        assert_int_equal(red_at(canvas, x, 11), 0);
    }
}

static void test_crossings_are_no_darker(void **state) {
    gi_canvas *canvas = *state;
    const gi_pen pen = {{255, 255, 255}, 0.5F, 2};
    const gi_xy back_and_forth[4] = {{5, 10}, {30, 10}, {5, 10}, {30, 10}};
    gi_canvas_stroke(canvas, back_and_forth, 4, &pen);
    assert_int_equal(red_at(canvas, 15, 10), 128);
}

static void test_dots_and_nothing(void **state) {
    gi_canvas *canvas = *state;
    const gi_pen pen = {{255, 255, 255}, 1, 6};
    const gi_xy dot = {20, 20};
    gi_canvas_stroke(canvas, &dot, 0, &pen);
    gi_canvas_fill(canvas, &dot, 0, &pen);
    gi_canvas_fill(canvas, &dot, 1, &pen);
    assert_true(sum_of(canvas) <= 0);
    gi_canvas_stroke(canvas, &dot, 1, &pen);
    assert_true(fabs(sum_of(canvas) - 3.14159 * 9) < 1);
}

static void test_outside_is_clipped(void **state) {
    gi_canvas *canvas = *state;
    const gi_xy line[3] = {{-1e9F, -5}, {1e9F, 20}, {-300, 1e9F}};
    const gi_xy away[3] = {{100, 100}, {200, 100}, {200, 200}};
    gi_canvas_stroke(canvas, line, 3, &white);
    gi_canvas_fill(canvas, line, 3, &white);
    memset(canvas->pixels, 0, 3 * SIDE * SIDE);
    gi_canvas_stroke(canvas, away, 3, &white);
    gi_canvas_fill(canvas, away, 3, &white);
    assert_true(sum_of(canvas) <= 0);
}

// Every printable character but the space draws something of its own, inside its box.
static void test_font(void **state) {
    gi_canvas *canvas = *state;
    static uint8_t drawn[128][3 * SIDE * SIDE];
    for (int c = ' '; c <= '~'; c++) {
        const char text[2] = {(char)c, '\0'};
        gi_stroke_text how = {30, false, {4, 30}, &white};
        memset(canvas->pixels, 0, 3 * SIDE * SIDE);
        gi_stroke_draw(canvas, &how, text);
        memcpy(drawn[c], canvas->pixels, sizeof drawn[c]);
        assert_true(c == ' ' ? sum_of(canvas) <= 0 : sum_of(canvas) > 0.5);
        int right = 4 + (int)ceilf(gi_stroke_width(text, 30)) + 1;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                if (x < 3 || x > right || y < 2 || y > 38) assert_int_equal(red_at(canvas, x, y), 0);
        for (int other = ' '; other < c; other++)
            assert_int_not_equal(memcmp(drawn[other], drawn[c], sizeof drawn[c]), 0);
    }
    assert_true(gi_stroke_width("", 12) <= 0);
    assert_true(fabsf(gi_stroke_width("\xff", 12) - gi_stroke_width("?", 12)) < 1e-6F);
    assert_true(gi_stroke_width("MM", 12) > 2 * gi_stroke_width("M", 12));
}

static void test_text_upwards(void **state) {
    gi_canvas *canvas = *state;
    gi_stroke_text how = {20, true, {20, 38}, &white};
    gi_stroke_draw(canvas, &how, "L");
    // The stem lies along the base line's left; the foot points up beside it.
    assert_int_equal(red_at(canvas, 12, 37) > 0, 1);
    assert_int_equal(red_at(canvas, 19, 30) > 0, 1);
    assert_int_equal(red_at(canvas, 10, 30), 0);
}

#define ON_CANVAS(test) cmocka_unit_test_setup_teardown(test, open_canvas, close_canvas)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_CANVAS(test_fill_covers_by_area),
        ON_CANVAS(test_fill_of_a_triangle),
        ON_CANVAS(test_opacity_and_colour),
        ON_CANVAS(test_fine_lines_fill_their_pixels),
        ON_CANVAS(test_crossings_are_no_darker),
        ON_CANVAS(test_dots_and_nothing),
        ON_CANVAS(test_outside_is_clipped),
        ON_CANVAS(test_font),
        ON_CANVAS(test_text_upwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
