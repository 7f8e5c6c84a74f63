// Histograms against a naive count: channels, depth, size, pitch, threads; counts that outgrow 32 bits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu/ops.h"
#include "guarded_image.h"

typedef struct counts {
    uint64_t *want, *got;
    size_t size; // counters of each
} counts;

static counts counts_make(const gi_view *view) {
    counts c = {NULL, NULL, (size_t)view->channels * (gi_sample_max(view->sample) + 1)};
    c.want = calloc(c.size, sizeof *c.want);
    c.got = calloc(c.size, sizeof *c.got);
    assert_true(c.want && c.got);
    return c;
}

static void counts_free(counts *c) {
    free(c->want);
    free(c->got);
}

static void count_naively(const gi_view *view, uint64_t *into) {
    size_t levels = gi_sample_max(view->sample) + 1, samples = (size_t)view->width * (size_t)view->channels;
    for (uint32_t y = 0; y < view->height; y++)
        for (size_t i = 0; i < samples; i++) into[i % (size_t)view->channels * levels + sample_at(view, y, i)]++;
}

static void check_image(gi_shape shape, size_t padding, bool flat) {
    const uint32_t seed = 3U + shape.height;
    guarded_image image = guarded_image_make(shape, padding);
    assert_non_null(image.view.data);
    if (!flat) guarded_image_randomise(&image, seed);
    counts c = counts_make(&image.view);
    count_naively(&image.view, c.want);
    for (int threads = 0; threads <= 3; threads++) {
        gi_cpu_job job = {.in = image.view, .counts = c.got, .threads = threads};
        memset(c.got, 0, c.size * sizeof *c.got);
        assert_int_equal(gi_cpu_hist(&job, NULL), GI_OK);
        if (memcmp(c.got, c.want, c.size * sizeof *c.got) != 0)
            fail_msg("%ux%u, %d channels, sample %d, padding %zu, %d threads, seed %u", shape.width, shape.height,
                     shape.channels, shape.sample, padding, threads, seed);
    }
    counts_free(&c);
    guarded_image_free(&image);
}

static void counts_every_sample(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {15, 1},   {1, 15},    {17, 31},   {7, 3},
                                        {9, 1}, {2049, 1}, {1, 10000}, {10000, 1}, {1920, 270}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int channels = 1; channels <= 4; channels++)
            for (int sample = GI_U8; sample <= GI_U16; sample++) {
                gi_shape shape = {sizes[i][0], sizes[i][1], channels, (gi_sample)sample};
                check_image(shape, 0, false);
                check_image(shape, 5, false);
                check_image(shape, 0, true);
            }
}

// The luma, without an image of it.
static void counts_through_an_operation(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {17, 31}, {2049, 1}, {1920, 270}};
    for (int i = 0; i < 16; i++) {
        gi_shape shape = {sizes[i / 4][0], sizes[i / 4][1], 3 + i % 2, i / 2 % 2 ? GI_U16 : GI_U8};
        gi_point luma = gi_point_identity(shape.channels, shape.sample);
        luma.mix = GI_MIX_WEIGHTS;
        luma.weights[0] = GI_LUMA_RED, luma.weights[1] = GI_LUMA_GREEN, luma.weights[2] = GI_LUMA_BLUE;
        guarded_image image = guarded_image_make(shape, 3);
        shape.channels -= 2;
        guarded_image gray = guarded_image_make(shape, 0);
        assert_true(image.view.data && gray.view.data);
        guarded_image_randomise(&image, 5);
        gi_cpu_job mix = {.in = image.view, .out = gray.view, .args = &luma, .threads = 1};
        assert_int_equal(gi_cpu_point(&mix, NULL), GI_OK);
        counts c = counts_make(&gray.view);
        count_naively(&gray.view, c.want);
        gi_cpu_job job = {.in = image.view, .counts = c.got, .through = &luma, .threads = 3};
        assert_int_equal(gi_cpu_hist(&job, NULL), GI_OK);
        assert_memory_equal(c.got, c.want, c.size * sizeof *c.got);
        job.in = gray.view;
        assert_int_equal(gi_cpu_hist(&job, NULL), GI_ERR_USAGE);
        counts_free(&c);
        guarded_image_free(&image);
        guarded_image_free(&gray);
    }
}

static void adds_to_what_is_there(void **state) {
    (void)state;
    uint8_t pixels[6] = {1, 2, 3, 1, 2, 4};
    uint64_t got[3 * 256] = {0};
    gi_shape shape = {2, 1, 3, GI_U8};
    gi_cpu_job job = {.in = gi_view_packed(pixels, shape, GI_HOST), .counts = got, .threads = 1};
    got[1] = (uint64_t)1 << 40;
    assert_int_equal(gi_cpu_hist(&job, NULL), GI_OK);
    assert_int_equal(gi_cpu_hist(&job, NULL), GI_OK);
    assert_true(got[1] == ((uint64_t)1 << 40) + 4);
    assert_int_equal(got[256 + 2], 4);
    assert_int_equal(got[512 + 3], 2);
    assert_int_equal(got[512 + 4], 2);
}

static void nothing_to_count(void **state) {
    (void)state;
    uint8_t pixel = 0;
    uint64_t got[256] = {0};
    gi_shape shape = {5, 0, 1, GI_U8};
    gi_cpu_job job = {.in = gi_view_packed(&pixel, shape, GI_HOST), .counts = got, .threads = 2};
    assert_int_equal(gi_cpu_hist(&job, NULL), GI_OK);
    for (int v = 0; v < 256; v++) assert_int_equal(got[v], 0);
}

// All rows are one row in memory (pitch 0): more than 2^32 pixels of one value for one thread, whose counter would
// wrap.
static void counts_past_32_bits(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); // minutes
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    skip();
#endif
#endif
    const uint32_t width = 1U << 20, height = (1U << 12) + 1;
    uint16_t *row = malloc(width * sizeof *row);
    uint64_t *got = calloc(65536, sizeof *got);
    assert_true(row && got);
    for (uint32_t x = 0; x < width; x++) row[x] = 999;
    gi_cpu_job job = {.in = {row, 0, width, height, 1, GI_U16, GI_HOST}, .counts = got, .threads = 1};
    assert_int_equal(gi_cpu_hist(&job, NULL), GI_OK);
    assert_true(got[999] == (uint64_t)width * height);
    free(row);
    free(got);
}

static void refuses_other_samples(void **state) {
    (void)state;
    float pixel = 0;
    uint64_t got[1];
    gi_cpu_job job = {.in = {&pixel, 4, 1, 1, 1, GI_F32, GI_HOST}, .counts = got, .threads = 1};
    gi_error err;
    assert_int_equal(gi_cpu_hist(&job, &err), GI_ERR_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_every_sample),   cmocka_unit_test(counts_through_an_operation),
        cmocka_unit_test(adds_to_what_is_there), cmocka_unit_test(nothing_to_count),
        cmocka_unit_test(counts_past_32_bits),   cmocka_unit_test(refuses_other_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
