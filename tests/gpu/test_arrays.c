// Reduction and scan of arrays on the device, each algorithm beside the CPU's: every element and operation, lengths at
// which something changes, any alignment, numbers that are none, sums that do not fit. What core/float_tree.h defines
// must agree to the bit, today and in twenty runs; the other groupings of floats within what their roundings explain.
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/primitives.h"
#include "device_image.h"
#include "kernels/arrays.h"

static cudaStream_t stream;
static uint32_t *ticket; // device

// `auto` is tried in test_runs.
static const int reduce_algorithms[] = {GI_REDUCE_INTERLEAVED, GI_REDUCE_SEQUENTIAL, GI_REDUCE_SHUFFLE, GI_REDUCE_CUB};
static const int scan_algorithms[] = {GI_SCAN_KOGGE_STONE, GI_SCAN_BRENT_KUNG, GI_SCAN_LOOKBACK, GI_SCAN_CUB};
enum { ALGORITHMS = 4 };

// --- values ----------------------------------------------------------------------------------------------------------

typedef enum content {
    CONTENT_PLAIN,   // reals of many magnitudes; integers up to 1000
    CONTENT_SPECIAL, // with NaN, infinities, -0; integers of all bits, which do not fit once they are added up
    CONTENT_ONES,    // about 1, or -1; integers 1, at times -1 or 2: for products
    CONTENT_ILL,     // what is large cancels; integers at either end of their range
    CONTENT_NOTHING, // -0; integers 0, and a few others
    CONTENT_COUNT
} content;

static double real_of(content kind, size_t i, rng *r) {
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-310};
    const double unit = (double)(int64_t)rng_next(r) * 0x1p-63;
    switch (kind) {
    case CONTENT_SPECIAL: return rng_below(r, 600) ? unit : special[rng_below(r, 6)];
    case CONTENT_ONES: return (1 + unit * 0x1p-12) * (rng_below(r, 2) ? 1 : -1);
    case CONTENT_ILL: return i % 3 == 2 ? unit : i % 3 ? -1e15 : 1e15;
    case CONTENT_NOTHING: return -0.0;
    default: return ldexp(unit, (int)rng_below(r, 40) - 20);
    }
}

static int64_t integer_of(content kind, size_t i, rng *r) {
    switch (kind) {
    case CONTENT_SPECIAL: return (int64_t)rng_next(r);
    case CONTENT_ONES: return rng_below(r, 50) ? 1 : rng_below(r, 20) ? -1 : 2;
    case CONTENT_ILL: return i % 2 ? INT64_MIN + (int64_t)rng_below(r, 9) : INT64_MAX - (int64_t)rng_below(r, 9);
    case CONTENT_NOTHING: return rng_below(r, 90) ? 0 : 3;
    default: return (int64_t)rng_below(r, 2001) - 1000;
    }
}

static void put(void *to, gi_element element, size_t i, content kind, rng *r) {
    const int64_t integer = gi_element_is_float(element) ? 0 : integer_of(kind, i, r);
    switch (element) {
    case GI_ELEMENT_F32: ((float *)to)[i] = (float)real_of(kind, i, r); break;
    case GI_ELEMENT_F64: ((double *)to)[i] = real_of(kind, i, r); break;
    case GI_ELEMENT_I64: ((int64_t *)to)[i] = integer; break;
    // At the ends of their own range.
    case GI_ELEMENT_I32: ((int32_t *)to)[i] = (int32_t)(kind == CONTENT_ILL ? integer >> 32 : integer); break;
    default: ((uint8_t *)to)[i] = (uint8_t)integer; break;
    }
}

