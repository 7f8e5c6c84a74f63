// The option parser and its table.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/option_values.h"
#include "cli/options.h"

typedef struct fixture {
    gi_options options;
    gi_error err;
} fixture;

enum { MAX_WORDS = 16 };

// Parses a command line of words split at blanks.
static gi_status parse(fixture *f, const char *stage, unsigned mask, const char *line) {
    static char copy[256];
    static char *words[MAX_WORDS + 1];
    int count = 0;
    gi_option_user user = {stage ? stage : "run", mask, stage ? gi_stage_find(stage, strlen(stage)) : NULL};
    memset(f, 0, sizeof *f);
    strncpy(copy, line, sizeof copy - 1);
    for (char *word = strtok(copy, " "); word && count < MAX_WORDS; word = strtok(NULL, " ")) words[count++] = word;
    words[count] = NULL;
    return gi_options_parse(&user, words, &f->options, &f->err);
}

static void expect_refusal(const char *stage, unsigned mask, const char *line, const char *reason) {
    fixture f;
    assert_int_equal(parse(&f, stage, mask, line), GI_ERR_USAGE);
    if (!strstr(f.err.text, reason)) fail_msg("'%s': '%s' lacks '%s'", line, f.err.text, reason);
    gi_options_free(&f.options);
}

static void test_defaults(void **state) {
    (void)state;
    fixture f;
    assert_int_equal(parse(&f, "gray", GI_FOR_IMAGE, "a.png b.png"), GI_OK);
    assert_int_equal(f.options.quality, 90);
    assert_int_equal(f.options.max_pixels, 1000000000);
    assert_int_equal(f.options.background.rgb[1], 255);
    assert_int_equal(f.options.workers, 0);
    assert_null(f.options.device);
    assert_int_equal(f.options.given, 0);
    assert_int_equal(f.options.operand_count, 2);
    assert_string_equal(f.options.operands[1], "b.png");
    gi_options_free(&f.options);
}

static void test_bytes_are_binary(void **state) {
    (void)state;
    static const struct {
        const char *line;
        uint64_t bytes;
    } cases[] = {{"--max-memory 1", 1},
                 {"--max-memory=3k", 3072},
                 {"--max-memory 2M", 2 << 20},
                 {"--max-memory 5G", (uint64_t)5 << 30}};
    fixture f;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(&f, "gray", GI_FOR_IMAGE, cases[i].line), GI_OK);
        assert_int_equal(f.options.max_memory, cases[i].bytes);
        gi_options_free(&f.options);
    }
    assert_int_equal(parse(&f, "gray", GI_FOR_IMAGE, "--max-pixels 3k"), GI_OK);
    assert_int_equal(f.options.max_pixels, 3000);
    assert_int_equal(f.options.max_memory, 0);
    gi_options_free(&f.options);
    expect_refusal("gray", GI_FOR_IMAGE, "--max-memory 0", "from 1 to");
    expect_refusal("gray", GI_FOR_IMAGE, "--max-memory 1T", "an integer");
}

static void test_forms(void **state) {
    (void)state;
    fixture f;
    assert_int_equal(parse(&f, "gray", GI_FOR_IMAGE, "a --quality 7 b --quality=8 -rvj3 --weights 709 -- -x --strict"),
                     0);
    assert_int_equal(f.options.quality, 8);
    assert_true(f.options.recursive && f.options.verbose && !f.options.strict);
    assert_int_equal(f.options.workers, 3);
    assert_int_equal(f.options.stage.gray.weights, GI_GRAY_709);
    assert_int_equal(f.options.operand_count, 4);
    assert_string_equal(f.options.operands[2], "-x");
    gi_options_free(&f.options);
    assert_int_equal(parse(&f, "threshold", GI_FOR_IMAGE, "-j 4 --level=otsu - --files-from -"), 0);
    assert_int_equal(f.options.stage.threshold.level, GI_LEVEL_OTSU);
    assert_int_equal(f.options.workers, 4);
    assert_string_equal(f.options.operands[0], "-");
    assert_string_equal(f.options.files_from, "-");
    gi_options_free(&f.options);
    assert_int_equal(parse(&f, "hist", GI_FOR_HIST, "-oa.json -q -v"), 0);
    assert_string_equal(f.options.output, "a.json");
    assert_true(f.options.verbose && !f.options.quiet);
    gi_options_free(&f.options);
}

