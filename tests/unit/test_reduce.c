// Reductions on the CPU: floats against the tree by its definition, integers against plain loops, at every level of
// SIMD and with any number of threads.
#include "core/simd.h"
#include "cpu/primitives.h"
#include "number_arrays.h"

static const size_t counts[] = {1,    2,    7,    8,    127,   128,    129,    2047,       2048,
                                2049, 4096, 5000, 6145, 70000, 131071, 131072, 131072 * 3, 400001};
enum { COUNTS = sizeof counts / sizeof counts[0] };

static gi_number reduce(const void *values, gi_element element, size_t count, gi_operation operation, int threads) {
    gi_reduce_job job = {values, element, count, operation, GI_ALGORITHM_AUTO, threads};
    gi_number result = {.real = -1};
    gi_error err;
    assert_int_equal(gi_reduce_job_check(&job, &err), GI_OK);
    if (gi_cpu_reduce(&job, &result, &err) != GI_OK) fail_msg("%zu values: %s", count, err.text);
    return result;
}

static gi_status failure(const void *values, gi_element element, size_t count, gi_operation operation) {
    gi_reduce_job job = {values, element, count, operation, GI_ALGORITHM_AUTO, 2};
    gi_number result;
    gi_status status = gi_reduce_job_check(&job, NULL);
    return status == GI_OK ? gi_cpu_reduce(&job, &result, NULL) : status;
}

// Calls `check` for each level that this processor has.
static void at_each_level(void (*check)(void)) {
    for (int level = GI_SIMD_PORTABLE; level <= GI_SIMD_AVX512; level++)
        if (gi_simd_force((gi_simd)level) == (gi_simd)level) check();
    gi_simd_force(GI_SIMD_AVX512);
}

static void assert_bits(double got, double want, size_t count, int threads) {
    if (number_bits(got) != number_bits(want))
        fail_msg("%zu values, %d threads, level %d: %a, expected %a", count, threads, gi_simd_level(), got, want);
}

static void check_trees(void) {
    for (int element = GI_ELEMENT_F32; element <= GI_ELEMENT_F64; element++)
        for (size_t i = 0; i < COUNTS; i++) {
            gi_element e = (gi_element)element;
            void *values = number_array(e, counts[i]);
            double sum = number_tree(values, e, counts[i], number_add, -0.0);
            for (int threads = 0; threads <= 3; threads++) {
                assert_bits(reduce(values, e, counts[i], GI_OPERATION_SUM, threads).real, sum, counts[i], threads);
                assert_bits(reduce(values, e, counts[i], GI_OPERATION_MEAN, threads).real, sum / (double)counts[i],
                            counts[i], threads);
            }
            for (size_t k = 0; k < counts[i]; k++)
                number_set(values, e, k, 1 + ldexp((double)(number_random() % 2048) - 1023, -14), 0);
            double product = number_tree(values, e, counts[i], number_multiply, 1);
            for (int threads = 1; threads <= 2; threads++)
                assert_bits(reduce(values, e, counts[i], GI_OPERATION_PROD, threads).real, product, counts[i], threads);
            free(values);
        }
}

static void sums_and_products_are_the_tree(void **state) {
    (void)state;
    at_each_level(check_trees);
}

// The bound that float_tree.h states, with data whose sum is far below their magnitudes; the exact sum in integers.
static void the_error_is_that_of_pairwise_summation(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNTS; i++) {
        size_t count = counts[i];
        double *values = number_memory(GI_ELEMENT_F64, count), magnitudes = 0;
        gi_int128 exact = 0; // in units of 2^-20
        for (size_t k = 0; k < count; k++) {
            int64_t value = (int64_t)number_random() >> (number_random() % 40);
            value -= value % 2048; // 53 bits
            if (k % 2) value = k % 4 == 3 ? -(int64_t)(values[k - 1] * 0x1p20) / 2048 * 2048 : value;
            values[k] = ldexp((double)value, -20);
            exact += value;
            magnitudes += fabs(values[k]);
        }
        double got = reduce(values, GI_ELEMENT_F64, count, GI_OPERATION_SUM, 2).real;
        double error = fabs(got - ldexp((double)exact, -20)) - fabs(ldexp((double)exact, -20)) * 0x1p-53;
        double bound = ceil(log2((double)count)) * 0x1p-53 * magnitudes;
        if (!(error <= bound)) fail_msg("%zu values: error %g, bound %g", count, error, bound);
        free(values);
    }
}

