// The box blur against sums made one pixel at a time.
#include "blur_reference.h"
#include "cpu/blur_box.h"

static const gi_shape sizes[] = {{1, 1, 1, GI_U8},     {15, 1, 1, GI_U8}, {1, 15, 1, GI_U8},  {17, 31, 1, GI_U8},
                                 {10000, 1, 1, GI_U8}, {40, 9, 1, GI_U8}, {130, 33, 1, GI_U8}};

static void check_box(gi_shape shape, gi_blur_args args, fill kind) {
    char what[80];
    snprintf(what, sizeof what, "radius %d, border %d, value %d", args.radius, args.border, args.value);
    guarded_image in = image_make(shape);
    image_fill(&in, kind, shape.width * 31 + shape.height + (uint32_t)args.radius);
    guarded_image expected = reference_blur(&in, &args);
    stage_under_test stage = {gi_cpu_blur, gi_blur_halo, &args, 0, 1};
    check_all_ways(stage, &in, &expected, what);
    guarded_image_free(&expected);
    guarded_image_free(&in);
}

static gi_blur_args box(int32_t radius, int border) {
    gi_blur_args args = {.radius = radius, .sigma = GI_BLUR_UNSET, .border = border};
    if (border == GI_BORDER_CONSTANT) args.value = 77;
    return args;
}

static void test_sizes(void **state) {
    (void)state;
    static const int32_t radii[] = {GI_BLUR_UNSET, 0, 2, 13};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int channels = 1; channels <= 4; channels++)
            for (int border = 0; border < 4; border++) {
                gi_shape shape = sizes[s];
                shape.channels = channels;
                shape.sample = (channels + border) % 2 ? GI_U8 : GI_U16;
                check_box(shape, box(radii[(s + (size_t)border) % 4], border), FILL_NOISE);
                shape.sample = (channels + border) % 2 ? GI_U16 : GI_U8;
                check_box(shape, box(radii[(s + (size_t)border + 1) % 4], border), FILL_EXTREMES);
            }
}

// Radii on both sides of every change of method: u8 sums of 32 bits end at 1447 (with alpha at 90), u16 ones at 90;
// with alpha u16 leaves double arithmetic at 256. And past the width of the image.
static void test_radii(void **state) {
    (void)state;
    static const int32_t radii[] = {1, 5, 16, 17, 31, 32, 33, 90, 91, 255, 256, 1447, 1448};
    for (size_t r = 0; r < sizeof radii / sizeof *radii; r++)
        for (int channels = 1; channels <= 4; channels++)
            for (int border = 0; border < 4; border++) {
                gi_shape shape = {17, 12, channels, r % 2 ? GI_U8 : GI_U16};
                check_box(shape, box(radii[r], border), FILL_EXTREMES);
                shape.sample = r % 2 ? GI_U16 : GI_U8;
                check_box(shape, box(radii[r], border), FILL_MAX);
            }
}

static void test_largest_radius(void **state) {
    (void)state;
    for (int channels = 1; channels <= 2; channels++)
        for (int border = 0; border < 4; border++) {
            gi_shape shape = {7, 5, channels, GI_U16};
            check_box(shape, box(16384, border), FILL_MAX);
            shape.sample = GI_U8;
            check_box(shape, box(16384, border), FILL_EXTREMES);
        }
}

// The largest constant around the largest samples: no sum may wrap.
static void test_constant_border_of_the_maximum(void **state) {
    (void)state;
    for (int channels = 1; channels <= 4; channels++)
        for (int s = 0; s < 2; s++) {
            gi_shape shape = {9, 6, channels, s ? GI_U16 : GI_U8};
            gi_blur_args args = box(3000, GI_BORDER_CONSTANT);
            args.value = (int32_t)gi_sample_max(shape.sample);
            check_box(shape, args, FILL_MAX);
        }
}

// Every quotient that the product with the reciprocal can meet, for the largest and smallest windows of either sample.
static void test_division(void **state) {
    (void)state;
    static const struct {
        uint64_t levels;
        uint64_t side;
    } cases[] = {{256, 3}, {256, 11}, {256, 65}, {256, 2895}, {65536, 3}, {65536, 31}, {65536, 181}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t n = cases[i].side * cases[i].side, half = n / 2;
        uint32_t shift = 0;
        while (n >> (shift + 1)) shift++;
        uint32_t multiplier = (uint32_t)((((uint64_t)1 << (32 + shift)) + n - 1) / n);
        for (uint64_t q = 0; q < cases[i].levels; q++)
            for (uint64_t sum = q * n + half; sum <= q * n + half + 1; sum++) {
                if (sum > (cases[i].levels - 1) * n) continue;
                uint32_t got = gi_box_divide((uint32_t)sum, (uint32_t)half, multiplier, shift);
                if (got != (sum + half) / n) fail_msg("%u / %u is not %u", (uint32_t)sum, (uint32_t)n, got);
            }
    }
}