static void test_help_stops(void **state) {
    (void)state;
    fixture f;
    assert_int_equal(parse(&f, "gray", GI_FOR_IMAGE, "--help --no-such"), GI_OK);
    assert_true(f.options.help);
    gi_options_free(&f.options);
}

// The words stand in the order of the codecs' enumerations, and the defaults are theirs.
static void test_codecs(void **state) {
    (void)state;
    static const struct {
        const char *line;
        gi_global_id id;
        int place;
    } cases[] = {{"a", GI_GLOBAL_codec, GI_CODEC_AUTO},
                 {"--codec zlib", GI_GLOBAL_codec, GI_CODEC_ZLIB},
                 {"--codec=stb", GI_GLOBAL_codec, GI_CODEC_STB},
                 {"a", GI_GLOBAL_subsampling, GI_SUBSAMPLING_420},
                 {"--subsampling 422", GI_GLOBAL_subsampling, GI_SUBSAMPLING_422},
                 {"--subsampling 444", GI_GLOBAL_subsampling, GI_SUBSAMPLING_444},
                 {"a", GI_GLOBAL_png_reduce, GI_PNG_REDUCE_AUTO},
                 {"--png-reduce on", GI_GLOBAL_png_reduce, GI_PNG_REDUCE_ON},
                 {"--png-reduce off", GI_GLOBAL_png_reduce, GI_PNG_REDUCE_OFF}};
    fixture f;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(parse(&f, "gray", GI_FOR_IMAGE, cases[i].line), GI_OK);
        assert_int_equal(gi_options_choice(&f.options, cases[i].id), cases[i].place);
        gi_options_free(&f.options);
    }
    assert_int_equal(parse(&f, "gray", GI_FOR_IMAGE, "--optimize"), GI_OK);
    assert_true(f.options.optimize && !f.options.progressive);
    assert_int_equal(f.options.png_level, GI_PNG_LEVEL);
    gi_options_free(&f.options);
    assert_int_equal(parse(&f, "hist", GI_FOR_HIST, "--codec stb"), GI_OK);
    gi_options_free(&f.options);
    expect_refusal("hist", GI_FOR_HIST, "--png-reduce on", "not for hist");
    expect_refusal("gray", GI_FOR_IMAGE, "--subsampling 411", "420, 422 or 444");
    expect_refusal("gray", GI_FOR_IMAGE, "--codec libpng", "auto, zlib, stb, auto-fast or nvjpeg");
}

static void test_refusals(void **state) {
    (void)state;
    expect_refusal("gray", GI_FOR_IMAGE, "--qual 3", "did you mean '--quality'");
    expect_refusal("gray", GI_FOR_IMAGE, "--wieghts 601", "did you mean '--weights'");
    expect_refusal("gray", GI_FOR_IMAGE, "--zzzzzz", "unknown option '--zzzzzz'");
    expect_refusal("gray", GI_FOR_IMAGE, "-z", "unknown option '-z'");
    expect_refusal("gray", GI_FOR_IMAGE, "--quality", "needs a value: an integer from 1 to 100");
    expect_refusal("gray", GI_FOR_IMAGE, "--weights", "needs a value: 601, 709 or linear");
    expect_refusal("gray", GI_FOR_IMAGE, "--weights=602", "must be 601, 709 or linear, not '602'");
    expect_refusal("gray", GI_FOR_IMAGE, "--strict=yes", "takes no value");
    expect_refusal("gray", GI_FOR_IMAGE, "--total", "not for gray");
    expect_refusal("gray", GI_FOR_IMAGE, "--device gpu", "auto, cpu, cuda, cuda:N, cuda:N,M,... or cuda:all");
    expect_refusal("gray", GI_FOR_IMAGE, "--device cuda:x", "auto, cpu, cuda, cuda:N, cuda:N,M,... or cuda:all");
    expect_refusal("hist", GI_FOR_HIST, "--quality 3", "not for hist");
    expect_refusal(NULL, GI_FOR_RUN, "--level 3", "write it into the pipeline");
}

