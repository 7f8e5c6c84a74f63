// Scans on the CPU: floats against core/float_tree.h by its definition, the rest against plain loops, at every level of
// SIMD and with any number of threads.
#include "core/simd.h"
#include "cpu/primitives.h"
#include "number_arrays.h"

static const size_t counts[] = {0,    1,    2,    7,    8,     9,      255,    256,        257,   4095,
                                4096, 4097, 8191, 8192, 12289, 131072, 131073, 131072 * 2, 400001};
enum { COUNTS = sizeof counts / sizeof counts[0], GUARD = 8 };

// The result, with guards around it that are checked.
static void *scan(const void *values, gi_element element, size_t count, gi_operation operation, bool exclusive,
                  int threads) {
    gi_element to = gi_scan_element(element);
    size_t size = gi_element_bytes(to);
    char *out = malloc((count + 2 * GUARD) * size);
    assert_non_null(out);
    memset(out, 0xA5, (count + 2 * GUARD) * size);
    gi_scan_job job = {values, out + GUARD * size, element, count, operation, exclusive, GI_ALGORITHM_AUTO, threads};
    gi_error err;
    assert_int_equal(gi_scan_job_check(&job, &err), GI_OK);
    if (gi_cpu_scan(&job, &err) != GI_OK) fail_msg("%zu values: %s", count, err.text);
    for (size_t i = 0; i < GUARD * size; i++)
        assert_true((uint8_t)out[i] == 0xA5 && (uint8_t)out[(count + GUARD) * size + i] == 0xA5);
    memmove(out, out + GUARD * size, count * size);
    return out;
}

static void at_each_level(void (*check)(void)) {
    for (int level = GI_SIMD_PORTABLE; level <= GI_SIMD_AVX512; level++)
        if (gi_simd_force((gi_simd)level) == (gi_simd)level) check();
    gi_simd_force(GI_SIMD_AVX512);
}

// ---- floats -------------------------------------------------------------------------------------------------------

// Kogge and Stone's steps over `count` values, `stride` apart.
static void steps(double *values, int count, int stride, number_op op) {
    for (int by = 1; by < count; by *= 2)
        for (int i = count - 1; i >= by; i--) values[i * stride] = op(values[(i - by) * stride], values[i * stride]);
}

// The value of tiles [from, from + count) of `totals`, a power of two.
static double group(const double *totals, size_t count, number_op op) {
    return count == 1 ? totals[0] : op(group(totals, count / 2, op), group(totals + count / 2, count / 2, op));
}

static double prefix(const double *totals, size_t tile, number_op op, double identity) {
    double value = identity;
    size_t at = 0;
    for (int digit = 40; digit >= 0; digit--) {
        size_t size = (size_t)1 << digit;
        if (!(tile & size)) continue;
        value = op(value, group(totals + at, size, op));
        at += size;
    }
    return value;
}

typedef struct kind {
    number_op op;
    double identity;
} kind;

// One tile of 4096 values: results without the prefix, split into what stands before the run and the scan in the run.
static double tile_parts(const double *tile, double *before, double *within, kind k) {
    double carry = k.identity;
    memcpy(within, tile, 4096 * sizeof *tile);
    for (int r = 0; r < 16; r++) {
        double totals[32];
        for (int run = 0; run < 32; run++) {
            steps(within + r * 256 + run * 8, 8, 1, k.op);
            totals[run] = within[r * 256 + run * 8 + 7];
        }
        steps(totals, 32, 1, k.op);
        for (int i = 0; i < 256; i++) before[r * 256 + i] = k.op(carry, i < 8 ? k.identity : totals[i / 8 - 1]);
        carry = k.op(carry, totals[31]);
    }
    return carry;
}

static double *tree_scan(const void *values, gi_element element, size_t count, kind k) {
    size_t tiles = (count + 4095) / 4096;
    double *totals = calloc(tiles + 1, sizeof *totals), *out = calloc(tiles * 4096 + 1, sizeof *out);
    double tile[4096], before[4096], within[4096];
    assert_true(totals && out);
    for (size_t t = 0; t < tiles; t++) {
        for (size_t i = 0; i < 4096; i++)
            tile[i] = t * 4096 + i < count ? number_real(values, element, t * 4096 + i) : k.identity;
        totals[t] = tile_parts(tile, before, within, k);
        double start = prefix(totals, t, k.op, k.identity);
        for (size_t i = 0; i < 4096; i++) out[t * 4096 + i] = k.op(k.op(start, before[i]), within[i]);
    }
    free(totals);
    return out;
}

