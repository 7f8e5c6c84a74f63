// The window of rows on an image that is being decoded.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/source.h"

enum { WIDTH = 7, HEIGHT = 40, CHANNELS = 3, ROW = WIDTH * CHANNELS };

struct gi_decoder {
    uint32_t y, bad;
};

static gi_decoder decoder;
static int closed;

static uint8_t value(uint32_t y, uint32_t x) { return (uint8_t)(y * 31 + x * 7); }

gi_status gi_decoder_rows(gi_decoder *d, const gi_view *out, gi_error *err) {
    for (uint32_t i = 0; i < out->height; i++, d->y++) {
        if (d->y == d->bad) return gi_fail(err, GI_ERR_FORMAT, "bad pixels");
        for (uint32_t x = 0; x < ROW; x++) ((uint8_t *)gi_view_row(out, i))[x] = value(d->y, x);
    }
    return GI_OK;
}

void gi_decoder_close(gi_decoder *d) { closed += d != NULL; }

// A source with room for so many rows, and no byte more.
static gi_source make(uint32_t room) {
    gi_shape shape = {WIDTH, room, CHANNELS, GI_U8};
    decoder = (gi_decoder){.bad = UINT32_MAX};
    closed = 0;
    return (gi_source){.view = gi_view_packed(malloc((size_t)ROW * room), shape, GI_HOST),
                       .height = HEIGHT,
                       .decoder = &decoder,
                       .file = {.data = malloc(1), .size = 1}};
}

static void finish(gi_source *source) {
    gi_source_close(source);
    assert_null(source->file.data);
    assert_int_equal(closed, 1);
    free(source->view.data);
}

static void expect_rows(gi_source *source, uint32_t y, uint32_t count) {
    gi_view view;
    assert_int_equal(gi_source_rows(source, (gi_rows){y, count}, &view, NULL), GI_OK);
    assert_int_equal(view.height, count);
    assert_int_equal(view.width, WIDTH);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t x = 0; x < ROW; x++) assert_int_equal(((uint8_t *)gi_view_row(&view, i))[x], value(y + i, x));
}

static void expect_refused(gi_source *source, uint32_t y, uint32_t count) {
    gi_view view;
    assert_int_equal(gi_source_rows(source, (gi_rows){y, count}, &view, NULL), GI_ERR_USAGE);
}

// Bands of every height with every halo, in a window that just holds them.
static void slides_over_the_image(void **state) {
    (void)state;
    for (uint32_t rows = 1; rows <= HEIGHT; rows++)
        for (uint32_t halo = 0; halo <= HEIGHT; halo += halo < 4 ? 1 : 9) {
            uint32_t room = rows + 2 * halo < HEIGHT ? rows + 2 * halo : HEIGHT;
            gi_source source = make(room);
            assert_int_equal(gi_source_slides(&source), room < HEIGHT);
            for (uint32_t y = 0; y < HEIGHT; y += rows) {
                uint32_t first = y > halo ? y - halo : 0;
                uint32_t end = y + rows + halo < HEIGHT ? y + rows + halo : HEIGHT;
                expect_rows(&source, first, end - first);
                assert_int_equal(decoder.y, end);                                       // not a row more
                expect_rows(&source, first + (end - first) / 2, (end - first + 1) / 2); // of a smaller band
                expect_rows(&source, first, end - first);
            }
            assert_int_equal(closed, 1); // with the last row
            finish(&source);
        }
}

static void rows_that_are_gone_are_refused(void **state) {
    (void)state;
    gi_source source = make(10);
    expect_refused(&source, 0, 11);
    expect_refused(&source, 35, 6);
    expect_rows(&source, 0, 10);
    expect_rows(&source, 9, 1);
    expect_rows(&source, 0, 1); // nothing had to go for row 9
    expect_rows(&source, 5, 6);
    expect_refused(&source, 4, 2);
    expect_refused(&source, 30, 10); // too far ahead
    expect_rows(&source, 11, 10);    // behind all that is held
    expect_refused(&source, 10, 1);
    finish(&source);
}

static void failures(void **state) {
    (void)state;
    gi_source source = make(10);
    gi_stop stop = {.cancel = NULL};
    gi_view view;
    decoder.bad = 12;
    source.stop = &stop;
    expect_rows(&source, 0, 10);
    assert_int_equal(gi_source_rows(&source, (gi_rows){5, 10}, &view, NULL), GI_ERR_FORMAT);
    assert_int_equal(closed, 0);
    finish(&source);
    source = make(10);
    source.stop = &stop;
    expect_rows(&source, 0, 10);
    atomic_store(&stop.drop, true);
    expect_rows(&source, 0, 10); // there already
    assert_int_equal(gi_source_rows(&source, (gi_rows){5, 10}, &view, NULL), GI_ERR_CANCELLED);
    finish(&source);
}

static void whole_images_need_no_decoder(void **state) {
    (void)state;
    uint8_t pixels[6 * 4] = {0};
    gi_view image = {pixels, 6, 1, 4, 3, GI_U8, GI_HOST}, rows;
    gi_source source = gi_source_of_image(&image);
    assert_false(gi_source_slides(&source));
    for (uint32_t y = 4; y-- > 0;) {
        assert_int_equal(gi_source_rows(&source, (gi_rows){y, 4 - y}, &rows, NULL), GI_OK);
        assert_ptr_equal(rows.data, pixels + 6 * y);
        assert_int_equal(rows.pitch_bytes, 6);
    }
    gi_source_close(&source);
}

static void thumbnails_take_every_row_once(void **state) {
    (void)state;
    gi_source source = make(9);
    gi_thumbnail thumbnail;
    assert_int_equal(gi_thumbnail_init(&thumbnail, (gi_shape){WIDTH, HEIGHT, CHANNELS, GI_U8}, HEIGHT, NULL), GI_OK);
    source.thumbnail = &thumbnail;
    for (uint32_t y = 0; y < HEIGHT - 8; y += 4) expect_rows(&source, y, 9);
    expect_rows(&source, HEIGHT - 9, 9);
    assert_int_equal(thumbnail.y, HEIGHT);
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < ROW; x++)
            assert_int_equal(((uint8_t *)gi_view_row(&thumbnail.view, y))[x], value(y, x));
    gi_thumbnail_free(&thumbnail);
    finish(&source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slides_over_the_image),
        cmocka_unit_test(rows_that_are_gone_are_refused),
        cmocka_unit_test(failures),
        cmocka_unit_test(whole_images_need_no_decoder),
        cmocka_unit_test(thumbnails_take_every_row_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
