// JSON: what is written reads back, what is no JSON is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/json.h"

static gi_error err;

// Reads a copy that ends where its memory does, so that a sanitizer sees a step too far.
static gi_status skim(const char *text) {
    size_t size = strlen(text);
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    gi_json json = gi_json_over(copy, size);
    gi_status status = gi_json_skip(&json, &err);
    if (status == GI_OK) status = gi_json_end(&json, &err);
    free(copy);
    return status;
}

static void takes_json(void **state) {
    (void)state;
    static const char *const good[] = {"null",
                                       "true",
                                       " false ",
                                       "0",
                                       "-0",
                                       "12.5e-3",
                                       "1E+9",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       "[1,[2,{\"a\":[]}],\"x\"]",
                                       "{\"a\":1,\"a\":2}",
                                       "\"\\ud83d\\ude00 \\n\\/\"",
                                       "\t\r\n[ 1 , 2 ]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_int_equal(skim(good[i]), GI_OK);
}

static void refuses_what_is_none(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      " ",
                                      "nul",
                                      "01",
                                      "-",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "+1",
                                      "NaN",
                                      "\"",
                                      "\"\\",
                                      "\"\\u12",
                                      "\"\\u0000\"",
                                      "\"\\ud800\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\udc00\"",
                                      "\"\\x\"",
                                      "\"a\tb\"",
                                      "\"\xff\"",
                                      "\"\xc3",
                                      "[",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,]",
                                      "{",
                                      "{\"a\"",
                                      "{\"a\":",
                                      "{\"a\":1",
                                      "{\"a\":1,",
                                      "{\"a\":1,}",
                                      "{1:2}",
                                      "{a:1}",
                                      "1 2",
                                      "[]]",
                                      "'a'",
                                      "tru",
                                      "[1 2]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(skim(bad[i]), GI_ERR_FORMAT);
        assert_int_equal(strncmp(err.text, "byte ", 5), 0);
    }
}

static void depth_is_limited(void **state) {
    (void)state;
    char text[4 * GI_JSON_DEPTH];
    for (int depth = GI_JSON_DEPTH; depth <= GI_JSON_DEPTH + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        assert_int_equal(skim(text), depth > GI_JSON_DEPTH ? GI_ERR_FORMAT : GI_OK);
    }
}

static void numbers_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t number;
    } good[] = {{"0", 0}, {" 9007199254740993", 9007199254740993u}, {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"-1", "1.0", "1e3", "18446744073709551616", "99999999999999999999", "\"1\"", ""};
    uint64_t number = 1;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        gi_json json = gi_json_over(good[i].text, strlen(good[i].text));
        assert_int_equal(gi_json_unsigned(&json, &number, &err), GI_OK);
        assert_true(number == good[i].number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gi_json json = gi_json_over(bad[i], strlen(bad[i]));
        assert_int_equal(gi_json_unsigned(&json, &number, &err), GI_ERR_FORMAT);
    }
}

// Every byte but NUL, alone and between others; UTF-8 of each length.
static void strings_read_back(void **state) {
    (void)state;
    static const char *const more[] = {
        "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "a\"b\\c/d\n\t\r\b\f\x7f", "\xc2\x9b\xe2\x80\xae", ""};
    for (int i = 1; i < 128 + (int)(sizeof more / sizeof *more); i++) {
        char one[4] = {'x', (char)i, 'y', 0};
        const char *string = i < 128 ? one : more[i - 128];
        gi_buffer text = {0}, back = {0};
        assert_true(gi_json_add_string(&text, string));
        gi_json json = gi_json_over(text.data, text.size);
        assert_int_equal(gi_json_string(&json, &back, &err), GI_OK);
        assert_int_equal(gi_json_end(&json, &err), GI_OK);
        assert_string_equal(back.data, string);
        gi_buffer_free(&text);
        gi_buffer_free(&back);
    }
}

// Those of C1 begin a terminal's sequences as ESC does; others turn the text around.
static void controls_are_escaped(void **state) {
    (void)state;
    gi_buffer text = {0};
    assert_true(gi_json_add_string(&text, "\x1b\x7f\xc2\x9b\xe2\x80\xae\xc3\xa9"));
    assert_string_equal(text.data, "\"\\u001b\\u007f\\u009b\\u202e\xc3\xa9\"");
    gi_buffer_free(&text);
}

static void other_bytes_are_kept_as_hex(void **state) {
    (void)state;
    gi_buffer text = {0};
    gi_json_add_name(&text, "path", "a\xff");
    assert_string_equal(text.data, "\"path\":\"a\\ufffd\",\"path_hex\":\"61ff\"");
    gi_buffer_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_json),
        cmocka_unit_test(refuses_what_is_none),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(strings_read_back),
        cmocka_unit_test(controls_are_escaped),
        cmocka_unit_test(other_bytes_are_kept_as_hex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
