// Tables of demonstrations: filled, and written as text, JSON, CSV and bars.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/demos.h"
#include "cli/bench_report.h"
#include "cli/json.h"
#include "cli/plot.h"
#include "cli/stroke_font.h"

static gi_status nothing(gi_bench *bench, gi_error *err) {
    (void)bench, (void)err;
    return GI_OK;
}

static const gi_demo demo = {"trial", "a summary", "What it \"shows\".", nothing};

static gi_bench *open_bench(long long size, bool quick) {
    const gi_bench_options options = {size, quick, 2, "no GPU here"};
    gi_bench *bench = gi_bench_open(&options);
    assert_non_null(bench);
    return bench;
}

// Two tables with all there can be in them.
static gi_bench_result filled(void) {
    static const char *const columns[] = {"ms", "times OpenMP", "bound"};
    gi_bench *bench = open_bench(0, true);
    gi_bench_table(bench, "one, of two", columns, 3);
    gi_bench_bar(bench, "times OpenMP");
    gi_bench_row(bench, "OpenMP");
    gi_bench_number(bench, 1234.5678);
    gi_bench_number(bench, 1);
    gi_bench_text(bench, "memory");
    gi_bench_row(bench, "tiled");
    gi_bench_number(bench, 0.012345678);
    gi_bench_number(bench, NAN);
    gi_bench_row(bench, "short");
    gi_bench_missing(bench, "GPU", "no GPU here");
    gi_bench_note(bench, "n = %d", 7);
    gi_bench_memory_table(bench, "two");
    const gi_bench_figures figures = {2, 8e6, 1, 20, 8, 1e-7};
    gi_bench_memory_row(bench, "kernel", &figures);
    const gi_bench_result result = {&demo, bench, GI_OK, {0}};
    return result;
}

static void close_result(gi_bench_result *result) { gi_bench_close(result->bench); }

// ---- filling ------------------------------------------------------------------------------------------------------

static void test_options(void **state) {
    (void)state;
    gi_bench *own = open_bench(0, false), *quick = open_bench(0, true), *given = open_bench(99, true);
    assert_int_equal(gi_bench_size(own, 1000, 10), 1000);
    assert_int_equal(gi_bench_size(quick, 1000, 10), 10);
    assert_int_equal(gi_bench_size(given, 1000, 10), 99);
    gi_error why;
    uint32_t width, height;
    assert_int_equal(gi_bench_at_most(own, 1, &why), GI_OK);
    assert_int_equal(gi_bench_at_most(given, 99, &why), GI_OK);
    assert_int_equal(gi_bench_at_most(given, 98, &why), GI_ERR_USAGE);
    assert_string_equal(why.text, "--n 99 is past 98, the most that it can do");
    assert_int_equal(gi_bench_image(given, &width, &height, &why), GI_OK);
    assert_true(width == 99 && height == 99);
    assert_false(gi_bench_gpu(own));
    assert_string_equal(gi_bench_no_gpu(own), "no GPU here");
    assert_true(gi_bench_threads(own) >= 1 && gi_bench_threads(own) <= 2);
    gi_bench_close(own);
    gi_bench_close(quick);
    gi_bench_close(given);
    gi_bench_close(NULL);
}

static void test_cells(void **state) {
    (void)state;
    gi_bench_result result = filled();
    gi_error err;
    assert_int_equal(gi_bench_finish(result.bench, &err), GI_OK);
    const gi_bench_table_data *table = gi_bench_table_at(result.bench, 0);
    assert_int_equal(table->row_count, 4);
    assert_int_equal(table->bar, 1);
    assert_string_equal(table->rows[0].cells[2].text, "memory");
    assert_true(isnan(table->rows[1].cells[1].number) && isnan(table->rows[1].cells[2].number));
    assert_string_equal(table->rows[3].why, "no GPU here");
    assert_string_equal(table->notes[0], "n = 7");
    table = gi_bench_table_at(result.bench, 1);
    static const double wanted[] = {2, 4, 50, 10, 2, 1e-7};
    for (int c = 0; c < 6; c++) assert_true(fabs(table->rows[0].cells[c].number / wanted[c] - 1) < 1e-12);
    assert_null(gi_bench_table_at(result.bench, 2));
    close_result(&result);
}

