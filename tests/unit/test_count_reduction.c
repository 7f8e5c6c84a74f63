// Reductions of an image's samples from their counts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/count_reduction.h"

static gi_number reduce(const uint64_t *counts, uint32_t levels, gi_operation operation) {
    gi_number number;
    assert_int_equal(gi_reduce_levels(counts, levels, operation, &number, NULL), GI_OK);
    assert_int_equal(number.is_integer, operation != GI_OPERATION_MEAN);
    return number;
}

static void a_few_levels(void **state) {
    (void)state;
    uint64_t counts[256] = {[2] = 3, [3] = 1, [255] = 2};
    assert_int_equal(reduce(counts, 256, GI_OPERATION_SUM).integer, 519);
    assert_int_equal(reduce(counts, 256, GI_OPERATION_PROD).integer, 8 * 3 * 255 * 255);
    assert_int_equal(reduce(counts, 256, GI_OPERATION_MIN).integer, 2);
    assert_int_equal(reduce(counts, 256, GI_OPERATION_MAX).integer, 255);
    assert_true(reduce(counts, 256, GI_OPERATION_MEAN).real == 519.0 / 6);
    counts[0] = 1;
    assert_int_equal(reduce(counts, 256, GI_OPERATION_PROD).integer, 0);
    assert_int_equal(reduce(counts, 256, GI_OPERATION_MIN).integer, 0);
}

static void at_the_limit_of_64_bits(void **state) {
    (void)state;
    uint64_t counts[4] = {0, UINT64_MAX / 2, 62, 0};
    gi_number number;
    gi_error err;
    assert_int_equal(reduce(counts, 3, GI_OPERATION_PROD).integer, INT64_C(1) << 62);
    assert_int_equal(gi_reduce_levels(counts, 3, GI_OPERATION_SUM, &number, &err), GI_ERR_LIMIT);
    assert_int_equal(gi_reduce_levels(counts, 3, GI_OPERATION_MEAN, &number, &err), GI_ERR_LIMIT);
    assert_int_equal(reduce(counts, 2, GI_OPERATION_SUM).integer, INT64_MAX);
    counts[2] = 63;
    assert_int_equal(gi_reduce_levels(counts, 3, GI_OPERATION_PROD, &number, &err), GI_ERR_LIMIT);
    counts[2] = UINT64_MAX;
    assert_int_equal(gi_reduce_levels(counts, 3, GI_OPERATION_PROD, &number, &err), GI_ERR_LIMIT);
    counts[0] = 1;
    assert_int_equal(reduce(counts, 3, GI_OPERATION_PROD).integer, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_few_levels), cmocka_unit_test(at_the_limit_of_64_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
