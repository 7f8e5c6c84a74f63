// Otsu's rule in exact integers, for both backends.
//
// With n pixels and sum S of their levels, w pixels and sum s at or below t, the between-class variance is
//     (S w - n s)^2 / (w (n - w)) / n^2        (Otsu 1979, eq. 18, with the probabilities multiplied out)
// and two levels are compared by cross-multiplying: with n < 2^64 and levels < 2^16 the numerator's root stays under
// 2^144, its square under 2^288, the product under 2^416. Ties go to the smaller level.
//
// OpenCV's THRESH_OTSU follows the same rule in doubles. It differs where rounding breaks an exact tie, where a class
// holds less than 2^-23 of the pixels (it skips those), and on an image of one level (it says 0).
#ifndef GI_CORE_OTSU_RULES_H
#define GI_CORE_OTSU_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/host_device.h"

__extension__ typedef unsigned __int128 gi_uint128;

// An unsigned integer of 448 bits, least significant limb first.
enum { GI_WIDE_LIMBS = 7 };
typedef struct gi_wide {
    uint64_t limb[GI_WIDE_LIMBS];
} gi_wide;

GI_HOST_DEVICE static inline gi_wide gi_wide_of(uint64_t low, uint64_t high) {
    gi_wide w = {{low, high, 0, 0, 0, 0, 0}};
    return w;
}

// a * b, which must fit.
GI_HOST_DEVICE static inline gi_wide gi_wide_mul(const gi_wide *a, const gi_wide *b) {
    gi_wide product = {{0, 0, 0, 0, 0, 0, 0}};
    for (int i = 0; i < GI_WIDE_LIMBS; i++) {
        if (a->limb[i] == 0) continue;
        uint64_t carry = 0;
        for (int j = 0; i + j < GI_WIDE_LIMBS; j++) {
            gi_uint128 sum = (gi_uint128)a->limb[i] * b->limb[j] + product.limb[i + j] + carry;
            product.limb[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
    }
    return product;
}

// a - b, for a >= b.
GI_HOST_DEVICE static inline gi_wide gi_wide_sub(const gi_wide *a, const gi_wide *b) {
    gi_wide difference;
    uint64_t borrow = 0;
    for (int i = 0; i < GI_WIDE_LIMBS; i++) {
        gi_uint128 step = (gi_uint128)a->limb[i] - b->limb[i] - borrow;
        difference.limb[i] = (uint64_t)step;
        borrow = (uint64_t)(step >> 64) != 0;
    }
    return difference;
}

// Below 0, 0 or above 0 as a is less than b, equal to it, or greater.
GI_HOST_DEVICE static inline int gi_wide_compare(const gi_wide *a, const gi_wide *b) {
    for (int i = GI_WIDE_LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] > b->limb[i] ? 1 : -1;
    return 0;
}

// Of the pixels at or below a level.
typedef struct gi_otsu_sums {
    uint64_t count;             // pixels
    uint64_t sum_low, sum_high; // of their levels, 128 bits
} gi_otsu_sums;

GI_HOST_DEVICE static inline gi_otsu_sums gi_otsu_sums_of(uint64_t count, uint32_t level) {
    gi_uint128 sum = (gi_uint128)count * level;
    gi_otsu_sums sums = {count, (uint64_t)sum, (uint64_t)(sum >> 64)};
    return sums;
}

GI_HOST_DEVICE static inline gi_otsu_sums gi_otsu_sums_add(gi_otsu_sums a, gi_otsu_sums b) {
    uint64_t low = a.sum_low + b.sum_low;
    gi_otsu_sums sums = {a.count + b.count, low, a.sum_high + b.sum_high + (low < a.sum_low)};
    return sums;
}

// The between-class variance as a fraction, without the common factor n^-2.
typedef struct gi_otsu_variance {
    gi_wide above, below;
} gi_otsu_variance;

// 0 where a class is empty. The lower class's mean is at most the whole's, so that S w - n s is never negative.
GI_HOST_DEVICE static inline gi_otsu_variance gi_otsu_variance_of(const gi_otsu_sums *all, const gi_otsu_sums *lower) {
    gi_otsu_variance v = {gi_wide_of(0, 0), gi_wide_of(1, 0)};
    if (lower->count == 0 || lower->count == all->count) return v;
    gi_wide total = gi_wide_of(all->sum_low, all->sum_high), part = gi_wide_of(lower->sum_low, lower->sum_high);
    gi_wide n = gi_wide_of(all->count, 0), w = gi_wide_of(lower->count, 0),
            rest = gi_wide_of(all->count - lower->count, 0);
    gi_wide scaled = gi_wide_mul(&w, &total), subtracted = gi_wide_mul(&n, &part);
    gi_wide root = gi_wide_sub(&scaled, &subtracted);
    v.above = gi_wide_mul(&root, &root);
    v.below = gi_wide_mul(&w, &rest);
    return v;
}

// As gi_wide_compare.
GI_HOST_DEVICE static inline int gi_otsu_variance_compare(const gi_otsu_variance *a, const gi_otsu_variance *b) {
    gi_wide left = gi_wide_mul(&b->below, &a->above), right = gi_wide_mul(&a->below, &b->above);
    return gi_wide_compare(&left, &right);
}

#endif
