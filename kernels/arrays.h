// Reduction and scan of arrays on the device. A boundary as launch.h is: C types only, and launchers that enqueue and
// return. What the operations mean is said in core/primitives.h, the order in which floats meet in core/float_tree.h.
#ifndef GI_KERNELS_ARRAYS_H
#define GI_KERNELS_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "core/primitives.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a reduction leaves on the device.
typedef struct gi_device_number {
    double real;       // of floats, and of every mean; a NaN is the canonical one
    int64_t integer;   // of integers: sum, product, minimum, maximum
    uint64_t overflow; // 1: a sum or product of integers that does not fit 64 bits; `integer` is undefined then. Else 0
} gi_device_number;

typedef struct gi_device_reduce_job {
    const void *values; // device, aligned as its elements are
    gi_element element;
    size_t count; // at least 1: what nothing amounts to needs no device
    gi_operation operation;
    int algorithm;            // GI_ALGORITHM_AUTO, GI_REDUCE_...
    gi_device_number *result; // device: all of it is written
    uint32_t *ticket;         // device: zero before the first job, and left zero by each. Of one stream at a time
    void *scratch;            // device, at least what the scratch function said, 256-byte aligned
    void *stream;             // cudaStream_t
} gi_device_reduce_job;

// Bytes of device memory; looks at element, count, operation and algorithm alone, and for GI_REDUCE_CUB at the current
// device. Enqueues nothing.
size_t gi_cuda_reduce_scratch(const gi_device_reduce_job *job);

// Enqueues a reduction. `auto` and `shuffle` are one launch, and give the CPU's bits for every element. The others give
// them where the order does not matter: for integers, minima and maxima. Their sums, products and means of floats are
// in double too, but grouped as the algorithm has it; `cub`'s may differ from device to device.
gi_status gi_cuda_reduce(const gi_device_reduce_job *job, gi_error *err);

typedef struct gi_device_scan_job {
    const void *values; // device, aligned as its elements are
    void *out;          // device, of gi_scan_element(element); may be `values` as core/primitives.h says
    gi_element element;
    size_t count;           // at least 1
    gi_operation operation; // not MEAN
    bool exclusive;
    int algorithm;     // GI_ALGORITHM_AUTO, GI_SCAN_...
    uint64_t *refused; // device: gets the first index i for which values[0] op ... op values[i] is wanted and does not
                       // fit 64 bits (exclusive: the last is not wanted); UINT64_MAX: all fit
    void *scratch;     // as above
    void *stream;
} gi_device_scan_job;

// Bytes of device memory, likewise.
size_t gi_cuda_scan_scratch(const gi_device_scan_job *job);

// Enqueues a scan. `auto` and `lookback` give the CPU's bits for every element; the others likewise where the order
// does not matter. GI_ERR_LIMIT: more values than a grid can have blocks for (2^40).
gi_status gi_cuda_scan(const gi_device_scan_job *job, gi_error *err);

#ifdef __cplusplus
}
#endif
#endif
