// What bands need of rows and memory, and where legs end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_backend.h"
#include "run/work.h"

enum { WIDTH = 10, HEIGHT = 100 };

// A pipeline with WINDOW stages of these halos behind stage `after`, over 10 x 100 pixels.
static gi_plan make(const char *text, int channels, int after, int count, const uint32_t *halos) {
    gi_pipeline pipeline;
    gi_plan plan;
    gi_error err;
    assert_int_equal(gi_pipeline_parse(text, &pipeline, &err), GI_OK);
    for (int i = 0; i < count; i++) fake_window_insert(&pipeline, after + i, halos[i]);
    assert_int_equal(gi_plan_make(&pipeline, (gi_shape){WIDTH, HEIGHT, channels, GI_U8}, &plan, &err), GI_OK);
    return plan;
}

static void assert_rows(gi_rows rows, uint32_t y, uint32_t count) {
    assert_int_equal(rows.y, y);
    assert_int_equal(rows.count, count);
}

static void rows_grow_by_the_halos(void **state) {
    (void)state;
    gi_plan plan = make("gray", 3, 1, 3, (uint32_t[]){4, 10, UINT32_MAX});
    assert_int_equal(plan.segment_count, 4);
    assert_int_equal(gi_halo_sum(&plan, 0, 3), 14);
    assert_int_equal(gi_halo_sum(&plan, 0, 4), UINT32_MAX);
    assert_int_equal(gi_halo_sum(&plan, 2, 2), 0);
    assert_rows(gi_rows_needed(&plan, 1, 1, (gi_rows){50, 7}), 50, 7);
    assert_rows(gi_rows_needed(&plan, 0, 3, (gi_rows){50, 7}), 36, 35);
    assert_rows(gi_rows_needed(&plan, 2, 3, (gi_rows){50, 7}), 40, 27);
    assert_rows(gi_rows_needed(&plan, 0, 3, (gi_rows){3, 7}), 0, 24);
    assert_rows(gi_rows_needed(&plan, 0, 3, (gi_rows){97, 3}), 83, 17);
    assert_rows(gi_rows_needed(&plan, 0, 3, (gi_rows){0, 100}), 0, 100);
    assert_rows(gi_rows_needed(&plan, 0, 4, (gi_rows){50, 1}), 0, 100);
    gi_plan_free(&plan);
}

static void memory_is_two_buffers(void **state) {
    (void)state;
    gi_plan plan = make("gray | threshold otsu", 3, 1, 1, (uint32_t[]){5});
    assert_int_equal(plan.segment_count, 3);
    // Uploaded: 20 rows of RGB, then gray of them, then 10 rows of the window in the first buffer.
    assert_int_equal(gi_band_bytes(&plan, 0, 3, 10, true), 20 * 30 + 20 * 10);
    // In place of it: 20 rows of gray, 10 of the window, the threshold in place.
    assert_int_equal(gi_band_bytes(&plan, 0, 3, 10, false), 20 * 10 + 10 * 10);
    assert_int_equal(gi_band_bytes(&plan, 1, 2, 10, false), 10 * 10); // the window alone reads what is stored
    assert_int_equal(gi_band_bytes(&plan, 1, 2, 10, true), 20 * 10 + 10 * 10);
    assert_int_equal(gi_band_bytes(&plan, 0, 3, 100, true), 100 * 30 + 100 * 10); // the image's edge ends a halo
    assert_int_equal(gi_band_bytes(&plan, 3, 3, 10, true), 10 * 10);
    assert_int_equal(gi_band_bytes(&plan, 3, 3, 10, false), 0);
    gi_plan_free(&plan);
    plan = make("heat steps=5 | threshold 9", 3, 1, 0, NULL); // and two fields of floats of the 20 rows it reads
    assert_int_equal(gi_band_bytes(&plan, 0, 2, 10, false), 10 * 30 + 20 * 30 * 8);
    assert_int_equal(gi_band_bytes(&plan, 0, 2, 10, true), 20 * 30 + 10 * 30 + 20 * 30 * 8);
    gi_plan_free(&plan);
    plan = make("gray", 1, 1, 0, NULL); // nothing to do, nothing to hold
    assert_int_equal(gi_band_bytes(&plan, 0, 1, 10, false), 0);
    gi_plan_free(&plan);
}

