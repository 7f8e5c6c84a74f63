// The public functions on arrays: results, errors, devices and algorithms. What is computed is tested below them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpuimg.h"

static gpuimg_context *context;

static int open_context(void **state) {
    (void)state;
    return (int)gpuimg_context_open("cpu", 2, &context, NULL);
}

static int close_context(void **state) {
    (void)state;
    gpuimg_context_close(context);
    return 0;
}

static void products(void **state) {
    (void)state;
    float a[6] = {1, 2, 3, 4, 5, 6}, b[8] = {1, 2, -9, -9, 3, 4, -9, -9}, c[9];
    gpuimg_matrix left = {a, 3, 2, 0}, right = {b, 2, 2, 4}, out = {c, 3, 2, 3};
    static const char *const algorithms[] = {NULL, "auto", "naive", "fast"};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 9; k++) c[k] = -7;
        assert_int_equal(gpuimg_matmul(context, &left, &right, &out, algorithms[i], NULL), GPUIMG_OK);
        static const float want[] = {7, 10, -7, 15, 22, -7, 23, 34, -7};
        assert_memory_equal(c, want, sizeof want);
    }
    gpuimg_matrix none = {NULL, 2, 0, 0}, no_rows = {NULL, 0, 3, 0}, zeros = {c, 2, 3, 0};
    assert_int_equal(gpuimg_matmul(context, &none, &no_rows, &zeros, NULL, NULL), GPUIMG_OK);
    for (size_t k = 0; k < 6; k++) assert_true(c[k] == 0);
}

static void expect_product(const gpuimg_matrix *a, const gpuimg_matrix *b, const gpuimg_matrix *c,
                           const char *algorithm, const char *reason) {
    gpuimg_error error;
    assert_int_equal(gpuimg_matmul(context, a, b, c, algorithm, &error), GPUIMG_ERR_USAGE);
    if (!strstr(error.text, reason)) fail_msg("'%s' is not in '%s'", reason, error.text);
}

static void products_that_are_none(void **state) {
    (void)state;
    float data[12] = {0};
    gpuimg_matrix a = {data, 2, 3, 0}, b = {data, 3, 2, 0}, c = {data + 8, 2, 2, 0}, bad;
    expect_product(&a, &a, &c, NULL, "2 x 3 by 2 x 3");
    expect_product(&a, &b, &a, NULL, "is no 2 x 3");
    expect_product(NULL, &b, &c, NULL, "no matrix");
    expect_product(&a, &b, &c, "quick", "known are auto, naive");
    expect_product(&a, &b, &c, "tiled16", "not for cpu");
    bad = c;
    bad.data = data + 3;
    expect_product(&a, &b, &bad, NULL, "overlaps");
    bad = c;
    bad.stride = 1;
    expect_product(&a, &b, &bad, NULL, "follow each other after 1");
    bad = a;
    bad.data = NULL;
    expect_product(&bad, &b, &c, NULL, "A has no data");
    assert_int_equal(gpuimg_matmul(NULL, &a, &b, &c, NULL, NULL), GPUIMG_ERR_USAGE);
}

