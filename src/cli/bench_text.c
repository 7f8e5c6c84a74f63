// Tables of demonstrations for people.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_report.h"
#include "core/text.h"

enum { WIDTH = 80, INDENT = 2, GAP = 2, HEAD_LINES = 4, HIDDEN = -GAP };

void gi_bench_add_number(gi_buffer *text, double number) {
    double size = fabs(number);
    if (isnan(number))
        gi_buffer_puts(text, "-");
    else if (size < 1e15 && !(size > floor(size)))
        gi_buffer_printf(text, "%.0f", number);
    else if (size >= 1e6 || size < 1e-3)
        gi_buffer_printf(text, "%.2e", number);
    else
        gi_buffer_printf(text, "%.*f", size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4, number);
}

static void add_cell(gi_buffer *text, const gi_bench_cell *cell) {
    if (cell->text)
        gi_buffer_puts(text, cell->text);
    else
        gi_bench_add_number(text, cell->number);
}

static int cell_width(const gi_bench_cell *cell) {
    gi_buffer text = {0};
    add_cell(&text, cell);
    int width = (int)text.size;
    gi_buffer_free(&text);
    return width;
}

// How much of a column's name goes into a line of `width` columns: whole words, at least one.
static size_t line_of(const char *name, size_t width) {
    size_t length = 0;
    for (const char *p = name; *p;) {
        size_t word = (size_t)(p - name) + strcspn(p, " ");
        if (length && word > width) break;
        length = word;
        p = name + word + strspn(name + word, " ");
    }
    return length;
}

static int count_lines(const char *name, size_t width) {
    int lines = 0;
    for (; *name; lines++) {
        name += line_of(name, width);
        name += strspn(name, " ");
    }
    return lines;
}

// The least width at which the name takes so many lines, or fewer; where it has not as many words, the longest word's.
static int width_for(const char *name, int lines) {
    size_t width = 0, whole = strlen(name);
    for (const char *p = name; *p; p += strspn(p, " ")) {
        size_t word = strcspn(p, " ");
        if (word > width) width = word;
        p += word;
    }
    while (width < whole && count_lines(name, width) > lines) width++;
    return (int)width;
}

static bool is_empty(const gi_bench_table_data *table, int c) {
    for (size_t r = 0; r < table->row_count; r++) {
        const gi_bench_cell *cell = &table->rows[r].cells[c];
        if (!table->rows[r].why && (cell->text || !isnan(cell->number))) return false;
    }
    return true;
}

// As wide as the widest cell, and as the name in so many lines; HIDDEN: there is nothing in it.
static int column_width(const gi_bench_table_data *table, int c, int lines) {
    int width = width_for(table->columns[c], lines);
    if (is_empty(table, c)) return HIDDEN;
    for (size_t r = 0; r < table->row_count; r++) {
        int wide = table->rows[r].why ? 0 : cell_width(&table->rows[r].cells[c]);
        if (wide > width) width = wide;
    }
    return width;
}

// With the fewest lines of names that fit.
static void choose_widths(const gi_bench_table_data *table, int label, int *widths) {
    int total = WIDTH + 1;
    for (int lines = 1; lines <= HEAD_LINES && total > WIDTH; lines++) {
        total = INDENT + label;
        for (int c = 0; c < table->column_count; c++) total += GAP + (widths[c] = column_width(table, c, lines));
    }
}

static int label_width(const gi_bench_table_data *table) {
    size_t width = 0;
    for (size_t r = 0; r < table->row_count; r++) {
        size_t length = strlen(table->rows[r].label);
        if (length > width) width = length;
    }
    return (int)width;
}

