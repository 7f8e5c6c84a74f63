// The index and counting rules of blur, against counting one by one.
#include "blur_reference.h"

static void test_index(void **state) {
    (void)state;
    for (int border = 0; border < 4; border++)
        for (int64_t n = 1; n <= 9; n++)
            for (int64_t i = -40; i <= 40; i++)
                assert_int_equal(gi_border_index(i, n, border), reference_index(i, n, border));
    assert_int_equal(gi_border_index(-1, 5, GI_BORDER_REFLECT101), 1);
    assert_int_equal(gi_border_index(5, 5, GI_BORDER_REFLECT101), 3);
    assert_int_equal(gi_border_index(8, 5, GI_BORDER_REFLECT101), 0);
    assert_int_equal(gi_border_index(-16384, 2, GI_BORDER_REFLECT101), 0);
    assert_int_equal(gi_border_index(-1, 5, GI_BORDER_CONSTANT), -1);
}

static void test_count(void **state) {
    (void)state;
    for (int border = 0; border < 4; border++)
        for (int64_t n = 1; n <= 6; n++)
            for (int64_t a = -15; a <= 15; a++)
                for (int64_t b = a; b <= 17; b++)
                    for (int64_t r = 0; r < n; r++) {
                        int64_t count = 0;
                        for (int64_t i = a; i <= b; i++) count += reference_index(i, n, border) == r;
                        assert_int_equal(gi_border_count(r, a, b, n, border), count);
                    }
}

static void test_inside(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 8; n++)
        for (int64_t radius = 0; radius <= 10; radius++)
            for (int64_t i = 0; i < n; i++) {
                int64_t count = 0;
                for (int64_t k = i - radius; k <= i + radius; k++) count += k >= 0 && k < n;
                assert_int_equal(gi_window_inside(i, radius, n), count);
            }
}

static void test_half_up(void **state) {
    (void)state;
    for (uint64_t b = 1; b <= 40; b++)
        for (uint64_t a = 0; a <= 200; a++) assert_int_equal(gi_half_up(a, b), (2 * a + b) / (2 * b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_half_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
