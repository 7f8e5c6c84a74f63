// Tables of demonstrations as bars.
#include <math.h>
#include <string.h>

#include "cli/bench_report.h"
#include "cli/canvas.h"
#include "cli/plot.h"
#include "cli/plot_paint.h"
#include "cli/report_svg.h"

enum { HEAD = 66, ROW = 26, BAR = 16, FOOT = 20, LEFT = 250, RIGHT = 790, MOST_ROWS = 32767 };

// Beyond that the shortest bar would not be seen.
static const double linear_range = 300;

// From a number to the length of its bar.
typedef struct scale {
    double least, most; // of the numbers above 0; most 0: there is none
    bool logarithmic;
} scale;

static double number_of(const gi_bench_table_data *table, size_t r) {
    const gi_bench_row_data *row = &table->rows[r];
    return row->why || table->column_count == 0 || row->cells[table->bar].text ? NAN : row->cells[table->bar].number;
}

static scale scale_of(const gi_bench_table_data *table) {
    scale s = {INFINITY, 0, false};
    for (size_t r = 0; r < table->row_count; r++) {
        double number = number_of(table, r);
        if (!(number > 0) || !isfinite(number)) continue;
        if (number < s.least) s.least = number;
        if (number > s.most) s.most = number;
    }
    s.logarithmic = s.most > linear_range * s.least;
    // The shortest bar has a length, too.
    if (s.logarithmic) s.least = pow(10, floor(log10(s.least) - 0.05));
    return s;
}

static float length_of(const scale *s, double number) {
    if (!(number > 0) || !isfinite(number)) return 0;
    double share = s->logarithmic ? log(number / s->least) / log(s->most / s->least) : number / s->most;
    return (float)(share * (RIGHT - LEFT));
}

uint32_t gi_bench_plot_height(const gi_bench_table_data *table) {
    return HEAD + ROW * (uint32_t)table->row_count + FOOT;
}

static void add_box(gi_buffer *plot, gi_plot_ink ink, gi_xy from, gi_xy to) {
    const gi_xy points[4] = {from, {to.x, from.y}, to, {from.x, to.y}};
    gi_plot_add_shape(plot, GI_PLOT_AREA, (gi_plot_style){.ink = ink, .opacity = 1}, points, 4);
}

// "ms", or "OpenMP ms".
static bool is_time(const char *column) {
    const size_t length = strlen(column);
    return length >= 2 && strcmp(column + length - 2, "ms") == 0 && (length == 2 || column[length - 3] == ' ');
}

static void add_title(gi_buffer *plot, const gi_demo *demo, const gi_bench_table_data *table, bool logarithmic) {
    const gi_plot_style bold = {.ink = GI_PLOT_INK, .size = 17, .bold = true, .room = GI_BENCH_PLOT_WIDTH - 48};
    const gi_plot_style muted = {.ink = GI_PLOT_MUTED, .size = 13, .room = GI_BENCH_PLOT_WIDTH - 48};
    const char *column = table->column_count ? table->columns[table->bar] : "";
    gi_buffer text = {0};
    gi_buffer_printf(&text, "%s: %s", demo->name, table->title);
    if (!text.failed) gi_plot_add_text(plot, bold, (gi_xy){24, 30}, text.data);
    gi_buffer_free(&text);
    gi_buffer_printf(&text, "%s%s%s", column, is_time(column) ? ": shorter is faster" : "",
                     logarithmic ? " (logarithmic scale)" : "");
    if (!text.failed) gi_plot_add_text(plot, muted, (gi_xy){24, 50}, text.data);
    gi_buffer_free(&text);
}

static void add_bar(gi_buffer *plot, const gi_bench_table_data *table, size_t r, const scale *s) {
    const gi_plot_style label = {.ink = GI_PLOT_INK, .size = 13, .anchor = GI_PLOT_END, .room = LEFT - 34};
    const gi_plot_style value = {.ink = GI_PLOT_MUTED, .size = 13, .room = GI_BENCH_PLOT_WIDTH - RIGHT - 14};
    const gi_plot_style reason = {.ink = GI_PLOT_MUTED, .size = 13, .room = GI_BENCH_PLOT_WIDTH - LEFT - 30};
    const gi_bench_row_data *row = &table->rows[r];
    const double number = number_of(table, r);
    float y = (float)(HEAD + ROW * (int)r), length = length_of(s, number), base = y + 17;
    gi_plot_add_text(plot, label, (gi_xy){LEFT - 10, base}, row->label);
    if (length > 0) {
        // A hair of a bar is still one.
        float end = LEFT + (length > 1 ? length : 1);
        add_box(plot, GI_PLOT_BLUE, (gi_xy){LEFT, y + 4}, (gi_xy){end, y + 4 + BAR});
    }
    gi_buffer text = {0};
    if (row->why)
        gi_buffer_printf(&text, "not measured: %s", row->why);
    else if (table->column_count && row->cells[table->bar].text)
        gi_buffer_puts(&text, row->cells[table->bar].text);
    else
        gi_bench_add_number(&text, number);
    const bool words = row->why || length <= 0;
    if (!text.failed) gi_plot_add_text(plot, words ? reason : value, (gi_xy){LEFT + length + 8, base}, text.data);
    gi_buffer_free(&text);
}

