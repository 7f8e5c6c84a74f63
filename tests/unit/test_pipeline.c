#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/pipeline.h"

static void expect_text(const char *text, const char *canonical) {
    gi_pipeline pipeline, again;
    gi_error err;
    char out[2048], twice[2048];
    if (gi_pipeline_parse(text, &pipeline, &err) != GI_OK) fail_msg("'%s': %s", text, err.text);
    gi_pipeline_text(&pipeline, out, sizeof out);
    assert_string_equal(out, canonical);
    assert_int_equal(gi_pipeline_parse(out, &again, &err), GI_OK);
    gi_pipeline_text(&again, twice, sizeof twice);
    assert_string_equal(twice, canonical);
    assert_int_equal(gi_pipeline_check(&pipeline, &err), GI_OK);
}

// `marks` has '^' under each byte that the error must point at; `part` is in its text.
static void expect_error(const char *text, const char *marks, const char *part) {
    gi_pipeline pipeline;
    gi_error err;
    memset(&err, 0x5A, sizeof err);
    assert_int_equal(gi_pipeline_parse(text, &pipeline, NULL), GI_ERR_USAGE);
    assert_int_equal(gi_pipeline_parse(text, &pipeline, &err), GI_ERR_USAGE);
    assert_int_equal(err.status, GI_ERR_USAGE);
    if (!strstr(err.text, part)) fail_msg("'%s': '%s' lacks '%s'", text, err.text, part);
    size_t offset = strcspn(marks, "^");
    if (err.place_offset != (int)offset || err.place_length != (int)(strlen(marks) - offset))
        fail_msg("'%s': place %d+%d, not '%s'", text, err.place_offset, err.place_length, marks);
}

static void parses_pipelines(void **state) {
    (void)state;
    expect_text("gray", "gray weights=601");
    expect_text("gray 709", "gray weights=709");
    expect_text("gray weights=linear", "gray weights=linear");
    expect_text("threshold", "threshold");
    expect_text("threshold otsu", "threshold level=otsu");
    expect_text("threshold level=0", "threshold level=0");
    expect_text("threshold 65535", "threshold level=65535");
    expect_text("gray 709 | threshold otsu | hist 16", "gray weights=709 | threshold level=otsu | hist bins=16");
    expect_text("hist", "hist bins=0");
    expect_text("gray 709 | threshold level=otsu | hist", "gray weights=709 | threshold level=otsu | hist bins=0");
    expect_text("gray|threshold otsu|hist bins=16", "gray weights=601 | threshold level=otsu | hist bins=16");
    expect_text(" \t gray\n|\r\v\fthreshold  \t 7  ", "gray weights=601 | threshold level=7");
    expect_text("gray | gray | gray", "gray weights=601 | gray weights=601 | gray weights=601");
}

static void empty_pipelines_and_stages(void **state) {
    (void)state;
    expect_error("", "^", "empty");
    expect_error("   ", "^", "empty");
    expect_error("|", "^", "empty stage");
    expect_error("| gray", "^", "precedes");
    expect_error("  | gray", "  ^", "precedes");
    expect_error("gray |", "     ^", "follows");
    expect_error("gray |   ", "     ^", "follows");
    expect_error("gray | | hist", "       ^", "empty stage");
    expect_error("gray || hist", "      ^", "empty stage");
}

static void unknown_stages(void **state) {
    (void)state;
    expect_error("grey", "^^^^", "unknown stage 'grey': did you mean 'gray'?");
    expect_error("  grey 709", "  ^^^^", "unknown stage 'grey': did you mean 'gray'?");
    expect_error("gray | treshold", "       ^^^^^^^^", "did you mean 'threshold'?");
    expect_error("Gray", "^^^^", "did you mean 'gray'?");
    expect_error("sharpen", "^^^^^^^", "unknown stage 'sharpen': stages are gray, threshold");
    expect_error("gray=709", "^^^^^^^^", "write 'gray weights=709'");
    expect_error("level=5", "^^^^^^^", "stands where a stage's name belongs");
    expect_error("=", "^", "stands where a stage's name belongs");
}

