// Options, clock and input data of demonstrations.
#include "bench/bench.h"

#include <omp.h>
#include <stdlib.h>

#include "bench/bench_internal.h"
#include "core/clock.h"
#include "cpu/team.h"

gi_bench *gi_bench_open(const gi_bench_options *options) {
    gi_bench *bench = calloc(1, sizeof *bench);
    if (!bench) return NULL;
    bench->options = *options;
    bench->options.threads = gi_cpu_team(options->threads);
    omp_set_num_threads(bench->options.threads);
    // The team starts now: later, a demonstration may have taken the memory that its stacks need.
    int started = 0;
#pragma omp parallel reduction(+ : started)
    started++;
    bench->options.threads = started;
    return bench;
}

void gi_bench_close(gi_bench *bench) {
    if (bench) gi_bench_free_tables(bench);
    free(bench);
}

gi_status gi_bench_finish(gi_bench *bench, gi_error *err) {
    gi_bench_choose_bars(bench);
    return bench->failed ? gi_fail(err, GI_ERR_MEMORY, "out of memory") : GI_OK;
}

long long gi_bench_size(const gi_bench *bench, long long standard, long long quick) {
    if (bench->options.size > 0) return bench->options.size;
    return bench->options.quick ? quick : standard;
}

gi_status gi_bench_at_most(const gi_bench *bench, long long most, gi_error *err) {
    if (bench->options.size <= most) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE, "--n %lld is past %lld, the most that it can do", bench->options.size, most);
}

gi_status gi_bench_image(const gi_bench *bench, uint32_t *width, uint32_t *height, gi_error *err) {
    const long long side = bench->options.size;
    gi_status status = gi_bench_at_most(bench, UINT16_MAX, err);
    if (status != GI_OK) return status;
    *width = side > 0 ? (uint32_t)side : bench->options.quick ? 253 : 7680;
    *height = side > 0 ? (uint32_t)side : bench->options.quick ? 131 : 4320;
    return GI_OK;
}

bool gi_bench_quick(const gi_bench *bench) { return bench->options.quick; }
int gi_bench_threads(const gi_bench *bench) { return bench->options.threads; }
bool gi_bench_gpu(const gi_bench *bench) { return bench->options.no_gpu == NULL; }
const char *gi_bench_no_gpu(const gi_bench *bench) { return bench->options.no_gpu ? bench->options.no_gpu : ""; }

// ---- a usual table ------------------------------------------------------------------------------------------------

void gi_bench_memory_table(gi_bench *bench, const char *title) {
    static const char *const columns[] = {"ms", "GB/s", "% of copy", "times OpenMP", "with copies", "error"};
    gi_bench_table(bench, title, columns, sizeof columns / sizeof columns[0]);
    gi_bench_bar(bench, "GB/s");
}

void gi_bench_memory_row(gi_bench *bench, const char *label, const gi_bench_figures *figures) {
    const gi_bench_figures *f = figures;
    gi_bench_row(bench, label);
    gi_bench_number(bench, f->ms);
    gi_bench_number(bench, f->bytes / f->ms * 1e-6);
    gi_bench_number(bench, 100 * f->copy_ms / f->ms);
    gi_bench_number(bench, f->cpu_ms / f->ms);
    gi_bench_number(bench, f->cpu_ms / (f->ms + f->transfers_ms));
    gi_bench_number(bench, f->error);
}

// ---- measuring ----------------------------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double gi_bench_median(double *numbers, int count) {
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
    return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

double gi_bench_cpu_ms(const gi_bench *bench, void (*work)(void *), void *context) {
    enum { LEAST = 3, MOST = 15 };
    const double enough_ms = bench->options.quick ? 20 : 800;
    double times[MOST], begin = gi_clock_ms();
    int count = 0;
    work(context); // pages, caches and threads are there from now on
    do {
        double start = gi_clock_ms();
        work(context);
        times[count++] = gi_clock_ms() - start;
    } while (count < LEAST || (count < MOST && gi_clock_ms() - begin < enough_ms));
    return gi_bench_median(times, count);
}

gi_status gi_bench_expect(bool right, const char *what, gi_error *err) {
    return right ? GI_OK : gi_fail(err, GI_ERR_FORMAT, "%s: the result is wrong", what);
}

// ---- input data ---------------------------------------------------------------------------------------------------

// The bits of index i mixed up (the finalizer of MurmurHash3).
static uint32_t mixed(size_t i, uint32_t seed) {
    uint32_t x = (uint32_t)i * 2654435761U + seed * 0x9e3779b9U;
    x = (x ^ x >> 16) * 0x85ebca6bU;
    x = (x ^ x >> 13) * 0xc2b2ae35U;
    return x ^ x >> 16;
}

void gi_bench_fill_floats(float *data, size_t count, uint32_t seed) {
#pragma omp parallel for
    for (size_t i = 0; i < count; i++) data[i] = (float)(mixed(i, seed) >> 8) * 0x1p-23F - 1;
}

void gi_bench_fill_bytes(uint8_t *data, size_t count, uint32_t seed) {
#pragma omp parallel for
    for (size_t i = 0; i < count; i++) data[i] = (uint8_t)(mixed(i, seed) >> 24);
}
