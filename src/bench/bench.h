// What a demonstration (bench/demo.h) is given: its options, a clock, and tables to fill. C and CUDA C++ include it.
//
// A table is filled in order: gi_bench_table, then rows, each with its cells from left to right, then notes. When
// memory is short further calls do nothing, and gi_bench_finish says so at the end.
#ifndef GI_BENCH_BENCH_H
#define GI_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gi_bench gi_bench;

typedef struct gi_bench_options {
    long long size;     // --n; 0: what each demonstration has by itself
    bool quick;         // sizes for tests and sanitizers: a fraction of a second on two cores
    int threads;        // of the CPU: OpenMP's default from gi_bench_open on; below 1 counts as 1
    const char *no_gpu; // why no GPU is used; NULL: the current CUDA device is. Outlives the bench
} gi_bench_options;

// NULL when memory is short.
gi_bench *gi_bench_open(const gi_bench_options *options);
void gi_bench_close(gi_bench *bench);

// After the last table. GI_ERR_MEMORY when some of them could not be kept.
gi_status gi_bench_finish(gi_bench *bench, gi_error *err);

// ---- options ------------------------------------------------------------------------------------------------------

// What --n says; without it `standard`, or `quick` under --quick.
long long gi_bench_size(const gi_bench *bench, long long standard, long long quick);

// GI_ERR_USAGE where --n is more than `most`, past which the demonstration cannot go, whatever the memory.
gi_status gi_bench_at_most(const gi_bench *bench, long long most, gi_error *err);

// An image's sides: N x N by --n, up to 65535, else 8K (7680 x 4320), or a small odd one under --quick.
gi_status gi_bench_image(const gi_bench *bench, uint32_t *width, uint32_t *height, gi_error *err);

bool gi_bench_quick(const gi_bench *bench);
int gi_bench_threads(const gi_bench *bench);

// Whether kernels can be measured, and why not ("" where they can).
bool gi_bench_gpu(const gi_bench *bench);
const char *gi_bench_no_gpu(const gi_bench *bench);

// ---- tables -------------------------------------------------------------------------------------------------------

enum { GI_BENCH_COLUMNS = 16 }; // at most

// Begins a table. The label of a row is no column. Columns are named as "ms", "GB/s", "% of copy", "times OpenMP",
// "with copies", "error".
void gi_bench_table(gi_bench *bench, const char *title, const char *const *columns, int count);

// The column whose numbers --plot draws as bars; the first one where this is not called. Where it has none, because no
// GPU was measured, the first column that has some: one of times or rates before one of what is known beforehand.
void gi_bench_bar(gi_bench *bench, const char *column);

void gi_bench_row(gi_bench *bench, const char *label);
void gi_bench_number(gi_bench *bench, double value); // NAN: an empty cell
void gi_bench_text(gi_bench *bench, const char *text);

// A row without numbers, with the reason in their place.
void gi_bench_missing(gi_bench *bench, const char *label, const char *why);

// A line under the table.
void gi_bench_note(gi_bench *bench, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ---- a usual table ------------------------------------------------------------------------------------------------

// What memory bounds: the columns ms, GB/s (the bars), % of copy, times OpenMP, with copies, error.
void gi_bench_memory_table(gi_bench *bench, const char *title);

// One row of it. Numbers that are NAN leave empty what follows from them.
typedef struct gi_bench_figures {
    double ms;
    double bytes;        // read and written
    double copy_ms;      // that a copy within the device takes which reads and writes as many
    double cpu_ms;       // of the OpenMP version
    double transfers_ms; // of the inputs to the device and of the results from it
    double error;        // the largest, against a reference in double or in exact integers
} gi_bench_figures;
void gi_bench_memory_row(gi_bench *bench, const char *label, const gi_bench_figures *figures);

// ---- measuring ----------------------------------------------------------------------------------------------------

// Milliseconds that work(context) takes: the median of several runs after one that does not count.
double gi_bench_cpu_ms(const gi_bench *bench, void (*work)(void *), void *context);

// The median of `count` > 0 numbers, which are sorted by it.
double gi_bench_median(double *numbers, int count);

// GI_OK when `right`; otherwise fails with GI_ERR_FORMAT, naming the wrong result `what`. Every result is looked at
// before it is timed.
gi_status gi_bench_expect(bool right, const char *what, gi_error *err);

// Makes up input data: uniform, without pattern, the same for the same seed. Floats are of [-1, 1).
void gi_bench_fill_floats(float *data, size_t count, uint32_t seed);
void gi_bench_fill_bytes(uint8_t *data, size_t count, uint32_t seed);

#ifdef __cplusplus
}
#endif
#endif
