// Tables of demonstrations as bars.
#include <math.h>
#include <string.h>

#include "cli/bench_report.h"
#include "cli/canvas.h"
#include "cli/plot.h"
#include "cli/plot_paint.h"
#include "cli/report_svg.h"

enum { HEAD = 66, ROW = 26, BAR = 16, FOOT = 20, RIGHT = 790, MOST_ROWS = 32767 };
enum { LEAST_LEFT = 130, MOST_LEFT = 440, TITLE = 34, LINE = 18, LETTERS = 13, BESIDE = 34 };

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

static float length_of(const gi_bench_sheet *sheet, const scale *s, double number) {
    if (!(number > 0) || !isfinite(number)) return 0;
    double share = s->logarithmic ? log(number / s->least) / log(s->most / s->least) : number / s->most;
    return (float)share * (RIGHT - sheet->left);
}

// The head says once why there is no GPU.
static bool is_drawn(const gi_bench_sheet *sheet, const gi_bench_row_data *row) {
    return !row->why || strcmp(row->why, sheet->about->no_gpu) != 0;
}

uint32_t gi_bench_plot_height(const gi_bench_sheet *sheet, const gi_bench_table_data *table) {
    uint32_t rows = 0;
    for (size_t r = 0; r < table->row_count; r++) rows += is_drawn(sheet, &table->rows[r]);
    return scale_of(table).most > 0 ? HEAD + ROW * rows + FOOT : 0;
}

gi_bench_sheet gi_bench_sheet_of(const gi_bench_about *about, const gi_bench_result *results, size_t count) {
    gi_bench_sheet sheet = {about, results, count, LEAST_LEFT};
    const gi_bench_table_data *table;
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; (table = gi_bench_table_at(results[i].bench, t)) != NULL; t++)
            for (size_t r = 0; gi_bench_plot_height(&sheet, table) && r < table->row_count; r++) {
                const float left = gi_plot_text_width(table->rows[r].label, LETTERS) + BESIDE + 2;
                if (is_drawn(&sheet, &table->rows[r]) && left > sheet.left) sheet.left = left;
            }
    if (sheet.left > MOST_LEFT) sheet.left = MOST_LEFT;
    return sheet;
}