static void test_numbers(void **state) {
    (void)state;
    static const char *const bad[] = {"0",  "101", "-1", "+5", "", "1.5", "0x10", "99999999999999999999",
                                      "5 ", " 5",  "5k", "1e1"};
    const gi_global_option *quality = &gi_global_table[GI_GLOBAL_quality];
    const gi_global_option *pixels = &gi_global_table[GI_GLOBAL_max_pixels];
    gi_options options = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(gi_global_parse(quality, bad[i], &options, NULL), GI_ERR_USAGE);
    assert_int_equal(gi_global_parse(quality, "100", &options, NULL), GI_OK);
    assert_int_equal(options.quality, 100);
    assert_int_equal(gi_global_parse(pixels, "12k", &options, NULL), GI_OK);
    assert_int_equal(options.max_pixels, 12000);
    assert_int_equal(gi_global_parse(pixels, "1000000G", &options, NULL), GI_OK);
    assert_int_equal(options.max_pixels, 1000000000000000);
    assert_int_equal(gi_global_parse(pixels, "1000001G", &options, NULL), GI_ERR_USAGE);
    assert_int_equal(gi_global_parse(pixels, "1Gi", &options, NULL), GI_ERR_USAGE);
    assert_int_equal(gi_global_parse(pixels, "0", &options, NULL), GI_ERR_USAGE);
}

static void test_colours(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint8_t rgb[3];
    } good[] = {{"white", {255, 255, 255}},
                {"BLACK", {0, 0, 0}},
                {"#f80", {255, 136, 0}},
                {"#0180ff", {1, 128, 255}},
                {"1,20,255", {1, 20, 255}}};
    static const char *const bad[] = {"",        "#",       "#ff",    "#ffff", "#gggggg", "1,2",
                                      "1,2,3,4", "256,0,0", "1, 2,3", "red",   "1,2,3x"};
    gi_colour colour;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(gi_colour_parse(good[i].text, &colour));
        assert_memory_equal(colour.rgb, good[i].rgb, 3);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (gi_colour_parse(bad[i], &colour)) fail_msg("'%s' is no colour", bad[i]);
}

// One name means one thing: no two global options for the same commands, no global and stage option share it.
static void test_names_are_unique(void **state) {
    (void)state;
    for (int i = 0; i < GI_GLOBAL_COUNT; i++) {
        const char *name = gi_global_table[i].name;
        for (int j = 0; j < i; j++) {
            bool same = strcmp(name, gi_global_table[j].name) == 0,
                 shared = gi_global_table[i].letter == gi_global_table[j].letter;
            if (same) assert_int_equal(gi_global_table[i].taken_by & gi_global_table[j].taken_by, 0);
            // Rows of one name have one letter, and no other has it.
            assert_true(same ? shared : !gi_global_table[i].letter || !shared);
        }
        for (int s = 0; s < GI_STAGE_COUNT; s++)
            assert_null(gi_stage_option_find(&gi_stage_table[s], name, strlen(name)));
    }
}

static void test_check(void **state) {
    (void)state;
    fixture f;
    gi_error err = {0};
    assert_int_equal(parse(&f, NULL, GI_FOR_RUN, "gray a --total"), GI_OK);
    assert_int_equal(gi_options_check(&f.options, "run", GI_FOR_HIST, &err), GI_OK);
    assert_int_equal(gi_options_check(&f.options, "run", GI_FOR_IMAGE, &err), GI_ERR_USAGE);
    assert_non_null(strstr(err.text, "--total"));
    gi_options_free(&f.options);
    // Two rows: what the last value is, is what counts.
    assert_int_equal(parse(&f, NULL, GI_FOR_RUN, "gray a --format csv --format png"), GI_OK);
    assert_int_equal(gi_options_check(&f.options, "run", GI_FOR_IMAGE, &err), GI_OK);
    assert_string_equal(f.options.format, "png");
    gi_options_free(&f.options);
    assert_int_equal(parse(&f, NULL, GI_FOR_RUN, "gray a --format png --format csv"), GI_OK);
    assert_int_equal(gi_options_check(&f.options, "run", GI_FOR_IMAGE, &err), GI_ERR_USAGE);
    assert_non_null(strstr(err.text, "png, jpg or jpeg"));
    gi_options_free(&f.options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_bytes_are_binary),
        cmocka_unit_test(test_forms),    cmocka_unit_test(test_help_stops),
        cmocka_unit_test(test_codecs),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_colours),
        cmocka_unit_test(test_check),    cmocka_unit_test(test_names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