static void check_special_floats(void) {
    static const size_t sizes[] = {1, 5, 2048, 2500, 300000};
    for (int element = GI_ELEMENT_F32; element <= GI_ELEMENT_F64; element++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            gi_element e = (gi_element)element;
            size_t n = sizes[s], at = n - 1 - n / 3;
            void *values = number_memory(e, n);
            for (size_t i = 0; i < n; i++) number_set(values, e, i, -0.0, 0);
            for (int op = GI_OPERATION_SUM; op <= GI_OPERATION_MEAN; op++) {
                double negative = op == GI_OPERATION_PROD && n % 2 == 0 ? 0.0 : -0.0;
                assert_bits(reduce(values, e, n, (gi_operation)op, 2).real, negative, n, 2);
            }
            number_set(values, e, at, 0.0, 0);
            assert_bits(reduce(values, e, n, GI_OPERATION_MAX, 2).real, 0.0, n, 2);
            assert_bits(reduce(values, e, n, GI_OPERATION_MIN, 2).real, n == 1 ? 0.0 : -0.0, n, 2);
            assert_bits(reduce(values, e, n, GI_OPERATION_SUM, 2).real, 0.0, n, 2);
            number_set(values, e, at, INFINITY, 0);
            assert_bits(reduce(values, e, n, GI_OPERATION_MAX, 2).real, INFINITY, n, 2);
            assert_bits(reduce(values, e, n, GI_OPERATION_SUM, 2).real, INFINITY, n, 2);
            number_set(values, e, n / 7, -INFINITY, 0);
            assert_bits(reduce(values, e, n, GI_OPERATION_MIN, 2).real, -INFINITY, n, 2);
            if (n > 1) assert_int_equal(number_bits(reduce(values, e, n, GI_OPERATION_SUM, 2).real), canonical_nan);
            number_set(values, e, at, -NAN, 0); // a negative one, below -infinity by its bits
            for (int op = GI_OPERATION_SUM; op <= GI_OPERATION_MEAN; op++)
                assert_int_equal(number_bits(reduce(values, e, n, (gi_operation)op, 2).real), canonical_nan);
            free(values);
        }
}

static void zeros_infinities_and_nans(void **state) {
    (void)state;
    at_each_level(check_special_floats);
}

static void check_float_extremes(void) {
    for (int element = GI_ELEMENT_F32; element <= GI_ELEMENT_F64; element++)
        for (size_t i = 0; i < COUNTS; i++) {
            gi_element e = (gi_element)element;
            void *values = number_array(e, counts[i]);
            double least = INFINITY, most = -INFINITY;
            // By comparisons: gcc 12 for 64-bit ARM fails at fmin and fmax here.
            for (size_t k = 0; k < counts[i]; k++) {
                double value = number_real(values, e, k);
                if (value < least) least = value;
                if (value > most) most = value;
            }
            assert_bits(reduce(values, e, counts[i], GI_OPERATION_MIN, 2).real, least, counts[i], 2);
            assert_bits(reduce(values, e, counts[i], GI_OPERATION_MAX, 2).real, most, counts[i], 2);
            free(values);
        }
}

static void check_integers(void) {
    for (int element = GI_ELEMENT_I32; element <= GI_ELEMENT_U8; element++)
        for (size_t i = 0; i < COUNTS; i++) {
            gi_element e = (gi_element)element;
            void *values = number_array(e, counts[i]);
            gi_int128 sum = 0;
            int64_t least = INT64_MAX, most = INT64_MIN;
            for (size_t k = 0; k < counts[i]; k++) {
                if (e == GI_ELEMENT_I64) ((int64_t *)values)[k] >>= 20; // so that the sum fits
                int64_t value = number_integer(values, e, k);
                sum += value;
                least = value < least ? value : least;
                most = value > most ? value : most;
            }
            for (int threads = 1; threads <= 3; threads++) {
                gi_number got = reduce(values, e, counts[i], GI_OPERATION_SUM, threads);
                assert_true(got.is_integer && got.integer == sum);
                assert_true(reduce(values, e, counts[i], GI_OPERATION_MIN, threads).integer == least);
                assert_true(reduce(values, e, counts[i], GI_OPERATION_MAX, threads).integer == most);
                got = reduce(values, e, counts[i], GI_OPERATION_MEAN, threads);
                assert_true(!got.is_integer && got.real == (double)sum / (double)counts[i]);
            }
            free(values);
        }
}

static void extremes_of_floats(void **state) {
    (void)state;
    at_each_level(check_float_extremes);
}

static void integers(void **state) {
    (void)state;
    at_each_level(check_integers);
}

