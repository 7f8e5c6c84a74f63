// The tables of a demonstration as they are filled.
#include "bench/results.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_internal.h"

static char *copy(gi_bench *bench, const char *text) {
    char *made = strdup(text);
    if (!made) bench->failed = true;
    return made;
}

// One more element, of zeros, at the end of a list; NULL when memory is short.
static void *grow(gi_bench *bench, void **list, size_t *count, size_t bytes) {
    if (bench->failed) return NULL;
    char *larger = realloc(*list, (*count + 1) * bytes);
    if (!larger) {
        bench->failed = true;
        return NULL;
    }
    *list = larger;
    return memset(larger + (*count)++ * bytes, 0, bytes);
}

static gi_bench_table_data *last_table(gi_bench *bench) {
    return bench->table_count && !bench->failed ? &bench->tables[bench->table_count - 1] : NULL;
}

void gi_bench_table(gi_bench *bench, const char *title, const char *const *columns, int count) {
    gi_bench_table_data *table = grow(bench, (void **)&bench->tables, &bench->table_count, sizeof *bench->tables);
    if (!table) return;
    table->title = copy(bench, title);
    table->column_count = count < GI_BENCH_COLUMNS ? count : GI_BENCH_COLUMNS;
    for (int c = 0; c < table->column_count; c++) table->columns[c] = copy(bench, columns[c]);
}

void gi_bench_bar(gi_bench *bench, const char *column) {
    gi_bench_table_data *table = last_table(bench);
    for (int c = 0; table && c < table->column_count; c++)
        if (strcmp(table->columns[c], column) == 0) table->bar = c;
}

static bool has_numbers(const gi_bench_table_data *table, int column) {
    for (size_t r = 0; r < table->row_count; r++) {
        const gi_bench_cell *cell = &table->rows[r].cells[column];
        if (!table->rows[r].why && !cell->text && isfinite(cell->number)) return true;
    }
    return false;
}

// A column of times or rates, such as "OpenMP ms", "us each" or "up GB/s": what it holds was measured.
static bool has_unit(const char *column) {
    static const char *const units[] = {"ms", "us", "ns"};
    for (const char *word = column; *word; word += strspn(word, " ")) {
        const size_t length = strcspn(word, " ");
        if (length > 2 && memcmp(word + length - 2, "/s", 2) == 0) return true;
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
            if (length == 2 && memcmp(word, units[i], 2) == 0) return true;
        word += length;
    }
    return false;
}

// The first column with numbers, of those with a unit or of all; column_count: none.
static int first_with_numbers(const gi_bench_table_data *table, bool unit) {
    int column = 0;
    while (column < table->column_count && !(has_numbers(table, column) && (!unit || has_unit(table->columns[column]))))
        column++;
    return column;
}

void gi_bench_choose_bars(gi_bench *bench) {
    for (size_t i = 0; i < bench->table_count && !bench->failed; i++) {
        gi_bench_table_data *table = &bench->tables[i];
        if (table->column_count == 0 || has_numbers(table, table->bar)) continue;
        int column = first_with_numbers(table, true);
        if (column == table->column_count) column = first_with_numbers(table, false);
        if (column < table->column_count) table->bar = column;
    }
}

static gi_bench_row_data *add_row(gi_bench *bench, const char *label) {
    gi_bench_table_data *table = last_table(bench);
    gi_bench_row_data *row = table ? grow(bench, (void **)&table->rows, &table->row_count, sizeof *table->rows) : NULL;
    if (!row) return NULL;
    row->label = copy(bench, label);
    for (int c = 0; c < GI_BENCH_COLUMNS; c++) row->cells[c].number = NAN;
    return row;
}

void gi_bench_row(gi_bench *bench, const char *label) { (void)add_row(bench, label); }

void gi_bench_missing(gi_bench *bench, const char *label, const char *why) {
    gi_bench_row_data *row = add_row(bench, label);
    if (row) row->why = copy(bench, why);
}

static gi_bench_cell *next_cell(gi_bench *bench) {
    gi_bench_table_data *table = last_table(bench);
    gi_bench_row_data *row = table && table->row_count ? &table->rows[table->row_count - 1] : NULL;
    return row && row->filled < table->column_count ? &row->cells[row->filled++] : NULL;
}

void gi_bench_number(gi_bench *bench, double value) {
    gi_bench_cell *cell = next_cell(bench);
    if (cell) cell->number = value;
}

void gi_bench_text(gi_bench *bench, const char *text) {
    gi_bench_cell *cell = next_cell(bench);
    if (cell) cell->text = copy(bench, text);
}

void gi_bench_note(gi_bench *bench, const char *format, ...) {
    gi_bench_table_data *table = last_table(bench);
    char **note = table ? grow(bench, (void **)&table->notes, &table->note_count, sizeof *table->notes) : NULL;
    if (!note) return;
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    *note = copy(bench, text);
}

const gi_bench_table_data *gi_bench_table_at(const gi_bench *bench, size_t i) {
    return i < bench->table_count ? &bench->tables[i] : NULL;
}

static void free_table(gi_bench_table_data *table) {
    for (size_t r = 0; r < table->row_count; r++) {
        gi_bench_row_data *row = &table->rows[r];
        for (int c = 0; c < row->filled; c++) free(row->cells[c].text);
        free(row->label);
        free(row->why);
    }
    for (size_t i = 0; i < table->note_count; i++) free(table->notes[i]);
    for (int c = 0; c < table->column_count; c++) free(table->columns[c]);
    free(table->title);
    free(table->rows);
    free(table->notes);
}

void gi_bench_free_tables(gi_bench *bench) {
    for (size_t i = 0; i < bench->table_count; i++) free_table(&bench->tables[i]);
    free(bench->tables);
    bench->tables = NULL;
    bench->table_count = 0;
}
