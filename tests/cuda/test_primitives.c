// The primitives on a GPU against those of the CPU, on the host's arrays and on the device's: the same bits, errors and
// gaps; nothing is made anew for a call like the one before; any number of threads and streams. Linked with the fake
// runtime, and with the real one behind wrap.c.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_internal.h"
#include "calls.h"
#include "gpu/support.h"

static gpuimg_context *on_cpu, *on_cuda;

static const char *const elements[] = {"f32", "f64", "i32", "i64", "u8"};

static void *needed(void *pointer) {
    if (pointer) return pointer;
    fprintf(stderr, "no memory for a test\n");
    exit(1);
}

// ---- arrays -------------------------------------------------------------------------------------------------------

static void *device_make(size_t bytes) {
    void *data = NULL;
    if (!cuda_ok(cudaMalloc(&data, bytes + 64))) exit(1);
    return data;
}

static void device_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    cuda_ok(cudaMemcpyAsync(to, from, bytes, kind, stream));
    cuda_ok(cudaStreamSynchronize(stream));
}

// Values that make products and sums of all magnitudes; `wild` ones overflow, and are NaN and infinite here and there.
static void *values_make(gi_element element, size_t count, bool wild, rng *r) {
    char *values = needed(malloc(count * gi_element_bytes(element) + 1));
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = rng_next(r);
        const double real = (double)(bits >> 11) * 0x1p-52 - 1;
        const float f32 = (float)(wild && bits % 1009 == 0 ? NAN : wild && bits % 1013 == 0 ? INFINITY : real * 3);
        const double f64 = wild && bits % 1009 == 0 ? (double)-NAN : real * 1e3;
        const int32_t i32 = wild ? (int32_t)bits : (int32_t)(bits % 2001) - 1000;
        const int64_t i64 = wild ? (int64_t)bits : (int64_t)(bits % 200001) - 100000;
        const uint8_t u8 = (uint8_t)(bits >> 7);
        const void *const all[] = {&f32, &f64, &i32, &i64, &u8};
        memcpy(values + i * gi_element_bytes(element), all[element], gi_element_bytes(element));
    }
    return values;
}

// ---- reductions and scans -----------------------------------------------------------------------------------------

static bool same_number(gi_number a, gi_number b) {
    return a.is_integer == b.is_integer &&
           (a.is_integer ? a.integer == b.integer : memcmp(&a.real, &b.real, sizeof a.real) == 0);
}

static gi_status reduce_on_device(const gi_reduce_job *job, cudaStream_t stream, gi_number *result, gi_error *err) {
    gi_backend *backend;
    const size_t bytes = job->count * gi_element_bytes(job->element);
    gi_reduce_job there = *job;
    void *values = device_make(bytes);
    there.values = values;
    device_copy(values, job->values, bytes, cudaMemcpyHostToDevice, stream);
    gi_status status = gi_context_choose_device(on_cuda, GI_PRIMITIVE_REDUCE, job->algorithm, &backend, err);
    if (status == GI_OK) status = backend->primitives->reduce_device(backend, &there, stream, result, err);
    cuda_ok(cudaFree(values));
    return status;
}

// Of both, the same number or the same words.
static void try_reduce(const gi_reduce_job *job, cudaStream_t stream) {
    gi_error wanted_error = {.status = GI_OK}, host_error = wanted_error, device_error = wanted_error;
    gi_number wanted = {.real = 0}, host = wanted, device = wanted;
    gi_reduce_job plain = *job;
    gi_choice choice;
    plain.algorithm = GI_ALGORITHM_AUTO;
    const gi_status status = gi_context_reduce(on_cpu, plain, &wanted, &choice, &wanted_error);
    CHECK(gi_context_reduce(on_cuda, *job, &host, &choice, &host_error) == status);
    CHECK(strcmp(wanted_error.text, host_error.text) == 0);
    CHECK(status != GI_OK || same_number(wanted, host));
    if (job->count == 0) return;
    CHECK(reduce_on_device(job, stream, &device, &device_error) == status);
    CHECK(strcmp(wanted_error.text, device_error.text) == 0);
    CHECK(status != GI_OK || same_number(wanted, device));
}

