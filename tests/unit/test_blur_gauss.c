// The Gaussian blur against sums made one pixel at a time, and its taps.
#include "blur_reference.h"

static void check_gauss(gi_shape shape, gi_blur_args args, fill kind) {
    char what[80];
    snprintf(what, sizeof what, "sigma %g, border %d, value %d", args.sigma, args.border, args.value);
    guarded_image in = image_make(shape);
    image_fill(&in, kind, shape.width * 31 + shape.height);
    guarded_image expected = reference_blur(&in, &args);
    stage_under_test stage = {gi_cpu_blur, gi_blur_halo, &args, 0, 1};
    check_all_ways(stage, &in, &expected, what);
    guarded_image_free(&expected);
    guarded_image_free(&in);
}

static gi_blur_args gauss_args(double sigma, int border) {
    gi_blur_args args = {.radius = GI_BLUR_UNSET, .sigma = sigma, .border = border};
    if (border == GI_BORDER_CONSTANT) args.value = 200;
    return args;
}

static void test_sizes(void **state) {
    (void)state;
    static const gi_shape sizes[] = {{1, 1, 1, GI_U8},     {15, 1, 1, GI_U8}, {1, 15, 1, GI_U8},  {17, 31, 1, GI_U8},
                                     {10000, 1, 1, GI_U8}, {40, 9, 1, GI_U8}, {130, 33, 1, GI_U8}};
    static const double sigmas[] = {0.1, 0.6, 1.3, 3};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int channels = 1; channels <= 4; channels++)
            for (int border = 0; border < 4; border++) {
                gi_shape shape = sizes[s];
                shape.channels = channels;
                shape.sample = (channels + border) % 2 ? GI_U8 : GI_U16;
                check_gauss(shape, gauss_args(sigmas[(s + (size_t)border) % 4], border), FILL_NOISE);
                shape.sample = (channels + border) % 2 ? GI_U16 : GI_U8;
                check_gauss(shape, gauss_args(sigmas[(s + (size_t)border + 1) % 4], border), FILL_EXTREMES);
            }
}

// Both sides of the change from the narrow to the wide form, and the largest sigma; kernels wider than the image.
static void test_sigmas(void **state) {
    (void)state;
    static const double sigmas[] = {0.01, 10, 32, 32.01, 256};
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int border = 0; border < 4; border++) {
                gi_shape shape = {23, 10, channels, i % 2 ? GI_U8 : GI_U16};
                check_gauss(shape, gauss_args(sigmas[i], border), FILL_EXTREMES);
                shape.sample = i % 2 ? GI_U16 : GI_U8;
                check_gauss(shape, gauss_args(sigmas[i], border), border == GI_BORDER_SHRINK ? FILL_MAX : FILL_NOISE);
            }
}

static void test_constant_image_stays(void **state) {
    (void)state;
    static const double sigmas[] = {0.01, 0.5, 3, 32, 33};
    static const uint32_t values[] = {0, 1, 127, 254, 255};
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            for (int channels = 1; channels <= 4; channels++)
                for (int border = 0; border < GI_BORDER_CONSTANT; border++) {
                    gi_shape shape = {37, 19, channels, GI_U8};
                    guarded_image in = image_make(shape), out = image_make(shape);
                    for (int64_t y = 0; y < 19; y++)
                        for (int64_t x = 0; x < 37; x++)
                            for (int c = 0; c < channels; c++)
                                set_sample(&in.view, y, x, c, c == 3 || (channels == 2 && c == 1) ? 200 : values[v]);
                    gi_blur_args args = gauss_args(sigmas[s], border);
                    stage_under_test stage = {gi_cpu_blur, gi_blur_halo, &args, 19, 1};
                    run_in_bands(&stage, &in, &out);
                    check_same(&out, &in, "constant image");
                    guarded_image_free(&in);
                    guarded_image_free(&out);
                }
}

static void test_taps(void **state) {
    (void)state;
    for (double sigma = 0.01; sigma <= 256; sigma *= 1.07)
        for (int s = 0; s < 2; s++) {
            gi_gauss gauss;
            gi_gauss_make(sigma, s ? GI_U16 : GI_U8, &gauss);
            const bool narrow = !s && sigma <= 32;
            assert_int_equal(gauss.tap_bits, narrow ? 15 : 24);
            assert_int_equal(gauss.fraction_bits, narrow ? 7 : 8);
            assert_true(gauss.radius <= gi_gauss_radius(sigma) && gi_gauss_radius(sigma) < GI_GAUSS_MAX_TAPS);
            int64_t sum = gauss.taps[0];
            for (int k = 1; k <= gauss.radius; k++) {
                assert_true(gauss.taps[k] >= 0 && (k == 1 || gauss.taps[k] <= gauss.taps[k - 1]));
                sum += 2 * (int64_t)gauss.taps[k];
            }
            assert_int_equal(sum, (int64_t)1 << gauss.tap_bits);
            assert_true(gauss.radius == 0 || gauss.taps[gauss.radius] > 0);
        }
}

static void test_halo(void **state) {
    (void)state;
    gi_blur_args args = gauss_args(3, GI_BORDER_SHRINK);
    assert_int_equal(gi_blur_halo(&args), 12);
    args.sigma = 0.3;
    assert_int_equal(gi_blur_halo(&args), 2);
    args = (gi_blur_args){.radius = GI_BLUR_UNSET, .sigma = GI_BLUR_UNSET};
    assert_int_equal(gi_blur_halo(&args), 1);
    args.radius = 16384;
    assert_int_equal(gi_blur_halo(&args), 16384);
}

static void test_threads(void **state) {
    (void)state;
    gi_shape shape = {1920, 270, 3, GI_U8};
    gi_blur_args args = gauss_args(2, GI_BORDER_REFLECT101);
    check_threads((stage_under_test){gi_cpu_blur, gi_blur_halo, &args, shape.height, 1}, shape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes), cmocka_unit_test(test_sigmas), cmocka_unit_test(test_constant_image_stays),
        cmocka_unit_test(test_taps),  cmocka_unit_test(test_halo),   cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
