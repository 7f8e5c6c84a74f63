// The heat stage against its rule, one pixel at a time.
#include <math.h>

#include "core/heat_math.h"
#include "core/stage_table.h"
#include "window_images.h"

static float at_or_zero(const float *t, int64_t y, int64_t x, int64_t height, int64_t width) {
    return y < 0 || x < 0 || y >= height || x >= width ? 0.0F : t[y * width + x];
}

// One colour channel.
static void reference_channel(const gi_view *in, const gi_view *out, int c, const gi_heat_args *args) {
    const int64_t height = in->height, width = in->width;
    const float max = (float)gi_sample_max(in->sample), rate = (float)(args->alpha * args->dt);
    float *now = malloc((size_t)(height * width) * sizeof *now), *next = malloc((size_t)(height * width) * sizeof *now);
    assert_non_null(now);
    assert_non_null(next);
    for (int64_t i = 0; i < height * width; i++) now[i] = (float)sample_of(in, i / width, i % width, c) / max;
    for (int step = 0; step < args->steps; step++) {
        for (int64_t i = 0; i < height * width; i++) {
            int64_t y = i / width, x = i % width;
            float up = at_or_zero(now, y - 1, x, height, width), down = at_or_zero(now, y + 1, x, height, width);
            float left = at_or_zero(now, y, x - 1, height, width), right = at_or_zero(now, y, x + 1, height, width);
            float t = now[i], sum = ((up + down) + left) + right;
            if (args->mode == GI_HEAT_LINEAR) {
                float lap = sum - 4.0F * t;
                float flow = rate * lap;
                t = t + flow;
            } else {
                for (int k = 0; k < args->inner; k++) {
                    float lap = sum - 4.0F * t;
                    t = gi_heat_damp(fmaf(rate, gi_tanhf(lap, true), t), true);
                }
            }
            next[i] = t;
        }
        float *made = next;
        next = now;
        now = made;
    }
    for (int64_t i = 0; i < height * width; i++)
        set_sample(out, i / width, i % width, c, (uint32_t)(fminf(fmaxf(now[i], 0.0F), 1.0F) * max + 0.5F));
    free(now);
    free(next);
}

static guarded_image reference_heat(const guarded_image *in, const gi_heat_args *args) {
    guarded_image out = image_make(gi_view_shape(&in->view));
    const int colours = gi_colour_channels(in->view.channels);
    for (int c = 0; c < in->view.channels; c++) {
        if (c < colours) {
            reference_channel(&in->view, &out.view, c, args);
            continue;
        }
        for (int64_t y = 0; y < in->view.height; y++)
            for (int64_t x = 0; x < in->view.width; x++) set_sample(&out.view, y, x, c, sample_of(&in->view, y, x, c));
    }
    return out;
}

static void check_heat(gi_shape shape, gi_heat_args args) {
    char what[80];
    snprintf(what, sizeof what, "mode %d, %d steps of %d, rate %g", args.mode, args.steps, args.inner,
             args.alpha * args.dt);
    guarded_image in = image_make(shape);
    image_fill(&in, shape.channels % 2 ? FILL_NOISE : FILL_EXTREMES, shape.width + shape.height);
    guarded_image expected = reference_heat(&in, &args);
    stage_under_test stage = {gi_cpu_heat, gi_heat_halo, &args, 0, 1};
    check_all_ways(stage, &in, &expected, what);
    guarded_image_free(&expected);
    guarded_image_free(&in);
}

static gi_heat_args heat_args(int mode, int steps, int inner) {
    gi_heat_args args = {.mode = mode, .steps = steps, .inner = inner, .alpha = 0.25, .dt = 0.1};
    return args;
}

