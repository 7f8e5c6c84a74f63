#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/text.h"

static const char *quote(const char *text) {
    static char quoted[GI_QUOTE_BYTES];
    return gi_quote(quoted, text, strlen(text));
}

static void adds_and_cuts(void **state) {
    (void)state;
    char data[8];
    gi_text text = gi_text_over(data, sizeof data);
    assert_string_equal(data, "");
    gi_text_add(&text, "%s", "abc");
    gi_text_add(&text, "%d", 12);
    assert_string_equal(data, "abc12");
    gi_text_add(&text, "%s", "xyz");
    assert_string_equal(data, "abc12xy");
    gi_text_add(&text, "%s", "more");
    assert_string_equal(data, "abc12xy");
    gi_text none = gi_text_over(NULL, 0);
    gi_text_add(&none, "%s", "x");
    assert_int_equal(none.used, 0);
}

static void one_has_no_plural(void **state) {
    (void)state;
    assert_string_equal(gi_plural(0), "s");
    assert_string_equal(gi_plural(1), "");
    assert_string_equal(gi_plural(2), "s");
}

static void quotes_print_safely(void **state) {
    (void)state;
    assert_string_equal(quote("plain text"), "plain text");
    assert_string_equal(quote(""), "");
    assert_string_equal(quote("a\x1b[31mb\n\x7f"), "a\\x1b[31mb\\x0a\\x7f");
    assert_string_equal(quote("gr\xc3\xb6\xc3\x9f"
                              "e"),
                        "gr\xc3\xb6\xc3\x9f"
                        "e");
    assert_string_equal(quote("\xe2\x82\xac \xf0\x9f\x98\x80"), "\xe2\x82\xac \xf0\x9f\x98\x80");
    assert_string_equal(quote("\xc2\x9b"), "\\xc2\\x9b"); // C1: another way to begin an escape
    assert_string_equal(quote("\xff\xc3"), "\\xff\\xc3"); // no UTF-8, cut UTF-8
    assert_string_equal(quote("\xc0\xaf"), "\\xc0\\xaf"); // longer than need be
    assert_string_equal(quote("\xe0\x80\x80"), "\\xe0\\x80\\x80");
    assert_string_equal(quote("\xed\xa0\x80"), "\\xed\\xa0\\x80");          // a surrogate
    assert_string_equal(quote("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); // past U+10FFFF
}

static void long_quotes_are_cut(void **state) {
    (void)state;
    char text[300], quoted[GI_QUOTE_BYTES + 8];
    static const char *const fillers[] = {"a", "\x01", "\xc3\xb6", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t f = 0; f < sizeof fillers / sizeof fillers[0]; f++) {
        size_t unit = strlen(fillers[f]);
        for (size_t i = 0; i < sizeof text; i++) text[i] = fillers[f][i % unit];
        for (size_t length = 0; length + unit <= sizeof text; length += unit) {
            memset(quoted, '#', sizeof quoted);
            gi_quote(quoted, text, length);
            size_t written = strlen(quoted);
            assert_true(written < GI_QUOTE_BYTES);
            for (size_t i = GI_QUOTE_BYTES; i < sizeof quoted; i++) assert_int_equal(quoted[i], '#');
            size_t whole = length / unit * (f == 1 ? 4 : unit);
            if (whole < GI_QUOTE_BYTES)
                assert_int_equal(written, whole);
            else
                assert_string_equal(quoted + written - 3, "...");
            if (f != 1) assert_memory_equal(quoted, text, whole < GI_QUOTE_BYTES ? written : written - 3);
            if (whole >= GI_QUOTE_BYTES && f != 1) assert_int_equal((written - 3) % unit, 0); // no half character
        }
    }
}

static void words_are_the_same_but_for_case(void **state) {
    (void)state;
    assert_true(gi_same_word("", ""));
    assert_true(gi_same_word("WhiTE", "white"));
    assert_true(gi_same_word(".TIFF", ".tiff"));
    assert_false(gi_same_word("white", "whit"));
    assert_false(gi_same_word("whit", "white"));
    assert_false(gi_same_word("@[`{", "`{@["));
    assert_false(gi_same_word("\xc3\x89", "\xc3\xa9")); // letters beyond ASCII
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_and_cuts),
        cmocka_unit_test(one_has_no_plural),
        cmocka_unit_test(quotes_print_safely),
        cmocka_unit_test(long_quotes_are_cut),
        cmocka_unit_test(words_are_the_same_but_for_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
