#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_backend.h"
#include "run/plan.h"

static gi_pipeline parse(const char *text) {
    gi_pipeline pipeline;
    gi_error err;
    if (gi_pipeline_parse(text, &pipeline, &err) != GI_OK) fail_msg("%s", err.text);
    return pipeline;
}

static gi_plan make(const char *text, int channels, gi_sample sample) {
    gi_pipeline pipeline = parse(text);
    gi_plan plan;
    gi_error err;
    gi_shape shape = {17, 31, channels, sample};
    if (gi_plan_make(&pipeline, shape, &plan, &err) != GI_OK) fail_msg("'%s': %s", text, err.text);
    assert_int_equal(plan.in.channels, channels);
    assert_int_equal(plan.out.width, 17);
    assert_int_equal(plan.out.height, 31);
    assert_int_equal(plan.out.sample, sample);
    return plan;
}

static void expect_refused(const char *text, gi_shape shape, gi_status status, const char *part) {
    gi_pipeline pipeline = parse(text);
    gi_plan plan;
    gi_error err;
    assert_int_equal(gi_plan_make(&pipeline, shape, &plan, &err), status);
    if (!strstr(err.text, part)) fail_msg("'%s' lacks '%s'", err.text, part);
    gi_plan_free(&plan);
}

static void point_stages_fuse(void **state) {
    (void)state;
    gi_plan plan = make("gray 709 | threshold 100 | gray", 4, GI_U8);
    assert_int_equal(plan.segment_count, 1);
    assert_int_equal(plan.segments[0].count, 3);
    assert_int_equal(plan.segments[0].channels_in, 4);
    assert_int_equal(plan.segments[0].counted, GI_COUNTED_NOTHING);
    assert_int_equal(plan.out.channels, 2);
    assert_false(plan.measures);
    const gi_point point = plan.segments[0].point;
    assert_int_equal(point.mix, GI_MIX_WEIGHTS);
    assert_int_equal(point.weights[0], 6966);
    assert_int_equal(point.after.kind, GI_CURVE_THRESHOLD);
    assert_int_equal(point.after.level, 100);
    assert_int_equal(gi_point_channels_out(&point), 2);
    gi_plan_free(&plan);
    gi_plan_free(&plan);
}

static void thresholds_before_the_mix(void **state) {
    (void)state;
    gi_plan plan = make("threshold 10 | gray | threshold | hist bins=16", 3, GI_U16);
    assert_int_equal(plan.segment_count, 1);
    assert_int_equal(plan.segments[0].count, 3);
    assert_int_equal(plan.out.channels, 1);
    assert_true(plan.measures);
    assert_int_equal(plan.hist.bins, 16);
    const gi_point point = plan.segments[0].point;
    for (int c = 0; c < 3; c++) assert_int_equal(point.before[c].level, 10);
    assert_int_equal(point.after.level, 32768);
    gi_plan_free(&plan);
}

static void hist_alone_has_no_segment(void **state) {
    (void)state;
    gi_plan plan = make("hist", 3, GI_U8);
    assert_int_equal(plan.segment_count, 0);
    assert_true(plan.measures);
    assert_int_equal(plan.out.channels, 3);
    gi_plan_free(&plan);
}

static void otsu_on_gray_is_a_barrier(void **state) {
    (void)state;
    gi_plan plan = make("threshold otsu", 2, GI_U8);
    assert_int_equal(plan.segment_count, 1);
    assert_int_equal(plan.segments[0].counted, GI_COUNTED_IMAGE);
    assert_int_equal(plan.segments[0].count, 1);
    assert_int_equal(plan.segments[0].channels_in, 2);
    assert_int_equal(plan.out.channels, 2);
    gi_plan_free(&plan);
}

