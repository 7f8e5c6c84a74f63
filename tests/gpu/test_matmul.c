// Every algorithm of the matrix product against a float64 product, on awkward shapes and addresses.
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/matmul.h"
#include "support.h"

enum { GUARD = 64 };                        // floats before and after each matrix
static const uint32_t POISON = 0xffc0deadU; // a NaN that no kernel makes

static bool quick; // for compute-sanitizer
static cudaStream_t stream;
static gi_cublas *cublas; // NULL: not there
static size_t scratch_bytes;
static void *scratch; // device

typedef struct sides {
    size_t m, k, n;
} sides;

// A matrix on the host, packed, and on the device amid poison: `shift` floats past an address of 256 bytes, and with
// gaps between its rows where its stride is more than its columns.
typedef struct matrix {
    size_t rows, cols, stride, count, shift;
    size_t words; // on the device, guards included
    float *host, *device;
    float *memory; // device
} matrix;

static const char *name_of(int algorithm) {
    static char name[GI_ALGORITHM_BYTES];
    return gi_algorithm_name(GI_PRIMITIVE_MATMUL, algorithm, name);
}

static void *needed(void *pointer) {
    if (pointer) return pointer;
    fprintf(stderr, "no memory for a test matrix\n");
    exit(1);
}

static matrix matrix_make(size_t rows, size_t cols, size_t gap, size_t shift) {
    matrix m = {.rows = rows, .cols = cols, .stride = cols + gap, .count = rows * cols, .shift = shift};
    m.words = rows * m.stride + 2 * GUARD + shift;
    m.host = needed(calloc(m.count + 1, sizeof *m.host));
    if (!cuda_ok(cudaMalloc((void **)&m.memory, m.words * sizeof *m.memory))) exit(1);
    m.device = m.memory + GUARD + shift;
    return m;
}

static void matrix_free(matrix *m) {
    free(m->host);
    cuda_ok(cudaFree(m->memory));
}

// Poison everywhere, but the matrix's elements where there are any to upload.
static void matrix_upload(const matrix *m, bool elements) {
    uint32_t *words = needed(malloc(m->words * sizeof *words)), *first = words + GUARD + m->shift;
    for (size_t i = 0; i < m->words; i++) words[i] = POISON;
    for (size_t y = 0; elements && y < m->rows; y++)
        memcpy(first + y * m->stride, m->host + y * m->cols, m->cols * sizeof *words);
    cuda_ok(cudaMemcpy(m->memory, words, m->words * sizeof *words, cudaMemcpyHostToDevice));
    free(words);
}

// Brings the elements back, and checks that nothing around them changed.
static void matrix_download(matrix *m) {
    uint32_t *words = needed(malloc(m->words * sizeof *words)), *first = words + GUARD + m->shift;
    size_t intact = 0;
    cuda_ok(cudaMemcpy(words, m->memory, m->words * sizeof *words, cudaMemcpyDeviceToHost));
    for (size_t y = 0; y < m->rows; y++)
        for (size_t x = 0; x < m->cols; x++) {
            memcpy(&m->host[y * m->cols + x], &first[y * m->stride + x], sizeof *words);
            first[y * m->stride + x] = POISON;
        }
    for (size_t i = 0; i < m->words; i++) intact += words[i] == POISON;
    CHECK(intact == m->words);
    free(words);
}

static float random_float(rng *r) { return (float)((double)(rng_next(r) >> 11) * 0x1p-52 - 1); } // [-1, 1)

// out = A B, and size = |A| |B|, in double precision.
static void reference(const matrix *a, const matrix *b, sides s, double *out, double *size) {
    memset(out, 0, s.m * s.n * sizeof *out);
    memset(size, 0, s.m * s.n * sizeof *size);
    for (size_t i = 0; i < s.m; i++)
        for (size_t p = 0; p < s.k; p++) {
            const double left = a->host[i * s.k + p];
            for (size_t j = 0; j < s.n; j++) {
                const double term = left * b->host[p * s.n + j];
                out[i * s.n + j] += term;
                size[i * s.n + j] += fabs(term);
            }
        }
}

static bool is_cublas(int algorithm) { return algorithm == GI_MATMUL_CUBLAS || algorithm == GI_MATMUL_CUBLAS_TF32; }

static bool is_tf32(int algorithm) {
    return (algorithm >= GI_MATMUL_TF32 && algorithm <= GI_MATMUL_TF32_WGMMA) || algorithm == GI_MATMUL_CUBLAS_TF32;
}

