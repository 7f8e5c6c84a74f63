// The tables of demonstrations as text, JSON, CSV and bars.
#ifndef GI_CLI_BENCH_REPORT_H
#define GI_CLI_BENCH_REPORT_H

#include "bench/demo.h"
#include "bench/results.h"
#include "cli/buffer.h"
#include "codec/codec.h"

// Where and how it was measured.
typedef struct gi_bench_about {
    char cpu[128];
    char gpu[128];       // "" where none was used, and
    char no_gpu[480];    // why
    char driver[32];     // ""; unknown
    char date[32];       // UTC, as ISO 8601 has it
    const char *version; // gpuimg's
    int threads;
    bool quick;
} gi_bench_about;

// One demonstration that was run.
typedef struct gi_bench_result {
    const gi_demo *demo;
    gi_bench *bench; // owned by the command
    gi_status status;
    gi_error err;
} gi_bench_result;

// What stands above all tables for people, and one demonstration's tables without their empty columns. Rows do not
// repeat the reason `no_gpu`, which the head gave.
void gi_bench_add_head(gi_buffer *text, const gi_bench_about *about);
void gi_bench_add_tables(gi_buffer *text, const gi_bench_result *result, const char *no_gpu);

// A number as tables have it: four digits that count; "-" for NAN.
void gi_bench_add_number(gi_buffer *text, double number);

// {"schema":1,"version","date","cpu","threads","gpu","no_gpu","driver","quick","demos":[{"name","summary","lesson",
// "failed","tables":[{"title","bar","columns":[...],"rows":[{"label",COLUMN:VALUE,...}],"notes":[...]}]}]}. A row
// without numbers has "why". An empty cell is null; "failed" is null or the reason.
void gi_bench_add_json(gi_buffer *text, const gi_bench_about *about, const gi_bench_result *results, size_t count);

// demo,table,row,column,value: a line for each cell that is not empty; of a row without numbers one, for column "why".
void gi_bench_add_csv(gi_buffer *text, const gi_bench_result *results, size_t count);

// What the bars of several tables share.
typedef struct gi_bench_sheet {
    const gi_bench_about *about;
    const gi_bench_result *results;
    size_t count;
    float left; // where bars begin, behind the longest label
} gi_bench_sheet;

// Lays the bars of a table out as a plot (plot.h), GI_BENCH_PLOT_WIDTH wide and gi_bench_plot_height high. Rows that
// there is no GPU for are left out. Height 0: nothing of the table was measured, there is nothing to draw.
enum { GI_BENCH_PLOT_WIDTH = 900 };
gi_bench_sheet gi_bench_sheet_of(const gi_bench_about *about, const gi_bench_result *results, size_t count);
uint32_t gi_bench_plot_height(const gi_bench_sheet *sheet, const gi_bench_table_data *table);
void gi_bench_add_bars(gi_buffer *plot, const gi_bench_sheet *sheet, const gi_demo *demo,
                       const gi_bench_table_data *table);

// Writes the machine's description and the bars of all tables, one below the other. GI_ERR_LIMIT: more than a PNG's
// viewers show.
gi_status gi_bench_write_svg(const gi_bench_sheet *sheet, const gi_sink *sink, gi_error *err);
gi_status gi_bench_write_png(const gi_bench_sheet *sheet, const gi_sink *sink, gi_error *err);

#endif