static gi_status scan_on_device(const gi_scan_job *job, void *out, cudaStream_t stream, gi_error *err) {
    gi_backend *backend;
    const size_t bytes = job->count * gi_element_bytes(job->element),
                 out_bytes = job->count * gi_element_bytes(gi_scan_element(job->element));
    void *values = device_make(bytes), *results = device_make(out_bytes);
    gi_scan_job there = *job;
    there.values = values;
    there.out = results;
    device_copy(values, job->values, bytes, cudaMemcpyHostToDevice, stream);
    gi_status status = gi_context_choose_device(on_cuda, GI_PRIMITIVE_SCAN, job->algorithm, &backend, err);
    if (status == GI_OK) status = backend->primitives->scan_device(backend, &there, stream, err);
    device_copy(out, results, out_bytes, cudaMemcpyDeviceToHost, stream);
    cuda_ok(cudaFree(values));
    cuda_ok(cudaFree(results));
    return status;
}

static void try_scan(gi_scan_job job, cudaStream_t stream) {
    const size_t bytes = job.count * gi_element_bytes(gi_scan_element(job.element));
    gi_error wanted_error = {.status = GI_OK}, host_error = wanted_error, device_error = wanted_error;
    void *wanted = needed(malloc(bytes + 1)), *host = needed(malloc(bytes + 1)), *device = needed(malloc(bytes + 1));
    gi_choice choice;
    gi_scan_job plain = job;
    plain.algorithm = GI_ALGORITHM_AUTO;
    plain.out = wanted;
    const gi_status status = gi_context_scan(on_cpu, plain, &choice, &wanted_error);
    job.out = host;
    CHECK(gi_context_scan(on_cuda, job, &choice, &host_error) == status);
    CHECK(strcmp(wanted_error.text, host_error.text) == 0);
    CHECK(status != GI_OK || memcmp(wanted, host, bytes) == 0);
    if (job.count > 0) {
        CHECK(scan_on_device(&job, device, stream, &device_error) == status);
        CHECK(strcmp(wanted_error.text, device_error.text) == 0);
        CHECK(status != GI_OK || memcmp(wanted, device, bytes) == 0);
    }
    free(wanted);
    free(host);
    free(device);
}

static void try_values(gi_element element, size_t count, bool wild, int algorithm, cudaStream_t stream, rng *r) {
    void *values = values_make(element, count, wild, r);
    for (gi_operation op = 0; op < GI_OPERATION_COUNT; op++) {
        case_name("%s of %zu %s%s, algorithm %d", gi_operation_name(op), count, wild ? "wild " : "", elements[element],
                  algorithm);
        const gi_reduce_job reduce = {values, element, count, op, algorithm, 2};
        gi_scan_job scan = {values, NULL, element, count, op, false, algorithm, 2};
        if (count > 0 || op < GI_OPERATION_MIN) try_reduce(&reduce, stream);
        if (op == GI_OPERATION_MEAN) continue;
        try_scan(scan, stream);
        scan.exclusive = true;
        try_scan(scan, stream);
    }
    free(values);
}

static void test_values(const options *o, cudaStream_t stream) {
    static const size_t counts[] = {1, 2049, 0, 7, 255, 4095, 4096, 8193, 100003, 3000011};
    const size_t many = o->quick ? 2 : sizeof counts / sizeof *counts;
    rng r = {o->seed};
    for (gi_element element = 0; element < GI_ELEMENT_COUNT; element++)
        for (size_t i = 0; i < many; i++)
            for (int wild = counts[i] > 1000000; wild < 2; wild++)
                try_values(element, counts[i], wild, GI_ALGORITHM_AUTO, stream, &r);
    // Where the order does not matter, all algorithms give the same; both have four.
    for (int algorithm = 1; algorithm <= GI_REDUCE_CUB; algorithm++)
        for (gi_element element = GI_ELEMENT_I32; element < GI_ELEMENT_COUNT; element++)
            try_values(element, o->quick ? 3000 : 70001, algorithm % 2, algorithm, stream, &r);
}

// ---- products -----------------------------------------------------------------------------------------------------

typedef struct sides {
    size_t m, k, n, gap; // between rows, in elements
} sides;

// Rounded to 11 bits?
static bool is_coarse(int algorithm) {
    return (algorithm >= GI_MATMUL_TF32 && algorithm <= GI_MATMUL_TF32_WGMMA) || algorithm == GI_MATMUL_CUBLAS_TF32;
}

// |a|, |b| <= 1, so that a sum of magnitudes is at most k.
static bool near(const float *wanted, const float *got, sides s, int algorithm) {
    const double bound = 2 * GI_MATMUL_ERROR(s.k) + (is_coarse(algorithm) ? 0x1p-8 : 0);
    size_t wrong = 0;
    for (size_t i = 0; i < s.m * (s.n + s.gap); i++)
        wrong += i % (s.n + s.gap) >= s.n ? memcmp(&wanted[i], &got[i], sizeof *got) != 0
                                          : !(fabs((double)wanted[i] - (double)got[i]) <= bound * (double)s.k);
    return wrong == 0;
}

