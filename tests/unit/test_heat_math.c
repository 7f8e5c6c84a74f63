// The float arithmetic of heat: accuracy over the whole used range, symmetry, range, and fmaf without the instruction.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/heat_math.h"

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t to_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

typedef float (*function)(float x, bool fused);
typedef double (*truth)(double x);

static float call_tanh(float x, bool fused) { return gi_tanhf(x, fused); }
static float call_damp(float x, bool fused) { return gi_heat_damp(x, fused); }
static double damp(double x) { return 0.99 * x + 0.01 * sin(x); }

// Every 61st float from 0.03 up and every 1021st below, so some thousands in each binade, of both signs. (All floats
// have been tried: 1.70e-7 is tanh's largest error, 6.02e-8 that of the damping.)
static void check_accuracy(function f, truth exact, float end, double most) {
    for (uint32_t bits = 0; bits <= to_bits(end); bits += bits < to_bits(0.03F) ? 1021 : 61) {
        float x = from_bits(bits), y = f(x, true);
        double error = fabs((double)y - exact((double)x));
        if (!(error <= most)) fail_msg("at %a: %a, off by %g", (double)x, (double)y, error);
        if (f(-x, true) != -y) fail_msg("not odd at %a", (double)x);
    }
}

static void test_tanh(void **state) {
    (void)state;
    check_accuracy(call_tanh, tanh, 4.001F, 1.8e-7);
    assert_true(gi_tanhf(4.001F, true) < 1.0F);
}

// The rounding of a float near 1 is 6e-8; what the polynomial adds is a hundredth of sin's error.
static void test_damp(void **state) {
    (void)state;
    check_accuracy(call_damp, damp, 1.1F, 7e-8);
}

// The quotient rounded once, over the range of tanh's divisor. (On the CPU trivially so; a GPU's test tries all.)
static void test_reciprocal(void **state) {
    (void)state;
    for (uint32_t bits = to_bits(1.0F); bits <= to_bits(16.0F); bits += 101)
        assert_int_equal(to_bits(gi_reciprocal(from_bits(bits))), to_bits((float)(1.0 / (double)from_bits(bits))));
}

// Near 0 both are accurate relative to their size, so that small differences flow.
static void test_small_arguments(void **state) {
    (void)state;
    for (float x = 1.0F; x > 1e-30F; x *= 0.37F) {
        assert_true(fabs((double)gi_tanhf(x, true) / tanh((double)x) - 1) < 2.5e-7);
        assert_true(fabs((double)gi_heat_damp(x, true) / damp((double)x) - 1) < 1.5e-7);
    }
}

// T stays in [0, 1] but for rounding, from any state with neighbours in [0, 1]: the ranges of tanh and the damping
// suffice.
static void test_temperatures_stay_in_range(void **state) {
    (void)state;
    static const float rates[] = {0x1p-20F, 0.025F, 0.1F, 0.25F};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (int i = 0; i <= 400; i++)
            for (int j = 0; j <= 200; j++) {
                float t = (float)j / 200.0F, s = (float)i / 100.0F;
                for (int k = 0; k < 6; k++) {
                    t = gi_heat_nonlinear(t, s, rates[r], true);
                    if (!(t >= -1e-6F && t <= 1 + 1e-6F)) fail_msg("T = %a of s = %a", (double)t, (double)s);
                    assert_true(fabsf(s - 4 * t) <= 4.00001F);
                }
                float linear = gi_heat_linear((float)j / 200.0F, s, rates[r]);
                assert_true(linear >= -1e-6F && linear <= 1 + 1e-6F);
            }
}

static uint32_t random_bits(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 32);
}

// A float of either sign whose exponent lies in [low, high].
static float random_float(uint64_t *state, int low, int high) {
    uint32_t bits = random_bits(state), exponent = random_bits(state) % (uint32_t)(high - low + 1);
    return from_bits((bits & 0x807FFFFFU) | ((uint32_t)(low + 127) + exponent) << 23);
}