// The names of the columns, broken into lines from below.
static void add_head(gi_buffer *text, const gi_bench_table_data *table, int label, const int *widths) {
    const char *starts[GI_BENCH_COLUMNS][HEAD_LINES];
    size_t lengths[GI_BENCH_COLUMNS][HEAD_LINES];
    int counts[GI_BENCH_COLUMNS], most = 0;
    for (int c = 0; c < table->column_count; c++) {
        const char *p = widths[c] == HIDDEN ? "" : table->columns[c];
        for (counts[c] = 0; *p && counts[c] < HEAD_LINES; counts[c]++) {
            size_t length = line_of(p, (size_t)widths[c]);
            starts[c][counts[c]] = p;
            lengths[c][counts[c]] = length;
            p += length + strspn(p + length, " ");
        }
        if (counts[c] > most) most = counts[c];
    }
    for (int line = 0; line < most; line++) {
        size_t begin = text->size;
        gi_buffer_printf(text, "%*s", INDENT + label, "");
        for (int c = 0; c < table->column_count; c++) {
            int at = line - (most - counts[c]);
            size_t length = at < 0 ? 0 : lengths[c][at];
            gi_buffer_printf(text, "%*s%.*s", GAP + widths[c] - (int)length, "", (int)length,
                             at < 0 ? "" : starts[c][at]);
        }
        while (!text->failed && text->size > begin && text->data[text->size - 1] == ' ') text->size--;
        gi_buffer_puts(text, "\n");
    }
}

static void add_why(gi_buffer *text, const char *why, int label, const char *no_gpu) {
    gi_buffer_puts(text, "  not measured");
    if (strcmp(why, no_gpu) == 0) return;
    gi_buffer_puts(text, ": ");
    gi_buffer_wrap(text, why, INDENT + label + 16, INDENT + label + 2, WIDTH);
}

static void add_row(gi_buffer *text, const gi_bench_table_data *table, const gi_bench_row_data *row, int label,
                    const int *widths) {
    gi_buffer_printf(text, "%*s%-*s", INDENT, "", label, row->label);
    for (int c = 0; !row->why && c < table->column_count; c++) {
        if (widths[c] == HIDDEN) continue;
        gi_buffer_printf(text, "%*s", GAP + widths[c] - cell_width(&row->cells[c]), "");
        add_cell(text, &row->cells[c]);
    }
}

static void add_table(gi_buffer *text, const gi_bench_table_data *table, const char *no_gpu) {
    int widths[GI_BENCH_COLUMNS], label = label_width(table);
    choose_widths(table, label, widths);
    gi_buffer_printf(text, "\n%s\n", table->title);
    add_head(text, table, label, widths);
    for (size_t r = 0; r < table->row_count; r++) {
        add_row(text, table, &table->rows[r], label, widths);
        if (table->rows[r].why) add_why(text, table->rows[r].why, label, no_gpu);
        gi_buffer_puts(text, "\n");
    }
    for (size_t i = 0; i < table->note_count; i++) {
        gi_buffer_printf(text, "%*s", INDENT, "");
        gi_buffer_wrap(text, table->notes[i], INDENT, INDENT, WIDTH);
        gi_buffer_puts(text, "\n");
    }
}

void gi_bench_add_head(gi_buffer *text, const gi_bench_about *about) {
    gi_buffer_printf(text, "CPU  %s, %d thread%s\n", about->cpu, about->threads, gi_plural((unsigned)about->threads));
    if (*about->gpu) {
        gi_buffer_printf(text, "GPU  %s%s%s\n", about->gpu, *about->driver ? ", driver " : "", about->driver);
    } else {
        gi_buffer_puts(text, "GPU  none used: ");
        gi_buffer_wrap(text, about->no_gpu, 16, 5, WIDTH);
        gi_buffer_puts(text, "\n");
    }
    if (about->quick) gi_buffer_puts(text, "--quick: small sizes and few runs; the times say little\n");
}

void gi_bench_add_tables(gi_buffer *text, const gi_bench_result *result, const char *no_gpu) {
    const gi_bench_table_data *table;
    gi_buffer_printf(text, "\n%s: ", result->demo->name);
    gi_buffer_wrap(text, result->demo->lesson, (int)strlen(result->demo->name) + 2, 0, WIDTH);
    gi_buffer_puts(text, "\n");
    for (size_t i = 0; (table = gi_bench_table_at(result->bench, i)) != NULL; i++) add_table(text, table, no_gpu);
}
