// Scans whose results do not depend on the order of their operations: of integers, and minima and maxima of floats, as
// integers of the same order. Each thread takes a piece at a time, and begins with what stands before it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/primitives.h"

// ---- operations ---------------------------------------------------------------------------------------------------

// Each is `carry op= x`; false where the result does not fit.
#define ADD(carry, x) !__builtin_add_overflow(carry, x, &carry)
#define MULTIPLY(carry, x) !__builtin_mul_overflow(carry, x, &carry)
#define LESSER(carry, x) ((carry = x < carry ? x : carry), true)
#define GREATER(carry, x) ((carry = x > carry ? x : carry), true)

// ---- elements -----------------------------------------------------------------------------------------------------

// Floats as integers of the same order, -0 just before 0, and NaN as `nan`, beyond both infinities on the side that the
// operation keeps; and back.
static inline int64_t ordered_f32(const void *values, size_t i, int64_t nan) {
    int32_t bits;
    memcpy(&bits, (const float *)values + i, sizeof bits);
    int32_t magnitude = bits & INT32_MAX;
    return magnitude > 0x7F800000 ? nan : bits < 0 ? bits ^ INT32_MAX : bits;
}

static inline int64_t ordered_f64(const void *values, size_t i, int64_t nan) {
    int64_t bits;
    memcpy(&bits, (const double *)values + i, sizeof bits);
    int64_t magnitude = bits & INT64_MAX;
    return magnitude > 0x7FF0000000000000 ? nan : bits < 0 ? bits ^ INT64_MAX : bits;
}

static inline void put_f32(void *out, size_t i, int64_t ordered, int64_t nan) {
    int32_t narrow = (int32_t)ordered, bits = ordered == nan ? 0x7FC00000 : narrow < 0 ? narrow ^ INT32_MAX : narrow;
    memcpy((float *)out + i, &bits, sizeof bits);
}

static inline void put_f64(void *out, size_t i, int64_t ordered, int64_t nan) {
    int64_t bits = ordered == nan ? 0x7FF8000000000000 : ordered < 0 ? ordered ^ INT64_MAX : ordered;
    memcpy((double *)out + i, &bits, sizeof bits);
}

static inline int64_t get_i32(const void *values, size_t i, int64_t nan) {
    return (void)nan, ((const int32_t *)values)[i];
}
static inline int64_t get_i64(const void *values, size_t i, int64_t nan) {
    return (void)nan, ((const int64_t *)values)[i];
}
static inline int64_t get_u8(const void *values, size_t i, int64_t nan) {
    return (void)nan, ((const uint8_t *)values)[i];
}

static inline void put_i64(void *out, size_t i, int64_t value, int64_t nan) {
    (void)nan;
    ((int64_t *)out)[i] = value;
}

// ---- one piece ----------------------------------------------------------------------------------------------------

// Values [from, end) of a job, of whose results the first goes to out[from + shift].
typedef struct stretch {
    const void *values;
    void *out;
    size_t from, end, shift;
    int64_t nan; // in what ordered floats are, a NaN
} stretch;

// Scans the stretch; *carry is what stands before it, and then what stands behind. Returns the first index whose result
// does not fit, or SIZE_MAX. Likewise without results, for the carry alone. (The members are copied first: as far as
// the compiler knows, a result could be stored over them.)
#define DEFINE_SCAN(name, GET, PUT, OP)                                                                                \
    static size_t name(const stretch *s, int64_t *carry) {                                                             \
        const stretch own = *s;                                                                                        \
        int64_t value = *carry;                                                                                        \
        for (size_t i = own.from; i < own.end; i++) {                                                                  \
            int64_t x = GET(own.values, i, own.nan);                                                                   \
            if (!(OP(value, x))) return i + own.shift;                                                                 \
            PUT(own.out, i + own.shift, value, own.nan);                                                               \
        }                                                                                                              \
        *carry = value;                                                                                                \
        return SIZE_MAX;                                                                                               \
    }                                                                                                                  \
    static size_t name##_carry(const stretch *s, int64_t *carry) {                                                     \
        int64_t value = *carry;                                                                                        \
        for (size_t i = s->from; i < s->end; i++) {                                                                    \
            int64_t x = GET(s->values, i, s->nan);                                                                     \
            if (!(OP(value, x))) return i + s->shift;                                                                  \
        }                                                                                                              \
        *carry = value;                                                                                                \
        return SIZE_MAX;                                                                                               \
    }
