// banks: conflicts in shared memory, and how one unused column removes them.
//
//     bank(word) = word mod 32
//
// Shared memory has 32 banks of 4 bytes. In one cycle each bank delivers one word, to as many lanes as want that word.
// First table: lane l of a warp reads words l * s, l * s + 1, l * s + 2, ..., 32 of them. Lanes l and m want different
// words of one bank where (l - m) * s is a multiple of 32, so that a read takes gcd(s, 32) cycles.
//
// The picture, of a shelf with 32 drawers and as many clerks, each with a number of his own to fetch:
//     s = 1     each at another drawer                                   1 cycle
//     s = 2     two at each of 16 drawers, the other 16 are idle         2
//     s = 32    all in one line before a single drawer                   32
//     s = 33    each at another drawer again, one further in each row    1
//     s = 0     all want the same word: it is read once and broadcast    1
// s = 32 is a column of a tile of 32 x 32 words; s = 33 the column of a tile whose rows have one unused word more.
//
// Second table: the transposition of a matrix, B[x][y] = A[y][x], as fast as a copy if it could be. Directly, either
// the reads or the writes are strided (see `coalescing`). Through a tile in shared memory both are in order, but the
// tile is written by rows and read by columns: 32-way conflicts, until its rows are padded.
//
// What to look at in ncu:
//     l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum     cycles beyond the first of each read
//     l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum         all cycles; over
//     smsp__inst_executed_op_shared_ld.sum smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"

enum { LANES = 32, READS = 32, THREADS = 256, TILE_WORDS = 31 * 33 + READS, TILE = 32 };

// ---- on the CPU -----------------------------------------------------------------------------------------------------

typedef struct reads {
    const uint32_t *tile; // TILE_WORDS
    uint32_t *sums;       // one for each of `threads`
    size_t threads;       // all of the GPU's, in whole warps
    int stride, rounds;
} reads;

// What a thread of the GPU does: `rounds` times 32 reads, added up modulo 2^32. Volatile: each of them is made.
static uint32_t sum_of_lane(const volatile uint32_t *words, int rounds) {
    uint32_t sum = 0;
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < READS; k++) sum += words[k];
    return sum;
}

static void read_openmp(void *context) {
    const reads *work = (const reads *)context;
#pragma omp parallel for
    for (size_t t = 0; t < work->threads; t++)
        work->sums[t] = sum_of_lane(work->tile + t % LANES * (size_t)work->stride, work->rounds);
}

// Against one round's sum, times the rounds.
static bool sums_are_right(const reads *work) {
    for (size_t t = 0; t < work->threads; t++) {
        uint32_t once = 0;
        for (size_t k = 0; k < READS; k++) once += work->tile[t % LANES * (size_t)work->stride + k];
        if (work->sums[t] != once * (uint32_t)work->rounds) return false;
    }
    return true;
}

typedef struct matrices {
    const float *a;
    float *b;
    size_t side; // a multiple of TILE
} matrices;

// In tiles, for the sake of the CPU's caches.
static void transpose_openmp(void *context) {
    const matrices *m = (const matrices *)context;
    const size_t side = m->side;
#pragma omp parallel for collapse(2)
    for (size_t y0 = 0; y0 < side; y0 += TILE)
        for (size_t x0 = 0; x0 < side; x0 += TILE)
            for (size_t x = x0; x < x0 + TILE; x++)
                for (size_t y = y0; y < y0 + TILE; y++) m->b[x * side + y] = m->a[y * side + x];
}

static bool is_transposed(const matrices *m) {
    bool right = true;
#pragma omp parallel for reduction(&& : right)
    for (size_t x = 0; x < m->side; x++)
        for (size_t y = 0; y < m->side; y++) right = right && m->b[x * m->side + y] == m->a[y * m->side + x];
    return right;
}

#ifdef __CUDACC__
// ---- on the GPU -----------------------------------------------------------------------------------------------------

#include "kernels/demos/demo.cuh"