// Runs a job. False where this device or these matrices are not for it, which it must say.
static bool run(gi_matmul_launch *job) {
    gi_error err;
    const size_t needs = gi_cuda_matmul_scratch(job);
    CHECK(needs <= 32U << 20);
    if (needs > scratch_bytes) {
        cuda_ok(cudaFree(scratch));
        if (!cuda_ok(cudaMalloc(&scratch, needs))) exit(1);
        scratch_bytes = needs;
    }
    job->scratch = scratch;
    job->cublas = cublas;
    job->stream = stream;
    cuda_ok(cudaDeviceSynchronize());
    const gi_status status = gi_cuda_matmul(job, &err);
    if (status == GI_ERR_DEVICE && is_tf32(job->algorithm)) {
        CHECK(strstr(err.text, "wgmma needs") || strstr(err.text, "tf32 needs"));
        return false;
    }
    succeeded(status, &err);
    return cuda_ok(cudaStreamSynchronize(stream));
}

// Each element as exact as the header says; infinities and NaN where the reference has them.
static void check_elements(const matrix *c, int algorithm, sides s, const double *wanted, const double *size) {
    const double bound = gi_matmul_error_bound(algorithm, s.k);
    size_t wrong = 0;
    double error = 0, norm = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (isfinite(wanted[i])) {
            const double difference = fabs((double)c->host[i] - wanted[i]);
            wrong += !(difference <= bound * size[i]);
            error += difference * difference;
            norm += wanted[i] * wanted[i];
        } else {
            const bool same = isnan(wanted[i]) ? isnan(c->host[i]) : (double)c->host[i] == wanted[i];
            wrong += !same;
        }
    }
    if (!CHECK(wrong == 0))
        fprintf(stderr, "%zu of %zu wrong, relative error %g\n", wrong, c->count, sqrt(error / (norm + 1e-300)));
}

static gi_matmul_launch job_of(int algorithm, const matrix *a, const matrix *b, const matrix *c) {
    return (gi_matmul_launch){.a = a->device,
                              .b = b->device,
                              .c = c->device,
                              .m = a->rows,
                              .k = a->cols,
                              .n = b->cols,
                              .a_stride = a->stride,
                              .b_stride = b->stride,
                              .c_stride = c->stride,
                              .algorithm = algorithm};
}

static void try_algo(int algorithm, sides s, const matrix *a, const matrix *b, matrix *c, const double *wanted,
                     const double *size) {
    gi_matmul_launch job = job_of(algorithm, a, b, c);
    case_name("%s, %zu x %zu by %zu x %zu, strides %zu %zu %zu, %zu %zu %zu floats off", name_of(algorithm), s.m, s.k,
              s.k, s.n, a->stride, b->stride, c->stride, a->shift, b->shift, c->shift);
    matrix_upload(c, false);
    if (!run(&job)) return;
    matrix_download(c);
    check_elements(c, algorithm, s, wanted, size);
    if (quick) return;
    float *first = needed(malloc((c->count + 1) * sizeof *first));
    memcpy(first, c->host, c->count * sizeof *first);
    matrix_upload(c, false);
    run(&job);
    matrix_download(c);
    CHECK(memcmp(first, c->host, c->count * sizeof *first) == 0);
    free(first);
}

typedef enum content { CONTENT_RANDOM, CONTENT_SPECIAL } content;

// Puts NaN and infinities into a few places.
static void make_special(matrix *m, rng *r) {
    const float special[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3 && m->count; i++) m->host[rng_next(r) % m->count] = special[i];
}

// How A, B and C lie: floats past an aligned address, and between rows.
typedef struct layout {
    size_t shift[3], gap[3];
} layout;

static void try_shape(sides s, layout l, content kind, rng *r) {
    matrix a = matrix_make(s.m, s.k, l.gap[0], l.shift[0]), b = matrix_make(s.k, s.n, l.gap[1], l.shift[1]);
    matrix c = matrix_make(s.m, s.n, l.gap[2], l.shift[2]);
    double *wanted = needed(malloc((c.count + 1) * sizeof *wanted)),
           *size = needed(malloc((c.count + 1) * sizeof *size));
    for (size_t i = 0; i < a.count; i++) a.host[i] = random_float(r);
    for (size_t i = 0; i < b.count; i++) b.host[i] = random_float(r);
    if (kind == CONTENT_SPECIAL) {
        make_special(&a, r);
        make_special(&b, r);
    }
    matrix_upload(&a, true);
    matrix_upload(&b, true);
    reference(&a, &b, s, wanted, size);
    for (int algorithm = 0; algorithm < GI_MATMUL_COUNT; algorithm++)
        if (cublas || !is_cublas(algorithm)) try_algo(algorithm, s, &a, &b, &c, wanted, size);
    free(wanted);
    free(size);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
}