static void unknown_keys(void **state) {
    (void)state;
    expect_error("gray wieghts=709", "     ^^^^^^^", "did you mean 'weights'?");
    expect_error("gray wieghts=709", "     ^^^^^^^", "gray takes weights");
    expect_error("gray colour=709", "     ^^^^^^", "unknown option 'colour': gray takes weights");
    expect_error("gray a=b=c", "     ^", "unknown option 'a'");
    expect_error("gray =709", "     ^", "'=' without a key");
    expect_error("gray ==", "     ^", "'=' without a key");
}

static void bad_values(void **state) {
    (void)state;
    expect_error("gray 7o9", "     ^^^", "weights must be 601, 709 or linear, not '7o9'");
    expect_error("gray weights=7o9", "             ^^^", "weights must be 601, 709 or linear, not '7o9'");
    expect_error("threshold level=70000 | hist", "                ^^^^^", "an integer from 0 to 65535, or otsu");
    expect_error("threshold -1", "          ^^", "from 0 to 65535");
    expect_error("threshold level=", "          ^^^^^^", "level= has no value");
    expect_error("threshold level=|hist", "          ^^^^^^", "level= has no value");
    expect_error("hist bins=65537", "          ^^^^^", "from 0 to 65536");
    expect_error("gray weights==709", "             ^^^^", "not '=709'");
}

static void misplaced_words(void **state) {
    (void)state;
    expect_error("threshold level = 5", "          ^^^^^", "no space may stand beside '=': write level=VALUE");
    expect_error("threshold level =5", "          ^^^^^", "no space");
    expect_error("threshold level= 5", "          ^^^^^^", "no space");
    expect_error("threshold level", "          ^^^^^", "level has no value: write level=VALUE");
    expect_error("threshold level | hist", "          ^^^^^", "level has no value");
    expect_error("gray hist", "     ^^^^", "a '|' must stand before stage 'hist'");
    expect_error("gray --weights 709", "     ^^^^^^^^^", "written KEY=VALUE");
    expect_error("threshold 5 6", "            ^", "second word without a key");
    expect_error("threshold 5 level=6", "            ^^^^^^^", "level is given twice");
    expect_error("threshold level=5 6", "                  ^", "level is given twice");
    expect_error("threshold level=5 level=5", "                  ^^^^^^^", "level is given twice");
}

static void sinks_come_last(void **state) {
    (void)state;
    expect_error("hist | gray", "^^^^", "hist measures and passes no image on: it must be the last stage");
    expect_error("gray | hist bins=4 | hist", "       ^^^^", "last");
    expect_error("gray | hist |", "            ^", "follows");
}

static void as_many_stages_as_fit(void **state) {
    (void)state;
    char text[8 * (GI_MAX_STAGES + 1)] = "gray", marks[sizeof text];
    gi_pipeline pipeline;
    for (int i = 1; i < GI_MAX_STAGES; i++) strcat(text, "|gray");
    assert_int_equal(gi_pipeline_parse(text, &pipeline, NULL), GI_OK);
    assert_int_equal(pipeline.count, GI_MAX_STAGES);
    assert_null(gi_pipeline_append(&pipeline, &gi_stage_table[GI_STAGE_ID_gray]));
    memset(marks, ' ', sizeof marks);
    strcpy(marks + strlen(text) + 1, "^^^^");
    strcat(text, "|hist");
    expect_error(text, marks, "more than 64 stages");
}