namespace {

using gi::demo::device_array;
using gi::demo::meter;

// Volatile, as on the CPU: otherwise one round would do, and four reads would become one of 16 bytes.
__global__ void read_kernel(const uint32_t *tile, uint32_t *sums, int stride, int rounds) {
    __shared__ uint32_t shared[TILE_WORDS];
    for (int i = threadIdx.x; i < TILE_WORDS; i += blockDim.x) shared[i] = tile[i];
    __syncthreads();
    const volatile uint32_t *words = shared + threadIdx.x % LANES * stride;
    uint32_t sum = 0;
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < READS; k++) sum += words[k];
    }
    sums[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

gi_status time_reads(meter &gpu, reads *work, double *ms, gi_error *err) {
    device_array<uint32_t> tile, sums;
    GI_TRY(tile.allocate(TILE_WORDS, err));
    GI_TRY(sums.allocate(work->threads, err));
    GI_TRY(tile.upload(work->tile, err));
    GI_TRY(sums.clear(err));
    auto launch = [&] {
        read_kernel<<<(unsigned)(work->threads / THREADS), THREADS>>>(tile.data, sums.data, work->stride, work->rounds);
    };
    GI_TRY(gpu.run(launch, err));
    GI_TRY(sums.download(work->sums, err));
    GI_TRY(gi_bench_expect(sums_are_right(work), "GPU", err));
    return gpu.median_ms(launch, ms, err);
}

constexpr int ROWS = 8; // a block of 32 x 8 threads moves a tile of 32 x 32, four values a thread

// Reads along rows, writes down columns: a warp's 32 writes go to 32 rows.
__global__ void transpose_direct_kernel(const float *a, float *b, size_t side) {
    const size_t x = (size_t)blockIdx.x * TILE + threadIdx.x, y = (size_t)blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) b[x * side + y + j] = a[(y + j) * side + x];
}

// Both along rows, through a tile of Pitch words a row: 32 or, padded, 33.
template <int Pitch> __global__ void transpose_tile_kernel(const float *a, float *b, size_t side) {
    __shared__ float tile[TILE * Pitch];
    const size_t x = (size_t)blockIdx.x * TILE + threadIdx.x, y = (size_t)blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) tile[(threadIdx.y + j) * Pitch + threadIdx.x] = a[(y + j) * side + x];
    __syncthreads();
    const size_t to_x = (size_t)blockIdx.y * TILE + threadIdx.x, to_y = (size_t)blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) b[(to_y + j) * side + to_x] = tile[threadIdx.x * Pitch + threadIdx.y + j];
}

gi_status measure_transpositions(gi_bench *bench, meter &gpu, const matrices &m, gi_bench_figures figures,
                                 gi_error *err) {
    static const char *const names[] = {"direct", "tile 32 x 32", "tile 32 x 33 (padded)"};
    void (*const kernels[])(const float *, float *, size_t) = {transpose_direct_kernel, transpose_tile_kernel<TILE>,
                                                               transpose_tile_kernel<TILE + 1>};
    const dim3 grid((unsigned)(m.side / TILE), (unsigned)(m.side / TILE)), block(TILE, ROWS);
    const size_t count = m.side * m.side;
    device_array<float> a, b;
    GI_TRY(a.allocate(count, err));
    GI_TRY(b.allocate(count, err));
    GI_TRY(a.upload(m.a, err));
    GI_TRY(gpu.copy_ms((size_t)figures.bytes, &figures.copy_ms, err));
    GI_TRY(gpu.transfers_ms(a.bytes(), b.bytes(), &figures.transfers_ms, err));
    for (int i = 0; i < 3; i++) {
        auto launch = [&] { kernels[i]<<<grid, block>>>(a.data, b.data, m.side); };
        GI_TRY(b.clear(err));
        GI_TRY(gpu.run(launch, err));
        GI_TRY(b.download(m.b, err));
        GI_TRY(gi_bench_expect(is_transposed(&m), names[i], err));
        GI_TRY(gpu.median_ms(launch, &figures.ms, err));
        gi_bench_memory_row(bench, names[i], &figures);
    }
    return GI_OK;
}

} // namespace
#endif

// ---- the tables -----------------------------------------------------------------------------------------------------

