#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/stage_table.h"

// Options of the types and ranges that the table itself may lack; their fields lie in `fields`.
typedef union fields {
    gi_stage_args args;
    struct {
        int choice;
        int32_t integer, level;
        double real;
    } f;
} fields;

static const gi_stage_option choice = {"mode", "a|bc|def", "", 1, 0, 2, offsetof(fields, f.choice), GI_OPTION_CHOICE};
static const gi_stage_option integer = {"shift", "", "", -3, -10, 10, offsetof(fields, f.integer), GI_OPTION_INTEGER};
static const gi_stage_option wide = {"seed",           "", "", 0, INT32_MIN, INT32_MAX, offsetof(fields, f.integer),
                                     GI_OPTION_INTEGER};
static const gi_stage_option level = {
    "level", "otsu|li|mean", "", GI_LEVEL_HALF, 0, 65535, offsetof(fields, f.level), GI_OPTION_LEVEL};
static const gi_stage_option real = {"sigma", "", "", 1.5, -0.5, 256, offsetof(fields, f.real), GI_OPTION_REAL};

static gi_status parse(const gi_stage_option *option, const char *text, fields *out) {
    memset(out, 0x5A, sizeof *out);
    gi_error err;
    gi_status status = gi_stage_option_parse(option, text, strlen(text), &out->args, &err);
    if (status == GI_OK) return GI_OK;
    fields untouched;
    memset(&untouched, 0x5A, sizeof untouched);
    assert_memory_equal(out, &untouched, sizeof untouched);
    assert_int_equal(status, GI_ERR_USAGE);
    assert_int_equal(err.status, GI_ERR_USAGE);
    assert_int_equal(err.place_offset, -1);
    assert_non_null(strstr(err.text, option->name));
    return status;
}

static void every_stage_is_well_formed(void **state) {
    (void)state;
    for (int i = 0; i < GI_STAGE_COUNT; i++) {
        const gi_stage *stage = &gi_stage_table[i];
        assert_int_equal(stage->id, i);
        assert_ptr_equal(gi_stage_find(stage->name, strlen(stage->name)), stage);
        assert_true(stage->option_count > 0 && stage->option_count <= 64);
        assert_true(strlen(stage->summary) > 0 && strlen(stage->detail) > 0);
        assert_true((stage->kind == GI_STAGE_POINT) == (stage->point != NULL));
        for (int e = 0; e < 2; e++) assert_true(strncmp(stage->examples[e], stage->name, strlen(stage->name)) == 0);
        for (int k = 0; k < stage->option_count; k++) {
            const gi_stage_option *option = &stage->options[k];
            assert_ptr_equal(gi_stage_option_find(stage, option->name, strlen(option->name)), option);
            assert_true(option->field_offset < sizeof(gi_stage_args));
            assert_true(option->min <= option->max && strlen(option->help) > 0);
            if (option->standard != GI_LEVEL_HALF)
                assert_true(option->standard >= option->min && option->standard <= option->max);
        }
    }
}

static void finds_whole_names_only(void **state) {
    (void)state;
    assert_ptr_equal(gi_stage_find("gray", 4), &gi_stage_table[GI_STAGE_ID_gray]);
    assert_ptr_equal(gi_stage_find("grayscale", 4), &gi_stage_table[GI_STAGE_ID_gray]);
    assert_null(gi_stage_find("gra", 3));
    assert_null(gi_stage_find("grays", 5));
    assert_null(gi_stage_find("Gray", 4));
    assert_null(gi_stage_find("", 0));
    assert_null(gi_stage_option_find(&gi_stage_table[GI_STAGE_ID_gray], "weight", 6));
    assert_null(gi_stage_option_find(&gi_stage_table[GI_STAGE_ID_gray], "level", 5));
}

static void sets_the_defaults(void **state) {
    (void)state;
    gi_stage_args args;
    memset(&args, 0x77, sizeof args);
    gi_stage_defaults(&gi_stage_table[GI_STAGE_ID_gray], &args);
    assert_int_equal(args.gray.weights, GI_GRAY_601);
    gi_stage_defaults(&gi_stage_table[GI_STAGE_ID_threshold], &args);
    assert_int_equal(args.threshold.level, GI_LEVEL_HALF);
    gi_stage_defaults(&gi_stage_table[GI_STAGE_ID_hist], &args);
    assert_int_equal(args.hist.bins, 0);
}

static void parses_choices(void **state) {
    (void)state;
    fields out;
    assert_int_equal(parse(&choice, "a", &out), GI_OK);
    assert_int_equal(out.f.choice, 0);
    assert_int_equal(parse(&choice, "bc", &out), GI_OK);
    assert_int_equal(out.f.choice, 1);
    assert_int_equal(parse(&choice, "def", &out), GI_OK);
    assert_int_equal(out.f.choice, 2);
    static const char *const bad[] = {"", "A", "b", "bcd", "de", "a|bc", "|", "bc|def", "0", " a", "a "};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(parse(&choice, bad[i], &out), GI_ERR_USAGE);
}