// The same for the division in float, for every window it serves.
static void test_division_in_float(void **state) {
    (void)state;
    for (uint32_t side = 3; side * side <= GI_BOX_SMALL_COUNT; side += 2) {
        const uint32_t n = side * side, half = n / 2;
        for (uint32_t q = 0; q <= 255; q++) // the first sum that rounds to q + 1, and its neighbours
            for (uint32_t sum = q * n + half; sum <= q * n + half + 2; sum++) {
                if (sum > 255 * n) continue;
                uint32_t got = gi_box_divide_small(sum, (float)half + 0.5F, 1 / (float)n);
                if (got != (sum + half) / n) fail_msg("%u / %u is not %u", sum, n, got);
            }
    }
}

// An opaque image blurs as one without alpha.
static void test_opaque(void **state) {
    (void)state;
    gi_shape shape = {61, 23, 4, GI_U8}, plain = {61, 23, 3, GI_U8};
    guarded_image in = image_make(shape), colours = image_make(plain);
    guarded_image out = image_make(shape), expected = image_make(plain);
    image_fill(&in, FILL_NOISE, 9);
    for (uint32_t y = 0; y < shape.height; y++)
        for (uint32_t x = 0; x < shape.width; x++) {
            set_sample(&in.view, y, x, 3, 255);
            for (int c = 0; c < 3; c++) set_sample(&colours.view, y, x, c, sample_of(&in.view, y, x, c));
        }
    for (int border = 0; border < 4; border++) {
        gi_blur_args args = box(4, border);
        stage_under_test stage = {gi_cpu_blur, gi_blur_halo, &args, shape.height, 1};
        run_in_bands(&stage, &in, &out);
        run_in_bands(&stage, &colours, &expected);
        for (uint32_t y = 0; y < shape.height; y++)
            for (uint32_t x = 0; x < shape.width; x++) {
                for (int c = 0; c < 3; c++)
                    assert_int_equal(sample_of(&out.view, y, x, c), sample_of(&expected.view, y, x, c));
                assert_int_equal(sample_of(&out.view, y, x, 3), 255);
            }
    }
    guarded_image_free(&in);
    guarded_image_free(&colours);
    guarded_image_free(&out);
    guarded_image_free(&expected);
}

static void test_large(void **state) {
    (void)state;
    gi_shape shape = {1920, 1080, 3, GI_U8};
    gi_blur_args args = box(5, GI_BORDER_REFLECT101);
    check_threads((stage_under_test){gi_cpu_blur, gi_blur_halo, &args, shape.height, 1}, shape);
}

static void expect_refused(const gi_window_job *job, const char *reason) {
    gi_error err = {0};
    assert_int_equal(gi_cpu_blur(job, &err), GI_ERR_USAGE);
    if (!strstr(err.text, reason)) fail_msg("'%s' lacks '%s'", err.text, reason);
}

static void test_refusals(void **state) {
    (void)state;
    guarded_image in = image_make((gi_shape){20, 20, 1, GI_U8}), out = image_make((gi_shape){20, 20, 1, GI_U8});
    gi_blur_args args = box(2, GI_BORDER_REFLECT101);
    gi_window_job job = {.in = in.view, .out = out.view, .place = {20, 0, 0}, .args = &args, .threads = 1};
    args.sigma = 1;
    expect_refused(&job, "not both");
    args.radius = GI_BLUR_UNSET;
    args.sigma = 0;
    expect_refused(&job, "above 0");
    args = box(2, GI_BORDER_CONSTANT);
    args.value = 256;
    expect_refused(&job, "above 255");
    args.value = 255;
    job.in = gi_view_rows(&in.view, 4, 12);
    job.place.in_y0 = 4;
    job.out = gi_view_rows(&out.view, 0, 11);
    job.place.out_y0 = 5; // row 3 is missing
    expect_refused(&job, "lacks rows");
    job.place.out_y0 = 6; // rows 16 to 18 are
    expect_refused(&job, "lacks rows");
    job.out = gi_view_rows(&out.view, 0, 8);
    assert_int_equal(gi_cpu_blur(&job, NULL), GI_OK);
    guarded_image_free(&in);
    guarded_image_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_radii),
        cmocka_unit_test(test_largest_radius), cmocka_unit_test(test_constant_border_of_the_maximum),
        cmocka_unit_test(test_division),       cmocka_unit_test(test_division_in_float),
        cmocka_unit_test(test_opaque),         cmocka_unit_test(test_large),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