// Bars are of the column that was named, or of the first with numbers where that one has none.
static void test_column_of_bars(void **state) {
    (void)state;
    static const char *const columns[] = {"a", "b", "c"};
    gi_bench *bench = open_bench(0, true);
    gi_error err;
    for (int filled = 0; filled < 4; filled++) { // the column that has a number; 3: none has
        gi_bench_table(bench, "t", columns, 3);
        gi_bench_bar(bench, "c");
        gi_bench_missing(bench, "GPU", "none");
        gi_bench_row(bench, "CPU");
        gi_bench_text(bench, "words");
        gi_bench_row(bench, "CPU");
        for (int c = 0; c < 3; c++) gi_bench_number(bench, c == filled ? 1 : NAN);
    }
    gi_bench_table(bench, "no columns", columns, 0);
    // What was measured goes before what was known.
    static const char *const known[] = {"ms", "sectors", "times OpenMP", "OpenMP ms", "up GB/s"};
    gi_bench_table(bench, "known", known, 5);
    gi_bench_row(bench, "CPU");
    for (int c = 0; c < 5; c++) gi_bench_number(bench, c == 0 ? NAN : 4);
    assert_int_equal(gi_bench_finish(bench, &err), GI_OK);
    static const int wanted[] = {0, 1, 2, 2, 0, 3};
    for (size_t i = 0; i < 6; i++) assert_int_equal(gi_bench_table_at(bench, i)->bar, wanted[i]);
    gi_bench_close(bench);
}

// Calls out of order do nothing, and what is too much is left out.
static void test_misuse(void **state) {
    (void)state;
    static const char *const columns[] = {"a"};
    gi_bench *bench = open_bench(0, true);
    gi_bench_row(bench, "x");
    gi_bench_number(bench, 1);
    gi_bench_text(bench, "x");
    gi_bench_note(bench, "x");
    gi_bench_missing(bench, "x", "y");
    gi_bench_bar(bench, "x");
    assert_null(gi_bench_table_at(bench, 0));
    gi_bench_table(bench, "t", columns, 1);
    gi_bench_bar(bench, "unknown");
    gi_bench_number(bench, 1);
    gi_bench_row(bench, "r");
    gi_bench_number(bench, 1);
    gi_bench_number(bench, 2);
    gi_bench_text(bench, "three");
    const gi_bench_table_data *table = gi_bench_table_at(bench, 0);
    assert_int_equal(table->bar, 0);
    assert_int_equal(table->rows[0].filled, 1);
    gi_bench_close(bench);
}

static void test_measuring(void **state) {
    (void)state;
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
    assert_true(fabs(gi_bench_median(odd, 3) - 3) < 1e-12);
    assert_true(fabs(gi_bench_median(even, 4) - 2.5) < 1e-12);
    assert_true(fabs(gi_bench_median(one, 1) - 7) < 1e-12);
    gi_error err;
    assert_int_equal(gi_bench_expect(true, "sum", &err), GI_OK);
    assert_int_equal(gi_bench_expect(false, "sum", &err), GI_ERR_FORMAT);
    assert_string_equal(err.text, "sum: the result is wrong");
}

static void count_up(void *context) { ++*(int *)context; }

static void test_repeats(void **state) {
    (void)state;
    gi_bench *bench = open_bench(0, true);
    int runs = 0;
    double ms = gi_bench_cpu_ms(bench, count_up, &runs);
    assert_true(ms >= 0 && runs >= 4 && runs <= 16);
    gi_bench_close(bench);
}

static void test_data(void **state) {
    (void)state;
    enum { COUNT = 10000 };
    static float floats[COUNT], again[COUNT];
    static uint8_t bytes[COUNT];
    double sum = 0, total = 0;
    gi_bench_fill_floats(floats, COUNT, 3);
    gi_bench_fill_floats(again, COUNT, 3);
    gi_bench_fill_bytes(bytes, COUNT, 3);
    assert_memory_equal(floats, again, sizeof floats);
    gi_bench_fill_floats(again, COUNT, 4);
    assert_memory_not_equal(floats, again, sizeof floats);
    for (int i = 0; i < COUNT; i++) {
        assert_true(floats[i] >= -1 && floats[i] < 1);
        sum += floats[i];
        total += bytes[i];
    }
    assert_true(fabs(sum / COUNT) < 0.03);
    assert_true(fabs(total / COUNT - 127.5) < 4);
}

static void test_registry(void **state) {
    (void)state;
    int count = 0;
    for (const gi_demo *d; (d = gi_demo_at(count)) != NULL; count++) {
        assert_ptr_equal(gi_demo_find(d->name), d);
        assert_true(strlen(d->name) <= 11 && strlen(d->summary) <= 100 && *d->lesson && d->run);
        assert_null(strstr("all", d->name));
    }
    assert_true(count > 0 && count <= 60); // cli/bench.c has room for 64 names
    assert_null(gi_demo_at(-1));
    assert_null(gi_demo_find("nothing"));
}

