// Reduction and scan (prefix sums) of counts: the CPU's twins of kernels/reduce.cuh and kernels/scan.cuh. A histogram
// has 65536 counts at most, so one core does them in microseconds; the rows of a box blur have a scan of their own in
// cpu/prefix_sums.c, over interleaved channels and with vectors. Integers: no order changes the result.
#ifndef GI_CORE_SCAN_H
#define GI_CORE_SCAN_H

#include <stdint.h>

// counts[0] + ... + counts[n - 1]; 0 for n = 0. The sum must fit 64 bits.
static inline uint64_t gi_reduce_counts(const uint64_t *counts, uint32_t n) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += counts[i];
    return sum;
}

// Inclusive scan: sums[i] = counts[0] + ... + counts[i]. `sums` may be `counts`.
static inline void gi_scan_counts(const uint64_t *counts, uint64_t *sums, uint32_t n) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sums[i] = sum += counts[i];
}

#endif