// "ms", or "OpenMP us".
static bool is_time(const char *column) {
    const size_t length = strlen(column);
    const char *unit = length >= 2 ? column + length - 2 : "";
    return (strcmp(unit, "ms") == 0 || strcmp(unit, "us") == 0) && (length == 2 || column[length - 3] == ' ');
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

static void add_bar(gi_buffer *plot, const gi_bench_sheet *sheet, const gi_bench_table_data *table, size_t r, float y,
                    const scale *s) {
    const float left = sheet->left, wide = GI_BENCH_PLOT_WIDTH;
    const gi_plot_style label = {.ink = GI_PLOT_INK, .size = LETTERS, .anchor = GI_PLOT_END, .room = left - BESIDE};
    const gi_plot_style value = {.ink = GI_PLOT_MUTED, .size = LETTERS, .room = wide - RIGHT - 14};
    const gi_plot_style reason = {.ink = GI_PLOT_MUTED, .size = LETTERS, .room = wide - left - 30};
    const gi_bench_row_data *row = &table->rows[r];
    const double number = number_of(table, r);
    const float length = length_of(sheet, s, number), base = y + 17;
    gi_plot_add_text(plot, label, (gi_xy){left - 10, base}, row->label);
    if (length > 0) {
        // A hair of a bar is still one.
        float end = left + (length > 1 ? length : 1);
        gi_plot_add_box(plot, GI_PLOT_BLUE, (gi_xy){left, y + 4}, (gi_xy){end, y + 4 + BAR});
    }
    gi_buffer text = {0};
    if (row->why)
        gi_buffer_printf(&text, "not measured: %s", row->why);
    else if (table->column_count && row->cells[table->bar].text)
        gi_buffer_puts(&text, row->cells[table->bar].text);
    else
        gi_bench_add_number(&text, number);
    const bool words = row->why || length <= 0;
    if (!text.failed) gi_plot_add_text(plot, words ? reason : value, (gi_xy){left + length + 8, base}, text.data);
    gi_buffer_free(&text);
}

void gi_bench_add_bars(gi_buffer *plot, const gi_bench_sheet *sheet, const gi_demo *demo,
                       const gi_bench_table_data *table) {
    const scale s = scale_of(table);
    const float height = (float)gi_bench_plot_height(sheet, table);
    const gi_xy axis[2] = {{sheet->left, HEAD - 2}, {sheet->left, height - FOOT + 2}};
    float y = HEAD;
    gi_plot_add_box(plot, GI_PLOT_PAPER, (gi_xy){0, 0}, (gi_xy){GI_BENCH_PLOT_WIDTH, height});
    add_title(plot, demo, table, s.logarithmic);
    for (size_t r = 0; r < table->row_count; r++) {
        if (!is_drawn(sheet, &table->rows[r])) continue;
        add_bar(plot, sheet, table, r, y, &s);
        y += ROW;
    }
    gi_plot_add_shape(plot, GI_PLOT_LINE, (gi_plot_style){.ink = GI_PLOT_AXIS, .size = 1}, axis, 2);
}

// ---- all of them --------------------------------------------------------------------------------------------------

// One of what is drawn one below the other: the head, then each table of which something was measured.
typedef struct block {
    size_t result, next; // where to look for the next one
    const gi_demo *demo;
    const gi_bench_table_data *table; // NULL: the head
    uint32_t height;
} block;

static bool next_block(const gi_bench_sheet *sheet, block *b) {
    while (b->result < sheet->count) {
        b->demo = sheet->results[b->result].demo;
        b->table = gi_bench_table_at(sheet->results[b->result].bench, b->next++);
        b->height = b->table ? gi_bench_plot_height(sheet, b->table) : 0;
        if (b->height) return true;
        if (b->table) continue;
        b->result++;
        b->next = 0;
    }
    return false;
}

// The machine, in the words that text reports begin with.
static void add_head(gi_buffer *plot, const gi_bench_sheet *sheet, uint32_t *height) {
    const gi_plot_style muted = {.ink = GI_PLOT_MUTED, .size = LETTERS, .room = GI_BENCH_PLOT_WIDTH - 48};
    block any = {.height = 0};
    gi_buffer text = {0}, texts = {0};
    float y = TITLE;
    gi_bench_add_head(&text, sheet->about);
    if (!next_block(sheet, &any)) gi_buffer_puts(&text, "nothing was measured\n");
    char *rest = text.failed ? NULL : text.data;
    for (char *line; rest && (line = strsep(&rest, "\n")) != NULL && *line; y += LINE)
        gi_plot_add_text(&texts, muted, (gi_xy){24, y}, line);
    gi_plot_add_box(plot, GI_PLOT_PAPER, (gi_xy){0, 0}, (gi_xy){GI_BENCH_PLOT_WIDTH, y});
    gi_buffer_add(plot, texts.data, texts.size);
    plot->failed = plot->failed || text.failed || texts.failed;
    *height = (uint32_t)y;
    gi_buffer_free(&text);
    gi_buffer_free(&texts);
}

static block first_block(const gi_bench_sheet *sheet) {
    block b = {.table = NULL};
    gi_buffer plot = {0};
    add_head(&plot, sheet, &b.height);
    gi_buffer_free(&plot);
    return b;
}

static void add_block(gi_buffer *plot, const gi_bench_sheet *sheet, const block *b) {
    uint32_t height;
    if (b->table)
        gi_bench_add_bars(plot, sheet, b->demo, b->table);
    else
        add_head(plot, sheet, &height);
}

static uint32_t whole_height(const gi_bench_sheet *sheet) {
    block b = first_block(sheet);
    uint32_t height = 0;
    do height += b.height;
    while (next_block(sheet, &b));
    return height;
}

gi_status gi_bench_write_svg(const gi_bench_sheet *sheet, const gi_sink *sink, gi_error *err) {
    const uint32_t height = whole_height(sheet);
    block b = first_block(sheet);
    uint32_t y = 0;
    gi_buffer svg = {0};
    gi_buffer_printf(&svg,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
                     "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>gpuimg bench</title>\n",
                     GI_BENCH_PLOT_WIDTH, height, GI_BENCH_PLOT_WIDTH, height);
    do {
        gi_buffer plot = {0};
        add_block(&plot, sheet, &b);
        gi_buffer_printf(&svg, "<g transform=\"translate(0 %u)\">\n", y);
        gi_svg_add_plot(&svg, &plot);
        gi_buffer_puts(&svg, "</g>\n");
        gi_buffer_free(&plot);
        y += b.height;
    } while (next_block(sheet, &b));
    gi_buffer_puts(&svg, "</svg>\n");
    gi_status status =
        svg.failed ? gi_fail(err, GI_ERR_MEMORY, "out of memory") : sink->write(sink->context, svg.data, svg.size, err);
    gi_buffer_free(&svg);
    return status;
}

// The rows of one block.
static gi_status encode(gi_encoder *encoder, const gi_bench_sheet *sheet, const block *b, gi_error *err) {
    gi_buffer plot = {0};
    gi_canvas canvas = {0};
    const gi_shape shape = {GI_BENCH_PLOT_WIDTH, b->height, 3, GI_U8};
    gi_status status = gi_canvas_init(&canvas, shape.width, shape.height, err);
    add_block(&plot, sheet, b);
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

gi_status gi_bench_write_png(const gi_bench_sheet *sheet, const gi_sink *sink, gi_error *err) {
    const gi_shape shape = {GI_BENCH_PLOT_WIDTH, whole_height(sheet), 3, GI_U8};
    const gi_encode_options options = {.format = GI_FORMAT_PNG, .png_level = GI_PNG_LEVEL};
    block b = first_block(sheet);
    gi_encoder *encoder = NULL;
    if (shape.height > MOST_ROWS)
        return gi_fail(err, GI_ERR_LIMIT, "%u rows are more than viewers of PNG show: draw an SVG", shape.height);
    gi_status status = gi_encoder_open(shape, &options, sink, &encoder, err);
    do
        if (status == GI_OK) status = encode(encoder, sheet, &b, err);
    while (next_block(sheet, &b));
    if (status == GI_OK) status = gi_encoder_finish(encoder, err);
    gi_encoder_close(encoder);
    return status;
}