static void reductions(void **state) {
    (void)state;
    static const float f32[] = {1.5F, -2, 4};
    static const double f64[] = {1e300, 1e300, -1e300};
    static const int32_t i32[] = {-5, 7, 2};
    static const int64_t i64[] = {INT64_MAX, 1, -1};
    static const uint8_t u8[] = {200, 100, 50};
    double real;
    int64_t integer;
    assert_int_equal(gpuimg_reduce_f32(context, GPUIMG_SUM, f32, 3, NULL, &real, NULL), GPUIMG_OK);
    assert_true(real == 3.5);
    assert_int_equal(gpuimg_reduce_f32(context, GPUIMG_MEAN, f32, 3, NULL, &real, NULL), GPUIMG_OK);
    assert_true(real == 3.5 / 3);
    assert_int_equal(gpuimg_reduce_f64(context, GPUIMG_MAX, f64, 3, "auto", &real, NULL), GPUIMG_OK);
    assert_true(real == 1e300);
    assert_int_equal(gpuimg_reduce_i32(context, GPUIMG_PROD, i32, 3, NULL, &integer, NULL), GPUIMG_OK);
    assert_int_equal(integer, -70);
    assert_int_equal(gpuimg_reduce_i64(context, GPUIMG_SUM, i64, 3, NULL, &integer, NULL), GPUIMG_OK);
    assert_true(integer == INT64_MAX);
    assert_int_equal(gpuimg_reduce_u8(context, GPUIMG_MIN, u8, 3, NULL, &integer, NULL), GPUIMG_OK);
    assert_int_equal(integer, 50);
    assert_int_equal(gpuimg_mean_i32(context, i32, 3, NULL, &real, NULL), GPUIMG_OK);
    assert_true(real == 4.0 / 3);
    assert_int_equal(gpuimg_mean_i64(context, i64, 2, NULL, &real, NULL), GPUIMG_OK);
    assert_true(real == 0x1p62);
    assert_int_equal(gpuimg_mean_u8(context, u8, 3, NULL, &real, NULL), GPUIMG_OK);
    assert_true(real == 350.0 / 3);
}

static void reductions_that_fail(void **state) {
    (void)state;
    static const int64_t i64[] = {INT64_MAX, 1};
    gpuimg_error error;
    double real = 5;
    int64_t integer = 5;
    assert_int_equal(gpuimg_reduce_i64(context, GPUIMG_SUM, i64, 2, NULL, &integer, &error), GPUIMG_ERR_LIMIT);
    assert_int_equal(integer, 0);
    assert_int_equal(gpuimg_reduce_f64(context, GPUIMG_MIN, NULL, 0, NULL, &real, &error), GPUIMG_ERR_USAGE);
    assert_true(real == 0);
    assert_int_equal(gpuimg_reduce_f64(context, GPUIMG_SUM, NULL, 0, NULL, &real, &error), GPUIMG_OK);
    assert_int_equal(error.status, GPUIMG_OK);
    assert_int_equal(gpuimg_reduce_f64(context, GPUIMG_SUM, NULL, 1, NULL, &real, &error), GPUIMG_ERR_USAGE);
    assert_int_equal(gpuimg_reduce_i64(context, GPUIMG_MEAN, i64, 2, NULL, &integer, &error), GPUIMG_ERR_USAGE);
    assert_non_null(strstr(error.text, "gpuimg_mean_i64"));
    assert_int_equal(gpuimg_reduce_i64(context, GPUIMG_SUM, i64, 2, NULL, NULL, &error), GPUIMG_ERR_USAGE);
    assert_int_equal(gpuimg_reduce_i64(context, (gpuimg_operation)7, i64, 2, NULL, &integer, NULL), GPUIMG_ERR_USAGE);
    assert_int_equal(gpuimg_reduce_i64(context, GPUIMG_SUM, i64, 2, "cub", &integer, &error), GPUIMG_ERR_USAGE);
    assert_int_equal(gpuimg_reduce_i64(NULL, GPUIMG_SUM, i64, 2, NULL, &integer, NULL), GPUIMG_ERR_USAGE);
}