static void check_float(gi_element element, size_t count, gi_operation operation, bool specials) {
    bool product = operation == GI_OPERATION_PROD;
    kind k = product ? (kind){number_multiply, 1} : (kind){number_add, -0.0};
    void *values = number_array(element, count);
    for (size_t i = 0; product && i < count; i++)
        number_set(values, element, i, 1 + ldexp((double)(number_random() % 2048) - 1023, -14), 0);
    if (specials && count > 0) number_set(values, element, count / 2, INFINITY, 0);
    if (specials && count > 0) number_set(values, element, count / 2 + count / 4, product ? 0 : -INFINITY, 0);
    double *want = tree_scan(values, element, count, k);
    for (int threads = 0; threads <= 3; threads++)
        for (int exclusive = 0; exclusive < 2; exclusive++) {
            void *got = scan(values, element, count, operation, exclusive, threads);
            for (size_t i = 0; i < count; i++) {
                double wanted = exclusive ? i ? want[i - 1] : product : want[i];
                if (element == GI_ELEMENT_F32) wanted = (float)wanted;
                uint64_t bits = isnan(wanted) ? canonical_nan : number_bits(wanted);
                if (number_bits(number_real(got, element, i)) != bits)
                    fail_msg("%zu values, place %zu, %d threads, exclusive %d, level %d: %a, expected %a", count, i,
                             threads, exclusive, gi_simd_level(), number_real(got, element, i), wanted);
                float f = element == GI_ELEMENT_F32 ? ((float *)got)[i] : 0;
                uint32_t word;
                memcpy(&word, &f, sizeof word);
                assert_true(!isnan(f) || word == 0x7FC00000);
            }
            free(got);
        }
    free(values);
    free(want);
}

static void check_floats(void) {
    for (size_t i = 0; i < COUNTS; i++)
        for (int specials = 0; specials < 2; specials++) {
            check_float(GI_ELEMENT_F32, counts[i], GI_OPERATION_SUM, specials);
            check_float(GI_ELEMENT_F64, counts[i], GI_OPERATION_SUM, specials);
            check_float(GI_ELEMENT_F32, counts[i], GI_OPERATION_PROD, specials);
            check_float(GI_ELEMENT_F64, counts[i], GI_OPERATION_PROD, specials);
        }
}

static void sums_and_products_are_the_tree(void **state) {
    (void)state;
    at_each_level(check_floats);
}

static bool is_below(double a, double b) { return a < b || (a == b && signbit(a) > signbit(b)); }

static void extremes_of_floats(void **state) {
    (void)state;
    for (int element = GI_ELEMENT_F32; element <= GI_ELEMENT_F64; element++)
        for (size_t c = 0; c < COUNTS; c++)
            for (int trial = 0; trial < 8; trial++) {
                gi_element e = (gi_element)element;
                bool most = trial & 1, exclusive = trial & 2;
                void *values = number_array(e, counts[c]);
                for (size_t i = 0; i < counts[c]; i += 1 + number_random() % 9)
                    number_set(values, e, i, number_random() % 2 ? 0.0 : -0.0, 0);
                if (trial & 4 && counts[c]) number_set(values, e, counts[c] * 2 / 3, -NAN, 0);
                void *got = scan(values, e, counts[c], most ? GI_OPERATION_MAX : GI_OPERATION_MIN, exclusive, 2);
                double extreme = most ? -INFINITY : INFINITY;
                for (size_t i = 0; i < counts[c]; i++) {
                    double x = number_real(values, e, i), before = extreme;
                    if (isnan(x) || isnan(extreme))
                        extreme = NAN;
                    else if (most ? is_below(extreme, x) : is_below(x, extreme))
                        extreme = x;
                    double want = exclusive ? before : extreme;
                    uint64_t bits = isnan(want) ? canonical_nan : number_bits(want);
                    assert_int_equal(number_bits(number_real(got, e, i)), bits);
                }
                free(got);
                free(values);
            }
}

// ---- integers -----------------------------------------------------------------------------------------------------

static int64_t combine(gi_operation operation, int64_t a, int64_t b) {
    return operation == GI_OPERATION_SUM    ? a + b
           : operation == GI_OPERATION_PROD ? a * b
           : operation == GI_OPERATION_MIN  ? (a < b ? a : b)
                                            : (a > b ? a : b);
}

