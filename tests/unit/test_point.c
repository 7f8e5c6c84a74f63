#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/point.h"
#include "core/stage_table.h"

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % limit);
}

static gi_curve random_curve(uint32_t max) {
    gi_curve curve = {(gi_curve_kind)random_below(3), 0, NULL};
    if (curve.kind == GI_CURVE_THRESHOLD) curve.level = random_below(4) ? random_below(max + 1) : max;
    if (curve.kind == GI_CURVE_TABLE) {
        curve.table = malloc((max + 1) * sizeof *curve.table);
        assert_non_null(curve.table);
        for (uint32_t v = 0; v <= max; v++) curve.table[v] = (uint16_t)random_below(max + 1);
    }
    return curve;
}

static gi_point random_point(int channels, gi_sample sample) {
    gi_point point = gi_point_identity(channels, sample);
    uint32_t max = gi_sample_max(sample);
    for (int c = 0; c < gi_colour_channels(channels); c++) point.before[c] = random_curve(max);
    if (channels < 3) return point;
    point.mix = (gi_mix_kind)random_below(3);
    if (point.mix == GI_MIX_WEIGHTS) {
        point.weights[0] = random_below(10000);
        point.weights[1] = random_below(20000);
        point.weights[2] = 32768 - point.weights[0] - point.weights[1];
    }
    if (point.mix != GI_MIX_NONE) point.after = random_curve(max);
    return point;
}

// The plain meaning of a point operation on one pixel, in place.
static void apply(const gi_point *point, uint32_t pixel[4]) {
    uint32_t max = gi_sample_max(point->shape.sample);
    int channels = point->shape.channels, colours = gi_colour_channels(channels);
    for (int c = 0; c < colours; c++) pixel[c] = gi_curve_at(&point->before[c], pixel[c], max);
    if (point->mix == GI_MIX_NONE) return;
    uint32_t gray = 0;
    if (point->mix == GI_MIX_WEIGHTS) {
        uint64_t sum = 16384;
        for (int c = 0; c < 3; c++) sum += (uint64_t)point->weights[c] * pixel[c];
        gray = (uint32_t)(sum >> 15);
    } else {
        const gi_linear_tables *t = gi_linear_tables_get(point->shape.sample);
        gray = gi_linear_encode(t, t->red[pixel[0]] + t->green[pixel[1]] + t->blue[pixel[2]]);
    }
    pixel[0] = gi_curve_at(&point->after, gray, max);
    if (channels == 4) pixel[1] = pixel[3];
}

static void expect_same(const gi_point *first, const gi_point *second, const gi_point *both, const uint32_t in[4]) {
    uint32_t one[4], turn[4];
    memcpy(one, in, sizeof one);
    memcpy(turn, in, sizeof turn);
    apply(both, one);
    apply(first, turn);
    apply(second, turn);
    for (int c = 0; c < gi_point_channels_out(both); c++) assert_int_equal(one[c], turn[c]);
}

static void compose_random(int channels, gi_sample sample, int rounds) {
    uint32_t max = gi_sample_max(sample), step = sample == GI_U8 ? 1 : 97;
    for (int round = 0; round < rounds; round++) {
        gi_point first = random_point(channels, sample);
        gi_point second = random_point(gi_point_channels_out(&first), sample);
        gi_point both;
        gi_error err;
        assert_int_equal(gi_point_compose(&first, &second, &both, &err), GI_OK);
        assert_int_equal(both.shape.channels, channels);
        assert_int_equal(gi_point_channels_out(&both), gi_point_channels_out(&second));
        for (uint32_t v = 0; v <= max; v += step) {
            uint32_t same[4] = {v, v, v, v};
            uint32_t mixed[4] = {v, random_below(max + 1), random_below(max + 1), random_below(max + 1)};
            expect_same(&first, &second, &both, same);
            expect_same(&first, &second, &both, mixed);
        }
        uint32_t top[4] = {max, max, max, max};
        expect_same(&first, &second, &both, top);
        gi_point_free(&first);
        gi_point_free(&second);
        uint32_t still[4] = {max / 3, max / 5, max / 7, max};
        apply(&both, still); // owns its tables: those of the parts are gone
        gi_point_free(&both);
    }
}