static void scans(void **state) {
    (void)state;
    float f32[] = {1, 2, 3};
    static const uint8_t u8[] = {200, 100, 50};
    static const int64_t i64[] = {INT64_MAX, 1};
    int64_t out[3];
    gpuimg_error error;
    assert_int_equal(gpuimg_scan_f32(context, GPUIMG_SUM, 0, f32, f32, 3, NULL, NULL), GPUIMG_OK);
    assert_true(f32[0] == 1 && f32[1] == 3 && f32[2] == 6);
    assert_int_equal(gpuimg_scan_u8(context, GPUIMG_SUM, 1, u8, out, 3, "auto", NULL), GPUIMG_OK);
    assert_true(out[0] == 0 && out[1] == 200 && out[2] == 300);
    assert_int_equal(gpuimg_scan_i64(context, GPUIMG_SUM, 0, i64, out, 2, NULL, &error), GPUIMG_ERR_LIMIT);
    assert_non_null(strstr(error.text, "index 1"));
    assert_int_equal(gpuimg_scan_f32(context, GPUIMG_SUM, 1, f32, f32, 3, NULL, NULL), GPUIMG_ERR_USAGE);
    assert_int_equal(gpuimg_scan_f32(context, GPUIMG_MEAN, 0, f32, f32, 3, NULL, NULL), GPUIMG_ERR_USAGE);
    assert_int_equal(gpuimg_scan_i64(context, GPUIMG_SUM, 0, i64, NULL, 2, NULL, NULL), GPUIMG_ERR_USAGE);
    assert_int_equal(gpuimg_scan_i64(context, GPUIMG_SUM, 0, NULL, NULL, 0, NULL, NULL), GPUIMG_OK);
    assert_int_equal(gpuimg_scan_i64(context, GPUIMG_SUM, 0, i64, out, 2, "lookback", NULL), GPUIMG_ERR_USAGE);
}

// What is small is done on the CPU; what only a GPU has needs one.
static void automatic(void **state) {
    (void)state;
    gpuimg_context *any = NULL;
    gpuimg_error error;
    double sum;
    float one = 1;
    assert_int_equal(gpuimg_context_open("auto", 1, &any, NULL), GPUIMG_OK);
    assert_int_equal(gpuimg_reduce_f32(any, GPUIMG_SUM, &one, 1, NULL, &sum, NULL), GPUIMG_OK);
    assert_true(sum == 1);
    gpuimg_status status = gpuimg_reduce_f32(any, GPUIMG_SUM, &one, 1, "cub", &sum, &error);
    assert_true(status == GPUIMG_OK || (status == GPUIMG_ERR_DEVICE && strstr(error.text, "needs a GPU")));
    gpuimg_context_close(any);
}

// A context on the CPU has no device's memory: nothing there is looked at.
static void arrays_on_a_device(void **state) {
    (void)state;
    static const char words[] = "arrays on a device need a context on a GPU, not on cpu";
    int64_t *const somewhere = (int64_t *)(uintptr_t)4096;
    gpuimg_matrix a = {(float *)somewhere, 4, 4, 0}, c = {(float *)(somewhere + 64), 4, 4, 0};
    gpuimg_error error;
    double real = 1;
    int64_t whole = 1;
    assert_int_equal(gpuimg_matmul_device(context, &a, &a, &c, "fast", NULL, &error), GPUIMG_ERR_DEVICE);
    assert_string_equal(error.text, words);
    assert_int_equal(gpuimg_reduce_i64_device(context, GPUIMG_MAX, somewhere, 9, NULL, NULL, &whole, &error),
                     GPUIMG_ERR_DEVICE);
    assert_string_equal(error.text, words);
    assert_int_equal(whole, 0);
    assert_int_equal(gpuimg_mean_i64_device(context, somewhere, 9, NULL, NULL, &real, &error), GPUIMG_ERR_DEVICE);
    assert_true(real == 0);
    assert_int_equal(gpuimg_scan_i64_device(context, GPUIMG_SUM, 0, somewhere, somewhere, 9, NULL, NULL, &error),
                     GPUIMG_ERR_DEVICE);
    assert_string_equal(error.text, words);
    assert_int_equal(gpuimg_scan_i64_device(context, GPUIMG_SUM, 1, somewhere, somewhere, 9, NULL, NULL, &error),
                     GPUIMG_ERR_USAGE);
    assert_int_equal(gpuimg_scan_i64_device(NULL, GPUIMG_SUM, 0, somewhere, somewhere, 9, NULL, NULL, &error),
                     GPUIMG_ERR_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products),
                                       cmocka_unit_test(products_that_are_none),
                                       cmocka_unit_test(reductions),
                                       cmocka_unit_test(reductions_that_fail),
                                       cmocka_unit_test(scans),
                                       cmocka_unit_test(automatic),
                                       cmocka_unit_test(arrays_on_a_device)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