static void check_fma(float a, float b, float c) {
    float expected = fmaf(a, b, c), got = gi_fmaf_by_double(a, b, c);
    if (to_bits(expected) != to_bits(got))
        fail_msg("%a * %a + %a: %a, not %a", (double)a, (double)b, (double)c, (double)got, (double)expected);
}

static void test_fma_by_double(void **state) {
    (void)state;
    uint64_t seed = 42;
    for (int i = 0; i < 2000000; i++) {
        check_fma(random_float(&seed, -30, 3), random_float(&seed, -30, 3), random_float(&seed, -60, 3));
        check_fma(random_float(&seed, -75, -60), random_float(&seed, -75, -60), random_float(&seed, -126, -120));
        check_fma(random_float(&seed, -75, -73), random_float(&seed, -75, -73), 0.0F);
    }
    // Sums a hair beside the middle between two floats: c + 1/2 unit in the last place +- what double does not hold.
    for (int i = 0; i < 2000000; i++) {
        float c = random_float(&seed, 0, 0), half = 0x1p-24F;
        float odd = 1.0F + (float)(random_bits(&seed) & 0xFFF) * 0x1p-23F;
        check_fma(half, odd, c);
        check_fma(half * (1 + 0x1p-23F), 1 - 0x1p-24F, c); // half * (1 + 2^-24 - 2^-47)
        check_fma(half * (1 + 0x1p-12F), 1 - 0x1p-12F, c); // half * (1 - 2^-24)
        check_fma(-half, odd, c);
        check_fma(0x1p-50F, random_float(&seed, -1, 1), c + half);
    }
    // Sums between subnormal floats.
    for (int i = 0; i < 200000; i++) {
        float tiny = from_bits(random_bits(&seed) & 0x3FFFFF);
        check_fma(0x1p-100F, 0x1.8p-50F, tiny);
        check_fma(random_float(&seed, -75, -74), 0x1p-75F, tiny);
        check_fma(0x1p-149F, random_float(&seed, -2, 0), -tiny);
    }
    check_fma(0.0F, 1.0F, 0.0F);
    check_fma(-0.0F, 1.0F, -0.0F);
    check_fma(1.0F, 1.0F, -1.0F);
}

// The same bits with the instruction and without.
static void test_without_fma(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits <= to_bits(4.001F); bits += 9973) {
        float x = from_bits(bits);
        assert_int_equal(to_bits(gi_tanhf(x, true)), to_bits(gi_tanhf(x, false)));
        if (x <= 1.1F) assert_int_equal(to_bits(gi_heat_damp(x, true)), to_bits(gi_heat_damp(x, false)));
        float fused = gi_heat_nonlinear(x / 4, x, 0.025F, true), not_fused = gi_heat_nonlinear(x / 4, x, 0.025F, false);
        assert_int_equal(to_bits(fused), to_bits(not_fused));
    }
}

static void test_samples(void **state) {
    (void)state;
    for (uint32_t v = 0; v <= 65535; v++) {
        if (v <= 255) assert_int_equal(gi_heat_sample((float)v / 255.0F, 255.0F), v);
        assert_int_equal(gi_heat_sample((float)v / 65535.0F, 65535.0F), v);
    }
    assert_int_equal(gi_heat_sample(-1e-7F, 255.0F), 0);
    assert_int_equal(gi_heat_sample(1.0000002F, 255.0F), 255);
    assert_int_equal(gi_heat_sample(0.5F, 255.0F), 128); // 127.5
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tanh),
        cmocka_unit_test(test_damp),
        cmocka_unit_test(test_reciprocal),
        cmocka_unit_test(test_small_arguments),
        cmocka_unit_test(test_temperatures_stay_in_range),
        cmocka_unit_test(test_fma_by_double),
        cmocka_unit_test(test_without_fma),
        cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