static void composes_u8(void **state) {
    (void)state;
    random_state = 11;
    for (int channels = 1; channels <= 4; channels++) compose_random(channels, GI_U8, 300);
}

static void composes_u16(void **state) {
    (void)state;
    random_state = 12;
    for (int channels = 1; channels <= 4; channels++) compose_random(channels, GI_U16, 25);
}

static void composes_long_chains(void **state) {
    (void)state;
    random_state = 13;
    for (int round = 0; round < 100; round++) {
        enum { LENGTH = 6 };
        gi_point parts[LENGTH], chain = gi_point_identity(4, GI_U8), longer;
        for (int i = 0; i < LENGTH; i++) {
            parts[i] = random_point(gi_point_channels_out(&chain), GI_U8);
            assert_int_equal(gi_point_compose(&chain, &parts[i], &longer, NULL), GI_OK);
            gi_point_free(&chain);
            chain = longer;
        }
        for (uint32_t v = 0; v < 256; v++) {
            uint32_t one[4] = {v, random_below(256), random_below(256), random_below(256)}, turn[4];
            memcpy(turn, one, sizeof turn);
            apply(&chain, one);
            for (int i = 0; i < LENGTH; i++) apply(&parts[i], turn);
            for (int c = 0; c < gi_point_channels_out(&chain); c++) assert_int_equal(one[c], turn[c]);
        }
        for (int i = 0; i < LENGTH; i++) gi_point_free(&parts[i]);
        gi_point_free(&chain);
    }
}

// Thresholds stay thresholds, so that the common pipelines need no tables at all.
static void composes_without_tables_where_it_can(void **state) {
    (void)state;
    gi_point gray = gi_point_identity(3, GI_U16), threshold = gi_point_identity(1, GI_U16), both, all;
    gray.mix = GI_MIX_WEIGHTS;
    gray.weights[1] = 32768;
    threshold.before[0] = (gi_curve){GI_CURVE_THRESHOLD, 300, NULL};
    assert_int_equal(gi_point_compose(&gray, &threshold, &both, NULL), GI_OK);
    assert_int_equal(both.mix, GI_MIX_WEIGHTS);
    assert_int_equal(both.after.kind, GI_CURVE_THRESHOLD);
    assert_int_equal(both.after.level, 300);
    gi_point second = gi_point_identity(1, GI_U16);
    second.before[0] = (gi_curve){GI_CURVE_THRESHOLD, 5, NULL};
    assert_int_equal(gi_point_compose(&both, &second, &all, NULL), GI_OK);
    assert_int_equal(all.after.kind, GI_CURVE_THRESHOLD);
    assert_int_equal(all.after.level, 300);
    assert_null(all.after.table);
}

static void knows_the_identity(void **state) {
    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        gi_point point = gi_point_identity(channels, GI_U8), both;
        assert_true(gi_point_is_identity(&point));
        assert_int_equal(gi_point_channels_out(&point), channels);
        assert_int_equal(gi_point_compose(&point, &point, &both, NULL), GI_OK);
        assert_true(gi_point_is_identity(&both));
        int last = gi_colour_channels(channels) - 1;
        point.before[last] = (gi_curve){GI_CURVE_THRESHOLD, 3, NULL};
        assert_false(gi_point_is_identity(&point));
    }
    gi_point mix = gi_point_identity(4, GI_U8);
    mix.mix = GI_MIX_LINEAR;
    assert_false(gi_point_is_identity(&mix));
    assert_int_equal(gi_point_channels_out(&mix), 2);
}

static void frees_to_the_identity(void **state) {
    (void)state;
    random_state = 14;
    gi_point_free(NULL);
    for (int round = 0; round < 50; round++) {
        gi_point point = random_point(3, GI_U8);
        gi_point_free(&point);
        assert_true(gi_point_is_identity(&point));
        assert_int_equal(point.shape.channels, 3);
        gi_point_free(&point);
    }
}