#define DEFINE_INTEGER_SCANS(name, GET)                                                                                \
    DEFINE_SCAN(sum_##name, GET, put_i64, ADD)                                                                         \
    DEFINE_SCAN(prod_##name, GET, put_i64, MULTIPLY)                                                                   \
    DEFINE_SCAN(min_##name, GET, put_i64, LESSER)                                                                      \
    DEFINE_SCAN(max_##name, GET, put_i64, GREATER)
DEFINE_INTEGER_SCANS(i32, get_i32)
DEFINE_INTEGER_SCANS(i64, get_i64)
DEFINE_INTEGER_SCANS(u8, get_u8)
DEFINE_SCAN(min_f32, ordered_f32, put_f32, LESSER)
DEFINE_SCAN(max_f32, ordered_f32, put_f32, GREATER)
DEFINE_SCAN(min_f64, ordered_f64, put_f64, LESSER)
DEFINE_SCAN(max_f64, ordered_f64, put_f64, GREATER)

typedef size_t (*scan_function)(const stretch *s, int64_t *carry);
#define BOTH(name)                                                                                                     \
    { name, name##_carry }
// By element, operation, and whether the carry alone is wanted.
static const scan_function functions[GI_ELEMENT_COUNT][4][2] = {
    {{NULL}, {NULL}, BOTH(min_f32), BOTH(max_f32)},
    {{NULL}, {NULL}, BOTH(min_f64), BOTH(max_f64)},
    {BOTH(sum_i32), BOTH(prod_i32), BOTH(min_i32), BOTH(max_i32)},
    {BOTH(sum_i64), BOTH(prod_i64), BOTH(min_i64), BOTH(max_i64)},
    {BOTH(sum_u8), BOTH(prod_u8), BOTH(min_u8), BOTH(max_u8)}};

// ---- all ----------------------------------------------------------------------------------------------------------

// 0, 1, or what any value replaces. Of ordered floats the infinity comes close enough: no value is beyond but NaN.
static int64_t identity_of(const gi_scan_job *job) {
    static const double infinity = INFINITY;
    bool most = job->operation == GI_OPERATION_MAX;
    if (job->operation == GI_OPERATION_SUM) return 0;
    if (job->operation == GI_OPERATION_PROD) return 1;
    if (!gi_element_is_float(job->element)) return most ? INT64_MIN : INT64_MAX;
    int64_t wide;
    memcpy(&wide, &infinity, sizeof wide);
    int64_t above = job->element == GI_ELEMENT_F32 ? 0x7F800000 : wide;
    return most ? ~above : above;
}

static stretch stretch_of(const gi_scan_job *job, size_t piece) {
    size_t from = piece * GI_PIECE, end = from + gi_piece_length(job->count, piece);
    // What an exclusive scan has behind its last value is no result.
    if (job->exclusive && end == job->count) end--;
    return (stretch){job->values, job->out,       from,
                     end,         job->exclusive, job->operation == GI_OPERATION_MAX ? INT64_MAX : INT64_MIN};
}

static void put_first(const gi_scan_job *job, int64_t nan) {
    int64_t identity = identity_of(job);
    if (job->element == GI_ELEMENT_F32)
        put_f32(job->out, 0, identity, nan);
    else if (job->element == GI_ELEMENT_F64)
        put_f64(job->out, 0, identity, nan);
    else
        put_i64(job->out, 0, identity, nan);
}

// What a piece amounts to. A sum that does not fit may come back later on: the index where it did not is told by the
// piece that it is in.
static gi_int128 amount_of(const gi_scan_job *job, size_t piece) {
    stretch s = stretch_of(job, piece);
    int64_t value = identity_of(job);
    if (job->operation == GI_OPERATION_SUM) {
        const char *values = (const char *)job->values + s.from * gi_element_bytes(job->element);
        return gi_sum_integers(values, job->element, s.end - s.from);
    }
    functions[job->element][job->operation][1](&s, &value);
    return value;
}

static gi_int128 both(gi_operation operation, gi_int128 a, gi_int128 b) {
    if (operation == GI_OPERATION_SUM) return a + b;
    return (operation == GI_OPERATION_MIN) == (a < b) ? a : b;
}

static size_t scan_piece(const gi_scan_job *job, size_t piece, gi_int128 before) {
    if (before < INT64_MIN || before > INT64_MAX) return SIZE_MAX; // a piece before tells it
    stretch s = stretch_of(job, piece);
    int64_t value = (int64_t)before;
    return functions[job->element][job->operation][0](&s, &value);
}

// As many pieces as threads at a time: what they amount to, then their scans, by when they are in the cache.
static size_t scan_together(const gi_scan_job *job, size_t pieces, int threads, gi_int128 *before) {
    size_t refused = SIZE_MAX;
    gi_int128 total = identity_of(job);
#pragma omp parallel num_threads(threads) reduction(min : refused)
    for (size_t from = 0; from < pieces; from += (size_t)threads) {
        int64_t count = (int64_t)(pieces - from < (size_t)threads ? pieces - from : (size_t)threads);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < count; i++) before[i] = amount_of(job, from + (size_t)i);
#pragma omp single
        for (int64_t i = 0; i < count; i++) {
            gi_int128 own = before[i];
            before[i] = total;
            total = both(job->operation, total, own);
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < count; i++) {
            size_t place = scan_piece(job, from + (size_t)i, before[i]);
            if (place < refused) refused = place;
        }
    }
    return refused;
}

gi_status gi_scan_exact(const gi_scan_job *job, gi_error *err) {
    size_t pieces = gi_pieces(job->count), refused = SIZE_MAX;
    // A product is either of ones, or over soon.
    int threads = job->operation == GI_OPERATION_PROD ? 1 : gi_piece_threads(pieces, job->threads);
    if (job->exclusive) put_first(job, stretch_of(job, 0).nan);
    if (threads > 1) {
        gi_int128 *before = malloc((size_t)threads * sizeof *before);
        if (!before) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
        refused = scan_together(job, pieces, threads, before);
        free(before);
    } else {
        int64_t value = identity_of(job);
        for (size_t i = 0; i < pieces && refused == SIZE_MAX; i++) {
            stretch s = stretch_of(job, i);
            refused = functions[job->element][job->operation][0](&s, &value);
        }
    }
    if (refused == SIZE_MAX) return GI_OK;
    return gi_fail(err, GI_ERR_LIMIT, "the %s up to index %zu does not fit 64 bits", gi_operation_name(job->operation),
                   refused - job->exclusive);
}