static gi_status matmul_on_device(gi_matmul_job job, size_t rows, cudaStream_t stream, gi_error *err) {
    const size_t a_bytes = job.m * job.a_stride * sizeof(float), b_bytes = job.k * job.b_stride * sizeof(float),
                 c_bytes = rows * job.c_stride * sizeof(float);
    float *a = device_make(a_bytes), *b = device_make(b_bytes), *c = device_make(c_bytes), *result = job.c;
    gi_backend *backend;
    device_copy(a, job.a, a_bytes, cudaMemcpyHostToDevice, stream);
    device_copy(b, job.b, b_bytes, cudaMemcpyHostToDevice, stream);
    device_copy(c, job.c, c_bytes, cudaMemcpyHostToDevice, stream);
    job.a = a;
    job.b = b;
    job.c = c;
    gi_status status = gi_context_choose_device(on_cuda, GI_PRIMITIVE_MATMUL, job.algorithm, &backend, err);
    if (status == GI_OK) status = backend->primitives->matmul_device(backend, &job, stream, err);
    device_copy(result, c, c_bytes, cudaMemcpyDeviceToHost, stream);
    cuda_ok(cudaFree(a));
    cuda_ok(cudaFree(b));
    cuda_ok(cudaFree(c));
    return status;
}

// True where this machine, or these matrices, are not for the algorithm, and that is said.
static bool is_refused(gi_status status, const gi_error *err, int algorithm) {
    if (status != GI_ERR_DEVICE) return false;
    return strstr(err->text, algorithm >= GI_MATMUL_CUBLAS ? "libcublas" : " needs ");
}

static void try_product(sides s, int algorithm, cudaStream_t stream, rng *r) {
    const size_t a_count = s.m * (s.k + s.gap), b_count = s.k * (s.n + s.gap), c_count = s.m * (s.n + s.gap);
    float *a = needed(malloc((a_count + 1) * sizeof *a)), *b = needed(malloc((b_count + 1) * sizeof *b));
    float *c[3];
    for (size_t i = 0; i < a_count; i++) a[i] = (float)((double)(rng_next(r) >> 11) * 0x1p-52 - 1);
    for (size_t i = 0; i < b_count; i++) b[i] = (float)((double)(rng_next(r) >> 11) * 0x1p-52 - 1);
    for (int i = 0; i < 3; i++) {
        c[i] = needed(malloc((c_count + 1) * sizeof *c[i]));
        for (size_t j = 0; j < c_count; j++) c[i][j] = -77;
    }
    char name[GI_ALGORITHM_BYTES];
    case_name("%s, %zu x %zu by %zu x %zu, gaps of %zu", gi_algorithm_name(GI_PRIMITIVE_MATMUL, algorithm, name), s.m,
              s.k, s.k, s.n, s.gap);
    gi_error err;
    gi_choice choice;
    gi_matmul_job job = {a, b, c[0], s.m, s.k, s.n, s.k + s.gap, s.n + s.gap, s.n + s.gap, GI_ALGORITHM_AUTO, 2};
    succeeded(gi_context_matmul(on_cpu, job, &choice, &err), &err);
    job.algorithm = algorithm;
    job.c = c[1];
    gi_status status = gi_context_matmul(on_cuda, job, &choice, &err);
    if (!is_refused(status, &err, algorithm)) CHECK(succeeded(status, &err) && near(c[0], c[1], s, algorithm));
    job.c = c[2];
    status = matmul_on_device(job, s.m, stream, &err);
    if (!is_refused(status, &err, algorithm)) CHECK(succeeded(status, &err) && near(c[0], c[2], s, algorithm));
    for (int i = 0; i < 3; i++) free(c[i]);
    free(a);
    free(b);
}

static void test_products(const options *o, cudaStream_t stream) {
    static const sides shapes[] = {{3, 5, 7, 0},      {17, 31, 13, 3},    {0, 3, 4, 0},         {3, 0, 4, 1},
                                   {3, 4, 0, 0},      {1, 1000, 1, 0},    {1000, 1, 3, 0},      {129, 257, 65, 0},
                                   {64, 64, 64, 4},   {300, 401, 502, 1}, {1100, 900, 1500, 0}, {2, 3, 1100000, 0},
                                   {1100000, 2, 3, 1}};
    const size_t many = o->quick ? 2 : sizeof shapes / sizeof *shapes;
    rng r = {o->seed};
    for (size_t i = 0; i < many; i++)
        for (int algorithm = 0; algorithm < GI_MATMUL_COUNT; algorithm++)
            if (i < 10 || algorithm == 0) try_product(shapes[i], algorithm, stream, &r);
}