static void refuses_to_compose_what_does_not_fit(void **state) {
    (void)state;
    gi_point three = gi_point_identity(3, GI_U8), one = gi_point_identity(1, GI_U8),
             deep = gi_point_identity(3, GI_U16);
    gi_point both;
    gi_error err;
    assert_int_equal(gi_point_compose(&three, &one, &both, &err), GI_ERR_USAGE);
    assert_int_equal(gi_point_compose(&three, &deep, &both, &err), GI_ERR_USAGE);
    gi_point_free(&both);
}

static void gray_fills_its_mix(void **state) {
    (void)state;
    static const uint32_t expected[][3] = {{9798, 19235, 3735}, {6966, 23436, 2366}};
    for (int channels = 1; channels <= 4; channels++) {
        for (int weights = GI_GRAY_601; weights <= GI_GRAY_LINEAR; weights++) {
            gi_gray_args args = {weights};
            gi_point_input in = {channels, GI_U8, NULL};
            gi_point point;
            assert_int_equal(gi_gray_point(&args, &in, &point, NULL), GI_OK);
            assert_int_equal(gi_point_channels_out(&point), channels >= 3 ? channels - 2 : channels);
            assert_int_equal(gi_point_is_identity(&point), channels < 3);
            if (channels < 3) continue;
            assert_int_equal(point.mix, weights == GI_GRAY_LINEAR ? GI_MIX_LINEAR : GI_MIX_WEIGHTS);
            if (weights == GI_GRAY_LINEAR) continue;
            assert_memory_equal(point.weights, expected[weights], sizeof point.weights);
            assert_int_equal(point.weights[0] + point.weights[1] + point.weights[2], 32768);
        }
    }
}

static gi_status threshold(int level, int channels, gi_sample sample, gi_point *point, gi_error *err) {
    gi_threshold_args args = {level};
    gi_point_input in = {channels, sample, NULL};
    return gi_threshold_point(&args, &in, point, err);
}

static void threshold_fills_its_curves(void **state) {
    (void)state;
    gi_point point;
    gi_error err;
    for (int channels = 1; channels <= 4; channels++) {
        assert_int_equal(threshold(GI_LEVEL_HALF, channels, GI_U8, &point, &err), GI_OK);
        assert_int_equal(gi_point_channels_out(&point), channels);
        for (int c = 0; c < 3; c++) {
            bool used = c < gi_colour_channels(channels);
            assert_int_equal(point.before[c].kind, used ? GI_CURVE_THRESHOLD : GI_CURVE_IDENTITY);
            if (used) assert_int_equal(point.before[c].level, 128);
        }
    }
    assert_int_equal(threshold(GI_LEVEL_HALF, 1, GI_U16, &point, &err), GI_OK);
    assert_int_equal(point.before[0].level, 32768);
    assert_int_equal(threshold(0, 1, GI_U8, &point, &err), GI_OK);
    assert_int_equal(point.before[0].level, 0);
    assert_int_equal(threshold(255, 1, GI_U8, &point, &err), GI_OK);
    assert_int_equal(gi_curve_at(&point.before[0], 255, 255), 0); // strictly above
    assert_int_equal(threshold(65535, 1, GI_U16, &point, &err), GI_OK);
}

static void threshold_checks_the_depth(void **state) {
    (void)state;
    gi_point point;
    gi_error err;
    assert_int_equal(threshold(256, 3, GI_U8, &point, &err), GI_ERR_USAGE);
    assert_non_null(strstr(err.text, "0 to 255"));
    assert_non_null(strstr(err.text, "256"));
    assert_int_equal(threshold(65536, 3, GI_U16, &point, &err), GI_ERR_USAGE);
    assert_non_null(strstr(err.text, "0 to 65535"));
    assert_int_equal(threshold(-3, 1, GI_U8, &point, &err), GI_ERR_USAGE);
    assert_true(gi_point_is_identity(&point));
}

