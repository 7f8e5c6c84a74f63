// matmul: the product of two matrices, from a thread an element to tensor cores.
//
//     C[i][j] = A[i][0] B[0][j] + A[i][1] B[1][j] + ... + A[i][n-1] B[n-1][j]        2 n^3 operations on 3 n^2 numbers
//
// Each number of A and B is needed n times, so that all depends on where it is kept meanwhile:
//
//     naive      a thread an element: 2 n loads for 2 n operations; the caches serve them, and they are the limit
//     tiled T    a block makes T x T elements. It loads a tile of A and one of B into shared memory, uses each number T
//                times, and goes on along the row and down the column:
//
//                          B  +---+ |          loads from memory: 2 n^3 / T
//                             | T | v          loads from shared memory: still two for each multiply-add, and now they
//                    A +---+  +---+            are the limit: a fifth of what the arithmetic could do
//                      | T |->|C T|
//                      +---+  +---+
//     fast       a thread makes 16 x 8 elements: 24 numbers from shared memory into registers for 128 multiply-adds;
//                the next tiles are on their way meanwhile
//     tf32       tensor cores multiply small matrices in one instruction; the factors are rounded to 11 bits
//     cuBLAS     NVIDIA's library, found at run time
//
// The kernels are in kernels/matmul_tiled.cu, matmul_fast.cu, matmul_mma.cu and matmul_wgmma.cu; `gpuimg matmul --algo
// NAME` runs them on any matrices.
//
// Nsight Compute: ncu --set full gpuimg bench matmul
//     sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active          arithmetic: a few per cent to near 100
//     l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed    the limit of the tiled ones
//     lts__t_bytes.sum                                                     what tiles save
//     sm__inst_executed_pipe_tensor.sum                                    tensor cores
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/demos.h"
#include "cpu/primitives.h"
#ifdef __CUDACC__
#include "kernels/demos/demo.cuh"
#include "kernels/matmul.h"
#endif

typedef struct matrices {
    float *a, *b, *c;
    size_t n;
    int threads;
} matrices;

// ---- on the CPU ---------------------------------------------------------------------------------------------------

// Row i of C is the sum of B's rows, A's row has their weights: all access is along rows.
static void multiply_openmp(void *context) {
    const matrices *m = (const matrices *)context;
    const size_t n = m->n;
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        float *c = m->c + i * n;
        memset(c, 0, n * sizeof(float));
        for (size_t k = 0; k < n; k++) {
            const float a = m->a[i * n + k], *b = m->b + k * n;
            for (size_t j = 0; j < n; j++) c[j] += a * b[j];
        }
    }
}

// The project's own: blocked for the caches, vectorised (cpu/matmul.c).
static void multiply_gpuimg(void *context) {
    const matrices *m = (const matrices *)context;
    gi_error err;
    gi_matmul_job job;
    memset(&job, 0, sizeof job);
    job.a = m->a;
    job.b = m->b;
    job.c = m->c;
    job.m = job.k = job.n = job.a_stride = job.b_stride = job.c_stride = m->n;
    job.threads = m->threads;
    if (gi_cpu_matmul(&job, &err) != GI_OK) memset(m->c, 0, m->n * m->n * sizeof(float));
}

// Compares up to 16 rows with products in double: *error is the largest difference; false where one is larger than
// `bound` times the sum of the products' magnitudes, which rounding cannot explain.
static bool compare(const matrices *m, double bound, double *error) {
    const size_t n = m->n, every = n / 16 + 1;
    double largest = 0;
    int wrong = 0;
#pragma omp parallel for collapse(2) reduction(max : largest) reduction(+ : wrong)
    for (size_t i = 0; i < n; i += every) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0, size = 0;
            for (size_t k = 0; k < n; k++) {
                const double term = (double)m->a[i * n + k] * m->b[k * n + j];
                sum += term;
                size += fabs(term);
            }
            const double difference = fabs(m->c[i * n + j] - sum);
            if (!(difference <= bound * size)) wrong++;
            if (!(difference <= largest)) largest = difference < INFINITY ? difference : INFINITY;
        }
    }
    *error = largest;
    return wrong == 0;
}

