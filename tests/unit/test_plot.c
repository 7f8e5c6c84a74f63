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

static size_t check_on_page(const gi_buffer *plot, float width, float height) {
    size_t items = 0;
    assert_false(plot->failed);
    for (const gi_plot_item *item = gi_plot_next(plot, NULL); item; item = gi_plot_next(plot, item), items++) {
        const gi_xy *points = gi_plot_points(item);
        assert_true(item->style.ink < GI_PLOT_INKS && item->count > 0);
        for (uint32_t i = 0; i < item->count; i++)
            assert_true(points[i].x >= 0 && points[i].x <= width && points[i].y >= 0 && points[i].y <= height);
        if (item->kind == GI_PLOT_TEXT) assert_true(strlen(gi_plot_text(item)) > 0);
    }
    return items;
}

typedef struct box {
    float left, top, right, bottom;
} box;

// What a text takes in the wider font.
static box box_of(const gi_plot_item *item) {
    const gi_plot_style *style = &item->style;
    const gi_xy at = *gi_plot_points(item);
    const float length = gi_plot_text_width(gi_plot_text(item), style->size), back = length * (float)style->anchor / 2;
    const float up = 0.75F * style->size, down = 0.2F * style->size;
    if (style->upwards) return (box){at.x - up, at.y + back - length, at.x + down, at.y + back};
    return (box){at.x - back, at.y - up, at.x - back + length, at.y + down};
}

// No text touches another one or leaves the page.
static void check_texts(const gi_buffer *plot, float width, float height) {
    for (const gi_plot_item *item = gi_plot_next(plot, NULL); item; item = gi_plot_next(plot, item)) {
        if (item->kind != GI_PLOT_TEXT) continue;
        const box a = box_of(item);
        if (a.left < 0 || a.top < 0 || a.right > width || a.bottom > height)
            fail_msg("'%s' leaves", gi_plot_text(item));
        for (const gi_plot_item *next = gi_plot_next(plot, item); next; next = gi_plot_next(plot, next)) {
            if (next->kind != GI_PLOT_TEXT) continue;
            const box b = box_of(next);
            if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
                fail_msg("'%s' and '%s'", gi_plot_text(item), gi_plot_text(next));
        }
    }
}

static void check_form(const gi_report_image *image, gi_plot_form form) {
    const float width = gi_plot_forms[form].width, height = gi_plot_forms[form].height;
    gi_plot_layers layers;
    gi_buffer whole = {0}, svg = {0};
    gi_plot_layout(&layers, image, form);
    assert_true(layers.left >= gi_plot_forms[form].left && layers.right < width);
    assert_true(layers.top > 0 && layers.base - layers.top > height / 3 && layers.base < height);
    assert_true(check_on_page(&layers.curves, width, height) >= 1);
    gi_buffer_add(&whole, layers.below.data, layers.below.size);
    gi_buffer_add(&whole, layers.above.data, layers.above.size);
    assert_true(check_on_page(&whole, width, height) > 10);
    check_texts(&whole, width, height);
    gi_svg_add_plot(&svg, &whole);
    gi_svg_add_plot(&svg, &layers.curves);
    assert_false(svg.failed);
    assert_null(strstr(svg.data, "nan"));
    gi_buffer_free(&whole);
    gi_buffer_free(&svg);
    gi_plot_layers_free(&layers);
}

static void check_page(const gi_report_image *image) {
    gi_buffer plot = {0};
    gi_plot_layout_page(&plot, image);
    assert_true(check_on_page(&plot, GI_PLOT_WIDTH, GI_PLOT_HEIGHT) > 10);
    check_texts(&plot, GI_PLOT_WIDTH, GI_PLOT_HEIGHT);
    gi_buffer_free(&plot);
}

static void test_layout_stays_on_its_page(void **state) {
    (void)state;
    static uint64_t counts[5][65536];
    static const char *const names[] = {"gray", "red", "green", "blue", "alpha"};
    for (unsigned seed = 0; seed < 90; seed++) {
        gi_report_image image = {.file = "a\nb", .files = seed % 2, .width = 3, .height = 4, .pixels = 12};
        image.levels = seed % 9 == 4 ? 65536 : 256;
        image.bins = seed % 3 == 2 ? image.levels : 1 + seed * 97 % 256;
        image.channel_count = 1 + (int)(seed % 5);
        memset(counts, 0, sizeof counts);
        for (int c = 0; c < image.channel_count; c++) {
            for (unsigned v = 0; v < image.levels; v++) counts[c][v] = seed % 7 ? (v * v + seed) % (50 + seed) : 0;
            for (unsigned i = 0; i < seed % 12; i++) counts[c][(i * 67 + seed) % 256] = 100000000;
            for (unsigned i = 0; i < seed % 4; i++) counts[c][i * (image.levels - 1) / 3] = 3000000 * (i + 1);
            for (uint64_t most = UINT64_MAX / 4, i = 0; seed % 3 == 1 && i < seed / 3; i++, most /= 5) {
                counts[c][0] = most;
                counts[c][image.levels - 1] = most / 3;
            }
            image.channels[c] = (gi_report_channel){names[c], counts[c]};
        }
        for (gi_plot_form form = 0; form < GI_PLOT_FORMS; form++) check_form(&image, form);
        check_page(&image);
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