static void threshold_takes_otsu_from_the_histogram(void **state) {
    (void)state;
    gi_histogram histogram;
    gi_threshold_args args = {GI_LEVEL_OTSU};
    gi_point point;
    gi_error err;
    assert_int_equal(gi_histogram_init(&histogram, 2, GI_U8, NULL), GI_OK);
    histogram.counts[10] = 5;
    histogram.counts[20] = 5;
    histogram.counts[200] = 9;
    histogram.counts[256 + 7] = 19; // alpha: must not matter
    gi_point_input in = {2, GI_U8, &histogram};
    assert_int_equal(gi_threshold_point(&args, &in, &point, &err), GI_OK);
    assert_int_equal(point.before[0].kind, GI_CURVE_THRESHOLD);
    assert_int_equal(point.before[0].level, 20);
    in.sample = GI_U16;
    assert_int_equal(gi_threshold_point(&args, &in, &point, &err), GI_ERR_USAGE); // of another depth
    in = (gi_point_input){1, GI_U8, NULL};
    assert_int_equal(gi_threshold_point(&args, &in, &point, &err), GI_ERR_USAGE); // not measured
    in = (gi_point_input){3, GI_U8, &histogram};
    assert_int_equal(gi_threshold_point(&args, &in, &point, &err), GI_ERR_USAGE); // not gray
    gi_histogram_free(&histogram);
}

// C' = clamp(C + after(Y) - Y), after the curves of what comes before; alpha stays.
static void composes_before_a_shift_and_nothing_after(void **state) {
    (void)state;
    gi_point curves = gi_point_identity(4, GI_U8), shift = curves, both, more, nothing = curves;
    uint16_t table[256];
    gi_error err;
    for (int v = 0; v < 256; v++) table[v] = (uint16_t)(255 - v);
    for (int c = 0; c < 3; c++) curves.before[c] = (gi_curve){GI_CURVE_THRESHOLD, 99, NULL};
    shift.mix = GI_MIX_SHIFT;
    shift.weights[0] = 32768;
    shift.after = (gi_curve){GI_CURVE_TABLE, 0, table};
    assert_false(gi_point_is_identity(&shift));
    assert_int_equal(gi_point_channels_out(&shift), 4);
    assert_int_equal(gi_point_compose(&curves, &shift, &both, NULL), GI_OK);
    assert_int_equal(both.mix, GI_MIX_SHIFT);
    assert_int_equal(both.weights[0], 32768);
    for (int c = 0; c < 3; c++) assert_int_equal(both.before[c].level, 99);
    assert_int_equal(both.after.kind, GI_CURVE_TABLE);
    assert_ptr_not_equal(both.after.table, table);
    assert_int_equal(both.after.table[3], 252);
    assert_int_equal(gi_point_compose(&both, &nothing, &more, NULL), GI_OK);
    assert_int_equal(more.mix, GI_MIX_SHIFT);
    assert_int_equal(more.before[1].level, 99);
    assert_int_equal(more.after.table[3], 252);
    gi_point_free(&more);
    assert_int_equal(gi_point_compose(&both, &curves, &more, &err), GI_ERR_USAGE);
    assert_true(gi_point_is_identity(&more));
    gi_point_free(&both);
}

static gi_point equalize(int mode, int channels, const gi_histogram *histogram, gi_status status) {
    gi_equalize_args args = {mode};
    gi_point_input in = {channels, histogram && histogram->levels > 256 ? GI_U16 : GI_U8, histogram};
    gi_point point;
    gi_error err;
    assert_int_equal(gi_equalize_point(&args, &in, &point, &err), status);
    if (status != GI_OK) assert_true(gi_point_is_identity(&point));
    return point;
}

