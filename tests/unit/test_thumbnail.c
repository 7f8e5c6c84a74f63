// Thumbnails: means of boxes, whatever the shape and however the rows come.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/thumbnail.h"

static unsigned next_random(unsigned *seed) { return (*seed = *seed * 1664525 + 1013904223) >> 16; }

static uint32_t sample_at(const gi_view *view, uint32_t x, uint32_t y, int c) {
    const void *row = gi_view_row(view, y);
    size_t i = (size_t)x * (size_t)view->channels + (size_t)c;
    return view->sample == GI_U8 ? ((const uint8_t *)row)[i] : ((const uint16_t *)row)[i];
}

// A sample of the thumbnail, straight from the definition.
static double expected(const gi_view *in, const gi_view *out, uint32_t bx, uint32_t by, int c) {
    uint32_t left = bx * in->width / out->width, right = (bx + 1) * in->width / out->width;
    uint32_t top = by * in->height / out->height, bottom = (by + 1) * in->height / out->height;
    bool weighted = gi_has_alpha(in->channels) && c < in->channels - 1;
    double sum = 0, weights = 0;
    for (uint32_t y = top; y < bottom; y++) {
        for (uint32_t x = left; x < right; x++) {
            double weight = weighted ? sample_at(in, x, y, in->channels - 1) : 1;
            sum += weight * sample_at(in, x, y, c);
            weights += weight;
        }
    }
    return weights > 0 ? sum / weights * 255 / gi_sample_max(in->sample) : 0;
}

static void check(gi_shape shape, uint32_t side, unsigned seed) {
    size_t bytes;
    assert_int_equal(gi_shape_bytes(shape, &bytes, NULL), GI_OK);
    uint8_t *data = malloc(bytes);
    assert_non_null(data);
    for (size_t i = 0; i < bytes; i++) data[i] = (uint8_t)next_random(&seed);
    gi_view in = gi_view_packed(data, shape, GI_HOST);
    gi_thumbnail thumbnail;
    assert_int_equal(gi_thumbnail_init(&thumbnail, shape, side, NULL), GI_OK);
    for (uint32_t y = 0, rows; y < shape.height; y += rows) {
        rows = 1 + next_random(&seed) % 5;
        if (rows > shape.height - y) rows = shape.height - y;
        gi_view band = gi_view_rows(&in, y, rows);
        gi_thumbnail_rows(&thumbnail, &band);
    }
    const gi_view *out = &thumbnail.view;
    assert_true(out->width >= 1 && out->width <= side && out->height >= 1 && out->height <= side);
    assert_int_equal(out->channels, shape.channels);
    for (uint32_t y = 0; y < out->height; y++)
        for (uint32_t x = 0; x < out->width; x++)
            for (int c = 0; c < shape.channels; c++) {
                double difference = sample_at(out, x, y, c) - expected(&in, out, x, y, c);
                assert_true(difference <= 0.51 && difference >= -0.51);
            }
    gi_thumbnail_free(&thumbnail);
    free(data);
}

static void test_means_of_boxes(void **state) {
    (void)state;
    static const uint32_t sizes[][3] = {{1, 1, 8},   {8, 8, 8},   {9, 8, 8},    {100, 37, 8}, {37, 100, 8},
                                        {1, 200, 8}, {200, 1, 8}, {1, 3, 1},    {17, 16, 16}, {400, 300, 31},
                                        {5, 4, 320}, {64, 64, 7}, {300, 2, 299}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int wide = 0; wide < 2; wide++) {
                gi_shape shape = {sizes[i][0], sizes[i][1], channels, wide ? GI_U16 : GI_U8};
                check(shape, sizes[i][2], (unsigned)(i * 8) + (unsigned)channels);
            }
}

static void test_small_images_are_copied(void **state) {
    (void)state;
    uint8_t pixels[12] = {1, 2, 3, 250, 251, 252, 9, 8, 7, 100, 0, 255};
    gi_shape shape = {2, 2, 3, GI_U8};
    gi_view in = gi_view_packed(pixels, shape, GI_HOST);
    gi_thumbnail thumbnail;
    assert_int_equal(gi_thumbnail_init(&thumbnail, shape, 2, NULL), GI_OK);
    gi_thumbnail_rows(&thumbnail, &in);
    assert_memory_equal(thumbnail.view.data, pixels, sizeof pixels);
    gi_thumbnail_free(&thumbnail);
}

static void test_what_is_clear_has_no_colour(void **state) {
    (void)state;
    uint8_t pixels[8] = {255, 255, 255, 0, 10, 20, 30, 200};
    gi_shape shape = {2, 1, 4, GI_U8};
    gi_view in = gi_view_packed(pixels, shape, GI_HOST);
    gi_thumbnail thumbnail;
    assert_int_equal(gi_thumbnail_init(&thumbnail, shape, 1, NULL), GI_OK);
    gi_thumbnail_rows(&thumbnail, &in);
    assert_memory_equal(thumbnail.view.data, ((uint8_t[]){10, 20, 30, 100}), 4);
    gi_thumbnail_free(&thumbnail);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means_of_boxes),
        cmocka_unit_test(test_small_images_are_copied),
        cmocka_unit_test(test_what_is_clear_has_no_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
