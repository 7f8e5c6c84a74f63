// The tables that a demonstration has filled, for those who write them down.
#ifndef GI_BENCH_RESULTS_H
#define GI_BENCH_RESULTS_H

#include "bench/bench.h"

typedef struct gi_bench_cell {
    char *text;    // NULL: a number
    double number; // NAN: nothing
} gi_bench_cell;

typedef struct gi_bench_row_data {
    char *label;
    char *why; // stands in the place of the cells; NULL: they are there
    gi_bench_cell cells[GI_BENCH_COLUMNS];
    int filled; // the cells that were given; the others are empty
} gi_bench_row_data;

typedef struct gi_bench_table_data {
    char *title;
    char *columns[GI_BENCH_COLUMNS];
    int column_count;
    int bar; // the column of the bars; gi_bench_finish sees to it that it has numbers where any has
    gi_bench_row_data *rows;
    size_t row_count;
    char **notes;
    size_t note_count;
} gi_bench_table_data;

// Table i, NULL past the last.
const gi_bench_table_data *gi_bench_table_at(const gi_bench *bench, size_t i);

#endif