void gi_bench_add_bars(gi_buffer *plot, const gi_demo *demo, const gi_bench_table_data *table) {
    const scale s = scale_of(table);
    const float height = (float)gi_bench_plot_height(table);
    const gi_xy axis[2] = {{LEFT, HEAD - 2}, {LEFT, height - FOOT + 2}};
    add_box(plot, GI_PLOT_PAPER, (gi_xy){0, 0}, (gi_xy){GI_BENCH_PLOT_WIDTH, height});
    add_title(plot, demo, table, s.logarithmic);
    for (size_t r = 0; r < table->row_count; r++) add_bar(plot, table, r, &s);
    gi_plot_add_shape(plot, GI_PLOT_LINE, (gi_plot_style){.ink = GI_PLOT_AXIS, .size = 1}, axis, 2);
}

// ---- files --------------------------------------------------------------------------------------------------------

static uint32_t whole_height(const gi_bench_result *results, size_t count) {
    const gi_bench_table_data *table;
    uint32_t height = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; (table = gi_bench_table_at(results[i].bench, t)) != NULL; t++)
            height += gi_bench_plot_height(table);
    return height ? height : 1;
}

gi_status gi_bench_write_svg(const gi_bench_result *results, size_t count, const gi_sink *sink, gi_error *err) {
    const gi_bench_table_data *table;
    const uint32_t height = whole_height(results, count);
    uint32_t y = 0;
    gi_buffer svg = {0};
    gi_buffer_printf(&svg,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
                     "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>gpuimg bench</title>\n",
                     GI_BENCH_PLOT_WIDTH, height, GI_BENCH_PLOT_WIDTH, height);
    for (size_t i = 0; i < count; i++) {
        for (size_t t = 0; (table = gi_bench_table_at(results[i].bench, t)) != NULL; t++) {
            gi_buffer plot = {0};
            gi_bench_add_bars(&plot, results[i].demo, table);
            gi_buffer_printf(&svg, "<g transform=\"translate(0 %u)\">\n", y);
            gi_svg_add_plot(&svg, &plot);
            gi_buffer_puts(&svg, "</g>\n");
            gi_buffer_free(&plot);
            y += gi_bench_plot_height(table);
        }
    }
    gi_buffer_puts(&svg, "</svg>\n");
    gi_status status =
        svg.failed ? gi_fail(err, GI_ERR_MEMORY, "out of memory") : sink->write(sink->context, svg.data, svg.size, err);
    gi_buffer_free(&svg);
    return status;
}

// The rows of one table.
static gi_status encode(gi_encoder *encoder, const gi_demo *demo, const gi_bench_table_data *table, gi_error *err) {
    gi_buffer plot = {0};
    gi_canvas canvas = {0};
    const gi_shape shape = {GI_BENCH_PLOT_WIDTH, gi_bench_plot_height(table), 3, GI_U8};
    gi_status status = gi_canvas_init(&canvas, shape.width, shape.height, err);
    gi_bench_add_bars(&plot, demo, table);
    if (status == GI_OK && plot.failed) status = gi_fail(err, GI_ERR_MEMORY, "out of memory");
    if (status == GI_OK) {
        gi_plot_paint(&canvas, &plot);
        gi_view rows = gi_view_packed(canvas.pixels, shape, GI_HOST);
        status = gi_encoder_rows(encoder, &rows, err);
    }
    gi_canvas_free(&canvas);
    gi_buffer_free(&plot);
    return status;
}

gi_status gi_bench_write_png(const gi_bench_result *results, size_t count, const gi_sink *sink, gi_error *err) {
    const gi_bench_table_data *table;
    const gi_shape shape = {GI_BENCH_PLOT_WIDTH, whole_height(results, count), 3, GI_U8};
    const gi_encode_options options = {.format = GI_FORMAT_PNG, .png_level = GI_PNG_LEVEL};
    gi_encoder *encoder = NULL;
    if (shape.height > MOST_ROWS)
        return gi_fail(err, GI_ERR_LIMIT, "%u rows are more than viewers of PNG show: draw an SVG", shape.height);
    if (shape.height == 1) return gi_fail(err, GI_ERR_FORMAT, "there is no table to draw");
    gi_status status = gi_encoder_open(shape, &options, sink, &encoder, err);
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; status == GI_OK && (table = gi_bench_table_at(results[i].bench, t)) != NULL; t++)
            status = encode(encoder, results[i].demo, table, err);
    if (status == GI_OK) status = gi_encoder_finish(encoder, err);
    gi_encoder_close(encoder);
    return status;
}
