// Reduction of integers, exact in 64 bits.
#include <stdlib.h>
#include <string.h>

#include "core/simd.h"
#include "cpu/primitives.h"

// ---- sums ---------------------------------------------------------------------------------------------------------

// A piece of 8-bit or 32-bit integers fits 64 bits by far; bytes are added up in 16 bits, 256 rows of them at a time.
GI_SIMD_BODY void sum_u8_body(const uint8_t *values, size_t count, int64_t *sum) {
    enum { COLUMNS = 128, ROWS = 256 };
    int64_t total = 0;
    size_t at = 0;
    while (at + COLUMNS <= count) {
        uint16_t column[COLUMNS] = {0};
        for (int r = 0; r < ROWS && at + COLUMNS <= count; r++, at += COLUMNS)
            for (int c = 0; c < COLUMNS; c++) column[c] = (uint16_t)(column[c] + values[at + (size_t)c]);
        for (int c = 0; c < COLUMNS; c++) total += column[c];
    }
    for (; at < count; at++) total += values[at];
    *sum = total;
}
GI_SIMD_VARIANTS(sum_u8, sum_u8_body, (const uint8_t *values, size_t count, int64_t *sum), (values, count, sum))

GI_SIMD_BODY void sum_i32_body(const int32_t *values, size_t count, int64_t *sum) {
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) total += values[i];
    *sum = total;
}
GI_SIMD_VARIANTS(sum_i32, sum_i32_body, (const int32_t *values, size_t count, int64_t *sum), (values, count, sum))

// Halves apart: a piece of either fits 64 bits.
GI_SIMD_BODY void sum_i64_body(const int64_t *values, size_t count, int64_t halves[2]) {
    int64_t high = 0;
    uint64_t low = 0;
    for (size_t i = 0; i < count; i++) {
        low += (uint64_t)values[i] & 0xFFFFFFFF;
        high += values[i] >> 32;
    }
    halves[0] = (int64_t)low;
    halves[1] = high;
}
GI_SIMD_VARIANTS(sum_i64, sum_i64_body, (const int64_t *values, size_t count, int64_t halves[2]),
                 (values, count, halves))

gi_int128 gi_sum_integers(const void *values, gi_element element, size_t count) {
    int64_t sum[2] = {0, 0};
    if (element == GI_ELEMENT_U8)
        sum_u8(values, count, sum);
    else if (element == GI_ELEMENT_I32)
        sum_i32(values, count, sum);
    else
        sum_i64(values, count, sum);
    return (gi_int128)sum[1] * ((gi_int128)1 << 32) + sum[0];
}

static gi_int128 piece_sum(const gi_reduce_job *job, size_t piece) {
    const char *values = (const char *)job->values + piece * GI_PIECE * gi_element_bytes(job->element);
    return gi_sum_integers(values, job->element, gi_piece_length(job->count, piece));
}

static gi_int128 sum_of(const gi_reduce_job *job) {
    size_t pieces = gi_pieces(job->count);
    int threads = gi_piece_threads(pieces, job->threads);
    gi_int128 total = 0;
#pragma omp parallel num_threads(threads)
    {
        gi_int128 own = 0;
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < (int64_t)pieces; i++) own += piece_sum(job, (size_t)i);
#pragma omp critical(gi_reduce_sum)
        total += own;
    }
    return total;
}

double gi_reduce_integer_mean(const gi_reduce_job *job) { return (double)sum_of(job) / (double)job->count; }

// ---- products -----------------------------------------------------------------------------------------------------

static int64_t value_at(const gi_reduce_job *job, size_t i) {
    return job->element == GI_ELEMENT_U8    ? ((const uint8_t *)job->values)[i]
           : job->element == GI_ELEMENT_I32 ? ((const int32_t *)job->values)[i]
                                            : ((const int64_t *)job->values)[i];
}

static bool has_zero(const gi_reduce_job *job, size_t from) {
    for (size_t i = from; i < job->count; i++)
        if (value_at(job, i) == 0) return true;
    return false;
}

// One thread: after 63 factors beyond 1 it is over but for the search for a 0, which makes any product fit.
static gi_status product_of(const gi_reduce_job *job, int64_t *result, gi_error *err) {
    bool negative = false, fits = true;
    uint64_t magnitude = 1;
    size_t i = 0;
    for (; i < job->count && magnitude != 0 && fits; i++) {
        int64_t value = value_at(job, i);
        negative ^= value < 0;
        fits = !__builtin_mul_overflow(magnitude, value < 0 ? -(uint64_t)value : (uint64_t)value, &magnitude);
    }
    bool zero = (fits && magnitude == 0) || has_zero(job, i);
    *result = zero ? 0 : (int64_t)(negative ? -magnitude : magnitude);
    fits = fits && magnitude <= (uint64_t)INT64_MAX + negative;
    return zero || fits ? GI_OK : gi_fail(err, GI_ERR_LIMIT, "the product does not fit 64 bits");
}

// ---- extremes -----------------------------------------------------------------------------------------------------

#define DEFINE_EXTREMES(name, type)                                                                                    \
    GI_SIMD_BODY void name##_body(const type *values, size_t count, int64_t out[2]) {                                  \
        type least = values[0], most = values[0];                                                                      \
        for (size_t i = 0; i < count; i++) {                                                                           \
            least = values[i] < least ? values[i] : least;                                                             \
            most = values[i] > most ? values[i] : most;                                                                \
        }                                                                                                              \
        out[0] = least;                                                                                                \
        out[1] = most;                                                                                                 \
    }                                                                                                                  \
    GI_SIMD_VARIANTS(name, name##_body, (const type *values, size_t count, int64_t out[2]), (values, count, out))
DEFINE_EXTREMES(extremes_u8, uint8_t)
DEFINE_EXTREMES(extremes_i32, int32_t)
DEFINE_EXTREMES(extremes_i64, int64_t)

static int64_t extreme_of(const gi_reduce_job *job) {
    size_t pieces = gi_pieces(job->count);
    int threads = gi_piece_threads(pieces, job->threads);
    int64_t least = INT64_MAX, most = INT64_MIN;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(min : least) reduction(max : most)
    for (int64_t i = 0; i < (int64_t)pieces; i++) {
        size_t at = (size_t)i * GI_PIECE, length = gi_piece_length(job->count, (size_t)i);
        int64_t out[2];
        if (job->element == GI_ELEMENT_U8)
            extremes_u8((const uint8_t *)job->values + at, length, out);
        else if (job->element == GI_ELEMENT_I32)
            extremes_i32((const int32_t *)job->values + at, length, out);
        else
            extremes_i64((const int64_t *)job->values + at, length, out);
        if (out[0] < least) least = out[0];
        if (out[1] > most) most = out[1];
    }
    return job->operation == GI_OPERATION_MAX ? most : least;
}

gi_status gi_reduce_integers(const gi_reduce_job *job, int64_t *result, gi_error *err) {
    if (job->operation == GI_OPERATION_PROD) return product_of(job, result, err);
    if (job->operation != GI_OPERATION_SUM) {
        *result = extreme_of(job);
        return GI_OK;
    }
    gi_int128 sum = sum_of(job);
    if (sum < INT64_MIN || sum > INT64_MAX) return gi_fail(err, GI_ERR_LIMIT, "the sum does not fit 64 bits");
    *result = (int64_t)sum;
    return GI_OK;
}