static void hostile_text(void **state) {
    (void)state;
    gi_pipeline pipeline;
    gi_error err;
    expect_error("gr\x01ny", "^^^^^", "unknown stage 'gr\\x01ny'");
    expect_error("gray \x1b[2J", "     ^^^^", "not '\\x1b[2J'");
    expect_error("gray\xc2\xa0", "^^^^^^", "unknown stage 'gray"); // a no-break space is no white space
    for (unsigned seed = 1; seed <= 3000; seed++) {
        static const char *const pieces[] = {
            "gray", "threshold", "hist", " ",  "|",    "=",          "level", "weights", "709",          "otsu",
            "\x01", "\xff",      "\xc3", "--", "bins", "9999999999", "-",     "\t",      "aaaaaaaaaaaaa"};
        char text[600] = "";
        uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15);
        for (int i = 0; i < 40; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            strcat(text, pieces[(random >> 33) % (sizeof pieces / sizeof pieces[0])]);
            if (gi_pipeline_parse(text, &pipeline, &err) == GI_OK) continue;
            assert_true(err.place_offset >= 0 && err.place_length >= 1);
            assert_true((size_t)(err.place_offset + err.place_length) <= strlen(text) + 1);
            for (const char *c = err.text; *c; c++) assert_true((unsigned char)*c >= 0x20 && (unsigned char)*c != 0x7F);
        }
    }
}

static void very_long_text(void **state) {
    (void)state;
    enum { LONG = 60000, TOO_LONG = 70000 };
    char *text = malloc(TOO_LONG + 1);
    gi_pipeline pipeline;
    gi_error err;
    assert_non_null(text);
    memset(text, 'x', TOO_LONG);
    text[TOO_LONG] = '\0';
    assert_int_equal(gi_pipeline_parse(text, &pipeline, &err), GI_ERR_USAGE);
    text[LONG] = '\0';
    assert_int_equal(gi_pipeline_parse(text, &pipeline, &err), GI_ERR_USAGE);
    assert_int_equal(err.place_length, LONG);
    assert_true(strlen(err.text) < 200);
    memcpy(text, "gray ", 5);
    text[40000] = '=';
    assert_int_equal(gi_pipeline_parse(text, &pipeline, &err), GI_ERR_USAGE);
    assert_int_equal(err.place_offset, 5);
    assert_int_equal(err.place_length, 40000 - 5);
    assert_true(strlen(err.text) < 300);
    memset(text, ' ', LONG);
    memcpy(text + LONG - 4, "gray", 4);
    assert_int_equal(gi_pipeline_parse(text, &pipeline, &err), GI_OK);
    free(text);
}

static void checks_built_pipelines(void **state) {
    (void)state;
    gi_pipeline pipeline = {.count = 0};
    gi_error err;
    assert_int_equal(gi_pipeline_check(&pipeline, &err), GI_ERR_USAGE);
    gi_stage_call *call = gi_pipeline_append(&pipeline, &gi_stage_table[GI_STAGE_ID_threshold]);
    assert_int_equal(call->args.threshold.level, GI_LEVEL_HALF);
    assert_int_equal(gi_pipeline_check(&pipeline, &err), GI_OK);
    gi_pipeline_append(&pipeline, &gi_stage_table[GI_STAGE_ID_hist]);
    assert_int_equal(gi_pipeline_check(&pipeline, &err), GI_OK);
    gi_pipeline_append(&pipeline, &gi_stage_table[GI_STAGE_ID_gray]);
    assert_int_equal(gi_pipeline_check(&pipeline, &err), GI_ERR_USAGE);
    assert_non_null(strstr(err.text, "last"));
}

static void text_is_cut_not_overrun(void **state) {
    (void)state;
    gi_pipeline pipeline;
    assert_int_equal(gi_pipeline_parse("gray | threshold 5", &pipeline, NULL), GI_OK);
    char text[16];
    for (size_t size = 0; size <= 12; size++) {
        memset(text, '#', sizeof text);
        gi_pipeline_text(&pipeline, text, size);
        if (size > 0) assert_int_equal(strlen(text), size - 1);
        for (size_t i = size; i < sizeof text; i++) assert_int_equal(text[i], '#');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_pipelines),
        cmocka_unit_test(empty_pipelines_and_stages),
        cmocka_unit_test(unknown_stages),
        cmocka_unit_test(unknown_keys),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(misplaced_words),
        cmocka_unit_test(sinks_come_last),
        cmocka_unit_test(as_many_stages_as_fit),
        cmocka_unit_test(hostile_text),
        cmocka_unit_test(very_long_text),
        cmocka_unit_test(checks_built_pipelines),
        cmocka_unit_test(text_is_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
