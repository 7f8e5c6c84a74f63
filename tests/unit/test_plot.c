// Plots of histograms: scales, texts, and that all of a plot lies on its page.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/markup.h"
#include "cli/plot.h"
#include "cli/report_svg.h"

static void test_nice_steps(void **state) {
    (void)state;
    static const double cases[][2] = {{1, 0.2}, {0.6, 0.1}, {0.03, 0.005}, {0.0212, 0.005},
                                      {6, 1},   {7, 2},     {1e-7, 2e-8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(fabs(gi_plot_nice_step(cases[i][0], 6) / cases[i][1] - 1) < 1e-9);
    for (double limit = 1e-9; limit < 2; limit *= 1.013) {
        double steps = limit / gi_plot_nice_step(limit, 6);
        assert_true(steps > 2.3 && steps <= 6.0001);
    }
    static const double steps[] = {20, 1, 0.5, 0.1, 0.02, 0.001};
    static const int decimals[] = {0, 0, 1, 1, 2, 3};
    for (size_t i = 0; i < 6; i++) assert_int_equal(gi_plot_decimals(steps[i]), decimals[i]);
}

static gi_report_image image_of(const uint64_t *counts, uint32_t levels, uint32_t bins) {
    gi_report_image image = {.file = "x", .width = 1, .height = 1, .pixels = 1, .levels = levels, .bins = bins};
    image.channel_count = 1;
    image.channels[0] = (gi_report_channel){"gray", counts};
    return image;
}

static double limit_of(const uint64_t counts[256]) {
    static gi_plot_columns columns;
    gi_report_image image = image_of(counts, 256, 256);
    gi_plot_columns_of(&image, &columns);
    assert_int_equal(columns.count, 256);
    return gi_plot_limit(&columns, 1);
}

static void test_limit(void **state) {
    (void)state;
    uint64_t counts[256] = {0};
    assert_true(limit_of(counts) <= 0);
    counts[7] = 5; // one level: the whole of it shows
    assert_true(fabs(limit_of(counts) - 1) < 1e-12);
    counts[200] = 15; // two: both do
    assert_true(fabs(limit_of(counts) - 0.75) < 1e-12);
    // A photograph with blown-out highlights: 255 gives way.
    for (int v = 0; v < 256; v++) counts[v] = v < 128 ? 100 + (uint64_t)v : 355 - (uint64_t)v;
    counts[255] = 60000;
    double limit = limit_of(counts);
    assert_true(limit > 0.001 && limit < 0.01);
    // Noise of a thousandth is not worth it.
    for (int v = 0; v < 255; v++) counts[v] = 1;
    counts[255] = 1000000;
    assert_true(limit_of(counts) > 0.99);
}

static void test_columns(void **state) {
    (void)state;
    static gi_plot_columns columns;
    uint64_t *counts = calloc(65536, sizeof *counts);
    assert_non_null(counts);
    for (uint32_t v = 0; v < 65536; v++) counts[v] = v % 7;
    static const uint32_t bins[] = {1, 2, 3, 255, 512, 513, 1000, 1025, 65535, 65536};
    for (size_t i = 0; i < sizeof bins / sizeof bins[0]; i++) {
        gi_report_image image = image_of(counts, 65536, bins[i]);
        gi_plot_columns_of(&image, &columns);
        assert_true(columns.count >= 1 && columns.count <= GI_PLOT_COLUMNS);
        assert_int_equal(columns.edges[0], 0);
        assert_int_equal(columns.edges[columns.count], 65536);
        double sum = 0;
        for (uint32_t c = 0; c < columns.count; c++) {
            assert_true(columns.edges[c] < columns.edges[c + 1]);
            sum += columns.shares[0][c];
        }
        assert_true(fabs(sum - 1) < 1e-9);
    }
    free(counts);
}

static void expect_text(gi_buffer *text, const char *expected) {
    assert_false(text->failed);
    assert_string_equal(text->data, expected);
    gi_buffer_free(text);
}

static void test_numbers(void **state) {
    (void)state;
    gi_buffer text = {0};
    gi_plot_add_number(&text, 0);
    expect_text(&text, "0");
    gi_plot_add_number(&text, 999);
    expect_text(&text, "999");
    gi_plot_add_number(&text, 1000);
    expect_text(&text, "1 000");
    gi_plot_add_number(&text, UINT64_MAX);
    expect_text(&text, "18 446 744 073 709 551 615");
    gi_plot_add_share(&text, 0, 7);
    expect_text(&text, "0.00%");
    gi_plot_add_share(&text, 0, 0);
    expect_text(&text, "0.00%");
    gi_plot_add_share(&text, 1, 1000000);
    expect_text(&text, "< 0.01%");
    gi_plot_add_share(&text, 1, 3);
    expect_text(&text, "33.33%");
}

static void test_elide(void **state) {
    (void)state;
    gi_buffer text = {0};
    gi_plot_elide(&text, "short", 5);
    expect_text(&text, "short");
    gi_plot_elide(&text, "0123456789", 9);
    expect_text(&text, "012...789");
    gi_plot_elide(&text, "0123456789", 3);
    expect_text(&text, "...");
    gi_plot_elide(&text, "0123456789", 0);
    expect_text(&text, "...");
    gi_plot_elide(&text, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 6); // three characters of two columns
    expect_text(&text, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e");
    gi_plot_elide(&text,
                  "a\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"
                  "b",
                  7);
    expect_text(&text, "a...b");
}

static void test_markup(void **state) {
    (void)state;
    gi_buffer text = {0};
    gi_markup_add(&text, "<a href=\"x\">'&amp;'</a>");
    expect_text(&text, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/a&gt;");
    gi_markup_add(&text, "\n\x01\xff \xef\xbf\xbe\xc3\xa9");
    expect_text(&text, "\\n\\x01\\xff \\u{fffe}\xc3\xa9");
    // RFC 4648, section 10.
    static const char *const vectors[][2] = {{"f", "Zg=="},        {"fo", "Zm8="},        {"foo", "Zm9v"},
                                             {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < 6; i++) {
        gi_base64_add(&text, vectors[i][0], strlen(vectors[i][0]));
        expect_text(&text, vectors[i][1]);
    }
    static const unsigned char bytes[] = {0xff, 0xfe, 0xfb, 0};
    gi_base64_add(&text, bytes, sizeof bytes);
    expect_text(&text, "//77AA==");
    gi_base64_add(&text, bytes, 0);
    assert_int_equal(text.size, 0);
}

static void check_on_page(const gi_buffer *plot, bool bare) {
    float width = bare ? GI_PLOT_BARE_WIDTH : GI_PLOT_WIDTH, height = bare ? GI_PLOT_BARE_HEIGHT : GI_PLOT_HEIGHT;
    size_t items = 0;
    for (const gi_plot_item *item = gi_plot_next(plot, NULL); item; item = gi_plot_next(plot, item), items++) {
        const gi_xy *points = gi_plot_points(item);
        assert_true(item->style.ink < GI_PLOT_INKS && item->count > 0);
        for (uint32_t i = 0; i < item->count; i++)
            assert_true(points[i].x >= 0 && points[i].x <= width && points[i].y >= 0 && points[i].y <= height);
        if (item->kind == GI_PLOT_TEXT) assert_true(strlen(gi_plot_text(item)) > 0);
    }
    assert_true(items > 10);
}

static void test_layout_stays_on_its_page(void **state) {
    (void)state;
    static uint64_t counts[5][256];
    static const char *const names[] = {"gray", "red", "green", "blue", "alpha"};
    for (unsigned seed = 0; seed < 60; seed++) {
        gi_report_image image = {.file = "a\nb", .files = seed % 2, .width = 3, .height = 4, .pixels = 12};
        image.levels = 256;
        image.bins = 1 + seed * 97 % 256;
        image.channel_count = 1 + (int)(seed % 5);
        memset(counts, 0, sizeof counts);
        for (int c = 0; c < image.channel_count; c++) {
            for (unsigned v = 0; v < 256; v++) counts[c][v] = seed % 7 ? (v * v + seed) % (50 + seed) : 0;
            for (unsigned i = 0; i < seed % 12; i++) counts[c][(i * 67 + seed) % 256] = 100000000;
            image.channels[c] = (gi_report_channel){names[c], counts[c]};
        }
        for (int bare = 0; bare < 2; bare++) {
            gi_buffer plot = {0}, svg = {0};
            gi_plot_layout(&plot, &image, bare);
            assert_false(plot.failed);
            check_on_page(&plot, bare);
            gi_svg_add_plot(&svg, &plot);
            assert_false(svg.failed);
            assert_null(strstr(svg.data, "nan"));
            gi_buffer_free(&plot);
            gi_buffer_free(&svg);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nice_steps),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_elide),
        cmocka_unit_test(test_markup),
        cmocka_unit_test(test_layout_stays_on_its_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