static void bands_follow_from_the_memory(void **state) {
    (void)state;
    static const struct {
        gi_band_rule rule;
        uint32_t rows;
        bool fits;
    } cases[] = {{{1000, 0, true}, 100, true},   {{7, 0, true}, 7, true},       {{0, 0, true}, 1, true},
                 {{100, 4000, true}, 100, true}, {{100, 3999, true}, 99, true}, {{50, 4000, true}, 50, true},
                 {{100, 400, true}, 10, true},   {{100, 39, true}, 1, false},   {{100, 1, true}, 1, false},
                 {{100, 999, false}, 99, true},  {{100, 9, false}, 1, false}};
    gi_plan plan = make("gray", 3, 1, 0, NULL); // 30 bytes in and 10 out for each row
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool fits = !cases[i].fits;
        assert_int_equal(gi_band_rows(&plan, &cases[i].rule, &fits), cases[i].rows);
        assert_int_equal(fits, cases[i].fits);
    }
    gi_plan_free(&plan);
    bool fits = false;
    plan = make("hist", 3, 0, 0, NULL);
    assert_int_equal(gi_band_rows(&plan, &(gi_band_rule){100, 300, true}, &fits), 10);
    assert_int_equal(gi_band_rows(&plan, &(gi_band_rule){100, 300, false}, &fits), 100);
    gi_plan_free(&plan);
}

