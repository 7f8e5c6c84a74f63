// The matrix product on the CPU against one in double: shapes, strides, guards, the stated bound; the same bits with
// any number of threads; NaN and infinities; at every level of SIMD and by every algorithm that the CPU has.
#include "core/simd.h"
#include "cpu/primitives.h"
#include "number_arrays.h"

static const int algorithms[] = {GI_ALGORITHM_AUTO, GI_MATMUL_NAIVE, GI_MATMUL_FAST};
static const float guard = -12345.5F;

// A matrix whose rows stand `gap` numbers apart; what is no element is `guard`.
typedef struct matrix {
    float *data; // owned
    size_t rows, columns, stride;
} matrix;

static matrix matrix_make(size_t rows, size_t columns, size_t gap) {
    matrix m = {NULL, rows, columns, columns + gap};
    size_t size = rows * m.stride;
    m.data = malloc(size ? size * sizeof *m.data : 1);
    assert_non_null(m.data);
    for (size_t i = 0; i < size; i++) m.data[i] = guard;
    return m;
}

static void matrix_randomise(matrix *m) {
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->columns; j++)
            m->data[i * m->stride + j] = ldexpf((float)(int32_t)number_random(), -31 + (int)(number_random() % 8));
}

static gi_matmul_job job_of(const matrix *a, const matrix *b, const matrix *c) {
    return (gi_matmul_job){a->data,   b->data,   c->data,   a->rows,           a->columns, b->columns,
                           a->stride, b->stride, c->stride, GI_ALGORITHM_AUTO, 1};
}

static void assert_guards(const matrix *m) {
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = m->columns; j < m->stride; j++) assert_true(m->data[i * m->stride + j] == guard);
}

static void check_bound(const matrix *a, const matrix *b, const matrix *c) {
    for (size_t i = 0; i < c->rows; i++)
        for (size_t j = 0; j < c->columns; j++) {
            double exact = 0, magnitude = 0;
            for (size_t p = 0; p < a->columns; p++) {
                double product = (double)a->data[i * a->stride + p] * b->data[p * b->stride + j];
                exact += product;
                magnitude += fabs(product);
            }
            double error = fabs(c->data[i * c->stride + j] - exact);
            double bound = (GI_MATMUL_ERROR(a->columns) + 1e-13) * magnitude;
            if (!(error <= bound))
                fail_msg("%zu x %zu x %zu, level %d, at %zu, %zu: %g, exact %g, bound %g", c->rows, a->columns,
                         c->columns, gi_simd_level(), i, j, c->data[i * c->stride + j], exact, bound);
        }
}

static void check_shape(size_t m, size_t k, size_t n) {
    matrix a = matrix_make(m, k, 3), b = matrix_make(k, n, 1), c = matrix_make(m, n, 5), first = matrix_make(m, n, 5);
    matrix_randomise(&a);
    matrix_randomise(&b);
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        for (int threads = 0; threads <= 3; threads++) {
            gi_matmul_job job = job_of(&a, &b, threads ? &c : &first);
            job.algorithm = algorithms[i];
            job.threads = threads;
            for (size_t r = 0; r < m; r++)
                for (size_t j = 0; j < n; j++) job.c[r * job.c_stride + j] = guard;
            assert_int_equal(gi_matmul_job_check(&job, NULL), GI_OK);
            assert_int_equal(gi_cpu_matmul(&job, NULL), GI_OK);
            if (threads == 0)
                check_bound(&a, &b, &first);
            else
                assert_memory_equal(c.data, first.data, m * c.stride * sizeof *c.data);
            assert_guards(&c);
            assert_guards(&first);
        }
    free(a.data);
    free(b.data);
    free(c.data);
    free(first.data);
}

