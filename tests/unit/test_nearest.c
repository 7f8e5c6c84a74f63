#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/stage_table.h"

static const char *const words[] = {"gray", "threshold", "hist", "blur", "heat", "equalize"};
enum { WORD_COUNT = sizeof words / sizeof words[0] };

static const char *nearest(const char *typed) { return gi_nearest_word(typed, strlen(typed), words, WORD_COUNT); }

static void finds_one_edit_away(void **state) {
    (void)state;
    assert_string_equal(nearest("gray"), "gray");
    assert_string_equal(nearest("grey"), "gray");  // substitution
    assert_string_equal(nearest("gry"), "gray");   // deletion
    assert_string_equal(nearest("graay"), "gray"); // insertion
    assert_string_equal(nearest("rgay"), "gray");  // swap
    assert_string_equal(nearest("hits"), "hist");  // swap
    assert_string_equal(nearest("equalise"), "equalize");
    assert_string_equal(nearest("treshhold"), "threshold");
}

static void letter_case_does_not_count(void **state) {
    (void)state;
    assert_string_equal(nearest("Gray"), "gray");
    assert_string_equal(nearest("GREY"), "gray");
    assert_string_equal(nearest("THRESHOLD"), "threshold");
}

// At most a third of what was typed, rounded up.
static void keeps_to_the_limit(void **state) {
    (void)state;
    static const char *const one[] = {"abcdef"};
    assert_string_equal(gi_nearest_word("abcdxy", 6, one, 1), "abcdef");
    assert_null(gi_nearest_word("abcxyz", 6, one, 1));
    assert_string_equal(gi_nearest_word("abcdefghi", 9, one, 1), "abcdef");
    assert_null(gi_nearest_word("abc", 3, one, 1));
    assert_null(nearest("sharpen"));
    assert_null(nearest("x"));
}

static void a_swap_counts_once(void **state) {
    (void)state;
    static const char *const pair[] = {"ab"};
    assert_string_equal(gi_nearest_word("ba", 2, pair, 1), "ab"); // two substitutions would pass the limit of 1
}

static void ties_go_to_the_earlier_word(void **state) {
    (void)state;
    static const char *const tied[] = {"bat", "cat", "hat"};
    assert_string_equal(gi_nearest_word("rat", 3, tied, 3), "bat");
    static const char *const turned[] = {"hat", "bat"};
    assert_string_equal(gi_nearest_word("rat", 3, turned, 2), "hat");
    static const char *const exact[] = {"hat", "rat"};
    assert_string_equal(gi_nearest_word("rat", 3, exact, 2), "rat");
}

static void survives_odd_input(void **state) {
    (void)state;
    char longest[1000];
    memset(longest, 'g', sizeof longest);
    assert_null(gi_nearest_word("", 0, words, WORD_COUNT));
    assert_null(gi_nearest_word("gray", 4, words, 0));
    assert_null(gi_nearest_word("gr", 0, words, WORD_COUNT));
    for (size_t length = 1; length <= sizeof longest; length++) {
        const char *found = gi_nearest_word(longest, length, words, WORD_COUNT);
        if (length > 13) assert_null(found);
    }
    assert_string_equal(gi_nearest_word("grayscale", 4, words, WORD_COUNT), "gray"); // no terminator needed
    assert_string_equal(nearest("gr\xff"
                                "y"),
                        "gray");
}

static void looks_up_the_stages(void **state) {
    (void)state;
    assert_string_equal(gi_stage_nearest("grey|", 4), "gray");
    assert_string_equal(gi_stage_nearest("tresholt", 8), "threshold");
    assert_null(gi_stage_nearest("convolve", 8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_one_edit_away),         cmocka_unit_test(letter_case_does_not_count),
        cmocka_unit_test(keeps_to_the_limit),          cmocka_unit_test(a_swap_counts_once),
        cmocka_unit_test(ties_go_to_the_earlier_word), cmocka_unit_test(survives_odd_input),
        cmocka_unit_test(looks_up_the_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