static void sums_at_the_limit_of_64_bits(void **state) {
    (void)state;
    int64_t values[] = {INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, 2, 0};
    // What overflows on the way but not in the end is fine.
    assert_true(reduce(values, GI_ELEMENT_I64, 5, GI_OPERATION_SUM, 2).integer == 0);
    assert_true(reduce(values, GI_ELEMENT_I64, 3, GI_OPERATION_SUM, 2).integer == INT64_MAX - 1);
    assert_int_equal(failure(values, GI_ELEMENT_I64, 2, GI_OPERATION_SUM), GI_ERR_LIMIT);
    assert_int_equal(failure(values + 2, GI_ELEMENT_I64, 2, GI_OPERATION_SUM), GI_ERR_LIMIT);
    assert_true(reduce(values, GI_ELEMENT_I64, 2, GI_OPERATION_MEAN, 2).real == 0x1p63);
    values[1] = 1;
    assert_int_equal(failure(values, GI_ELEMENT_I64, 2, GI_OPERATION_SUM), GI_ERR_LIMIT);
    values[1] = 0;
    assert_true(reduce(values, GI_ELEMENT_I64, 2, GI_OPERATION_SUM, 2).integer == INT64_MAX);
}

static void products_at_the_limit_of_64_bits(void **state) {
    (void)state;
    int64_t values[] = {-(INT64_C(1) << 31), INT64_C(1) << 32, 2, 0};
    assert_true(reduce(values, GI_ELEMENT_I64, 2, GI_OPERATION_PROD, 2).integer == INT64_MIN);
    assert_int_equal(failure(values, GI_ELEMENT_I64, 3, GI_OPERATION_PROD), GI_ERR_LIMIT);
    assert_true(reduce(values, GI_ELEMENT_I64, 4, GI_OPERATION_PROD, 2).integer == 0);
    values[0] = -values[0];
    assert_int_equal(failure(values, GI_ELEMENT_I64, 2, GI_OPERATION_PROD), GI_ERR_LIMIT);
    values[0] = INT64_MIN;
    values[1] = -1;
    assert_int_equal(failure(values, GI_ELEMENT_I64, 2, GI_OPERATION_PROD), GI_ERR_LIMIT);
    int32_t narrow[] = {-3, 5, 7};
    assert_true(reduce(narrow, GI_ELEMENT_I32, 3, GI_OPERATION_PROD, 1).integer == -105);
    uint8_t bytes[] = {255, 255, 255, 255, 255, 255, 255, 255, 0};
    assert_int_equal(failure(bytes, GI_ELEMENT_U8, 8, GI_OPERATION_PROD), GI_ERR_LIMIT);
    assert_true(reduce(bytes, GI_ELEMENT_U8, 9, GI_OPERATION_PROD, 1).integer == 0);
    assert_true(reduce(bytes, GI_ELEMENT_U8, 7, GI_OPERATION_PROD, 1).integer == 70110209207109375);
}

static void of_nothing(void **state) {
    (void)state;
    for (int element = 0; element < GI_ELEMENT_COUNT; element++) {
        gi_element e = (gi_element)element;
        assert_true(reduce(NULL, e, 0, GI_OPERATION_SUM, 2).real == 0);
        assert_false(signbit(reduce(NULL, e, 0, GI_OPERATION_SUM, 2).real));
        gi_number one = reduce(NULL, e, 0, GI_OPERATION_PROD, 2);
        assert_true(gi_element_is_float(e) ? one.real == 1 && !one.is_integer : one.integer == 1 && one.is_integer);
        for (int op = GI_OPERATION_MIN; op <= GI_OPERATION_MEAN; op++)
            assert_int_equal(failure(NULL, e, 0, (gi_operation)op), GI_ERR_USAGE);
    }
}

static void senseless_jobs(void **state) {
    (void)state;
    float value = 1;
    gi_reduce_job good = {&value, GI_ELEMENT_F32, 1, GI_OPERATION_SUM, GI_ALGORITHM_AUTO, 1}, job = good;
    assert_int_equal(gi_reduce_job_check(&job, NULL), GI_OK);
    job.values = NULL;
    assert_int_equal(gi_reduce_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.element = (gi_element)9;
    assert_int_equal(gi_reduce_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.operation = (gi_operation)5;
    assert_int_equal(gi_reduce_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.algorithm = 5;
    assert_int_equal(gi_reduce_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.count = SIZE_MAX / 2;
    assert_int_equal(gi_reduce_job_check(&job, NULL), GI_ERR_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_and_products_are_the_tree),
                                       cmocka_unit_test(the_error_is_that_of_pairwise_summation),
                                       cmocka_unit_test(zeros_infinities_and_nans),
                                       cmocka_unit_test(extremes_of_floats),
                                       cmocka_unit_test(integers),
                                       cmocka_unit_test(sums_at_the_limit_of_64_bits),
                                       cmocka_unit_test(products_at_the_limit_of_64_bits),
                                       cmocka_unit_test(of_nothing),
                                       cmocka_unit_test(senseless_jobs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
