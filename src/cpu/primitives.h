// The primitives on the CPU. Jobs are checked already (core/primitives.h).
#ifndef GI_CPU_PRIMITIVES_H
#define GI_CPU_PRIMITIVES_H

#include "core/primitives.h"

#ifdef __cplusplus
extern "C" {
#endif

// What hangs in the CPU backend.
extern const gi_primitives gi_cpu_primitives;

gi_status gi_cpu_matmul(const gi_matmul_job *job, gi_error *err);
gi_status gi_cpu_reduce(const gi_reduce_job *job, gi_number *result, gi_error *err);
gi_status gi_cpu_scan(const gi_scan_job *job, gi_error *err);

// ---- parts of them ------------------------------------------------------------------------------------------------

// Sums of 64-bit integers that cannot overflow.
__extension__ typedef __int128 gi_int128;

// The sum of at most GI_PIECE integers.
gi_int128 gi_sum_integers(const void *values, gi_element element, size_t count);

// Sum or product of at least one float32 or float64 by the tree of core/float_tree.h. GI_ERR_MEMORY.
gi_status gi_reduce_floats(const gi_reduce_job *job, double *result, gi_error *err);

// The smallest or largest of at least one float, as a double.
double gi_reduce_float_extreme(const gi_reduce_job *job);

// Sum, product, minimum or maximum of at least one integer. GI_ERR_LIMIT: it does not fit 64 bits.
gi_status gi_reduce_integers(const gi_reduce_job *job, int64_t *result, gi_error *err);

// The mean of at least one integer, from their exact sum.
double gi_reduce_integer_mean(const gi_reduce_job *job);

// Scans of at least one float: sum and product by the tree; minimum and maximum.
gi_status gi_scan_floats(const gi_scan_job *job, gi_error *err);

// Scans of at least one number whose result does not depend on the order: integers, and extremes of floats.
gi_status gi_scan_exact(const gi_scan_job *job, gi_error *err);

// A part of a job that one thread does at a time, in elements; a whole number of tiles of core/float_tree.h.
enum { GI_PIECE = 1 << 17 };

static inline size_t gi_pieces(size_t count) { return count / GI_PIECE + (count % GI_PIECE != 0); }

static inline size_t gi_piece_length(size_t count, size_t piece) {
    size_t left = count - piece * GI_PIECE;
    return left < GI_PIECE ? left : GI_PIECE;
}

// A team for so many pieces.
int gi_piece_threads(size_t pieces, int limit);

#ifdef __cplusplus
}
#endif
#endif