static void otsu_on_colour_implies_gray(void **state) {
    (void)state;
    for (int channels = 3; channels <= 4; channels++) {
        gi_plan plan = make("threshold otsu | hist", channels, GI_U8);
        assert_int_equal(plan.segment_count, 2);
        assert_int_equal(plan.segments[0].count, 1);
        assert_int_equal(plan.segments[0].calls[0].stage->id, GI_STAGE_ID_gray);
        assert_int_equal(plan.segments[0].calls[0].args.gray.weights, GI_GRAY_601);
        assert_int_equal(plan.segments[0].counted, GI_COUNTED_NOTHING);
        assert_int_equal(plan.segments[1].counted, GI_COUNTED_IMAGE);
        assert_int_equal(plan.segments[1].channels_in, channels - 2);
        assert_int_equal(plan.out.channels, channels - 2);
        gi_plan_free(&plan);
    }
    gi_plan plan = make("gray linear | threshold otsu", 3, GI_U8); // gray already: none is implied
    assert_int_equal(plan.segment_count, 2);
    assert_int_equal(plan.segments[0].count, 1);
    assert_int_equal(plan.segments[0].calls[0].args.gray.weights, GI_GRAY_LINEAR);
    gi_plan_free(&plan);
}

static void barriers_cut_segments(void **state) {
    (void)state;
    gi_plan plan =
        make("threshold 9 | threshold otsu | gray | threshold 5 | threshold otsu | threshold 6 | hist", 4, GI_U8);
    static const int counts[] = {2, 3, 2};
    assert_int_equal(plan.segment_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(plan.segments[i].count, counts[i]);
        assert_int_equal(plan.segments[i].counted, i > 0 ? GI_COUNTED_IMAGE : GI_COUNTED_NOTHING);
        if (i > 0) assert_int_equal(plan.segments[i].resolved, i - 1);
        assert_int_equal(plan.segments[i].channels_in, i == 0 ? 4 : 2);
    }
    gi_plan_free(&plan);
}

static void what_follows_a_barrier_is_composed(void **state) {
    (void)state;
    gi_plan plan = make("threshold otsu | threshold 5", 3, GI_U8);
    assert_int_equal(plan.segments[0].point.mix, GI_MIX_WEIGHTS);
    assert_int_equal(plan.segments[0].point.weights[0], 9798);
    assert_int_equal(plan.segments[1].count, 2);
    assert_int_equal(plan.segments[1].point.before[0].kind, GI_CURVE_THRESHOLD);
    assert_int_equal(plan.segments[1].point.before[0].level, 5);
    assert_false(gi_segment_is_identity(&plan.segments[1]));
    gi_plan_free(&plan);
}

static void equalize_counts_what_its_mode_says(void **state) {
    (void)state;
    gi_plan plan = make("equalize | threshold 5 | gray", 4, GI_U16); // nothing composes with the shift by luma
    assert_int_equal(plan.segment_count, 2);
    assert_int_equal(plan.segments[0].counted, GI_COUNTED_LUMA);
    assert_true(gi_point_is_identity(&plan.segments[0].point));
    assert_int_equal(plan.segments[0].channels_out, 4);
    assert_int_equal(plan.segments[1].count, 2);
    assert_int_equal(plan.segments[1].counted, GI_COUNTED_NOTHING);
    assert_int_equal(plan.out.channels, 2);
    gi_plan_free(&plan);
    plan = make("gray | equalize | threshold 5", 3, GI_U8);
    assert_int_equal(plan.segment_count, 2);
    assert_int_equal(plan.segments[1].counted, GI_COUNTED_IMAGE);
    assert_int_equal(plan.segments[1].count, 2);
    gi_plan_free(&plan);
    plan = make("equalize channel | gray", 3, GI_U8);
    assert_int_equal(plan.segment_count, 1);
    assert_int_equal(plan.segments[0].counted, GI_COUNTED_IMAGE);
    assert_int_equal(plan.segments[0].point.mix, GI_MIX_WEIGHTS);
    assert_int_equal(plan.segments[0].channels_out, 1);
    gi_plan_free(&plan);
    plan = make("equalize | equalize | hist", 3, GI_U8);
    assert_int_equal(plan.segment_count, 2);
    assert_int_equal(plan.barrier_count, 2);
    assert_int_equal(plan.segments[1].resolved, 1);
    gi_plan_free(&plan);
}

