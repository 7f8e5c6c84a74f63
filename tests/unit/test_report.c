// Histogram reports: formats, order, totals; and the texts they are made of.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/buffer.h"
#include "cli/options.h"
#include "cli/report.h"

static void test_safe_text(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"plain name.png", "plain name.png"},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
        {"\x1b[31mred\x7f", "\\x1b[31mred\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\u{009b}31m"},
        {"bad\xff\xc3", "bad\\xff\\xc3"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xc0\xaf", "\\xc0\\xaf"},
        {"gnp.\xe2\x80\xaeg", "gnp.\\u{202e}g"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        gi_buffer text = {0};
        gi_buffer_safe(&text, pairs[i][0]);
        assert_string_equal(text.data, pairs[i][1]);
        gi_buffer_free(&text);
    }
}

static void test_wrap(void **state) {
    (void)state;
    gi_buffer text = {0};
    gi_buffer_wrap(&text, "one two three four", 4, 2, 12);
    assert_string_equal(text.data, "one two\n  three four");
    gi_buffer_free(&text);
    gi_buffer_wrap(&text, "averyveryverylongword b", 0, 0, 5);
    assert_string_equal(text.data, "averyveryverylongword\nb");
    gi_buffer_free(&text);
}

// The rule of gi_histogram_rebin: level v is in bin v * bins / levels.
static void test_bin_ranges(void **state) {
    (void)state;
    static const uint32_t bins[] = {1, 2, 3, 7, 100, 255, 256};
    for (size_t i = 0; i < sizeof bins / sizeof bins[0]; i++) {
        uint32_t next = 0;
        for (uint32_t b = 0; b < bins[i]; b++) {
            uint32_t first, last;
            gi_report_bin_range(256, bins[i], b, &first, &last);
            assert_int_equal(first, next);
            assert_true(last >= first);
            assert_int_equal(first * bins[i] / 256, b);
            assert_int_equal(last * bins[i] / 256, b);
            next = last + 1;
        }
        assert_int_equal(next, 256);
    }
}

static void test_formats_by_name(void **state) {
    (void)state;
    assert_ptr_equal(gi_report_style_of_name("a.b/R.JSON"), &gi_report_json);
    assert_ptr_equal(gi_report_style_of_name("r.csv"), &gi_report_csv);
    assert_ptr_equal(gi_report_style_of_name("r.Txt"), &gi_report_text);
    assert_ptr_equal(gi_report_style_of_name("r.svg"), &gi_report_svg);
    assert_ptr_equal(gi_report_style_of_name("a.txt.png"), &gi_report_png);
    assert_ptr_equal(gi_report_style_of_name(".HTML"), &gi_report_html);
    assert_null(gi_report_style_of_name("report"));
    assert_null(gi_report_style_of_name("r.xml"));
    assert_null(gi_report_style_of_name("json"));
    assert_null(gi_report_style_of_name("a.json/b"));
    gi_buffer words = {0};
    gi_report_add_words(&words, ".");
    assert_string_equal(words.data, ".txt, .json, .csv, .svg, .png and .html");
    gi_buffer_free(&words);
}

typedef struct run {
    char path[64];
    gi_report *report;
    gi_error err;
} run;

static void begin(run *r, const gi_report_style *style, size_t count, bool total) {
    strcpy(r->path, "/tmp/gpuimg-report-XXXXXX");
    int descriptor = mkstemp(r->path);
    assert_true(descriptor >= 0);
    close(descriptor);
    gi_report_request request = {.style = style, .path = r->path, .count = count, .total = total};
    assert_int_equal(gi_report_open(&request, &r->report, &r->err), GI_OK);
}

// Adds a 2 x 2 image whose samples are all `level`.
static void add(run *r, size_t index, const char *file, int channels, uint32_t level) {
    gi_histogram histogram;
    gi_shape shape = {2, 2, channels, GI_U8};
    assert_int_equal(gi_histogram_init(&histogram, channels, GI_U8, NULL), GI_OK);
    for (int c = 0; c < channels; c++) histogram.counts[(size_t)c * 256 + level] = 4;
    gi_measured measured = {file, shape, &histogram, 256, NULL};
    gi_report_add(r->report, index, &measured);
    gi_histogram_free(&histogram);
}