static const sides shapes[] = {
    {0, 5, 3},        {3, 0, 5},          {5, 3, 0},       {0, 0, 0},      {1, 1, 1},        {15, 1, 1},
    {1, 15, 1},       {1, 1, 15},         {17, 31, 13},    {8, 8, 8},      {33, 20, 68},     {127, 129, 131},
    {64, 36, 132}, // --quick: so far
    {5, 1541, 7},     {16, 16, 16},       {128, 128, 128}, {129, 33, 257}, {256, 512, 256},  {1, 1000, 1},
    {1000, 1, 1000},  {3001, 7, 5},       {5, 7, 3001},    {4, 100000, 4}, {193, 1541, 197}, {192, 1540, 196},
    {1, 4096, 1000},  {1000, 4096, 1},    {31, 32, 33},    {600011, 2, 3}, // more rows of tiles than a grid's y
                                                                           // dimension holds
    {1790, 41, 1801}, {1790, 44, 1804},                                    // large tiles of `fast`
    {1152, 68, 2060}, {1130, 132, 2100}, // large tiles of wgmma, an odd number of rows of them
    {512, 512, 512},  {1024, 1024, 1024},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, QUICK_SHAPES = 13 };

static void test_shapes(const options *o) {
    static const layout aligned = {{0}, {0}}, odd = {{1, 2, 3}, {0}}, result = {{0, 0, 1}, {0}};
    static const layout gaps = {{0}, {4, 8, 12}}, odd_gaps = {{0}, {3, 1, 2}};
    rng r = {o->seed};
    for (int i = 0; i < (o->quick ? QUICK_SHAPES : SHAPES); i++) {
        try_shape(shapes[i], aligned, CONTENT_RANDOM, &r);
        try_shape(shapes[i], odd, CONTENT_RANDOM, &r);
        if (o->quick ? i % 4 == 0 : i < 24) try_shape(shapes[i], i % 8 ? gaps : odd_gaps, CONTENT_RANDOM, &r);
        if (!o->quick && i < 24) {
            try_shape(shapes[i], i % 8 ? odd_gaps : gaps, CONTENT_SPECIAL, &r);
            try_shape(shapes[i], result, CONTENT_RANDOM, &r);
            try_shape(shapes[i], aligned, CONTENT_SPECIAL, &r);
            try_shape(shapes[i], odd, CONTENT_SPECIAL, &r);
        }
    }
}

// How factors are rounded: 1 + 2^-11 + 2^-13 to nearest is 1 + 2^-10 in tf32; truncated, 1. As a, as b.
static void test_rounding(void) {
    const sides s = {64, 32, 64};
    for (int algorithm = GI_MATMUL_TF32_MMA; algorithm <= GI_MATMUL_TF32_WGMMA; algorithm++)
        for (int negative = 0; negative < 2; negative++) {
            matrix a = matrix_make(s.m, s.k, 0, 0), b = matrix_make(s.k, s.n, 0, 0), c = matrix_make(s.m, s.n, 0, 0);
            const float value = 1 + 0x1p-11F + 0x1p-13F;
            a.host[0] = negative ? -value : value; // C(0, 0) = a, C(1, 1) = b
            b.host[0] = 1;
            a.host[s.k + 1] = 1;
            b.host[s.n + 1] = a.host[0];
            matrix_upload(&a, true);
            matrix_upload(&b, true);
            matrix_upload(&c, false);
            gi_matmul_launch job = job_of(algorithm, &a, &b, &c);
            case_name("rounding of %s", name_of(algorithm));
            if (run(&job)) {
                matrix_download(&c);
                const float wanted = negative ? -(1 + 0x1p-10F) : 1 + 0x1p-10F;
                if (!CHECK(c.host[0] == wanted && c.host[s.n + 1] == wanted))
                    fprintf(stderr, "%a and %a instead of %a\n", (double)c.host[0], (double)c.host[s.n + 1],
                            (double)wanted);
            }
            matrix_free(&a);
            matrix_free(&b);
            matrix_free(&c);
        }
}

