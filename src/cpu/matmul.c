// The matrix product: blocked for the caches, with a tile of C in registers (matmul_kernel.h).
//
// K is cut into slices of at most SLICE. For some of them at a time, B's rows are packed into panels as wide as a tile
// of C, and A's columns into panels as high; both once, side by side. The tiles of C are then dealt out in blocks, each
// with all these slices: a panel of A (14 x 384 numbers, 21 KiB) stays in the first-level cache while the panels of B
// that the block's columns have (384 x 256, 384 KiB) come from the second. A tile is done by one thread, slice after
// slice: the same bits with any number of threads.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/large.h"
#include "cpu/matmul_kernel.h"
#include "cpu/primitives.h"
#include "cpu/team.h"

enum {
    SLICE = 384,
    SLICES = 8,                  // packed at a time, so that threads seldom wait for each other
    BLOCK_COLUMNS = 256,         // a multiple of every tile's
    BLOCK_ROWS = 168,            // likewise: of 14, 6 and 4
    BAND_ROWS = 24 * BLOCK_ROWS, // of A that are packed at a time: 47 MiB
    BAND_COLUMNS = 4096,         // of B: likewise
    FLAT_ROWS = 4,               // so few rows of C do not pay for packing B
    THREAD_WORK = 1 << 24        // multiply-adds that a thread is worth starting for: some tenths of a millisecond
};

typedef struct product {
    const gi_matmul_job *job;
    const gi_matmul_kernel *kernel;
    float *a, *b;                     // packed
    size_t rows, columns;             // of the band of C in work
    size_t row_panels, column_panels; // in it
} product;

static size_t divide_up(size_t n, size_t d) { return n / d + (n % d != 0); }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// Panels of slice `s` of those packed.
static float *a_panel(const product *x, size_t s, size_t i) {
    return x->a + (s * x->row_panels + i) * x->kernel->rows * SLICE;
}

static float *b_panel(const product *x, size_t s, size_t j) {
    return x->b + (s * x->column_panels + j) * x->kernel->columns * SLICE;
}

// A part of K: slice `s` of those packed, columns [p, p + k) of A and rows of B.
typedef struct slice {
    size_t s, p, k;
} slice;

static slice slice_of(const product *x, size_t from, size_t s) {
    size_t p = from + s * SLICE;
    return (slice){s, p, smaller(SLICE, x->job->k - p)};
}

// Panel `i` of A: rows from `row` on; rows that are missing count as zeros, whose tiles' rows
// nobody stores.
static void pack_a(const product *x, size_t i, size_t row, slice part) {
    size_t height = x->kernel->rows, first = i * height, k = part.k;
    float *to = a_panel(x, part.s, i);
    for (size_t r = 0; r < height; r++) {
        if (first + r >= x->rows) {
            for (size_t q = 0; q < k; q++) to[q * height + r] = 0;
            continue;
        }
        const float *from = x->job->a + (row + first + r) * x->job->a_stride + part.p;
        for (size_t q = 0; q < k; q++) to[q * height + r] = from[q];
    }
}

// Panel `j` of B: columns from `column` on.
static void pack_b(const product *x, size_t j, size_t column, slice part) {
    size_t width = x->kernel->columns, first = j * width, there = smaller(width, x->columns - first);
    float *to = b_panel(x, part.s, j);
    const float *from = x->job->b + part.p * x->job->b_stride + column + first;
    for (size_t q = 0; q < part.k; q++, to += width, from += x->job->b_stride) {
        memcpy(to, from, there * sizeof *to);
        for (size_t c = there; c < width; c++) to[c] = 0;
    }
}

// One tile; at the edges by way of a whole one.
static void do_tile(const product *x, size_t i, size_t j, slice part, float *c) {
    const gi_matmul_kernel *kernel = x->kernel;
    const float *a = a_panel(x, part.s, i), *b = b_panel(x, part.s, j);
    int add = part.p > 0;
    size_t k = part.k, stride = x->job->c_stride, rows = smaller(kernel->rows, x->rows - i * kernel->rows),
           columns = smaller(kernel->columns, x->columns - j * kernel->columns);
    c += i * kernel->rows * stride + j * kernel->columns;
    if (rows == kernel->rows && columns == kernel->columns) {
        kernel->run(k, a, b, c, stride, add);
        return;
    }
    float tile[GI_MATMUL_ROWS_MAX * GI_MATMUL_COLUMNS_MAX];
    for (size_t r = 0; add && r < rows; r++) memcpy(tile + r * kernel->columns, c + r * stride, columns * sizeof *c);
    kernel->run(k, a, b, tile, kernel->columns, add);
    for (size_t r = 0; r < rows; r++) memcpy(c + r * stride, tile + r * kernel->columns, columns * sizeof *c);
}

// The tiles of one block of the band whose C begins at `c`.
static void do_block(const product *x, size_t block, slice part, float *c) {
    size_t high = BLOCK_ROWS / x->kernel->rows, wide = BLOCK_COLUMNS / x->kernel->columns;
    size_t across = divide_up(x->column_panels, wide);
    size_t i0 = block / across * high, j0 = block % across * wide;
    for (size_t i = i0; i < smaller(i0 + high, x->row_panels); i++)
        for (size_t j = j0; j < smaller(j0 + wide, x->column_panels); j++) do_tile(x, i, j, part, c);
}

