// Progress as text: it fits any width, and says what it knows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/progress.h"

static const gi_progress_state half = {400, 100, 12, 1024, 3000000000u, 500000000u, 20};

static char *bar(const gi_progress_state *state, int columns, bool utf8) {
    gi_buffer text = {0};
    gi_buffer_puts(&text, "");
    gi_progress_bar(state, columns, utf8, &text);
    assert_false(text.failed);
    return text.data;
}

static void assert_bar(const gi_progress_state *state, int columns, const char *expected) {
    char *text = bar(state, columns, false);
    assert_string_equal(text, expected);
    free(text);
}

static size_t columns_of(const char *text) {
    size_t columns = 0;
    for (; *text; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

static void fits_any_width(void **state) {
    (void)state;
    static const gi_progress_state states[] = {
        {0, 0, 0, 0, 0, 0, 0},
        {0, 0, 0, 5, 0, 0, 3},
        {5, 0, 0, 5, 9, 9, 1},
        {1, 0, 0, SIZE_MAX, UINT64_MAX, 0, 1e9},
        {400, 100, 12, 1024, 3000000000u, 500000000u, 20},
    };
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        for (int columns = -1; columns < 200; columns++)
            for (int utf8 = 0; utf8 < 2; utf8++) {
                char *text = bar(&states[i], columns, utf8);
                assert_true((int)columns_of(text) <= (columns < 0 ? 0 : columns));
                free(text);
            }
}

static void what_matters_stays(void **state) {
    (void)state;
    assert_bar(&half, 100, "[###############...............] 512/1024, 20.6 images/s, 150 MB/s, 0:25 left, 12 failed");
    assert_bar(&half, 68, "[#####.....] 512/1024, 20.6 images/s, 150 MB/s, 0:25 left, 12 failed");
    assert_bar(&half, 64, "512/1024, 20.6 images/s, 150 MB/s, 0:25 left, 12 failed");
    assert_bar(&half, 31, "512/1024, 0:25 left, 12 failed");
    assert_bar(&half, 20, "512/1024, 12 failed");
    assert_bar(&half, 12, "512/1024");
    assert_bar(&half, 7, "50%");
    assert_bar(&half, 3, "");
}

static void times_and_rates(void **state) {
    (void)state;
    assert_bar(&(gi_progress_state){0, 0, 0, 9, 0, 0, 2}, 20, "[..............] 0/9");
    // Skipped images cost no time: the three done in 3 s tell of the six to come.
    gi_progress_state skipped = {3, 91, 0, 100, 4500000, 0, 3};
    assert_bar(&skipped, 50, "94/100, 1.00 images/s, 1.50 MB/s, 0:06 left");
    gi_progress_state slow = {10, 0, 0, 100000, 0, 0, 3};
    assert_bar(&slow, 60, "[........] 10/100000, 3.33 images/s, 0.00 MB/s, 8:19:57 left");
}

static void lines_for_programs(void **state) {
    (void)state;
    gi_buffer text = {0};
    gi_progress_json(&half, false, &text);
    assert_string_equal(text.data, "{\"done\":400,\"skipped\":100,\"failed\":12,\"total\":1024,\"bytes_in\":3000000000,"
                                   "\"bytes_out\":500000000,\"seconds\":20.000,\"images_per_second\":20.600,"
                                   "\"mb_per_second\":150.000,\"seconds_left\":24.854,\"final\":false}");
    text.size = 0;
    gi_progress_json(&(gi_progress_state){0, 0, 0, 0, 0, 0, 0}, true, &text);
    assert_non_null(strstr(text.data, "\"images_per_second\":0.000"));
    assert_non_null(strstr(text.data, "\"seconds_left\":null,\"final\":true}"));
    gi_buffer_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fits_any_width), cmocka_unit_test(what_matters_stays),
                                       cmocka_unit_test(times_and_rates), cmocka_unit_test(lines_for_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