static void test_sizes(void **state) {
    (void)state;
    static const gi_shape sizes[] = {{1, 1, 1, GI_U8},    {15, 1, 1, GI_U8},  {1, 15, 1, GI_U8}, {17, 31, 1, GI_U8},
                                     {63, 5, 1, GI_U8},   {64, 5, 1, GI_U8},  {65, 5, 1, GI_U8}, {129, 33, 1, GI_U8},
                                     {1, 3000, 1, GI_U8}, {3000, 1, 1, GI_U8}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int channels = 1; channels <= 4; channels++)
            for (int sample = 0; sample < 2; sample++) {
                gi_shape shape = sizes[s];
                shape.channels = channels;
                shape.sample = sample ? GI_U16 : GI_U8;
                check_heat(shape, heat_args(GI_HEAT_LINEAR, 1 + (int)s % 3, 1));
                check_heat(shape, heat_args(GI_HEAT_NONLINEAR, 1 + (int)(s + 1) % 3, 2));
            }
}

static void test_arguments(void **state) {
    (void)state;
    gi_heat_args args = heat_args(GI_HEAT_NONLINEAR, 4, 100);
    check_heat((gi_shape){19, 14, 3, GI_U8}, args);
    args.alpha = 1;
    args.dt = 0.25;
    check_heat((gi_shape){19, 14, 4, GI_U16}, args);
    args.mode = GI_HEAT_LINEAR;
    args.steps = 40;
    check_heat((gi_shape){19, 14, 2, GI_U16}, args);
    args.dt = 1e-300; // the rate is 0 in float: nothing moves, and nothing breaks
    check_heat((gi_shape){19, 14, 1, GI_U8}, args);
}

// Many steps let the heat flow out of the image, into numbers that only subnormal floats hold.
static void test_cools_to_black(void **state) {
    (void)state;
    gi_heat_args args = heat_args(GI_HEAT_LINEAR, 900, 1);
    args.alpha = 1;
    args.dt = 0.25;
    guarded_image in = image_make((gi_shape){3, 2, 1, GI_U8}), out = image_make((gi_shape){3, 2, 1, GI_U8});
    image_fill(&in, FILL_MAX, 1);
    stage_under_test stage = {gi_cpu_heat, gi_heat_halo, &args, 2, 1};
    run_in_bands(&stage, &in, &out);
    for (int64_t i = 0; i < 6; i++) assert_int_equal(sample_of(&out.view, i / 3, i % 3, 0), 0);
    guarded_image_free(&in);
    guarded_image_free(&out);
}

static void test_refusals(void **state) {
    (void)state;
    static const double bad[][2] = {{0.25, 1.1}, {0, 0.1}, {0.25, 0}, {1000, 1000}, {NAN, 0.1}};
    gi_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gi_heat_args args = heat_args(GI_HEAT_NONLINEAR, 1, 1);
        args.alpha = bad[i][0];
        args.dt = bad[i][1];
        assert_int_equal(gi_heat_check(&args, GI_U8, &err), GI_ERR_USAGE);
        assert_non_null(strstr(err.text, "alpha*dt must be above 0 and at most 0.25"));
    }
    gi_heat_args args = heat_args(GI_HEAT_NONLINEAR, 1, 1);
    args.alpha = 0.25;
    args.dt = 1;
    assert_int_equal(gi_heat_check(&args, GI_U16, &err), GI_OK);
    assert_int_equal(gi_heat_halo(&args), 1);
    args.steps = 0;
    assert_int_equal(gi_heat_check(&args, GI_U16, &err), GI_ERR_USAGE);

    guarded_image in = image_make((gi_shape){20, 20, 1, GI_U8}), out = image_make((gi_shape){20, 20, 1, GI_U8});
    args.steps = 3;
    gi_window_job job = {.in = gi_view_rows(&in.view, 4, 10),
                         .out = gi_view_rows(&out.view, 0, 4),
                         .place = {20, 4, 6}, // needs rows 3 to 12
                         .args = &args,
                         .threads = 1};
    assert_int_equal(gi_cpu_heat(&job, &err), GI_ERR_USAGE);
    assert_non_null(strstr(err.text, "lacks rows that heat needs"));
    job.place.out_y0 = 7;
    assert_int_equal(gi_cpu_heat(&job, &err), GI_OK);
    guarded_image_free(&in);
    guarded_image_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_cools_to_black),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
