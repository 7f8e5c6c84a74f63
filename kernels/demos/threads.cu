// threads: how a program gets faster with the number of CPU threads, and what Amdahl's law makes of it. CPU only.
//
// With T(p) the time on p threads:
//     speed-up S(p) = T(1) / T(p)        efficiency E(p) = S(p) / p
//     Amdahl:  T(p) = T(1) * (s + (1 - s) / p),  s the part of the work that stays serial;  S(p) < 1 / s for any p
// s is fitted to all p by least squares: with y = T(p) / T(1) and u = 1 - 1/p, y - 1/p = s * u, so that
//     s = sum((y - 1/p) * u) / sum(u * u)
//
// The picture: p painters on one wall. While each has a stretch of his own the wall is done p times as fast (first
// table). Where all dip their brushes into one pot, the memory bus, more painters wait in line (second table; Amdahl's
// s is then no serial code but the queue). And where one alone has to paint the frame first, the others stand and
// watch: however many there are, the frame's time remains (third table: a tenth is serial by construction, so that the
// fit can be checked against what it should find).
//
// What to look at: `perf stat -e task-clock,context-switches` (are all threads on cores of their own?), and OMP_PLACES,
// OMP_PROC_BIND. Two threads on the two halves of one core (SMT) share its arithmetic units: expect S to bend there.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"

enum { GROUP = 16, STEPS = 500, SERIAL_PERCENT = 10, MOST_ROWS = 16 };

// ---- the work ------------------------------------------------------------------------------------------------------

typedef struct job {
    const float *in, *more;
    float *out;
    size_t count; // a multiple of GROUP
    int threads;
} job;

// 500 multiplications and 500 additions for each value, 16 values at a time in registers: no memory to speak of.
static void step_values(const float *in, float *out) {
    float v[GROUP];
    for (int j = 0; j < GROUP; j++) v[j] = in[j];
    for (int k = 0; k < STEPS; k++)
        for (int j = 0; j < GROUP; j++) v[j] = v[j] * 0.999F + 0.25F;
    for (int j = 0; j < GROUP; j++) out[j] = v[j];
}

static void compute_range(const job *work, long long begin, long long end, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long long g = begin; g < end; g++) step_values(work->in + g * GROUP, work->out + g * GROUP);
}

static void compute(void *context) {
    const job *work = (const job *)context;
    compute_range(work, 0, (long long)(work->count / GROUP), work->threads);
}

// The first tenth of the groups on one thread, then the others on all.
static void compute_partly_serial(void *context) {
    const job *work = (const job *)context;
    const long long groups = (long long)(work->count / GROUP), serial = groups * SERIAL_PERCENT / 100;
    compute_range(work, 0, serial, 1);
    compute_range(work, serial, groups, work->threads);
}

// out = in + 3 * more: two operations for twelve bytes.
static void triad(void *context) {
    const job *work = (const job *)context;
    const long long count = (long long)work->count;
    const float *in = work->in, *more = work->more;
    float *out = work->out;
#pragma omp parallel for simd num_threads(work->threads) schedule(static)
    for (long long i = 0; i < count; i++) out[i] = in[i] + 3.0F * more[i];
}

// ---- measuring -----------------------------------------------------------------------------------------------------

// 1, 2, 4, ... and `most` itself.
static int thread_counts(int most, int *counts) {
    int rows = 0;
    for (long long p = 1; p < most && rows < MOST_ROWS - 1; p *= 2) counts[rows++] = (int)p;
    counts[rows++] = most;
    return rows;
}

// Amdahl's s for the times of these thread counts, of which the first is 1; NAN for a single one.
static double serial_part(const int *counts, const double *ms, int rows) {
    double products = 0, squares = 0;
    for (int r = 0; r < rows; r++) {
        const double ideal = 1.0 / counts[r], u = 1 - ideal;
        products += (ms[r] / ms[0] - ideal) * u;
        squares += u * u;
    }
    return squares > 0 ? products / squares : NAN;
}