static void test_refusals(void) {
    gi_error err;
    gi_matmul_launch job = {.m = (size_t)1 << 31, .k = 1, .n = 1, .stream = stream};
    case_name("refusals");
    CHECK(gi_cuda_matmul(&job, &err) == GI_ERR_LIMIT);
    job.m = 1;
    job.algorithm = GI_MATMUL_COUNT;
    CHECK(gi_cuda_matmul(&job, &err) == GI_ERR_USAGE);
    job.algorithm = GI_MATMUL_CUBLAS;
    CHECK(gi_cuda_matmul(&job, &err) == GI_ERR_USAGE && strstr(err.text, "cuBLAS"));
    job.algorithm = GI_MATMUL_TF32_WGMMA;
    CHECK(gi_cuda_matmul(&job, &err) == GI_ERR_DEVICE && strstr(err.text, "wgmma needs"));
    for (int algorithm = 0; algorithm < GI_MATMUL_COUNT; algorithm++) CHECK(strlen(name_of(algorithm)) > 0);
}

// --- more than 2^31 elements ---------------------------------------------------------------------------------------

// All zero, but the last rows: small integers, whose products and sums are exact in every algorithm.
static float *large_make(size_t rows, size_t cols, int which) {
    float *device, *row = needed(malloc(cols * sizeof *row));
    if (!cuda_ok(cudaMalloc((void **)&device, rows * cols * sizeof *device))) exit(1);
    cuda_ok(cudaMemset(device, 0, rows * cols * sizeof *device));
    for (size_t i = 0; i < 2 && i < rows; i++) {
        for (size_t j = 0; j < cols; j++) row[j] = (float)((j + i + (size_t)which) % 5) - 2;
        cuda_ok(cudaMemcpy(device + (rows - 1 - i) * cols, row, cols * sizeof *row, cudaMemcpyHostToDevice));
    }
    free(row);
    return device;
}

static void try_large(sides s) {
    float *a = large_make(s.m, s.k, 0), *b = large_make(s.k, s.n, 1), *c;
    float *row = needed(malloc(s.n * sizeof *row)), *wanted = needed(malloc(s.n * sizeof *wanted));
    if (!cuda_ok(cudaMalloc((void **)&c, s.m * s.n * sizeof *c))) exit(1);
    // The last row: A's elements in the last two columns times B's last two rows.
    for (size_t j = 0; j < s.n; j++) {
        const double last = (double)((s.k - 1) % 5) - 2, before = s.k > 1 ? (double)((s.k - 2) % 5) - 2 : 0;
        wanted[j] = (float)(last * ((double)((j + 1) % 5) - 2) + before * ((double)((j + 2) % 5) - 2));
    }
    for (int algorithm = 0; algorithm < GI_MATMUL_COUNT; algorithm++) {
        if (!cublas && is_cublas(algorithm)) continue;
        gi_matmul_launch job = {a, b, c, s.m, s.k, s.n, s.k, s.n, s.n, algorithm, NULL, NULL, NULL};
        case_name("%s, %zu x %zu by %zu x %zu", name_of(algorithm), s.m, s.k, s.k, s.n);
        cuda_ok(cudaMemset(c, 0xff, s.m * s.n * sizeof *c));
        if (!run(&job)) continue;
        cuda_ok(cudaMemcpy(row, c + (s.m - 1) * s.n, s.n * sizeof *row, cudaMemcpyDeviceToHost));
        bool equal = true, zero = true;
        for (size_t j = 0; j < s.n; j++) equal &= row[j] == wanted[j];
        CHECK(equal);
        cuda_ok(cudaMemcpy(row, c + (s.m - 3) * s.n, s.n * sizeof *row, cudaMemcpyDeviceToHost));
        for (size_t j = 0; j < s.n; j++) zero &= row[j] == 0;
        CHECK(zero);
    }
    free(row);
    free(wanted);
    cuda_ok(cudaFree(a));
    cuda_ok(cudaFree(b));
    cuda_ok(cudaFree(c));
}

static void test_large(void) {
    size_t free_bytes = 0, total = 0;
    cuda_ok(cudaMemGetInfo(&free_bytes, &total));
    if (free_bytes >> 30 < 12) {
        printf("more than 2^31 elements: skipped, %zu MiB of device memory are free\n", free_bytes >> 20);
        return;
    }
    try_large((sides){46400, 4, 46400});
    try_large((sides){46400, 46400, 8});
    try_large((sides){4, 46400, 46400});
}

int main(int argc, char **argv) {
    const options o = options_parse(argc, argv);
    gi_error err;
    if (!usable_device()) return EXIT_SKIPPED;
    if (!cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return 1;
    if (gi_cublas_open(&cublas, &err) != GI_OK) printf("without cuBLAS: %s\n", err.text);
    quick = o.quick;
    test_refusals();
    test_rounding();
    test_shapes(&o);
    if (!o.quick) test_large();
    gi_cublas_close(cublas);
    cuda_ok(cudaFree(scratch));
    cuda_ok(cudaStreamDestroy(stream));
    device_release();
    return checks_report("matmul");
}
