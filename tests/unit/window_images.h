// WINDOW stages run on guarded images in bands. Included by the tests of WINDOW stages.
#ifndef TESTS_WINDOW_IMAGES_H
#define TESTS_WINDOW_IMAGES_H

// cmocka.h needs these before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/window.h"
#include "core/simd.h"
#include "guarded_image.h"

enum { ROW_PADDING = 5 };

static inline guarded_image image_make(gi_shape shape) {
    guarded_image made = guarded_image_make(shape, ROW_PADDING);
    assert_non_null(made.view.data);
    return made;
}

static inline uint32_t sample_of(const gi_view *view, int64_t y, int64_t x, int c) {
    return sample_at(view, (uint32_t)y, (size_t)x * (size_t)view->channels + (size_t)c);
}

static inline void set_sample(const gi_view *view, int64_t y, int64_t x, int c, uint32_t v) {
    size_t i = (size_t)x * (size_t)view->channels + (size_t)c;
    if (view->sample == GI_U8)
        ((uint8_t *)gi_view_row(view, (uint32_t)y))[i] = (uint8_t)v;
    else
        ((uint16_t *)gi_view_row(view, (uint32_t)y))[i] = (uint16_t)v;
}

typedef enum fill { FILL_NOISE, FILL_EXTREMES, FILL_MAX } fill; // extremes: 0, 1, max - 1 and max

static inline void image_fill(const guarded_image *i, fill kind, uint32_t seed) {
    const uint32_t max = gi_sample_max(i->view.sample), extremes[4] = {0, 1, max - 1, max};
    for (uint32_t y = 0; y < i->view.height; y++)
        for (uint32_t x = 0; x < i->view.width; x++)
            for (int c = 0; c < i->view.channels; c++) {
                uint32_t r = next_random(&seed);
                uint32_t v = kind == FILL_NOISE ? r & max : kind == FILL_EXTREMES ? extremes[r >> 3 & 3] : max;
                set_sample(&i->view, y, x, c, v);
            }
}

static inline void check_same(const guarded_image *got, const guarded_image *expected, const char *what) {
    const gi_view *g = &got->view, *e = &expected->view;
    size_t row = gi_row_bytes(e->width, e->channels, e->sample);
    for (uint32_t y = 0; y < e->height; y++) {
        if (memcmp(gi_view_row(g, y), gi_view_row(e, y), row) == 0) continue;
        for (uint32_t x = 0; x < e->width; x++)
            for (int c = 0; c < e->channels; c++)
                if (sample_of(g, y, x, c) != sample_of(e, y, x, c))
                    fail_msg("%s: %ux%u, %d channels of %zu bytes: (%u, %u)[%d] is %u, not %u", what, e->width,
                             e->height, e->channels, gi_sample_bytes(e->sample), x, y, c, sample_of(g, y, x, c),
                             sample_of(e, y, x, c));
    }
}

typedef struct stage_under_test {
    gi_status (*run)(const gi_window_job *job, gi_error *err);
    uint32_t (*halo)(const void *args);
    const void *args;
    uint32_t band_rows;
    int threads;
} stage_under_test;

// Runs the stage in bands. Each is given a copy of just the rows it may read, so that a sanitizer sees any other.
static inline void run_in_bands(const stage_under_test *stage, const guarded_image *in, const guarded_image *out) {
    const uint32_t height = in->view.height, halo = stage->halo(stage->args);
    const size_t row = gi_row_bytes(in->view.width, in->view.channels, in->view.sample);
    for (uint32_t y = 0; y < height; y += stage->band_rows) {
        uint32_t rows = height - y < stage->band_rows ? height - y : stage->band_rows;
        uint32_t first = y > halo ? y - halo : 0;
        uint32_t end = (uint64_t)y + rows + halo < height ? y + rows + halo : height;
        gi_shape shape = gi_view_shape(&in->view);
        shape.height = end - first;
        void *copy = malloc(row * shape.height);
        assert_non_null(copy);
        gi_window_job job = {.in = gi_view_packed(copy, shape, GI_HOST),
                             .out = gi_view_rows(&out->view, y, rows),
                             .place = {height, first, y},
                             .args = stage->args,
                             .threads = stage->threads};
        for (uint32_t r = 0; r < shape.height; r++)
            memcpy(gi_view_row(&job.in, r), gi_view_row(&in->view, first + r), row);
        gi_error err = {0};
        if (stage->run(&job, &err) != GI_OK) fail_msg("refused: %s", err.text);
        free(copy);
    }
}

// Runs the stage whole and in bands of 1, 2 and 7 rows, on 1 to 3 threads and every instruction set; all must be
// `expected`, with the guards untouched.
static inline void check_all_ways(stage_under_test stage, const guarded_image *in, const guarded_image *expected,
                                  const char *what) {
    static const gi_simd levels[] = {GI_SIMD_AVX512, GI_SIMD_AVX2, GI_SIMD_PORTABLE};
    const uint32_t height = in->view.height, bands[] = {height, 1, 2, 7};
    const gi_simd before = gi_simd_level();
    for (int way = 0; way < 5; way++) {
        // Narrow bands of tall images with large halos cost the square of the height: whole images only.
        if (way > 0 && way < 4 && height > 200) continue;
        stage.band_rows = bands[way & 3];
        stage.threads = way % 3 + 1;
        for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
            if (gi_simd_force(levels[l]) != levels[l]) continue;
            guarded_image out = image_make(gi_view_shape(&in->view));
            run_in_bands(&stage, in, &out);
            check_same(&out, expected, what);
            assert_true(guards_are_whole(&out));
            guarded_image_free(&out);
        }
    }
    gi_simd_force(before);
}

// Threads only share rows out: one on the whole image, three on it, and three on bands of 100 rows give the same bytes.
static inline void check_threads(stage_under_test stage, gi_shape shape) {
    guarded_image in = image_make(shape), one = image_make(shape), three = image_make(shape);
    image_fill(&in, FILL_NOISE, 3);
    stage.band_rows = shape.height;
    stage.threads = 1;
    run_in_bands(&stage, &in, &one);
    stage.threads = 3;
    run_in_bands(&stage, &in, &three);
    check_same(&three, &one, "three threads");
    stage.band_rows = 100;
    run_in_bands(&stage, &in, &three);
    check_same(&three, &one, "bands of 100 rows");
    guarded_image_free(&in);
    guarded_image_free(&one);
    guarded_image_free(&three);
}

#endif