static void equalize_spreads_the_levels(void **state) {
    (void)state;
    gi_histogram histogram;
    assert_int_equal(gi_histogram_init(&histogram, 2, GI_U8, NULL), GI_OK);
    histogram.counts[256 + 7] = 515; // alpha: must not matter
    histogram.counts[10] = 5;        // the smallest level: 0, and not counted
    histogram.counts[20] = 1;        // 255 / 510: half-way, to the even 0
    histogram.counts[30] = 2;        // 3 * 255 / 510 = 1.5, to the even 2
    histogram.counts[40] = 507;
    gi_point point = equalize(GI_EQUALIZE_CHANNEL, 2, &histogram, GI_OK);
    static const uint32_t levels[][2] = {{0, 0},  {10, 0}, {19, 0},   {20, 0},   {29, 0},
                                         {30, 2}, {39, 2}, {40, 255}, {255, 255}};
    assert_int_equal(point.mix, GI_MIX_NONE);
    assert_int_equal(point.before[0].kind, GI_CURVE_TABLE);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        assert_int_equal(point.before[0].table[levels[i][0]], levels[i][1]);
    gi_point_free(&point);
    equalize(GI_EQUALIZE_LUMA, 1, &histogram, GI_ERR_USAGE);
    equalize(GI_EQUALIZE_CHANNEL, 4, &histogram, GI_ERR_USAGE);
    equalize(GI_EQUALIZE_LUMA, 2, NULL, GI_ERR_USAGE);
    point = equalize(GI_EQUALIZE_LUMA, 4, &histogram, GI_OK); // of the luma of RGBA
    assert_int_equal(point.mix, GI_MIX_SHIFT);
    assert_int_equal(point.weights[1], GI_LUMA_GREEN);
    assert_int_equal(point.before[0].kind, GI_CURVE_IDENTITY);
    assert_int_equal(point.after.table[30], 2);
    gi_point_free(&point);
    gi_histogram_free(&histogram);
}

static void equalize_leaves_one_level_and_takes_16_bits(void **state) {
    (void)state;
    gi_histogram histogram;
    assert_int_equal(gi_histogram_init(&histogram, 3, GI_U16, NULL), GI_OK);
    histogram.counts[5] = 9;
    histogram.counts[65536 + 65535] = 9;
    histogram.counts[2 * 65536 + 1] = UINT64_C(1) << 46;
    histogram.counts[2 * 65536 + 2] = UINT64_C(1) << 45; // the largest sums that are promised to work
    histogram.counts[2 * 65536 + 3] = UINT64_C(1) << 45;
    gi_point point = equalize(GI_EQUALIZE_CHANNEL, 3, &histogram, GI_OK);
    assert_int_equal(point.before[0].kind, GI_CURVE_IDENTITY);
    assert_int_equal(point.before[1].kind, GI_CURVE_IDENTITY);
    assert_int_equal(point.before[2].table[1], 0);
    assert_int_equal(point.before[2].table[2], 32768); // 32767.5
    assert_int_equal(point.before[2].table[3], 65535);
    gi_point_free(&point);
    histogram.counts[5] = 0; // no pixel at all
    point = equalize(GI_EQUALIZE_CHANNEL, 3, &histogram, GI_OK);
    assert_int_equal(point.before[0].kind, GI_CURVE_IDENTITY);
    gi_point_free(&point);
    gi_histogram_free(&histogram);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composes_u8),
        cmocka_unit_test(composes_u16),
        cmocka_unit_test(composes_long_chains),
        cmocka_unit_test(composes_without_tables_where_it_can),
        cmocka_unit_test(knows_the_identity),
        cmocka_unit_test(frees_to_the_identity),
        cmocka_unit_test(refuses_to_compose_what_does_not_fit),
        cmocka_unit_test(gray_fills_its_mix),
        cmocka_unit_test(threshold_fills_its_curves),
        cmocka_unit_test(threshold_checks_the_depth),
        cmocka_unit_test(threshold_takes_otsu_from_the_histogram),
        cmocka_unit_test(composes_before_a_shift_and_nothing_after),
        cmocka_unit_test(equalize_spreads_the_levels),
        cmocka_unit_test(equalize_leaves_one_level_and_takes_16_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