// ---- writing ------------------------------------------------------------------------------------------------------

static void expect_number(double number, const char *wanted) {
    gi_buffer text = {0};
    gi_bench_add_number(&text, number);
    assert_string_equal(text.data, wanted);
    gi_buffer_free(&text);
}

static void test_numbers(void **state) {
    (void)state;
    expect_number(NAN, "-");
    expect_number(0, "0");
    expect_number(256, "256");
    expect_number(1234.5, "1234");
    expect_number(123.46, "123.5");
    expect_number(12.346, "12.35");
    expect_number(1.23456, "1.235");
    expect_number(0.123456, "0.1235");
    expect_number(0.0000123, "1.23e-05");
    expect_number(-1.5, "-1.500");
    expect_number(1234567.5, "1.23e+06");
    expect_number(INFINITY, "inf");
}

static void test_text(void **state) {
    (void)state;
    gi_bench_result result = filled();
    gi_buffer text = {0};
    gi_bench_add_tables(&text, &result, "another reason");
    assert_string_equal(text.data, "\n"
                                   "trial: What it \"shows\".\n"
                                   "\n"
                                   "one, of two\n"
                                   "              ms  times OpenMP   bound\n"
                                   "  OpenMP    1235             1  memory\n"
                                   "  tiled   0.0123             -       -\n"
                                   "  short        -             -       -\n"
                                   "  GPU     not measured: no GPU here\n"
                                   "  n = 7\n"
                                   "\n"
                                   "two\n"
                                   "          ms  GB/s  % of copy  times OpenMP  with copies     error\n"
                                   "  kernel   2     4         50            10            2  1.00e-07\n");
    gi_buffer_free(&text);
    // What the head gave as the reason is not given again.
    gi_bench_add_tables(&text, &result, "no GPU here");
    assert_non_null(strstr(text.data, "  GPU     not measured\n"));
    assert_null(strstr(text.data, "no GPU here"));
    gi_buffer_free(&text);
    close_result(&result);
}

// A column without a cell is not shown, nor the head of a table without columns.
static void test_empty_columns(void **state) {
    (void)state;
    static const char *const columns[] = {"ms", "sectors", "OpenMP ms", "kind"};
    gi_bench_result result = {&demo, open_bench(0, true), GI_OK, {0}};
    gi_buffer text = {0};
    gi_bench_table(result.bench, "copies", columns, 4);
    for (int i = 0; i < 2; i++) {
        gi_bench_row(result.bench, "row");
        gi_bench_number(result.bench, NAN);
        gi_bench_number(result.bench, 4);
        gi_bench_number(result.bench, i ? NAN : 2);
    }
    gi_bench_missing(result.bench, "GPU", "none");
    gi_bench_table(result.bench, "kernels", columns, 4);
    gi_bench_missing(result.bench, "GPU", "none");
    gi_bench_add_tables(&text, &result, "none");
    assert_non_null(strstr(text.data, "copies\n"
                                      "       sectors  OpenMP ms\n"
                                      "  row        4          2\n"
                                      "  row        4          -\n"
                                      "  GPU  not measured\n"
                                      "\n"
                                      "kernels\n"
                                      "  GPU  not measured\n"));
    gi_buffer_free(&text);
    gi_bench_close(result.bench);
}

// Names of columns are broken where the table would be too wide otherwise, all of them as little as that takes.
static void test_heads(void **state) {
    (void)state;
    static const char *const columns[] = {"bound by which", "a name of many words that is long", "ms"};
    static const char *const wide[] = {"a b c d e f g h i j k l m n o p", "unbreakable_name_of_a_column"};
    gi_bench_result result = {&demo, open_bench(0, true), GI_OK, {0}};
    gi_buffer text = {0};
    gi_bench_table(result.bench, "broken", columns, 3);
    gi_bench_row(result.bench, "a label that takes forty columns of them");
    for (int i = 1; i < 4; i++) gi_bench_number(result.bench, i);
    gi_bench_table(result.bench, "too wide", wide, 2);
    gi_bench_row(result.bench, "a label that takes very much more than fifty columns of them");
    for (int i = 1; i < 3; i++) gi_bench_number(result.bench, i);
    gi_bench_add_tables(&text, &result, "");
    assert_non_null(strstr(text.data,
                           "                                            bound by      a name of many\n"
                           "                                               which  words that is long  ms\n"));
    assert_non_null(strstr(text.data, "  unbreakable_name_of_a_column\n"));
    gi_buffer_free(&text);
    gi_bench_close(result.bench);
}

