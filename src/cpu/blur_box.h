// Inner parts of the box blur.
#ifndef GI_CPU_BLUR_BOX_H
#define GI_CPU_BLUR_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How a band's box blur goes, whatever the sample.
//
// Narrow: every sum of a window, of which (max + 1) * n is a bound (max the largest weighted value: 65025 for u8 with
// alpha), stays below 2^31. Sums are then kept modulo 2^32 and differences of them are exact; else modulo 2^64.
typedef struct gi_box_plan {
    int64_t radius;
    uint64_t count; // (2R + 1)^2 pixels
    bool weighted;  // by alpha
    bool narrow;
    bool multiplies; // narrow, not weighted, not shrink: divides by gi_box_divide or gi_box_divide_small
    bool small;      // count is at most GI_BOX_SMALL_COUNT, and the sample u8
    bool by_double;  // weighted: quotients in double arithmetic are exact
    uint32_t multiplier, shift;
} gi_box_plan;

// half_up(sum, n) for odd n >= 3 with (max + 1) * n <= 2^31, by a product. With x = sum + (n - 1)/2 < (max + 1) * n,
// l = floor(log2 n) and m = ceil(2^(32 + l) / n), which is below 2^32: floor(x * m / 2^(32 + l)) is floor(x / n) where
// x * (m * n - 2^(32 + l)) < 2^(32 + l); the left side is below (max + 1) * n * n <= 2^31 * n < 2^(32 + l).
static inline uint32_t gi_box_divide(uint32_t sum, uint32_t half, uint32_t multiplier, uint32_t shift) {
    return (uint32_t)((uint64_t)(sum + half) * multiplier >> 32) >> shift;
}

enum { GI_BOX_SMALL_COUNT = 8191 };

// The same in float, which most vector units do faster, for 8-bit sums: sum + half is exact in float, at least 1/2n
// away from every multiple of n, and the two roundings' error, 2^-23 of a quotient below 256, is less for n < 2^14.
static inline uint32_t gi_box_divide_small(uint32_t sum, float half, float inverse) {
    return (uint32_t)(int32_t)(((float)(int32_t)sum + half) * inverse);
}

// sums[c] = 0 for the first pixel; sums of pixel x + 1 = sums of pixel x + values of pixel x. May read and write up to
// 3 elements past the end of either.
void gi_prefix_sums_u32(const uint32_t *values, uint32_t *sums, size_t pixels, int channels);
void gi_prefix_sums_u64(const uint64_t *values, uint64_t *sums, size_t pixels, int channels);

#endif