// ---- what is kept -------------------------------------------------------------------------------------------------

// The same once more, and less: nothing is made, freed, or waited for but by events.
static void test_reuse(void) {
    enum { COUNT = 3000000 };
    rng r = {5};
    float *values = values_make(GI_ELEMENT_F32, COUNT, false, &r), *out = needed(malloc(COUNT * sizeof *out));
    struct call_counts before = calls;
    double sum;
    case_name("a call like the one before");
    for (size_t i = 0; i < 4; i++) {
        const gpuimg_matrix a = {values, 100, 300 - i, 0}, b = {values, 300 - i, 200, 0}, c = {out, 100, 200, 0};
        if (i == 1) before = calls;
        CHECK(gpuimg_matmul(on_cuda, &a, &b, &c, NULL, NULL) == GPUIMG_OK);
        CHECK(gpuimg_reduce_f32(on_cuda, GPUIMG_SUM, values, COUNT - i, NULL, &sum, NULL) == GPUIMG_OK);
        CHECK(gpuimg_scan_f32(on_cuda, GPUIMG_SUM, 1, values, out, COUNT - i, NULL, NULL) == GPUIMG_OK);
    }
    CHECK(calls.made == before.made);
    CHECK(calls.freed == before.freed);
    CHECK(calls.synchronised == before.synchronised);
    free(values);
    free(out);
}

// Two scans, the second of what the first one makes, and a sum of that, on either of two streams, before anything is
// waited for.
static void test_streams(void) {
    enum { COUNT = 500000 };
    rng r = {6};
    const size_t bytes = COUNT * sizeof(float);
    float *values = values_make(GI_ELEMENT_F32, COUNT, false, &r), *wanted = needed(malloc(bytes)),
          *got = needed(malloc(bytes)), *memory[2][3];
    cudaStream_t streams[2];
    double sum, wanted_sum;
    case_name("streams");
    CHECK(gpuimg_scan_f32(on_cpu, GPUIMG_MAX, 0, values, got, COUNT, NULL, NULL) == GPUIMG_OK);
    CHECK(gpuimg_scan_f32(on_cpu, GPUIMG_SUM, 0, got, wanted, COUNT, NULL, NULL) == GPUIMG_OK);
    CHECK(gpuimg_reduce_f32(on_cpu, GPUIMG_SUM, wanted, COUNT, NULL, &wanted_sum, NULL) == GPUIMG_OK);
    for (int s = 0; s < 2; s++) {
        cuda_ok(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        for (int i = 0; i < 3; i++) memory[s][i] = device_make(bytes);
        cuda_ok(cudaMemcpyAsync(memory[s][0], values, bytes, cudaMemcpyHostToDevice, streams[s]));
    }
    for (int s = 0; s < 2; s++) {
        CHECK(
            !gpuimg_scan_f32_device(on_cuda, GPUIMG_MAX, 0, memory[s][0], memory[s][1], COUNT, NULL, streams[s], NULL));
        CHECK(
            !gpuimg_scan_f32_device(on_cuda, GPUIMG_SUM, 0, memory[s][1], memory[s][2], COUNT, NULL, streams[s], NULL));
    }
    for (int s = 1; s >= 0; s--) {
        CHECK(!gpuimg_reduce_f32_device(on_cuda, GPUIMG_SUM, memory[s][2], COUNT, NULL, streams[s], &sum, NULL));
        CHECK(sum == wanted_sum);
        memset(got, 0, bytes);
        device_copy(got, memory[s][2], bytes, cudaMemcpyDeviceToHost, streams[s]);
        CHECK(memcmp(got, wanted, bytes) == 0);
        for (int i = 0; i < 3; i++) cuda_ok(cudaFree(memory[s][i]));
        cuda_ok(cudaStreamDestroy(streams[s]));
    }
    free(values);
    free(wanted);
    free(got);
}

static void *work_in_thread(void *context) {
    rng r = {*(const uint64_t *)context};
    cudaStream_t stream;
    cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 6; i++) {
        const size_t count = 1 + rng_below(&r, 400000);
        try_values((gi_element)rng_below(&r, GI_ELEMENT_COUNT), count, false, GI_ALGORITHM_AUTO, stream, &r);
        const sides s = {1 + rng_below(&r, 90), 1 + rng_below(&r, 90), 1 + rng_below(&r, 90), rng_below(&r, 5)};
        try_product(s, GI_ALGORITHM_AUTO, stream, &r);
    }
    cuda_ok(cudaStreamDestroy(stream));
    return NULL;
}