static void parses_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int value;
    } good[] = {{"0", 0}, {"10", 10}, {"-10", -10}, {"-0", 0}, {"007", 7}, {"-0000000000000000000000003", -3}};
    static const char *const bad[] = {"",
                                      "-",
                                      "--1",
                                      "+1",
                                      "11",
                                      "-11",
                                      "1.0",
                                      "1e0",
                                      "0x1",
                                      " 1",
                                      "1 ",
                                      "1,0",
                                      "1_0",
                                      "one",
                                      "\xd9\xa1",
                                      "2147483648",
                                      "4294967297",
                                      "18446744073709551617",
                                      "99999999999999999999999999"};
    fields out;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(parse(&integer, good[i].text, &out), GI_OK);
        assert_int_equal(out.f.integer, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(parse(&integer, bad[i], &out), GI_ERR_USAGE);
    assert_int_equal(parse(&wide, "2147483647", &out), GI_OK);
    assert_int_equal(out.f.integer, INT32_MAX);
    assert_int_equal(parse(&wide, "-2147483648", &out), GI_OK);
    assert_int_equal(out.f.integer, INT32_MIN);
    assert_int_equal(parse(&wide, "2147483648", &out), GI_ERR_USAGE);
    assert_int_equal(parse(&wide, "-2147483649", &out), GI_ERR_USAGE);
}

static void parses_levels(void **state) {
    (void)state;
    fields out;
    assert_int_equal(parse(&level, "0", &out), GI_OK);
    assert_int_equal(out.f.level, 0);
    assert_int_equal(parse(&level, "65535", &out), GI_OK);
    assert_int_equal(out.f.level, 65535);
    assert_int_equal(parse(&level, "otsu", &out), GI_OK);
    assert_int_equal(out.f.level, GI_LEVEL_OTSU);
    assert_int_equal(parse(&level, "mean", &out), GI_OK);
    assert_int_equal(out.f.level, -4);
    static const char *const bad[] = {"", "-1", "-2", "65536", "ots", "otsul", "Otsu", "half", "12.5", "0x80"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(parse(&level, bad[i], &out), GI_ERR_USAGE);
}

static void check_reals(void) {
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},         {"2.5", 2.5},
                {".5", 0.5},      {"5.", 5},
                {"-0.5", -0.5},   {"1e2", 100},
                {"1.5E+1", 15},   {"256", 256},
                {"1e-400", 0},    {"25e-1", 2.5},
                {"0.1", 0.1},     {"-0", 0},
                {"000.25", 0.25}, {"123.456789012345678901234567890", 123.456789012345678901234567890}};
    static const char *const bad[] = {"",      ".",      "-",      "-.",    "e5",   "1e",      "1e+",
                                      "0x1p3", "0x10",   "inf",    "nan",   "-inf", "NaN",     "1.5x",
                                      "1.5 ",  " 1.5",   "1,5",    "+1",    "1..5", "1.5.5",   "1e5e5",
                                      "1e999", "-0.501", "256.01", "1e2.5", "--1",  "infinity"};
    fields out;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(parse(&real, good[i].text, &out), GI_OK);
        assert_memory_equal(&out.f.real, &good[i].value, sizeof out.f.real);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(parse(&real, bad[i], &out), GI_ERR_USAGE);
    char text[64];
    gi_stage_option_standard(&real, text, sizeof text);
    assert_string_equal(text, "1.5");
    gi_stage_option_accepts(&real, text, sizeof text);
    assert_string_equal(text, "a number from -0.5 to 256");
}

static void parses_numbers(void **state) {
    (void)state;
    check_reals();
}

// A program that uses the library may have chosen a locale with a decimal comma. Where none is installed this test
// repeats the one before.
static void parses_numbers_in_any_locale(void **state) {
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "pt_BR.UTF-8"};
    for (size_t i = 0; i < sizeof commas / sizeof commas[0]; i++)
        if (setlocale(LC_ALL, commas[i])) break;
    check_reals();
    setlocale(LC_ALL, "C");
}

static void reals_read_back(void **state) {
    (void)state;
    static const double values[] = {0,      0.1,       1.0 / 3, 255.99999999999997, 1e-5, 2.2250738585072014e-308,
                                    5e-324, 123456.789};
    gi_stage_option any = real;
    any.max = 1e300;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[64];
        fields in = {.f.real = values[i]}, out;
        assert_true(gi_stage_option_value(&any, &in.args, text, sizeof text));
        assert_int_equal(parse(&any, text, &out), GI_OK);
        assert_memory_equal(&out.f.real, &values[i], sizeof out.f.real);
    }
}