// Every number of threads has to give the bits that one gives.
static gi_status check_threads(job *work, void (*function)(void *), const int *counts, int rows, gi_error *err) {
    gi_status status = GI_OK;
    float *alone = (float *)malloc(work->count * sizeof(float));
    if (!alone) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu values", work->count);
    work->threads = 1;
    function(work);
    memcpy(alone, work->out, work->count * sizeof(float));
    for (int r = 0; r < rows && status == GI_OK; r++) {
        memset(work->out, 0xff, work->count * sizeof(float));
        work->threads = counts[r];
        function(work);
        status = gi_bench_expect(memcmp(alone, work->out, work->count * sizeof(float)) == 0, "threads", err);
    }
    free(alone);
    return status;
}

static gi_status measure(gi_bench *bench, const char *title, job *work, void (*function)(void *), gi_error *err) {
    static const char *const columns[] = {"ms", "speed-up", "efficiency %", "Amdahl's fit ms"};
    int counts[MOST_ROWS];
    double ms[MOST_ROWS];
    const int rows = thread_counts(gi_bench_threads(bench), counts);
    gi_status status = check_threads(work, function, counts, rows, err);
    if (status != GI_OK) return status;
    for (int r = 0; r < rows; r++) {
        work->threads = counts[r];
        ms[r] = gi_bench_cpu_ms(bench, function, work);
    }
    const double s = serial_part(counts, ms, rows);
    gi_bench_table(bench, title, columns, 4);
    gi_bench_bar(bench, "speed-up");
    for (int r = 0; r < rows; r++) {
        char label[32];
        snprintf(label, sizeof label, "%d thread%s", counts[r], counts[r] == 1 ? "" : "s");
        gi_bench_row(bench, label);
        gi_bench_number(bench, ms[r]);
        gi_bench_number(bench, ms[0] / ms[r]);
        gi_bench_number(bench, 100 * ms[0] / ms[r] / counts[r]);
        gi_bench_number(bench, ms[0] * (s + (1 - s) / counts[r]));
    }
    if (rows == 1)
        gi_bench_note(bench, "one thread alone: Amdahl's law wants at least two to be fitted");
    else if (s > 1)
        gi_bench_note(bench, "fitted serial part: none that fits, as more threads took longer than one: the cores are "
                             "busy with something else, or the work is too small");
    else if (s > 0)
        gi_bench_note(bench, "fitted serial part: %.1f %%; no number of threads would then be faster than %.1f times",
                      100 * s, 1 / s);
    else
        gi_bench_note(bench, "fitted serial part: %.1f %%: nothing that Amdahl's law would call serial", 100 * s);
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const size_t wanted = (size_t)gi_bench_size(bench, 1LL << 24, 1LL << 16);
    const size_t count = (wanted + GROUP - 1) / GROUP * GROUP;
    float *in = (float *)malloc(count * sizeof(float)), *more = (float *)malloc(count * sizeof(float));
    float *out = (float *)malloc(count * sizeof(float));
    gi_status status = GI_OK;
    if (!in || !more || !out) status = gi_fail(err, GI_ERR_MEMORY, "no memory for %zu values", count);
    if (status == GI_OK) {
        job memory = {in, more, out, count, 1}, arithmetic = memory;
        arithmetic.count = (count / 16 + GROUP - 1) / GROUP * GROUP; // for a similar time
        gi_bench_fill_floats(in, count, 1);
        gi_bench_fill_floats(more, count, 2);
        status = measure(bench, "arithmetic: 1000 operations for each value", &arithmetic, compute, err);
        if (status == GI_OK) status = measure(bench, "memory: a + 3 b, 12 bytes for each value", &memory, triad, err);
        if (status == GI_OK)
            status = measure(bench, "arithmetic of which the first tenth is serial", &arithmetic, compute_partly_serial,
                             err);
    }
    free(in);
    free(more);
    free(out);
    return status;
}

const gi_demo gi_demo_threads = {
    "threads", "OpenMP: speed-up and efficiency by the number of threads, Amdahl's law fitted",
    "What threads have to share, a memory bus or a serial part, sets the limit: efficiency falls with every thread "
    "that waits, and the fitted serial part says how far more threads could ever help.",
    run};