static void check_integers(gi_element element, size_t count, gi_operation operation, bool exclusive) {
    static const int64_t identities[] = {0, 1, INT64_MAX, INT64_MIN};
    void *values = number_array(element, count);
    for (size_t i = 0; i < count; i++) {
        if (element == GI_ELEMENT_I64) ((int64_t *)values)[i] >>= 20;
        // Of factors, few are not one, and then a zero.
        if (operation != GI_OPERATION_PROD) continue;
        number_set(values, element, i, 0, i % 1000 == 7 && i < 40000 ? 2 : i == 300000 ? 0 : 1);
    }
    for (int threads = 1; threads <= 3; threads++) {
        int64_t *got = scan(values, element, count, operation, exclusive, threads), carry = identities[operation];
        for (size_t i = 0; i < count; i++) {
            int64_t before = carry;
            carry = combine(operation, carry, number_integer(values, element, i));
            assert_true(got[i] == (exclusive ? before : carry));
        }
        free(got);
    }
    free(values);
}

static void integers(void **state) {
    (void)state;
    for (int element = GI_ELEMENT_I32; element <= GI_ELEMENT_U8; element++)
        for (size_t i = 0; i < COUNTS; i++)
            for (int operation = 0; operation < 4; operation++) {
                check_integers((gi_element)element, counts[i], (gi_operation)operation, false);
                check_integers((gi_element)element, counts[i], (gi_operation)operation, true);
            }
}

// The index that the failure names; SIZE_MAX where there is none.
static size_t refused(const int64_t *values, size_t count, gi_operation operation, bool exclusive, int threads) {
    int64_t *out = malloc(count * sizeof *out);
    gi_scan_job job = {values, out, GI_ELEMENT_I64, count, operation, exclusive, GI_ALGORITHM_AUTO, threads};
    gi_error err;
    gi_status status = gi_cpu_scan(&job, &err);
    free(out);
    if (status == GI_OK) return SIZE_MAX;
    assert_int_equal(status, GI_ERR_LIMIT);
    return strtoull(strstr(err.text, "index ") + 6, NULL, 10);
}

static void results_past_64_bits(void **state) {
    (void)state;
    enum { N = 400000 };
    static const size_t places[] = {1, 2, 131071, 131072, 131073, 262144, N - 2, N - 1};
    int64_t *values = calloc(N, sizeof *values);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (int threads = 1; threads <= 3; threads++) {
            size_t at = places[i];
            values[0] = INT64_MAX;
            values[at] = 1;
            if (at + 1 < N) values[at + 1] = -1; // and back again
            assert_int_equal(refused(values, N, GI_OPERATION_SUM, false, threads), at);
            // What the last value would make is no result of an exclusive scan.
            assert_int_equal(refused(values, N, GI_OPERATION_SUM, true, threads), at == N - 1 ? SIZE_MAX : at);
            values[at] = values[0] = 0;
            if (at + 1 < N) values[at + 1] = 0;
        }
    for (size_t i = 0; i < 64; i++) values[i] = -2;
    assert_int_equal(refused(values, 64, GI_OPERATION_PROD, false, 2), 63);       // 2^64
    assert_int_equal(refused(values, 63, GI_OPERATION_PROD, false, 2), SIZE_MAX); // -2^63 fits
    free(values);
}

static void in_place_and_senseless_jobs(void **state) {
    (void)state;
    float values[] = {1, 2, 3, 4};
    gi_scan_job good = {values, values, GI_ELEMENT_F32, 4, GI_OPERATION_SUM, false, GI_ALGORITHM_AUTO, 1}, job = good;
    assert_int_equal(gi_scan_job_check(&job, NULL), GI_OK);
    assert_int_equal(gi_cpu_scan(&job, NULL), GI_OK);
    assert_true(values[0] == 1 && values[1] == 3 && values[2] == 6 && values[3] == 10);
    job.exclusive = true;
    assert_int_equal(gi_scan_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.out = values + 1;
    job.count = 3;
    assert_int_equal(gi_scan_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.element = GI_ELEMENT_I32; // becomes int64
    assert_int_equal(gi_scan_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.operation = GI_OPERATION_MEAN;
    assert_int_equal(gi_scan_job_check(&job, NULL), GI_ERR_USAGE);
    job = good;
    job.out = NULL;
    assert_int_equal(gi_scan_job_check(&job, NULL), GI_ERR_USAGE);
    job.count = 0;
    assert_int_equal(gi_scan_job_check(&job, NULL), GI_OK);
    assert_int_equal(gi_cpu_scan(&job, NULL), GI_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_and_products_are_the_tree),
                                       cmocka_unit_test(extremes_of_floats), cmocka_unit_test(integers),
                                       cmocka_unit_test(results_past_64_bits),
                                       cmocka_unit_test(in_place_and_senseless_jobs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