static double gflop(const matrices *m) { return 2e-9 * (double)m->n * (double)m->n * (double)m->n; }

static const char *const columns[] = {"ms", "GFLOP/s", "% of cuBLAS", "times OpenMP", "with copies", "error"};

// ms and cpu_ms, the library's time in the same precision, and the copies: NAN where there is none.
typedef struct figures {
    double ms, library_ms, cpu_ms, transfers_ms, error;
} figures;

static void put_row(gi_bench *bench, const matrices *m, const char *label, const figures *f) {
    gi_bench_row(bench, label);
    gi_bench_number(bench, f->ms);
    gi_bench_number(bench, gflop(m) / f->ms * 1e3);
    gi_bench_number(bench, 100 * f->library_ms / f->ms);
    gi_bench_number(bench, f->cpu_ms / f->ms);
    gi_bench_number(bench, f->cpu_ms / (f->ms + f->transfers_ms));
    gi_bench_number(bench, f->error);
}

static gi_status measure_cpu(gi_bench *bench, matrices *m, const char *label, void (*work)(void *), figures *f,
                             gi_error *err) {
    work(m);
    gi_status status = gi_bench_expect(compare(m, GI_MATMUL_ERROR(m->n), &f->error), label, err);
    if (status == GI_OK) f->ms = gi_bench_cpu_ms(bench, work, m);
    if (work == multiply_gpuimg) f->cpu_ms = f->ms;
    return status;
}

#ifdef __CUDACC__
// ---- on the GPU ---------------------------------------------------------------------------------------------------

namespace {

using gi::demo::device_array;
using gi::demo::meter;

struct place {
    device_array<float> a, b, c;
    gi_cublas *cublas = nullptr;
    ~place() { gi_cublas_close(cublas); }
};

gi_status time_algorithm(meter &gpu, matrices *m, place &at, int algorithm, const char *label, figures *f,
                         gi_error *err) {
    device_array<uint8_t> scratch;
    gi_matmul_launch job = {};
    job.a = at.a.data;
    job.b = at.b.data;
    job.c = at.c.data;
    job.m = job.k = job.n = job.a_stride = job.b_stride = job.c_stride = m->n;
    job.algorithm = algorithm;
    job.cublas = at.cublas;
    GI_TRY(scratch.allocate(gi_cuda_matmul_scratch(&job), err));
    job.scratch = scratch.data;
    auto work = [&] { return gi_cuda_matmul(&job, err); };
    GI_TRY(at.c.clear(err));
    GI_TRY(gpu.run(work, err));
    GI_TRY(at.c.download(m->c, err));
    GI_TRY(gi_bench_expect(compare(m, gi_matmul_error_bound(algorithm, m->n), &f->error), label, err));
    return gpu.median_ms(work, &f->ms, err);
}

// The two of the library first: the others are measured by them.
gi_status measure_library(gi_bench *bench, meter &gpu, matrices *m, place &at, figures f, figures library[2],
                          gi_error *err) {
    static const int algorithms[2] = {GI_MATMUL_CUBLAS, GI_MATMUL_CUBLAS_TF32};
    gi_error cause;
    library[0] = library[1] = f;
    library[0].ms = library[1].ms = NAN;
    if (gi_cublas_open(&at.cublas, &cause) != GI_OK) {
        gi_bench_missing(bench, "cuBLAS", cause.text);
        return GI_OK;
    }
    for (int i = 0; i < 2; i++) {
        GI_TRY(time_algorithm(gpu, m, at, algorithms[i], "cuBLAS", &library[i], err));
        library[i].library_ms = library[i].ms;
    }
    put_row(bench, m, "cuBLAS", &library[0]);
    return GI_OK;
}

gi_status measure_on_gpu(gi_bench *bench, matrices *m, figures f, gi_error *err) {
    static const struct {
        int algorithm;
        const char *label;
    } rows[] = {{GI_MATMUL_NAIVE, "naive"},      {GI_MATMUL_TILED8, "tiled 8"}, {GI_MATMUL_TILED16, "tiled 16"},
                {GI_MATMUL_TILED32, "tiled 32"}, {GI_MATMUL_FAST, "fast"},      {GI_MATMUL_TF32, "tf32"}};
    meter gpu;
    place at;
    figures library[2];
    const size_t count = m->n * m->n;
    GI_TRY(gpu.open(bench, err));
    GI_TRY(at.a.allocate(count, err));
    GI_TRY(at.b.allocate(count, err));
    GI_TRY(at.c.allocate(count, err));
    GI_TRY(at.a.upload(m->a, err));
    GI_TRY(at.b.upload(m->b, err));
    GI_TRY(gpu.transfers_ms(2 * at.a.bytes(), at.c.bytes(), &f.transfers_ms, err));
    GI_TRY(measure_library(bench, gpu, m, at, f, library, err));
    for (const auto &row : rows) {
        const bool tf32 = row.algorithm == GI_MATMUL_TF32;
        f.library_ms = library[tf32].ms;
        if (tf32 && gpu.properties.major < 8) {
            gi_bench_missing(bench, row.label, "tensor cores have TF32 from compute capability 8.0 on");
            continue;
        }
        GI_TRY(time_algorithm(gpu, m, at, row.algorithm, row.label, &f, err));
        put_row(bench, m, row.label, &f);
    }
    if (at.cublas) put_row(bench, m, "cuBLAS, tf32", &library[1]);
    return GI_OK;
}

} // namespace
#endif

