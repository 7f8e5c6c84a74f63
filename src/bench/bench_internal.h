// What bench.c and results.c share.
#ifndef GI_BENCH_BENCH_INTERNAL_H
#define GI_BENCH_BENCH_INTERNAL_H

#include "bench/results.h"

struct gi_bench {
    gi_bench_options options;
    gi_bench_table_data *tables;
    size_t table_count;
    bool failed; // memory was short
};

void gi_bench_free_tables(gi_bench *bench);

// Bars that would be empty are those of the first column with numbers.
void gi_bench_choose_bars(gi_bench *bench);

#endif