static void windows_are_segments_of_their_own(void **state) {
    (void)state;
    gi_pipeline pipeline = parse("gray | threshold 9 | threshold otsu");
    gi_plan plan;
    gi_error err;
    fake_window_insert(&pipeline, 3, UINT32_MAX);
    fake_window_insert(&pipeline, 1, 5);
    fake_window_insert(&pipeline, 0, 2);
    assert_int_equal(gi_plan_make(&pipeline, (gi_shape){17, 31, 3, GI_U8}, &plan, &err), GI_OK);
    static const gi_stage_kind kinds[] = {GI_STAGE_WINDOW, GI_STAGE_POINT, GI_STAGE_WINDOW,
                                          GI_STAGE_POINT,  GI_STAGE_POINT, GI_STAGE_WINDOW};
    static const uint32_t halos[] = {2, 0, 5, 0, 0, UINT32_MAX};
    static const int channels[] = {3, 1, 1, 1, 1, 1};
    assert_int_equal(plan.segment_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(plan.segments[i].kind, kinds[i]);
        assert_int_equal(plan.segments[i].halo, halos[i]);
        assert_int_equal(plan.segments[i].count, 1);
        assert_int_equal(plan.segments[i].channels_out, channels[i]);
    }
    gi_plan_free(&plan);
}

static void windows_are_checked(void **state) {
    (void)state;
    gi_pipeline pipeline = {.count = 0};
    gi_plan plan;
    gi_error err;
    fake_window_insert(&pipeline, 0, 13);
    assert_int_equal(gi_pipeline_check(&pipeline, &err), GI_ERR_USAGE);
    assert_string_equal(err.text, "an unlucky halo");
    pipeline.calls[0].args.hist.bins = 1300; // for 8 bits alone
    assert_int_equal(gi_pipeline_check(&pipeline, &err), GI_OK);
    assert_int_equal(gi_plan_make(&pipeline, (gi_shape){1, 1, 1, GI_U8}, &plan, &err), GI_ERR_USAGE);
    gi_plan_free(&plan);
    assert_int_equal(gi_plan_make(&pipeline, (gi_shape){1, 1, 1, GI_U16}, &plan, &err), GI_OK);
    gi_plan_free(&plan);
}

static void gray_of_gray_is_still_a_segment(void **state) {
    (void)state;
    gi_plan plan = make("gray", 1, GI_U8);
    assert_int_equal(plan.segment_count, 1);
    assert_true(gi_segment_is_identity(&plan.segments[0]));
    gi_plan_free(&plan);
}

static void refuses_what_the_depth_does_not_allow(void **state) {
    (void)state;
    gi_shape u8 = {4, 4, 3, GI_U8}, f32 = {4, 4, 1, GI_F32}, none = {4, 4, 0, GI_U8}, many = {4, 4, 5, GI_U8};
    expect_refused("gray | threshold 256", u8, GI_ERR_USAGE, "0 to 255");
    expect_refused("hist bins=257", u8, GI_ERR_USAGE, "256 levels");
    expect_refused("gray", f32, GI_ERR_UNSUPPORTED, "kind of image");
    expect_refused("gray", none, GI_ERR_UNSUPPORTED, "kind of image");
    expect_refused("hist", many, GI_ERR_UNSUPPORTED, "kind of image");
    gi_plan plan = make("threshold 256 | hist bins=65536", 3, GI_U16);
    gi_plan_free(&plan);
    gi_pipeline empty = {.count = 0};
    assert_int_equal(gi_plan_make(&empty, u8, &plan, NULL), GI_ERR_USAGE);
    gi_plan_free(&plan);
    gi_plan_free(NULL);
}