static void legs_end_where_halos_outgrow_the_band(void **state) {
    (void)state;
    gi_plan plan = make("gray", 3, 1, 4, (uint32_t[]){4, 0, 3, 50});
    static const struct {
        uint32_t rows;
        int from, end;
    } cases[] = {{100, 0, 5}, {57, 0, 5}, {56, 0, 4}, {7, 0, 4}, {6, 0, 3}, {6, 3, 4}, {6, 4, 5},
                 {1, 0, 2},   {1, 2, 3},  {1, 3, 4},  {1, 4, 5}, {4, 0, 3}, {3, 1, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gi_band_rule rule = {cases[i].rows, 0, true};
        assert_int_equal(gi_leg_end(&plan, cases[i].from, 5, &rule), cases[i].end);
    }
    assert_int_equal(gi_leg_end(&plan, 0, 2, &(gi_band_rule){57, 0, true}), 2);
    assert_int_equal(gi_leg_end(&plan, 5, 5, &(gi_band_rule){1, 0, true}), 5);
    // Memory ends a leg too, but never before its first segment.
    assert_int_equal(gi_leg_end(&plan, 0, 5, &(gi_band_rule){100, 1000, false}), 1);
    assert_int_equal(gi_leg_end(&plan, 0, 5, &(gi_band_rule){100, 2000, false}), 5);
    assert_int_equal(gi_leg_end(&plan, 2, 5, &(gi_band_rule){100, 1, false}), 3);
    gi_plan_free(&plan);
}

static void memory_keeps_points_together(void **state) {
    (void)state;
    bool fits = false;
    gi_plan plan = make("equalize | gray | threshold otsu", 3, 3, 0, NULL); // no halo: no reason to store
    gi_band_rule rule = {100, 400, false};
    rule.rows = gi_band_rows(&plan, &rule, &fits);
    assert_int_equal(rule.rows, 10); // 30 bytes and 10 for each row
    assert_int_equal(gi_leg_end(&plan, 0, plan.segment_count, &rule), plan.segment_count);
    gi_plan_free(&plan);
    plan = make("gray", 1, 0, 2, (uint32_t[]){20, 20});
    rule = (gi_band_rule){100, 1000, false}; // together 30 rows + halo for 100 bytes: 10 rows, with 40 of halo
    rule.rows = gi_band_rows(&plan, &rule, &fits);
    assert_int_equal(rule.rows, 100); // apart: one buffer
    assert_int_equal(gi_leg_end(&plan, 0, plan.segment_count, &rule), 1);
    gi_plan_free(&plan);
}

static void legs_are_those_of_the_barriers(void **state) {
    (void)state;
    gi_plan plan = make("equalize | threshold otsu", 3, 1, 1, (uint32_t[]){5});
    assert_int_equal(plan.segment_count, 4); // equalize, window, gray, threshold
    gi_band_rule whole = {100, 0, false}, bands = {10, 0, false};
    gi_leg leg = gi_leg_next(&plan, 0, 0, &whole);
    assert_int_equal(leg.to, 0);
    assert_int_equal(leg.counted, GI_COUNTED_LUMA);
    assert_false(leg.stored);
    leg = gi_leg_next(&plan, 0, 1, &whole);
    assert_int_equal(leg.to, 3);
    assert_int_equal(leg.counted, GI_COUNTED_IMAGE);
    assert_false(leg.stored);
    leg = gi_leg_next(&plan, 0, 1, &bands);
    assert_int_equal(leg.to, 3);
    assert_true(leg.stored);
    leg = gi_leg_next(&plan, 3, 2, &bands);
    assert_int_equal(leg.to, 4);
    assert_true(leg.last);
    assert_int_equal(leg.counted, GI_COUNTED_NOTHING);
    gi_plan_free(&plan);
}

static void fewer_channels_are_stored(void **state) {
    (void)state;
    gi_band_rule whole = {100, 0, false}, bands = {10, 0, false};
    gi_plan plan = make("gray | threshold otsu", 3, 0, 0, NULL);
    assert_false(gi_leg_next(&plan, 0, 0, &whole).stored);
    gi_leg leg = gi_leg_next(&plan, 0, 0, &bands);
    assert_true(leg.stored && leg.counted == GI_COUNTED_IMAGE && leg.to == 1);
    assert_int_equal(gi_work_of(&plan, &bands).stored, WIDTH * HEIGHT);
    gi_plan_free(&plan);
    plan = make("gray | threshold otsu", 1, 0, 0, NULL); // no fewer
    assert_false(gi_leg_next(&plan, 0, 0, &bands).stored);
    gi_plan_free(&plan);
}

// Rows of the decoded image that must be there at once.
static void windows_hold_what_a_band_needs(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int channels, windows;
        uint32_t halos[2], rows, room;
    } cases[] = {{"gray", 3, 0, {0}, 10, 10},
                 {"gray", 3, 0, {0}, 100, 100},
                 {"hist", 3, 0, {0}, 7, 7},
                 {"gray", 3, 1, {5}, 10, 20},
                 {"gray", 3, 2, {5, 3}, 10, 26},
                 {"gray", 3, 2, {5, 30}, 10, 20}, // the first leg ends before the second window
                 {"gray", 3, 1, {47}, 50, 100},
                 {"gray", 3, 1, {UINT32_MAX}, 10, 100},
                 {"gray | threshold otsu", 3, 0, {0}, 10, 10}, // stored as gray
                 {"gray | threshold otsu", 1, 0, {0}, 10, 100},
                 {"equalize", 3, 0, {0}, 10, 100},
                 {"equalize", 3, 1, {4}, 10, 18}, // stored as the window makes it
                 {"gray | hist", 3, 1, {4}, 1, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gi_plan plan = make(cases[i].text, cases[i].channels, 0, cases[i].windows, cases[i].halos);
        gi_band_rule rule = {cases[i].rows, 0, false};
        assert_int_equal(gi_window_rows(&plan, &rule), cases[i].room);
        assert_int_equal(gi_work_of(&plan, &rule).window, cases[i].room * WIDTH * (uint32_t)cases[i].channels);
        gi_plan_free(&plan);
    }
}

static void streamed_bands(void **state) {
    (void)state;
    static const struct {
        gi_shape shape;
        uint32_t halo;
    } cases[] = {{{7680, 4320, 3, GI_U8}, 0},        {{7680, 4320, 1, GI_U8}, 3},      {{1, 1, 1, GI_U8}, 1},
                 {{30000, 30000, 3, GI_U8}, 100},    {{UINT32_MAX, 40, 4, GI_U16}, 2}, {{64, 4000000, 1, GI_U8}, 9},
                 {{64, 4000, 1, GI_U8}, UINT32_MAX}, {{1000000, 70, 4, GI_U8}, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] * 2; i++) {
        gi_pipeline pipeline = {.count = 0};
        gi_plan plan;
        fake_window_insert(&pipeline, 0, cases[i / 2].halo);
        assert_int_equal(gi_plan_make(&pipeline, cases[i / 2].shape, &plan, NULL), GI_OK);
        uint32_t rows = gi_band_rows_streamed(&plan, i % 2), height = plan.in.height;
        size_t bytes = rows * gi_row_bytes(plan.in.width, plan.in.channels, plan.in.sample);
        assert_true(rows >= 1 && rows <= height && (rows == height || rows % 16 == 0));
        assert_true(rows == height || rows >= 4 * (uint64_t)cases[i / 2].halo);
        // No more than asked for by memory or halo, which the step may round up.
        assert_true(rows <= 16 || rows <= 16 * (uint64_t)cases[i / 2].halo + 16 || bytes <= (size_t)8 << 20);
        gi_plan_free(&plan);
    }
}

static void what_is_heavy(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int channels;
        bool heavy;
    } cases[] = {{"gray", 3, false},
                 {"equalize | threshold otsu", 3, false},
                 {"blur", 3, false},
                 {"hist", 3, false},
                 {"heat", 3, true},
                 {"heat mode=linear", 3, false},
                 {"blur sigma=30", 1, true},
                 {"heat mode=linear steps=50", 1, true},
                 {"gray | blur radius=99", 3, false},
                 {"blur sigma=0.5", 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gi_plan plan = make(cases[i].text, cases[i].channels, 0, 0, NULL);
        assert_int_equal(gi_work_is_heavy(&plan), cases[i].heavy);
        gi_plan_free(&plan);
    }
}

static void work_is_what_the_legs_do(void **state) {
    (void)state;
    gi_plan plan = make("gray | threshold otsu", 3, 1, 1, (uint32_t[]){5});
    gi_work work = gi_work_of(&plan, &(gi_band_rule){100, 0, true});
    const double pixels = WIDTH * HEIGHT;
    assert_int_equal(work.bands, 1);
    assert_int_equal(work.legs, 2);
    assert_true(work.read == pixels * (3 + 1 + 1 + 1) && work.written == pixels * 3);
    assert_true(work.up == pixels * 3 && work.down == pixels);
    assert_int_equal(work.image, pixels * 3);
    assert_int_equal(work.working, pixels * 4);
    assert_int_equal(work.stored, 0);
    // Bands of 10: 8 of 20 rows, the first and the last of 15; counted and stored, then read again.
    work = gi_work_of(&plan, &(gi_band_rule){10, 0, true});
    const double halo = WIDTH * 190;
    assert_int_equal(work.bands, 10);
    assert_true(work.read == halo * (3 + 1) + pixels * 2 && work.written == halo + pixels * 2);
    assert_true(work.up == halo * 3 + pixels && work.down == pixels * 2);
    assert_int_equal(work.stored, pixels);
    gi_plan_free(&plan);
    plan = make("gray", 1, 1, 0, NULL);
    work = gi_work_of(&plan, &(gi_band_rule){100, 0, true});
    assert_true(work.read == 0 && work.up == 0 && work.down == 0);
    gi_plan_free(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_grow_by_the_halos),
        cmocka_unit_test(memory_is_two_buffers),
        cmocka_unit_test(bands_follow_from_the_memory),
        cmocka_unit_test(legs_end_where_halos_outgrow_the_band),
        cmocka_unit_test(memory_keeps_points_together),
        cmocka_unit_test(legs_are_those_of_the_barriers),
        cmocka_unit_test(work_is_what_the_legs_do),
        cmocka_unit_test(fewer_channels_are_stored),
        cmocka_unit_test(windows_hold_what_a_band_needs),
        cmocka_unit_test(streamed_bands),
        cmocka_unit_test(what_is_heavy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