// Ends the report and returns what the file holds.
static char *end(run *r) {
    static char text[200000];
    assert_int_equal(gi_report_finish(r->report, &r->err), GI_OK);
    gi_report_close(r->report);
    FILE *file = fopen(r->path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(r->path);
    return text;
}

static void test_order(void **state) {
    (void)state;
    run r = {0};
    begin(&r, &gi_report_csv, 4, false);
    add(&r, 2, "c,\"2\"", 1, 7);
    gi_report_pass(r.report, 1, "b.png", "cut off");
    add(&r, 0, "a", 1, 5);
    const char *text = end(&r);
    const char *a = strstr(text, "a,gray,5,5,5,4\n"), *c = strstr(text, "\"c,\"\"2\"\"\",gray,7,7,7,4\n");
    assert_int_equal(strncmp(text, "file,channel,bin,from,to,count\n", 31), 0);
    assert_true(a && c && a < c);
}

static void test_total(void **state) {
    (void)state;
    run r = {0};
    begin(&r, &gi_report_json, 2, true);
    add(&r, 1, "colour", 4, 5);
    add(&r, 0, "gray", 2, 5);
    const char *text = end(&r);
    assert_non_null(strstr(text, "{\"file\":\"total\",\"files\":2,\"pixels\":8,"));
    assert_non_null(strstr(text, "\"name\":\"gray\",\"bins\":[0,0,0,0,0,4,"));
    assert_non_null(strstr(text, "\"name\":\"red\",\"bins\":[0,0,0,0,0,4,"));
    assert_non_null(strstr(text, "\"name\":\"alpha\",\"bins\":[0,0,0,0,0,8,"));
}

static void test_json_names(void **state) {
    (void)state;
    run r = {0};
    begin(&r, &gi_report_json, 2, false);
    add(&r, 0, "q\"b\\n\n\x01\xc3\xa9", 1, 0);
    add(&r, 1, "x\xff", 1, 0);
    const char *text = end(&r);
    assert_non_null(strstr(text, "{\"file\":\"q\\\"b\\\\n\\n\\u0001\xc3\xa9\",\"width\":2,\"height\":2,\"pixels\":4,"));
    assert_non_null(strstr(text, "{\"file\":\"x\\ufffd\",\"file_hex\":\"78ff\","));
}

static void test_nothing_measured(void **state) {
    (void)state;
    run r = {0};
    begin(&r, &gi_report_json, 0, true);
    assert_string_equal(end(&r), "{\"schema\":1,\"images\":[\n\n]}\n");
}

static void draw_levels(gi_buffer *text, uint32_t levels, uint32_t bins, const gi_terminal *terminal) {
    static uint64_t counts[65536];
    memset(counts, 0, sizeof counts);
    counts[0] = 1;
    counts[200] = 1000000;
    gi_report_image image = {0};
    image.levels = levels;
    image.bins = bins;
    image.channel_count = 1;
    image.channels[0].name = "gray";
    image.channels[0].counts = counts;
    gi_report_plot(text, &image, 0, terminal);
    assert_false(text->failed);
}

static void draw(gi_buffer *text, uint32_t bins, const gi_terminal *terminal) {
    draw_levels(text, 256, bins, terminal);
}

// The last line: 0 under the axis' first column, the highest level at its end, and blanks between all labels.
static void check_axis(const char *axis, const char *labels, unsigned highest) {
    char last[16];
    size_t length = strlen(labels), digits = (size_t)snprintf(last, sizeof last, "%u", highest);
    assert_int_equal(strcspn(axis, "+"), 8);
    assert_int_equal(strspn(labels, " "), 9);
    assert_true(labels[9] == '0' && labels[10] == ' ');
    assert_string_equal(labels + length - digits, last);
    assert_int_equal(labels[length - digits - 1], ' ');
    if (strlen(axis) > 9 + digits + 2) assert_int_equal(length, strlen(axis));
    for (const char *p = labels; *p;) {
        char *end;
        unsigned long level = strtoul(p, &end, 10);
        assert_true(end > p && (level == highest || level % ((highest + 1) / 4) == 0));
        p = end;
    }
}

// Every line fits, whatever the width and the bins; a bin in use shows.
static void test_plot_fits(void **state) {
    (void)state;
    static const uint32_t bins[] = {1, 3, 11, 16, 100, 256, 65536};
    for (int width = 20; width <= 1000; width += width < 200 ? 1 : 100) {
        for (size_t b = 0; b < 14; b++) {
            gi_buffer text = {0};
            gi_terminal terminal = {.width = width};
            const uint32_t levels = b < 7 ? 256 : 65536;
            const char *line, *before = NULL, *last = NULL;
            if (bins[b % 7] > levels) continue;
            draw_levels(&text, levels, bins[b % 7], &terminal);
            for (line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
                assert_true(strlen(line) <= (size_t)width);
                before = last;
                last = line;
            }
            check_axis(before, last, levels - 1);
            gi_buffer_free(&text);
        }
    }
}

static void test_plot_shows_single_counts(void **state) {
    (void)state;
    gi_buffer text = {0};
    gi_terminal terminal = {.width = 80};
    draw(&text, 256, &terminal);
    assert_non_null(strstr(text.data, "        |.  "));
    for (size_t i = 0; i < text.size; i++) assert_true((unsigned char)text.data[i] < 0x80);
    gi_buffer_free(&text);
}

static void test_plot_cuts_spikes(void **state) {
    (void)state;
    uint64_t counts[256];
    for (int v = 0; v < 256; v++) counts[v] = 100;
    counts[255] = 1000000;
    gi_report_image image = {0};
    image.levels = image.bins = 256;
    image.channel_count = 1;
    image.channels[0].name = "gray";
    image.channels[0].counts = counts;
    gi_terminal terminal = {.width = 300};
    gi_buffer text = {0};
    gi_report_plot(&text, &image, 0, &terminal);
    assert_non_null(strstr(text.data, "(^: up to 97.51%)\n"));
    const char *bottom = strstr(text.data, "\n     0%");
    assert_non_null(bottom);
    assert_int_equal(bottom[-200], '#');
    gi_buffer_free(&text);
}

// The scale's top has digits that count, however small it is.
static void test_plot_of_small_shares(void **state) {
    (void)state;
    enum { LEVELS = 65536 };
    uint64_t *counts = calloc(LEVELS, sizeof *counts);
    assert_non_null(counts);
    gi_report_image image = {0};
    image.levels = image.bins = LEVELS;
    image.channel_count = 1;
    image.channels[0].name = "gray";
    image.channels[0].counts = counts;
    // 1.5 times the share of 1024 levels of one count each, beside one of so many.
    static const char *const tops[] = {"  1.56% |", "0.0232% |", "0.0023% |", " 2e-05% |"};
    static const uint64_t last[] = {1024, 6550000, 65500000, 6550000000};
    for (int i = 0; i < 4; i++) {
        gi_terminal terminal = {.width = 74}; // 64 columns of 1024 levels
        gi_buffer text = {0};
        for (int v = 0; v < LEVELS; v++) counts[v] = 1;
        for (int v = LEVELS - 1024; v < LEVELS; v++) counts[v] = 0;
        counts[LEVELS - 1] = last[i];
        gi_report_plot(&text, &image, 0, &terminal);
        assert_non_null(strstr(text.data, "gray, share of the pixels in each of 64 bins"));
        assert_non_null(strstr(text.data, tops[i]));
        gi_buffer_free(&text);
    }
    free(counts);
}

static void test_numbers(void **state) {
    (void)state;
    gi_buffer text = {0};
    gi_buffer_number(&text, 0);
    gi_buffer_number(&text, 1234567890);
    gi_buffer_number(&text, UINT64_MAX);
    assert_string_equal(text.data, "0123456789018446744073709551615");
    gi_buffer_free(&text);
}

// The option's row names the formats; each has its style, and no style is without a word there.
static void test_option_words(void **state) {
    (void)state;
    const char *words = gi_global_table[GI_GLOBAL_report_format].words;
    gi_buffer all = {0}, listed = {0};
    for (size_t length; *words; words += length + (words[length] == '|')) {
        char word[16] = "";
        length = strcspn(words, "|");
        assert_true(length < sizeof word);
        memcpy(word, words, length);
        assert_non_null(gi_report_style_of_word(word));
        gi_buffer_printf(&listed, "%s%s", listed.size == 0 ? "" : words[length] ? ", " : " and ", word);
    }
    gi_report_add_words(&all, "");
    assert_string_equal(listed.data, all.data);
    gi_buffer_free(&all);
    gi_buffer_free(&listed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_safe_text),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_bin_ranges),
        cmocka_unit_test(test_formats_by_name),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_total),
        cmocka_unit_test(test_json_names),
        cmocka_unit_test(test_nothing_measured),
        cmocka_unit_test(test_plot_fits),
        cmocka_unit_test(test_plot_shows_single_counts),
        cmocka_unit_test(test_plot_cuts_spikes),
        cmocka_unit_test(test_plot_of_small_shares),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_option_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
