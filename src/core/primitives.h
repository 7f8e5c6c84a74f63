// The primitives on arrays, and what a backend offers of them: matrix product, reduction, scan. Host arrays in, host
// arrays out, for which a backend with a device copies; or arrays that lie on that device.
//
// A backend hangs its table into gi_backend.primitives (core/backend.h). Its functions may be called by any number of
// threads at once. The caller has checked the job by gi_..._job_check.
#ifndef GI_CORE_PRIMITIVES_H
#define GI_CORE_PRIMITIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/array.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_backend;

typedef enum gi_primitive {
    GI_PRIMITIVE_MATMUL,
    GI_PRIMITIVE_REDUCE,
    GI_PRIMITIVE_SCAN,
    GI_PRIMITIVE_COUNT
} gi_primitive;

// Every algorithm that any backend has, in the order of the enumerations; the command line's table takes them from
// here.
#define GI_MATMUL_ALGORITHMS "auto|naive|tiled8|tiled16|tiled32|fast|tf32|tf32-mma|tf32-wgmma|cublas|cublas-tf32"
#define GI_REDUCE_ALGORITHMS "auto|interleaved|sequential|shuffle|cub"
#define GI_SCAN_ALGORITHMS "auto|kogge-stone|brent-kung|lookback|cub"
enum { GI_ALGORITHM_AUTO }; // of each
enum {
    GI_MATMUL_NAIVE = 1, // on a GPU: a thread an element
    GI_MATMUL_TILED8,    // tiles of 8 x 8, 16 x 16, 32 x 32 in shared memory
    GI_MATMUL_TILED16,
    GI_MATMUL_TILED32,
    GI_MATMUL_FAST,        // in registers
    GI_MATMUL_TF32,        // tensor cores: the better of the next two that device and matrices allow
    GI_MATMUL_TF32_MMA,    // by warps
    GI_MATMUL_TF32_WGMMA,  // by groups of four warps
    GI_MATMUL_CUBLAS,      // NVIDIA's library, in float32 and
    GI_MATMUL_CUBLAS_TF32, // on tensor cores
    GI_MATMUL_COUNT
};
enum { GI_REDUCE_INTERLEAVED = 1, GI_REDUCE_SEQUENTIAL, GI_REDUCE_SHUFFLE, GI_REDUCE_CUB };
enum { GI_SCAN_KOGGE_STONE = 1, GI_SCAN_BRENT_KUNG, GI_SCAN_LOOKBACK, GI_SCAN_CUB };

// ---- matrix product -----------------------------------------------------------------------------------------------

// C = A B: A is m x k, B is k x n, C is m x n, float32, in rows; row i of A begins at a + i * a_stride, and so on.
// Strides are in elements, at least the row's length. C shares no memory with A or B. k = 0 gives zeros. NaN and
// infinities propagate as the products and sums of IEEE 754 make them. Every sum of a result is over products of one
// row and one column, in the order and grouping of the algorithm: with u = 2^-24,
//     |C - AB| <= GI_MATMUL_ERROR(k) |A||B|   element by element (hence in every monotone norm),
// as no result is the sum of more than that many roundings (Higham, Accuracy and Stability, section 3.5), save TF32's,
// which round the factors to 11 bits first. The CPU's bits do not depend on the number of threads.
typedef struct gi_matmul_job {
    const float *a, *b;
    float *c;
    size_t m, k, n;
    size_t a_stride, b_stride, c_stride;
    int algorithm;
    int threads; // the CPU's; below 1 counts as 1
} gi_matmul_job;

#define GI_MATMUL_ERROR(k) (((double)(k) + 2) * 5.9604644775390625e-08 * 1.01)

// ---- reduction ----------------------------------------------------------------------------------------------------

typedef enum gi_operation {
    GI_OPERATION_SUM = 0,
    GI_OPERATION_PROD,
    GI_OPERATION_MIN,
    GI_OPERATION_MAX,
    GI_OPERATION_MEAN, // of reductions alone
    GI_OPERATION_COUNT
} gi_operation;