static void check_shapes(void) {
    static const size_t shapes[][3] = {{1, 1, 1},     {1, 7, 1},      {3, 1, 5},     {14, 32, 32},   {15, 33, 31},
                                       {13, 385, 65}, {29, 384, 257}, {5, 769, 300}, {170, 20, 260}, {1, 400, 1030},
                                       {300, 50, 1},  {4, 17, 2049},  {6, 1000, 16}, {0, 3, 4},      {3, 0, 4},
                                       {3, 4, 0},     {0, 0, 0},      {64, 64, 64},  {97, 89, 101}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) check_shape(shapes[i][0], shapes[i][1], shapes[i][2]);
}

static void at_each_level(void (*check)(void)) {
    for (int level = GI_SIMD_PORTABLE; level <= GI_SIMD_AVX512; level++)
        if (gi_simd_force((gi_simd)level) == (gi_simd)level) check();
    gi_simd_force(GI_SIMD_AVX512);
}

static void shapes_and_errors(void **state) {
    (void)state;
    at_each_level(check_shapes);
}

// What does not fit one band of packed panels.
static void large_shapes(void **state) {
    (void)state;
    check_shape(3, 2, 8300);
    check_shape(8200, 3, 5);
    check_shape(20, 3500, 40);
    check_shape(350, 500, 300); // worth several threads
}

static void no_columns_give_zeros(void **state) {
    (void)state;
    matrix a = matrix_make(3, 0, 1), b = matrix_make(0, 4, 1), c = matrix_make(3, 4, 2);
    gi_matmul_job job = job_of(&a, &b, &c);
    assert_int_equal(gi_cpu_matmul(&job, NULL), GI_OK);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) assert_true(c.data[i * c.stride + j] == 0);
    assert_guards(&c);
    free(a.data);
    free(b.data);
    free(c.data);
}

// One such number in A makes all of its row so, even against zeros; an infinity times zero is NaN.
static void check_specials(void) {
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        for (int special = 0; special < 2; special++) {
            matrix a = matrix_make(33, 70, 0), b = matrix_make(70, 65, 0), c = matrix_make(33, 65, 0);
            for (size_t k = 0; k < 33 * 70; k++) a.data[k] = 1;
            for (size_t k = 0; k < 70 * 65; k++) b.data[k] = k % 65 == 9 ? 0 : 1;
            a.data[20 * 70 + 69] = special ? INFINITY : NAN;
            gi_matmul_job job = job_of(&a, &b, &c);
            job.algorithm = algorithms[i];
            assert_int_equal(gi_cpu_matmul(&job, NULL), GI_OK);
            for (size_t r = 0; r < 33; r++)
                for (size_t j = 0; j < 65; j++) {
                    float x = c.data[r * 65 + j];
                    if (r != 20)
                        assert_true(x == (j == 9 ? 0 : 70));
                    else if (special && j != 9)
                        assert_true(isinf(x) && x > 0);
                    else
                        assert_true(isnan(x));
                }
            free(a.data);
            free(b.data);
            free(c.data);
        }
}

static void nans_and_infinities(void **state) {
    (void)state;
    at_each_level(check_specials);
}

static void senseless_jobs(void **state) {
    (void)state;
    float a[4] = {0}, b[4] = {0}, c[4] = {0};
    gi_matmul_job good = {a, b, c, 2, 2, 2, 2, 2, 2, GI_ALGORITHM_AUTO, 1}, job = good;
    assert_int_equal(gi_matmul_job_check(&job, NULL), GI_OK);
    job.a_stride = 1;
    assert_int_equal(gi_matmul_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.b = NULL;
    assert_int_equal(gi_matmul_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.c = a;
    assert_int_equal(gi_matmul_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.algorithm = 99;
    assert_int_equal(gi_matmul_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.m = job.k = (size_t)1 << 40;
    job.a_stride = job.k;
    assert_int_equal(gi_matmul_job_check(&job, NULL), GI_ERR_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_and_errors), cmocka_unit_test(large_shapes),
                                       cmocka_unit_test(no_columns_give_zeros), cmocka_unit_test(nans_and_infinities),
                                       cmocka_unit_test(senseless_jobs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
