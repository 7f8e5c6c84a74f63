// Tables of demonstrations for programs.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench_report.h"
#include "cli/json.h"

// ---- JSON ---------------------------------------------------------------------------------------------------------

// A member whose value follows.
static void add_key(gi_buffer *text, const char *key) {
    gi_json_add_string(text, key);
    gi_buffer_puts(text, ":");
}

// A string, or null for "" and NULL.
static void add_member(gi_buffer *text, const char *key, const char *value) {
    add_key(text, key);
    if (value && *value)
        gi_json_add_string(text, value);
    else
        gi_buffer_puts(text, "null");
    gi_buffer_puts(text, ",");
}

static void add_value(gi_buffer *text, const gi_bench_cell *cell) {
    if (cell->text)
        gi_json_add_string(text, cell->text);
    else if (isfinite(cell->number))
        gi_buffer_printf(text, "%.7g", cell->number);
    else
        gi_buffer_puts(text, "null");
}

static void add_row(gi_buffer *text, const gi_bench_table_data *table, const gi_bench_row_data *row) {
    gi_buffer_puts(text, "{\"label\":");
    gi_json_add_string(text, row->label);
    for (int c = 0; !row->why && c < table->column_count; c++) {
        gi_buffer_puts(text, ",");
        add_key(text, table->columns[c]);
        add_value(text, &row->cells[c]);
    }
    if (row->why) {
        gi_buffer_puts(text, ",\"why\":");
        gi_json_add_string(text, row->why);
    }
    gi_buffer_puts(text, "}");
}

static void add_strings(gi_buffer *text, char *const *strings, size_t count) {
    gi_buffer_puts(text, "[");
    for (size_t i = 0; i < count; i++) {
        if (i) gi_buffer_puts(text, ",");
        gi_json_add_string(text, strings[i]);
    }
    gi_buffer_puts(text, "]");
}

static void add_table(gi_buffer *text, const gi_bench_table_data *table) {
    gi_buffer_puts(text, "\n   {");
    add_member(text, "title", table->title);
    add_member(text, "bar", table->column_count ? table->columns[table->bar] : NULL);
    add_key(text, "columns");
    add_strings(text, table->columns, (size_t)table->column_count);
    gi_buffer_puts(text, ",\"rows\":[");
    for (size_t r = 0; r < table->row_count; r++) {
        gi_buffer_puts(text, r ? ",\n    " : "\n    ");
        add_row(text, table, &table->rows[r]);
    }
    gi_buffer_puts(text, "],\"notes\":");
    add_strings(text, table->notes, table->note_count);
    gi_buffer_puts(text, "}");
}

static void add_demo(gi_buffer *text, const gi_bench_result *result) {
    const gi_bench_table_data *table;
    gi_buffer_puts(text, "\n  {");
    add_member(text, "name", result->demo->name);
    add_member(text, "summary", result->demo->summary);
    add_member(text, "lesson", result->demo->lesson);
    add_member(text, "failed", result->status == GI_OK ? NULL : result->err.text);
    gi_buffer_puts(text, "\"tables\":[");
    for (size_t i = 0; (table = gi_bench_table_at(result->bench, i)) != NULL; i++) {
        if (i) gi_buffer_puts(text, ",");
        add_table(text, table);
    }
    gi_buffer_puts(text, "]}");
}

void gi_bench_add_json(gi_buffer *text, const gi_bench_about *about, const gi_bench_result *results, size_t count) {
    gi_buffer_puts(text, "{\"schema\":1,");
    add_member(text, "version", about->version);
    add_member(text, "date", about->date);
    add_member(text, "cpu", about->cpu);
    gi_buffer_printf(text, "\"threads\":%d,", about->threads);
    add_member(text, "gpu", about->gpu);
    add_member(text, "no_gpu", about->no_gpu);
    add_member(text, "driver", about->driver);
    gi_buffer_printf(text, "\"quick\":%s,\"demos\":[", about->quick ? "true" : "false");
    for (size_t i = 0; i < count; i++) {
        if (i) gi_buffer_puts(text, ",");
        add_demo(text, &results[i]);
    }
    gi_buffer_puts(text, "]}\n");
}

// ---- CSV ----------------------------------------------------------------------------------------------------------

static void add_field(gi_buffer *text, const char *field) {
    const bool quoted = strpbrk(field, ",\"\r\n") != NULL;
    if (quoted) gi_buffer_puts(text, "\"");
    for (; *field; field++) {
        if (*field == '"') gi_buffer_puts(text, "\"");
        gi_buffer_add(text, field, 1);
    }
    if (quoted) gi_buffer_puts(text, "\"");
}

static void add_line(gi_buffer *text, const char *const fields[4], const gi_bench_cell *cell) {
    for (int i = 0; i < 4; i++) {
        add_field(text, fields[i]);
        gi_buffer_puts(text, ",");
    }
    if (cell->text)
        add_field(text, cell->text);
    else
        gi_buffer_printf(text, "%.7g", cell->number);
    gi_buffer_puts(text, "\n");
}

static void add_lines(gi_buffer *text, const gi_demo *demo, const gi_bench_table_data *table) {
    for (size_t r = 0; r < table->row_count; r++) {
        const gi_bench_row_data *row = &table->rows[r];
        const gi_bench_cell why = {row->why, NAN};
        const char *fields[4] = {demo->name, table->title, row->label, "why"};
        if (row->why) add_line(text, fields, &why);
        for (int c = 0; !row->why && c < table->column_count; c++) {
            fields[3] = table->columns[c];
            if (row->cells[c].text || isfinite(row->cells[c].number)) add_line(text, fields, &row->cells[c]);
        }
    }
}

void gi_bench_add_csv(gi_buffer *text, const gi_bench_result *results, size_t count) {
    const gi_bench_table_data *table;
    gi_buffer_puts(text, "demo,table,row,column,value\n");
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; (table = gi_bench_table_at(results[i].bench, t)) != NULL; t++)
            add_lines(text, results[i].demo, table);
}