// ---- the table ----------------------------------------------------------------------------------------------------

static gi_status measure(gi_bench *bench, matrices *m, gi_error *err) {
    figures own = {NAN, NAN, NAN, NAN, NAN}, plain = own;
    char title[64];
    snprintf(title, sizeof title, "C = A B, %zu x %zu, float32", m->n, m->n);
    gi_bench_table(bench, title, columns, sizeof columns / sizeof columns[0]);
    gi_bench_bar(bench, "GFLOP/s");
    gi_status status = measure_cpu(bench, m, "OpenMP", multiply_gpuimg, &own, err);
    if (status == GI_OK) status = measure_cpu(bench, m, "OpenMP, loops", multiply_openmp, &plain, err);
    if (status != GI_OK) return status;
    plain.cpu_ms = own.cpu_ms;
    put_row(bench, m, "OpenMP, gpuimg matmul", &own);
    put_row(bench, m, "OpenMP, loops", &plain);
    gi_bench_note(bench, "times OpenMP: of gpuimg matmul on the CPU; tf32 in per cent of cuBLAS with tf32");
#ifdef __CUDACC__
    if (gi_bench_gpu(bench)) return measure_on_gpu(bench, m, own, err);
#endif
    gi_bench_missing(bench, "GPU", gi_bench_no_gpu(bench));
    return GI_OK;
}

static gi_status run(gi_bench *bench, gi_error *err) {
    matrices m = {NULL, NULL, NULL, (size_t)gi_bench_size(bench, 2048, 100), gi_bench_threads(bench)};
    const size_t count = m.n * m.n;
    gi_status status = gi_bench_at_most(bench, 65536, err); // one product takes minutes then
    if (status != GI_OK) return status;
    m.a = (float *)malloc(count * sizeof(float));
    m.b = (float *)malloc(count * sizeof(float));
    m.c = (float *)malloc(count * sizeof(float));
    if (!m.a || !m.b || !m.c)
        status = gi_fail(err, GI_ERR_MEMORY, "no memory for three matrices of %zu x %zu", m.n, m.n);
    if (status == GI_OK) {
        gi_bench_fill_floats(m.a, count, 1);
        gi_bench_fill_floats(m.b, count, 2);
        status = measure(bench, &m, err);
    }
    free(m.a);
    free(m.b);
    free(m.c);
    return status;
}

const gi_demo gi_demo_matmul = {
    "matmul",
    "the matrix product: naive, tiles of 8, 16, 32, registers, tensor cores, cuBLAS",
    "Tiles in shared memory save loads from memory, but only registers save those from shared memory, which are the "
    "limit then: that is the step from a fifth of the library's speed to nearly all of it.",
    run,
};