static void test_json(void **state) {
    (void)state;
    gi_bench_result results[2] = {filled(), filled()};
    const gi_bench_about about = {"a CPU", "", "no GPU \"here\"", "", "2026-01-02T03:04:05Z", "1.2", 2, true};
    gi_buffer text = {0};
    gi_error err;
    results[1].status = gi_fail(&results[1].err, GI_ERR_FORMAT, "it went wrong");
    gi_bench_add_json(&text, &about, results, 2);
    gi_json json = gi_json_over(text.data, text.size);
    assert_int_equal(gi_json_skip(&json, &err), GI_OK);
    assert_int_equal(gi_json_end(&json, &err), GI_OK);
    static const char *const parts[] = {
        "{\"schema\":1,\"version\":\"1.2\"",
        "\"gpu\":null,\"no_gpu\":\"no GPU \\\"here\\\"\"",
        "\"quick\":true",
        "\"failed\":null",
        "\"failed\":\"it went wrong\"",
        "{\"label\":\"OpenMP\",\"ms\":1234.568,\"times OpenMP\":1,\"bound\":\"memory\"}",
        "{\"label\":\"tiled\",\"ms\":0.01234568,\"times OpenMP\":null,\"bound\":null}",
        "{\"label\":\"GPU\",\"why\":\"no GPU here\"}",
        "\"bar\":\"times OpenMP\"",
        "\"notes\":[\"n = 7\"]"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(text.data, parts[i])) fail_msg("%s is not in %s", parts[i], text.data);
    gi_buffer_free(&text);
    close_result(&results[0]);
    close_result(&results[1]);
}

static void test_csv(void **state) {
    (void)state;
    gi_bench_result result = filled();
    gi_buffer text = {0};
    gi_bench_add_csv(&text, &result, 1);
    static const char wanted[] = "demo,table,row,column,value\n"
                                 "trial,\"one, of two\",OpenMP,ms,1234.568\n"
                                 "trial,\"one, of two\",OpenMP,times OpenMP,1\n"
                                 "trial,\"one, of two\",OpenMP,bound,memory\n"
                                 "trial,\"one, of two\",tiled,ms,0.01234568\n"
                                 "trial,\"one, of two\",GPU,why,no GPU here\n"
                                 "trial,two,kernel,ms,2\n";
    assert_memory_equal(text.data, wanted, sizeof wanted - 1);
    gi_buffer_free(&text);
    close_result(&result);
}

// The widths of a table's bars, in order.
static int bars_of(const gi_bench_sheet *sheet, const gi_bench_table_data *table, float widths[16]) {
    gi_buffer plot = {0};
    int count = 0;
    gi_bench_add_bars(&plot, sheet, &demo, table);
    for (const gi_plot_item *item = gi_plot_next(&plot, NULL); item; item = gi_plot_next(&plot, item)) {
        const gi_xy *points = gi_plot_points(item);
        for (uint32_t i = 0; i < item->count; i++) {
            assert_true(points[i].x >= 0 && points[i].x <= GI_BENCH_PLOT_WIDTH);
            assert_true(points[i].y >= 0 && points[i].y <= (float)gi_bench_plot_height(sheet, table));
        }
        if (item->kind == GI_PLOT_AREA && item->style.ink == GI_PLOT_BLUE) widths[count++] = points[1].x - points[0].x;
    }
    gi_buffer_free(&plot);
    return count;
}

static const gi_bench_about no_gpu = {"a CPU", "", "none", "", "2026-01-02T03:04:05Z", "1.2", 2, false};