// "sum", "prod", "min", "max", "mean"; the table of all, and the other way round (-1: unknown).
#define GI_OPERATION_WORDS "sum|prod|min|max|mean"
#define GI_SCAN_WORDS "sum|prod|min|max"
const char *gi_operation_name(gi_operation operation);
int gi_operation_find(const char *name);

// Integers where a reduction of integers gives one, else a double.
typedef struct gi_number {
    bool is_integer;
    int64_t integer;
    double real;
} gi_number;

// Sums, products and means of floats are those of core/float_tree.h, in double, and so the same bits everywhere; min
// and max are exact, NaN where there is a NaN, and -0 is less than +0. A NaN result is the canonical one. Of integers
// all is exact: GI_ERR_LIMIT where a sum or product does not fit 64 bits; a mean is that of the exact sum. Of nothing:
// 0, 1, and for min, max and mean GI_ERR_USAGE.
typedef struct gi_reduce_job {
    const void *values;
    gi_element element;
    size_t count;
    gi_operation operation;
    int algorithm;
    int threads;
} gi_reduce_job;

// ---- scan ---------------------------------------------------------------------------------------------------------

// out[i] = values[0] op ... op values[i]; exclusive: of what stands before i, out[0] = the identity (0, 1, the largest
// and smallest value). Of f32 and f64, out has the same element, and the bits of core/float_tree.h; of i32, i64 and u8
// it is int64: GI_ERR_LIMIT names the first index whose result does not fit. `out` may be `values` where the elements
// are the same and the scan is inclusive; else they share no memory. After a failure `out` is undefined.
typedef struct gi_scan_job {
    const void *values;
    void *out;
    gi_element element;
    size_t count;
    gi_operation operation; // not MEAN
    bool exclusive;
    int algorithm;
    int threads;
} gi_scan_job;

static inline gi_element gi_scan_element(gi_element element) {
    return gi_element_is_float(element) ? element : GI_ELEMENT_I64;
}

// ---- backends -----------------------------------------------------------------------------------------------------

typedef struct gi_primitives {
    const char *algorithms[GI_PRIMITIVE_COUNT]; // those it has, a part of the lists above: "auto|naive|fast"
    gi_status (*matmul)(struct gi_backend *backend, const gi_matmul_job *job, gi_error *err);
    gi_status (*reduce)(struct gi_backend *backend, const gi_reduce_job *job, gi_number *result, gi_error *err);
    gi_status (*scan)(struct gi_backend *backend, const gi_scan_job *job, gi_error *err);

    // The same on arrays in the memory of the backend's device, as work of its stream `stream`. A product, and a scan
    // of floats, minima or maxima, are enqueued alone; the others wait for their result, or for whether it fits. NULL:
    // the backend has no such memory.
    gi_status (*matmul_device)(struct gi_backend *backend, const gi_matmul_job *job, void *stream, gi_error *err);
    gi_status (*reduce_device)(struct gi_backend *backend, const gi_reduce_job *job, void *stream, gi_number *result,
                               gi_error *err);
    gi_status (*scan_device)(struct gi_backend *backend, const gi_scan_job *job, void *stream, gi_error *err);
} gi_primitives;

// "matmul", "reduce", "scan"; and the list of all its algorithms.
const char *gi_primitive_name(gi_primitive primitive);
const char *gi_primitive_algorithms(gi_primitive primitive);

// Which of a primitive's algorithms has that name; -1: none.
int gi_algorithm_find(gi_primitive primitive, const char *name);

// The name of one; writes it to `name`, which it returns.
enum { GI_ALGORITHM_BYTES = 16 };
const char *gi_algorithm_name(gi_primitive primitive, int algorithm, char name[GI_ALGORITHM_BYTES]);

// True when the list of words "a|b|c" has algorithm number `algorithm`.
bool gi_algorithm_in(gi_primitive primitive, int algorithm, const char *list);

// GI_ERR_USAGE for shapes, pointers and strides that make no job; GI_ERR_LIMIT past what memory can be.
gi_status gi_matmul_job_check(const gi_matmul_job *job, gi_error *err);
gi_status gi_reduce_job_check(const gi_reduce_job *job, gi_error *err);
gi_status gi_scan_job_check(const gi_scan_job *job, gi_error *err);

#ifdef __cplusplus
}
#endif
#endif