static double real_at(const void *values, gi_element element, size_t i) {
    return element == GI_ELEMENT_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

// An array on both sides. On the device it ends where its memory does, and begins `shift` elements after 256 bytes.
typedef struct array {
    gi_element element;
    size_t count, bytes;
    content kind;
    void *host, *device, *memory;
} array;

static array array_make(gi_element element, size_t count, content kind, size_t shift, rng *r) {
    const size_t size = gi_element_bytes(element);
    array a = {.element = element, .count = count, .bytes = count * size, .kind = kind};
    a.host = host_memory(a.bytes);
    for (size_t i = 0; i < count; i++) put(a.host, element, i, kind, r);
    a.memory = device_memory(a.bytes + shift * size);
    a.device = (char *)a.memory + shift * size;
    cuda_ok(cudaMemcpy(a.device, a.host, a.bytes, cudaMemcpyHostToDevice));
    return a;
}

static void array_free(array *a) {
    free(a->host);
    cuda_ok(cudaFree(a->memory));
}

static bool any_order(gi_element element, gi_operation operation) {
    return !gi_element_is_float(element) || operation == GI_OPERATION_MIN || operation == GI_OPERATION_MAX;
}

// --- reduction -------------------------------------------------------------------------------------------------------

static gi_device_number reduce_on_device(gi_device_reduce_job *job) {
    gi_device_number result, *place = device_memory(sizeof *place);
    gi_error err;
    guarded_scratch scratch = scratch_make(gi_cuda_reduce_scratch(job));
    cuda_ok(cudaMemset(place, POISON, sizeof *place));
    job->result = place;
    cuda_ok(cudaDeviceSynchronize()); // the default stream's work is not ordered with ours
    job->ticket = ticket;
    job->scratch = scratch.data;
    job->stream = stream;
    succeeded(gi_cuda_reduce(job, &err), &err);
    cuda_ok(cudaStreamSynchronize(stream));
    cuda_ok(cudaMemcpy(&result, place, sizeof result, cudaMemcpyDeviceToHost));
    cuda_ok(cudaFree(place));
    scratch_check(&scratch);
    return result;
}

// What another grouping of a sum or a product may differ by: two times n roundings of the sum of the magnitudes.
static double tolerance(const array *a, gi_operation operation, double result) {
    const double roundings = 2.01 * (double)a->count * 0x1p-53;
    double sum = 0;
    if (operation == GI_OPERATION_PROD) return fabs(result) * roundings;
    for (size_t i = 0; i < a->count; i++) sum += fabs(real_at(a->host, a->element, i));
    return roundings * (operation == GI_OPERATION_MEAN ? sum / (double)a->count : sum);
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static void compare_numbers(const array *a, gi_operation operation, bool exact, gi_number want, double got) {
    if (exact || isnan(want.real) || isinf(want.real))
        CHECK(same_bits(got, want.real));
    else
        CHECK(fabs(got - want.real) <= tolerance(a, operation, want.real));
}

static void try_reduce(const array *a, gi_operation operation) {
    gi_reduce_job cpu = {a->host, a->element, a->count, operation, GI_ALGORITHM_AUTO, 2};
    gi_number want;
    gi_error err;
    const gi_status status = gi_cpu_reduce(&cpu, &want, &err);
    for (int i = 0; i < ALGORITHMS; i++) {
        const int algorithm = reduce_algorithms[i];
        const bool exact = any_order(a->element, operation) || algorithm == GI_REDUCE_SHUFFLE;
        char name[GI_ALGORITHM_BYTES];
        // Other groupings overflow where the tree does not.
        if (!exact && operation == GI_OPERATION_PROD && a->kind != CONTENT_ONES) continue;
        case_name("%s of %zu %s, content %d, %s", gi_operation_name(operation), a->count, gi_element_name(a->element),
                  a->kind, gi_algorithm_name(GI_PRIMITIVE_REDUCE, algorithm, name));
        gi_device_reduce_job job = {.values = a->device,
                                    .element = a->element,
                                    .count = a->count,
                                    .operation = operation,
                                    .algorithm = algorithm};
        const gi_device_number got = reduce_on_device(&job);
        if (status != GI_OK) {
            CHECK(status == GI_ERR_LIMIT && got.overflow == 1);
            continue;
        }
        CHECK(got.overflow == 0);
        if (want.is_integer)
            CHECK(got.integer == want.integer);
        else
            compare_numbers(a, operation, exact, want, got.real);
    }
}

// --- scan ------------------------------------------------------------------------------------------------------------

// Results on the device amid poison, `shift` elements after 256 bytes.
typedef struct results {
    size_t bytes, before;
    char *memory, *host;
} results;

static results results_make(size_t count, size_t size, size_t shift) {
    results r = {.bytes = count * size, .before = GUARD_BYTES + shift * size};
    r.memory = device_memory(r.before + r.bytes + GUARD_BYTES);
    r.host = host_memory(r.before + r.bytes + GUARD_BYTES);
    cuda_ok(cudaMemset(r.memory, POISON, r.before + r.bytes + GUARD_BYTES));
    return r;
}

static const void *results_get(const results *r) {
    const size_t all = r->before + r->bytes + GUARD_BYTES;
    bool intact = true;
    cuda_ok(cudaMemcpy(r->host, r->memory, all, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < all; i++)
        if (i < r->before || i >= r->before + r->bytes) intact &= (unsigned char)r->host[i] == POISON;
    CHECK(intact);
    return r->host + r->before;
}

static void results_free(results *r) {
    free(r->host);
    cuda_ok(cudaFree(r->memory));
}

static uint64_t scan_on_device(gi_device_scan_job *job) {
    uint64_t refused = 0, *place = device_memory(sizeof *place);
    gi_error err;
    guarded_scratch scratch = scratch_make(gi_cuda_scan_scratch(job));
    cuda_ok(cudaMemset(place, POISON, sizeof *place));
    cuda_ok(cudaDeviceSynchronize()); // as above
    job->refused = place;
    job->scratch = scratch.data;
    job->stream = stream;
    succeeded(gi_cuda_scan(job, &err), &err);
    cuda_ok(cudaStreamSynchronize(stream));
    cuda_ok(cudaMemcpy(&refused, place, sizeof refused, cudaMemcpyDeviceToHost));
    cuda_ok(cudaFree(place));
    scratch_check(&scratch);
    return refused;
}

static bool are_close(const array *a, const void *got, const void *want, gi_operation operation, bool exclusive) {
    double sum = 0;
    for (size_t i = 0; i < a->count; i++) {
        const double x = real_at(got, a->element, i), y = real_at(want, a->element, i);
        const double last = a->element == GI_ELEMENT_F32 ? 0x1p-23 * fabs(y) : 0x1p-52 * fabs(y);
        if (!exclusive) sum += fabs(real_at(a->host, a->element, i));
        const double size = operation == GI_OPERATION_PROD ? fabs(y) : sum;
        const bool special = isnan(y) || isinf(y);
        if (special ? !same_bits(x, y) : !(fabs(x - y) <= last + 2.01 * (double)(i + 1) * 0x1p-53 * size)) return false;
        if (exclusive) sum += fabs(real_at(a->host, a->element, i));
    }
    return true;
}

// The index that the CPU's message names.
static uint64_t refused_index(const gi_error *err) {
    size_t index = 0;
    CHECK(sscanf(err->text, "the %*s up to index %zu", &index) == 1);
    return index;
}

static void try_scan_by(const array *a, gi_device_scan_job *job, const void *want, uint64_t want_refused,
                        size_t shift) {
    const size_t size = gi_element_bytes(gi_scan_element(a->element));
    const bool exact = any_order(a->element, job->operation) || job->algorithm == GI_SCAN_LOOKBACK;
    char name[GI_ALGORITHM_BYTES];
    results r = results_make(a->count, size, shift);
    if (!exact && job->operation == GI_OPERATION_PROD && a->kind != CONTENT_ONES) {
        results_free(&r);
        return;
    }
    case_name("%s scan of %zu %s, content %d, %s%s, shift %zu", gi_operation_name(job->operation), a->count,
              gi_element_name(a->element), a->kind, gi_algorithm_name(GI_PRIMITIVE_SCAN, job->algorithm, name),
              job->exclusive ? ", exclusive" : "", shift);
    job->out = r.memory + r.before;
    const bool in_place = shift == 1 && !job->exclusive && size == gi_element_bytes(a->element);
    if (in_place) {
        cuda_ok(cudaMemcpy(job->out, a->host, a->bytes, cudaMemcpyHostToDevice));
        job->values = job->out;
    }
    CHECK(scan_on_device(job) == want_refused);
    const void *got = results_get(&r);
    if (want_refused == UINT64_MAX) {
        if (exact)
            CHECK(memcmp(got, want, r.bytes) == 0);
        else
            CHECK(are_close(a, got, want, job->operation, job->exclusive));
    }
    results_free(&r);
}

static void try_scan(const array *a, gi_operation operation, bool exclusive, size_t shift) {
    void *want = host_memory(a->count * gi_element_bytes(gi_scan_element(a->element)));
    gi_scan_job cpu = {a->host, want, a->element, a->count, operation, exclusive, GI_ALGORITHM_AUTO, 2};
    gi_error err;
    const gi_status status = gi_cpu_scan(&cpu, &err);
    const uint64_t refused = status == GI_OK ? UINT64_MAX : refused_index(&err);
    for (int i = 0; i < ALGORITHMS; i++) {
        gi_device_scan_job job = {.values = a->device,
                                  .element = a->element,
                                  .count = a->count,
                                  .operation = operation,
                                  .exclusive = exclusive,
                                  .algorithm = scan_algorithms[i]};
        try_scan_by(a, &job, want, refused, shift);
    }
    free(want);
}

// --- all -------------------------------------------------------------------------------------------------------------

static void try_array(gi_element element, size_t count, content kind, size_t shift, rng *r) {
    array a = array_make(element, count, kind, shift, r);
    for (int operation = 0; operation < GI_OPERATION_COUNT; operation++) {
        try_reduce(&a, (gi_operation)operation);
        if (operation == GI_OPERATION_MEAN) continue;
        try_scan(&a, (gi_operation)operation, false, shift);
        try_scan(&a, (gi_operation)operation, true, 1 - shift);
    }
    array_free(&a);
}

// The longer, the fewer kinds of values.
static int contents_for(size_t count, bool quick) {
    if (quick) return CONTENT_SPECIAL + 1;
    return count > 200000 ? CONTENT_SPECIAL + 1 : CONTENT_COUNT;
}

static void test_lengths(const options *o) {
    static const size_t quick[] = {33, 9001};
    static const size_t lengths[] = {1,    2,    31,   32,   33,   255,   256,   257,    1023,   1025,         2047,
                                     2048, 2049, 4095, 4096, 4097, 12287, 40963, 100003, 131072, (1 << 20) + 7};
    const size_t count = o->quick ? sizeof quick / sizeof *quick : sizeof lengths / sizeof *lengths;
    rng r = {o->seed};
    for (int element = 0; element < GI_ELEMENT_COUNT; element++)
        for (size_t i = 0; i < count; i++) {
            const size_t length = (o->quick ? quick : lengths)[i];
            for (int kind = 0; kind < contents_for(length, o->quick); kind++)
                try_array((gi_element)element, length, (content)kind, ((size_t)kind + i) % 2, &r);
        }
}

// Where a sum leaves 64 bits for the first time, and comes back: at each place of a tile, and far behind.
static void test_overflow(const options *o) {
    static const size_t places[] = {1, 7, 8, 255, 256, 4095, 4096, 4097, 70000};
    rng r = {o->seed + 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (o->quick && i != 5) continue;
        array a = array_make(GI_ELEMENT_I64, places[i] + 9000, CONTENT_NOTHING, 0, &r);
        int64_t *values = a.host;
        memset(values, 0, a.bytes);
        values[0] = INT64_MAX;
        values[places[i]] = 5;
        values[places[i] + 1] = -70;
        values[places[i] + 3000] = INT64_MAX;
        cuda_ok(cudaMemcpy(a.device, values, a.bytes, cudaMemcpyHostToDevice));
        try_scan(&a, GI_OPERATION_SUM, false, 0);
        try_scan(&a, GI_OPERATION_SUM, true, 0);
        try_reduce(&a, GI_OPERATION_SUM);
        values[places[i] + 3000] = -3;
        cuda_ok(cudaMemcpy(a.device, values, a.bytes, cudaMemcpyHostToDevice));
        try_reduce(&a, GI_OPERATION_SUM); // fits again
        try_reduce(&a, GI_OPERATION_MEAN);
        array_free(&a);
    }
}

// The same bits in every run, though blocks come in another order each time.
static void test_runs(const options *o) {
    const int runs = o->quick ? 2 : 20;
    rng r = {o->seed + 2};
    array a = array_make(GI_ELEMENT_F32, o->quick ? 50000 : 5000003, CONTENT_ILL, 0, &r);
    results scanned[2] = {results_make(a.count, 4, 0), results_make(a.count, 4, 0)};
    gi_device_number first = {0};
    case_name("twenty runs");
    for (int run = 0; run < runs; run++) {
        gi_device_reduce_job reduce = {.values = a.device, .element = a.element, .count = a.count};
        gi_device_scan_job scan = {.values = a.device, .element = a.element, .count = a.count};
        const gi_device_number number = reduce_on_device(&reduce);
        scan.out = scanned[run > 0].memory + scanned[run > 0].before;
        CHECK(scan_on_device(&scan) == UINT64_MAX);
        const void *got = results_get(&scanned[run > 0]);
        if (run == 0) {
            first = number;
        } else {
            CHECK(same_bits(number.real, first.real));
            CHECK(memcmp(got, scanned[0].host + scanned[0].before, a.bytes) == 0);
        }
    }
    results_free(&scanned[0]);
    results_free(&scanned[1]);
    array_free(&a);
}

// So many that blocks take several rounds, and groups of blocks.
static void test_many(const options *o) {
    rng r = {o->seed + 3};
    array a = array_make(GI_ELEMENT_F32, ((size_t)1 << 27) + 12345, CONTENT_PLAIN, 0, &r);
    try_reduce(&a, GI_OPERATION_SUM);
    try_reduce(&a, GI_OPERATION_MIN);
    try_scan(&a, GI_OPERATION_SUM, false, 0);
    array_free(&a);
}

static void reduce_bytes(const uint8_t *values, size_t count, gi_operation operation, int64_t want) {
    for (int i = 0; i < ALGORITHMS; i++) {
        case_name("%s of %zu bytes, algorithm %d", gi_operation_name(operation), count, reduce_algorithms[i]);
        gi_device_reduce_job job = {.values = values,
                                    .element = GI_ELEMENT_U8,
                                    .count = count,
                                    .operation = operation,
                                    .algorithm = reduce_algorithms[i]};
        const gi_device_number got = reduce_on_device(&job);
        CHECK(got.overflow == 0);
        CHECK(got.integer == want);
    }
}

// More than 2^31 bytes, made on the device: ones, and a seven at the end.
static void test_beyond_31_bits(const options *o) {
    const size_t count = ((size_t)1 << 31) + 123457;
    uint8_t *values = device_memory(count);
    int64_t *out = device_memory(count * sizeof *out);
    rng r = {o->seed + 4};
    cuda_ok(cudaMemset(values, 1, count - 1));
    cuda_ok(cudaMemset(values + count - 1, 7, 1));
    reduce_bytes(values, count, GI_OPERATION_SUM, (int64_t)count + 6);
    reduce_bytes(values, count, GI_OPERATION_PROD, 7);
    reduce_bytes(values, count, GI_OPERATION_MAX, 7);
    for (int i = 0; i < ALGORITHMS; i++) {
        gi_device_scan_job job = {.values = values,
                                  .out = out,
                                  .element = GI_ELEMENT_U8,
                                  .count = count,
                                  .operation = GI_OPERATION_SUM,
                                  .algorithm = scan_algorithms[i]};
        case_name("scan of %zu bytes, algorithm %d", count, scan_algorithms[i]);
        cuda_ok(cudaMemset(out, POISON, count * sizeof *out));
        CHECK(scan_on_device(&job) == UINT64_MAX);
        for (int probe = 0; probe < 200; probe++) {
            const size_t at = probe ? rng_next(&r) % count : count - 1;
            int64_t got = 0;
            cuda_ok(cudaMemcpy(&got, out + at, sizeof got, cudaMemcpyDeviceToHost));
            CHECK(got == (int64_t)(at + 1) + (at == count - 1 ? 6 : 0));
        }
    }
    cuda_ok(cudaFree(values));
    cuda_ok(cudaFree(out));
}

int main(int argc, char **argv) {
    const options o = options_parse(argc, argv);
    if (!usable_device()) return EXIT_SKIPPED;
    if (!cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return 1;
    ticket = device_memory(sizeof *ticket);
    cuda_ok(cudaMemset(ticket, 0, sizeof *ticket));
    test_lengths(&o);
    test_overflow(&o);
    test_runs(&o);
    if (!o.quick) {
        test_many(&o);
        test_beyond_31_bits(&o);
    }
    cuda_ok(cudaFree(ticket));
    cuda_ok(cudaStreamDestroy(stream));
    device_release();
    return checks_report("arrays");
}