static void reals_are_plain_where_they_can(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{40, "40"},      {200, "200"},    {100000, "100000"}, {0.25, "0.25"},
                 {1e-7, "1e-07"}, {1e15, "1e+15"}, {3e100, "3e+100"}};
    gi_stage_option any = real;
    any.max = 1e300;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        fields in = {.f.real = cases[i].value};
        assert_true(gi_stage_option_value(&any, &in.args, text, sizeof text));
        assert_string_equal(text, cases[i].text);
    }
}

static void says_what_is_accepted(void **state) {
    (void)state;
    char text[100];
    gi_stage_option_accepts(&choice, text, sizeof text);
    assert_string_equal(text, "a, bc or def");
    gi_stage_option_accepts(&integer, text, sizeof text);
    assert_string_equal(text, "an integer from -10 to 10");
    gi_stage_option_accepts(&level, text, sizeof text);
    assert_string_equal(text, "an integer from 0 to 65535, or otsu, li or mean");
    gi_stage_option_accepts(&gi_stage_table[GI_STAGE_ID_gray].options[0], text, sizeof text);
    assert_string_equal(text, "601, 709 or linear");
    gi_stage_option_accepts(&gi_stage_table[GI_STAGE_ID_threshold].options[0], text, sizeof text);
    assert_string_equal(text, "an integer from 0 to 65535, or otsu");
}

static void says_the_defaults(void **state) {
    (void)state;
    char text[100];
    gi_stage_option_standard(&choice, text, sizeof text);
    assert_string_equal(text, "bc");
    gi_stage_option_standard(&integer, text, sizeof text);
    assert_string_equal(text, "-3");
    gi_stage_option_standard(&level, text, sizeof text);
    assert_string_equal(text, "half of the range (128; 16-bit: 32768)");
}

static void says_values(void **state) {
    (void)state;
    char text[100];
    fields in = {.f = {.choice = 2, .integer = -7, .level = 300}};
    assert_true(gi_stage_option_value(&choice, &in.args, text, sizeof text));
    assert_string_equal(text, "def");
    assert_true(gi_stage_option_value(&integer, &in.args, text, sizeof text));
    assert_string_equal(text, "-7");
    assert_true(gi_stage_option_value(&level, &in.args, text, sizeof text));
    assert_string_equal(text, "300");
    in.f.level = -3;
    assert_true(gi_stage_option_value(&level, &in.args, text, sizeof text));
    assert_string_equal(text, "li");
    in.f.level = GI_LEVEL_HALF;
    assert_false(gi_stage_option_value(&level, &in.args, text, sizeof text));
    assert_string_equal(text, "");
    in.f.choice = 3;
    assert_false(gi_stage_option_value(&choice, &in.args, text, sizeof text));
    in.f.integer = INT32_MIN;
    assert_true(gi_stage_option_value(&wide, &in.args, text, sizeof text));
    assert_string_equal(text, "-2147483648");
}

static void texts_are_cut_not_overrun(void **state) {
    (void)state;
    char text[16];
    for (size_t size = 0; size <= 10; size++) {
        memset(text, '#', sizeof text);
        gi_stage_option_accepts(&level, text, size);
        if (size > 0) assert_int_equal(strlen(text), size - 1);
        for (size_t i = size; i < sizeof text; i++) assert_int_equal(text[i], '#');
        memset(text, '#', sizeof text);
        gi_stage_option_standard(&level, text, size);
        if (size > 0) assert_int_equal(strlen(text), size - 1);
        for (size_t i = size; i < sizeof text; i++) assert_int_equal(text[i], '#');
    }
}

static void hostile_values_are_quoted(void **state) {
    (void)state;
    char value[5000];
    gi_error err;
    fields out;
    for (size_t i = 0; i < sizeof value; i++) value[i] = (char)(i % 256);
    assert_int_equal(gi_stage_option_parse(&real, value, sizeof value, &out.args, &err), GI_ERR_USAGE);
    assert_true(strlen(err.text) < 200);
    for (const char *c = err.text; *c; c++) assert_true(*c >= 0x20 && *c < 0x7F);
    assert_int_equal(gi_stage_option_parse(&level, "otsu\0x", 6, &out.args, NULL), GI_ERR_USAGE); // err may be NULL
    assert_int_equal(gi_stage_option_parse(&level, "5\0", 2, &out.args, NULL), GI_ERR_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stage_is_well_formed),
        cmocka_unit_test(finds_whole_names_only),
        cmocka_unit_test(sets_the_defaults),
        cmocka_unit_test(parses_choices),
        cmocka_unit_test(parses_integers),
        cmocka_unit_test(parses_levels),
        cmocka_unit_test(parses_numbers),
        cmocka_unit_test(parses_numbers_in_any_locale),
        cmocka_unit_test(reals_read_back),
        cmocka_unit_test(reals_are_plain_where_they_can),
        cmocka_unit_test(says_what_is_accepted),
        cmocka_unit_test(says_the_defaults),
        cmocka_unit_test(says_values),
        cmocka_unit_test(texts_are_cut_not_overrun),
        cmocka_unit_test(hostile_values_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