static void test_threads(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    static const uint64_t seeds[THREADS] = {1, 2, 3, 4};
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work_in_thread, (void *)(uintptr_t)&seeds[i]) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

// ---- refusals -----------------------------------------------------------------------------------------------------

static void refused(gpuimg_status got, gpuimg_status wanted, const gpuimg_error *error, const char *words) {
    if (!CHECK(got == wanted && strstr(error->text, words))) fprintf(stderr, "'%s'\n", error->text);
}

static void test_refusals(cudaStream_t stream) {
    gpuimg_error e;
    float on_host[16] = {0}, *there = device_make(64);
    double sum;
    int64_t whole;
    const gpuimg_matrix a = {there, 2, 2, 0}, c = {there + 4, 2, 2, 0}, wrong = {on_host, 2, 2, 0};
    case_name("refusals");
    refused(gpuimg_matmul_device(on_cpu, &a, &a, &c, NULL, stream, &e), GPUIMG_ERR_DEVICE, &e, "a GPU, not on cpu");
    refused(gpuimg_matmul_device(NULL, &a, &a, &c, NULL, stream, &e), GPUIMG_ERR_USAGE, &e, "no context");
    refused(gpuimg_matmul_device(on_cuda, &a, &wrong, &c, NULL, stream, &e), GPUIMG_ERR_USAGE, &e,
            "B lies in the host");
    refused(gpuimg_matmul_device(on_cuda, &a, &a, &a, NULL, stream, &e), GPUIMG_ERR_USAGE, &e, "overlaps");
    refused(gpuimg_reduce_f32_device(on_cuda, GPUIMG_SUM, on_host, 3, NULL, stream, &sum, &e), GPUIMG_ERR_USAGE, &e,
            "lies in the host's memory");
    refused(gpuimg_reduce_f64_device(on_cuda, GPUIMG_SUM, (double *)(void *)(there + 1), 3, NULL, stream, &sum, &e),
            GPUIMG_ERR_USAGE, &e, "not aligned to its elements of 8 bytes");
    refused(gpuimg_reduce_i32_device(on_cuda, GPUIMG_MEAN, (int32_t *)there, 3, NULL, stream, &whole, &e),
            GPUIMG_ERR_USAGE, &e, "gpuimg_mean_i32");
    refused(gpuimg_reduce_u8_device(on_cuda, GPUIMG_MAX, NULL, 0, NULL, stream, &whole, &e), GPUIMG_ERR_USAGE, &e,
            "of nothing");
    refused(gpuimg_mean_u8_device(on_cuda, (uint8_t *)there, 3, "quick", stream, &sum, &e), GPUIMG_ERR_USAGE, &e,
            "known are auto");
    refused(gpuimg_scan_f32_device(on_cuda, GPUIMG_MEAN, 0, there, there + 8, 3, NULL, stream, &e), GPUIMG_ERR_USAGE,
            &e, "sum, prod, min or max");
    refused(gpuimg_scan_f32_device(on_cuda, GPUIMG_SUM, 0, there, on_host, 3, NULL, stream, &e), GPUIMG_ERR_USAGE, &e,
            "the result lies in the host's memory");
    CHECK(gpuimg_reduce_f32_device(on_cuda, GPUIMG_PROD, NULL, 0, NULL, stream, &sum, &e) == GPUIMG_OK && sum == 1);
    CHECK(gpuimg_scan_u8_device(on_cuda, GPUIMG_SUM, 0, NULL, NULL, 0, NULL, stream, &e) == GPUIMG_OK);
    cuda_ok(cudaFree(there));
}

int main(int argc, char **argv) {
    const options o = options_parse(argc, argv);
    gpuimg_error error;
    cudaStream_t stream;
    if (!usable_device()) return EXIT_SKIPPED;
    if (gpuimg_context_open("cpu", 2, &on_cpu, &error) || gpuimg_context_open("cuda", 2, &on_cuda, &error) ||
        !cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    test_streams(); // first: lanes that are new
    test_reuse();
    test_refusals(stream);
    test_values(&o, stream);
    test_products(&o, stream);
    test_threads();
    cuda_ok(cudaStreamDestroy(stream));
    gpuimg_context_close(on_cuda);
    gpuimg_context_close(on_cpu);
    device_release();
    return checks_report("primitives");
}