static void do_band(product *x, size_t row, size_t column, int threads) {
    const gi_matmul_job *job = x->job;
    float *c = job->c + row * job->c_stride + column;
    x->rows = smaller(BAND_ROWS, job->m - row);
    x->columns = smaller(BAND_COLUMNS, job->n - column);
    x->row_panels = divide_up(x->rows, x->kernel->rows);
    x->column_panels = divide_up(x->columns, x->kernel->columns);
    int64_t panels = (int64_t)(x->row_panels + x->column_panels);
    int64_t blocks = (int64_t)(divide_up(x->rows, BLOCK_ROWS) * divide_up(x->columns, BLOCK_COLUMNS));
#pragma omp parallel num_threads(threads)
    for (size_t from = 0; from < job->k; from += SLICES * SLICE) {
        size_t slices = smaller(SLICES, divide_up(job->k - from, SLICE));
#pragma omp for schedule(dynamic, 4)
        for (int64_t i = 0; i < panels * (int64_t)slices; i++) {
            size_t panel = (size_t)(i % panels);
            slice part = slice_of(x, from, (size_t)(i / panels));
            if (panel < x->column_panels)
                pack_b(x, panel, column, part);
            else
                pack_a(x, panel - x->column_panels, row, part);
        }
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < blocks; i++)
            for (size_t s = 0; s < slices; s++) do_block(x, (size_t)i, slice_of(x, from, s), c);
    }
}

static int threads_for(const gi_matmul_job *job) {
    double work = (double)job->m * (double)job->n * (double)job->k / THREAD_WORK;
    return gi_cpu_team(work < job->threads ? (int)work : job->threads);
}

// Memory for the panels of a small product is kept for the next one, until the process ends: fresh memory costs a page
// fault for every 4 KiB, which would be a third of a product of 256 x 256.
enum { KEPT_BYTES = 4 << 20 };
static _Atomic(float *) kept;

static float *take_memory(size_t bytes) {
    if (bytes > KEPT_BYTES) return gi_large_alloc(bytes);
    float *memory = atomic_exchange(&kept, NULL);
    return memory ? memory : gi_large_alloc(KEPT_BYTES);
}

static void give_memory(float *memory, size_t bytes) {
    if (bytes <= KEPT_BYTES && memory) memory = atomic_exchange(&kept, memory);
    free(memory);
}

static gi_status multiply_blocked(const gi_matmul_job *job, gi_error *err) {
    product x = {.job = job, .kernel = gi_matmul_kernel_now()};
    size_t a_rows = divide_up(smaller(job->m, BAND_ROWS), x.kernel->rows) * x.kernel->rows;
    size_t b_columns = divide_up(smaller(job->n, BAND_COLUMNS), x.kernel->columns) * x.kernel->columns;
    size_t depth = smaller(SLICES, divide_up(job->k, SLICE)) * SLICE;
    size_t a_size = a_rows * depth, bytes = (a_size + b_columns * depth) * sizeof *x.a;
    x.a = take_memory(bytes);
    if (!x.a) return gi_fail(err, GI_ERR_MEMORY, "out of memory for a matrix product");
    x.b = x.a + a_size; // depth keeps the alignment
    for (size_t row = 0; row < job->m; row += BAND_ROWS)
        for (size_t column = 0; column < job->n; column += BAND_COLUMNS) do_band(&x, row, column, threads_for(job));
    give_memory(x.a, bytes);
    return GI_OK;
}

// Columns [from, to) of all of C, row of B by row of B: what the textbook's three loops do in the order i, k, j, cut so
// that C's part stays in the cache.
static void multiply_columns(const gi_matmul_job *job, size_t from, size_t to) {
    for (size_t i = 0; i < job->m; i++) memset(job->c + i * job->c_stride + from, 0, (to - from) * sizeof *job->c);
    for (size_t i0 = 0; i0 < job->m; i0 += FLAT_ROWS)
        for (size_t p = 0; p < job->k; p++)
            for (size_t i = i0; i < smaller(i0 + FLAT_ROWS, job->m); i++) {
                float x = job->a[i * job->a_stride + p], *c = job->c + i * job->c_stride;
                const float *b = job->b + p * job->b_stride;
                for (size_t j = from; j < to; j++) c[j] += x * b[j];
            }
}

static void multiply_plain(const gi_matmul_job *job) {
    enum { PART = 1024 };
    int64_t parts = (int64_t)divide_up(job->n, PART);
    int threads = threads_for(job);
    if (threads > parts) threads = gi_cpu_team((int)parts);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t i = 0; i < parts; i++)
        multiply_columns(job, (size_t)i * PART, smaller((size_t)(i + 1) * PART, job->n));
}

gi_status gi_cpu_matmul(const gi_matmul_job *job, gi_error *err) {
    if (job->m == 0 || job->n == 0) return GI_OK;
    bool plain = job->m <= FLAT_ROWS || job->k == 0;
    if (job->algorithm == GI_MATMUL_FAST) plain = job->k == 0;
    if (job->algorithm == GI_MATMUL_NAIVE) plain = true;
    if (!plain) return multiply_blocked(job, err);
    multiply_plain(job);
    return GI_OK;
}