static gi_status measure_reads(gi_bench *bench, reads *work, gi_error *err) {
    static const char *const columns[] = {"ms", "times stride 1", "cycles a read", "OpenMP ms", "times OpenMP"};
    static const struct {
        int stride, cycles;
    } rows[] = {{1, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 16}, {32, 32}, {33, 1}, {0, 1}};
    double first_ms = NAN;
#ifdef __CUDACC__
    meter gpu;
    if (gi_bench_gpu(bench)) GI_TRY(gpu.open(bench, err));
#endif
    gi_bench_table(bench, "reads of shared memory by stride; on the CPU, of its caches", columns, 5);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double gpu_ms = NAN;
        char label[48];
        work->stride = rows[i].stride;
        memset(work->sums, 0xff, work->threads * sizeof *work->sums);
        read_openmp(work);
        gi_status status = gi_bench_expect(sums_are_right(work), "OpenMP", err);
        if (status != GI_OK) return status;
        const double cpu_ms = gi_bench_cpu_ms(bench, read_openmp, work);
#ifdef __CUDACC__
        if (gi_bench_gpu(bench)) GI_TRY(time_reads(gpu, work, &gpu_ms, err));
#endif
        if (i == 0) first_ms = gpu_ms;
        snprintf(label, sizeof label, "stride %d%s", work->stride,
                 work->stride == 33  ? " (32, padded)"
                 : work->stride == 0 ? " (broadcast)"
                                     : "");
        gi_bench_row(bench, label);
        gi_bench_number(bench, gpu_ms);
        gi_bench_number(bench, gpu_ms / first_ms);
        gi_bench_number(bench, rows[i].cycles);
        gi_bench_number(bench, cpu_ms);
        gi_bench_number(bench, cpu_ms / gpu_ms);
    }
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    gi_bench_note(bench, "%zu threads, each with %d reads; cycles a read: by the rule, gcd(stride, 32)", work->threads,
                  READS * work->rounds);
    return GI_OK;
}

static gi_status measure_matrices(gi_bench *bench, matrices *m, gi_error *err) {
    gi_bench_figures figures = {NAN, 2.0 * (double)(m->side * m->side) * sizeof(float), NAN, NAN, NAN, 0};
    transpose_openmp(m);
    gi_status status = gi_bench_expect(is_transposed(m), "OpenMP", err);
    if (status != GI_OK) return status;
    figures.ms = figures.cpu_ms = gi_bench_cpu_ms(bench, transpose_openmp, m);
    gi_bench_memory_table(bench, "transposition");
    gi_bench_memory_row(bench, "OpenMP, in tiles", &figures);
    if (!gi_bench_gpu(bench)) gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) {
        meter gpu;
        GI_TRY(gpu.open(bench, err));
        status = measure_transpositions(bench, gpu, *m, figures, err);
    }
#endif
    gi_bench_note(bench, "%zu x %zu float32", m->side, m->side);
    return status;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    const bool quick = gi_bench_quick(bench);
    const size_t wanted = (size_t)gi_bench_size(bench, 8192, 256), side = (wanted + TILE - 1) / TILE * TILE;
    if (side > 1 << 20) return gi_fail(err, GI_ERR_MEMORY, "no memory for two matrices of %zu x %zu", side, side);
    const size_t threads = quick ? 4 * THREADS : 1024 * THREADS;
    uint32_t *tile = (uint32_t *)malloc(TILE_WORDS * sizeof *tile), *sums = (uint32_t *)malloc(threads * sizeof *sums);
    float *a = (float *)malloc(side * side * sizeof *a), *b = (float *)malloc(side * side * sizeof *b);
    gi_status status = GI_OK;
    if (!tile || !sums || !a || !b) status = gi_fail(err, GI_ERR_MEMORY, "no memory for two %zu x %zu", side, side);
    if (status == GI_OK) {
        reads work = {tile, sums, threads, 1, quick ? 4 : 64};
        matrices m = {a, b, side};
        for (uint32_t i = 0; i < TILE_WORDS; i++) tile[i] = i * 2654435761U;
        gi_bench_fill_floats(a, side * side, 1);
        status = measure_reads(bench, &work, err);
        if (status == GI_OK) status = measure_matrices(bench, &m, err);
    }
    free(tile);
    free(sums);
    free(a);
    free(b);
    return status;
}

const gi_demo gi_demo_banks = {
    "banks",
    "conflicts of shared memory by stride; transposition through a padded tile",
    "Lanes of a warp that want different words of one bank wait for each other; with one unused word in each row the "
    "columns of a tile lie in different banks.",
    run,
};