static void test_bars(void **state) {
    (void)state;
    static const char *const columns[] = {"GB/s"};
    static const double ranges[2][3] = {{100, 50, 1}, {100, 1, 0.0001}};
    float widths[16];
    gi_bench *bench = open_bench(0, true);
    const gi_bench_sheet sheet = {&no_gpu, NULL, 0, 200};
    for (int t = 0; t < 2; t++) {
        gi_bench_table(bench, "t", columns, 1);
        for (int r = 0; r < 3; r++) {
            gi_bench_row(bench, "r");
            gi_bench_number(bench, ranges[t][r]);
        }
        gi_bench_row(bench, "nothing");
        gi_bench_missing(bench, "GPU", "none");
        gi_bench_row(bench, "text");
        gi_bench_text(bench, "launch failed");
        assert_int_equal(bars_of(&sheet, gi_bench_table_at(bench, (size_t)t), widths), 3);
        assert_true(widths[0] > widths[1] && widths[1] > widths[2] && widths[2] >= 1);
        // In proportion, or by powers of ten: 100 to 1 is as far as a third of 100 to 0.0001.
        if (t == 0) assert_true(fabsf(widths[0] / widths[1] - 2) < 0.01F);
        if (t == 1) assert_true(fabsf((widths[0] - widths[1]) * 2 - (widths[1] - widths[2])) < 0.1F);
    }
    // The row without a GPU is not drawn; one with a reason of its own is.
    assert_int_equal(gi_bench_plot_height(&sheet, gi_bench_table_at(bench, 0)), 86 + 26 * 5);
    gi_bench_missing(bench, "short", "of memory");
    assert_int_equal(gi_bench_plot_height(&sheet, gi_bench_table_at(bench, 1)), 86 + 26 * 6);
    // Neither rows nor columns, and nothing that was measured.
    gi_bench_table(bench, "empty", columns, 0);
    gi_bench_row(bench, "r");
    gi_bench_table(bench, "missing", columns, 1);
    gi_bench_missing(bench, "short", "of memory");
    for (size_t t = 2; t < 4; t++) assert_int_equal(gi_bench_plot_height(&sheet, gi_bench_table_at(bench, t)), 0);
    gi_bench_close(bench);
}

static gi_status gather(void *context, const void *data, size_t size, gi_error *err) {
    (void)err;
    gi_buffer_add(context, data, size);
    return GI_OK;
}

// Labels are whole, the reason is there once, and only what was measured has bars.
static void test_sheet(void **state) {
    (void)state;
    static const char *const columns[] = {"GB/s"}, *const label = "each of many values, in a row, on the CPU";
    gi_bench_result result = {&demo, open_bench(0, true), GI_OK, {0}};
    gi_bench_about about = no_gpu;
    strcpy(about.no_gpu, "there is not one in this machine");
    for (int t = 0; t < 3; t++) {
        gi_bench_table(result.bench, t == 1 ? "kernels" : "both", columns, 1);
        if (t != 1) {
            gi_bench_row(result.bench, label);
            gi_bench_number(result.bench, 2 + t);
        }
        gi_bench_missing(result.bench, "GPU", about.no_gpu);
    }
    const gi_bench_sheet sheet = gi_bench_sheet_of(&about, &result, 1);
    assert_true(gi_stroke_width(label, 13) <= sheet.left - 34);
    gi_buffer svg = {0}, png = {0};
    gi_error err;
    assert_int_equal(gi_bench_write_svg(&sheet, &(gi_sink){gather, &svg}, &err), GI_OK);
    assert_non_null(strstr(svg.data, "CPU  a CPU, 2 threads"));
    char *reason = strstr(svg.data, about.no_gpu);
    assert_non_null(reason);
    assert_null(strstr(reason + 1, about.no_gpu));
    assert_non_null(strstr(svg.data, label));
    assert_null(strstr(svg.data, "..."));
    assert_null(strstr(svg.data, "kernels"));
    assert_null(strstr(svg.data, "nothing was measured"));
    assert_int_equal(gi_bench_write_png(&sheet, &(gi_sink){gather, &png}, &err), GI_OK);
    assert_true(png.size > 1000);
    gi_buffer_free(&svg);
    gi_buffer_free(&png);
    // The machine alone.
    const gi_bench_sheet empty = gi_bench_sheet_of(&about, &result, 0);
    assert_int_equal(gi_bench_write_svg(&empty, &(gi_sink){gather, &svg}, &err), GI_OK);
    assert_non_null(strstr(svg.data, "nothing was measured"));
    assert_int_equal(gi_bench_write_png(&empty, &(gi_sink){gather, &png}, &err), GI_OK);
    gi_buffer_free(&svg);
    gi_buffer_free(&png);
    gi_bench_close(result.bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),   cmocka_unit_test(test_cells),
        cmocka_unit_test(test_misuse),    cmocka_unit_test(test_column_of_bars),
        cmocka_unit_test(test_measuring), cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_data),      cmocka_unit_test(test_registry),
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_text),
        cmocka_unit_test(test_heads),     cmocka_unit_test(test_json),
        cmocka_unit_test(test_csv),       cmocka_unit_test(test_bars),
        cmocka_unit_test(test_sheet),     cmocka_unit_test(test_empty_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