static void as_many_segments_as_stages(void **state) {
    (void)state;
    gi_pipeline pipeline = {.count = 0};
    gi_plan plan;
    gi_shape shape = {1, 1, 3, GI_U8};
    for (int i = 0; i < GI_MAX_STAGES; i++) {
        gi_stage_call *call = gi_pipeline_append(&pipeline, &gi_stage_table[GI_STAGE_ID_threshold]);
        call->args.threshold.level = i < GI_MAX_RESOLVED ? GI_LEVEL_OTSU : GI_LEVEL_HALF;
    }
    assert_int_equal(gi_plan_make(&pipeline, shape, &plan, NULL), GI_OK);
    assert_int_equal(plan.segment_count, GI_MAX_RESOLVED + 1);
    assert_int_equal(plan.barrier_count, GI_MAX_RESOLVED);
    gi_plan_free(&plan);
    pipeline.calls[GI_MAX_STAGES - 1].args.threshold.level = GI_LEVEL_OTSU;
    assert_int_equal(gi_plan_make(&pipeline, shape, &plan, NULL), GI_ERR_USAGE);
    gi_plan_free(&plan);
    for (int i = 0; i < GI_MAX_STAGES - 1; i++) pipeline.calls[i].args.threshold.level = GI_LEVEL_HALF;
    assert_int_equal(gi_plan_make(&pipeline, shape, &plan, NULL), GI_OK);
    assert_int_equal(plan.segment_count, 2);
    assert_int_equal(plan.segments[0].count, GI_MAX_STAGES);
    gi_plan_free(&plan);
    pipeline.count = 0; // and one segment for an implied gray
    for (int i = 0; i < GI_MAX_STAGES; i++) fake_window_insert(&pipeline, i, 1);
    pipeline.calls[GI_MAX_STAGES - 1] = (gi_stage_call){.stage = &gi_stage_table[GI_STAGE_ID_threshold]};
    pipeline.calls[GI_MAX_STAGES - 1].args.threshold.level = GI_LEVEL_OTSU;
    assert_int_equal(gi_plan_make(&pipeline, shape, &plan, NULL), GI_OK);
    assert_int_equal(plan.segment_count, GI_MAX_STAGES + 1);
    gi_plan_free(&plan);
}

static void knows_when_luma_serves(void **state) {
    (void)state;
    static const char *const yes[] = {"gray", "gray 601 | hist", "threshold otsu", "threshold otsu | gray 709"};
    static const char *const no[] = {"gray 709",
                                     "gray linear",
                                     "threshold",
                                     "threshold 7",
                                     "hist",
                                     "threshold 5 | gray",
                                     "threshold 5 | threshold otsu"};
    gi_pipeline pipeline = {.count = 0};
    assert_false(gi_pipeline_takes_luma(&pipeline));
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        pipeline = parse(yes[i]);
        assert_true(gi_pipeline_takes_luma(&pipeline));
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        pipeline = parse(no[i]);
        assert_false(gi_pipeline_takes_luma(&pipeline));
    }
}

static void knows_what_is_black_and_white(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int channels;
        bool binary;
    } cases[] = {{"threshold", 3, true},
                 {"gray | threshold 9", 3, true},
                 {"threshold otsu", 4, true},
                 {"blur | threshold 9 | threshold 200", 1, true},
                 {"threshold 9 | gray", 1, true}, // nothing to do
                 {"threshold 9 | gray 709", 2, true},
                 {"threshold otsu | gray", 3, true},
                 {"threshold 9 | gray", 3, false},
                 {"threshold 9 | gray | threshold 9", 3, true},
                 {"threshold 9 | blur", 1, false},
                 {"threshold 9 | heat", 1, false},
                 {"threshold 9 | equalize", 1, false},
                 {"equalize | threshold 9", 3, true},
                 {"gray", 3, false},
                 {"threshold 9 | hist", 3, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gi_plan plan = make(cases[i].text, cases[i].channels, GI_U8);
        if (plan.binary != cases[i].binary) fail_msg("'%s'", cases[i].text);
        gi_plan_free(&plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(point_stages_fuse),
        cmocka_unit_test(thresholds_before_the_mix),
        cmocka_unit_test(hist_alone_has_no_segment),
        cmocka_unit_test(otsu_on_gray_is_a_barrier),
        cmocka_unit_test(otsu_on_colour_implies_gray),
        cmocka_unit_test(barriers_cut_segments),
        cmocka_unit_test(what_follows_a_barrier_is_composed),
        cmocka_unit_test(equalize_counts_what_its_mode_says),
        cmocka_unit_test(windows_are_segments_of_their_own),
        cmocka_unit_test(windows_are_checked),
        cmocka_unit_test(gray_of_gray_is_still_a_segment),
        cmocka_unit_test(refuses_what_the_depth_does_not_allow),
        cmocka_unit_test(as_many_segments_as_stages),
        cmocka_unit_test(knows_when_luma_serves),
        cmocka_unit_test(knows_what_is_black_and_white),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
