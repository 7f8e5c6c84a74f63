// Otsu's level from exact integers.
//
// With n pixels and sum S of their levels, w pixels and sum s at or below t, the between-class variance is
//     (S w - n s)^2 / (w (n - w)) / n^2        (Otsu 1979, eq. 18, with the probabilities multiplied out)
// and two levels are compared by cross-multiplying: with n < 2^64 and levels < 2^16 the numerator's root stays under
// 2^144, its square under 2^288, the product under 2^416. Ties go to the smaller level.
//
// OpenCV's THRESH_OTSU follows the same rule in doubles. It differs where rounding breaks an exact tie, where a class
// holds less than 2^-23 of the pixels (it skips those), and on an image of one level (it says 0).
#include <string.h>

#include "core/histogram.h"

__extension__ typedef unsigned __int128 uint128;

// An unsigned integer of 448 bits, least significant limb first.
enum { LIMBS = 7 };
typedef struct wide {
    uint64_t limb[LIMBS];
} wide;

static wide wide_of(uint128 value) {
    wide w = {{(uint64_t)value, (uint64_t)(value >> 64)}};
    return w;
}

// a * b, which must fit.
static wide wide_mul(const wide *a, const wide *b) {
    wide product = {{0}};
    for (int i = 0; i < LIMBS; i++) {
        if (a->limb[i] == 0) continue;
        uint64_t carry = 0;
        for (int j = 0; i + j < LIMBS; j++) {
            uint128 sum = (uint128)a->limb[i] * b->limb[j] + product.limb[i + j] + carry;
            product.limb[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
    }
    return product;
}

// a - b, for a >= b.
static wide wide_sub(const wide *a, const wide *b) {
    wide difference;
    uint64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint128 step = (uint128)a->limb[i] - b->limb[i] - borrow;
        difference.limb[i] = (uint64_t)step;
        borrow = (uint64_t)(step >> 64) != 0;
    }
    return difference;
}

static bool wide_greater(const wide *a, const wide *b) {
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] > b->limb[i];
    return false;
}

// The between-class variance as a fraction, without the common factor n^-2.
typedef struct variance {
    wide above, below;
} variance;

typedef struct sums {
    uint64_t count; // pixels
    uint128 sum;    // of their levels
} sums;

// The lower class's mean is at most the whole's, so that S w - n s is never negative.
static variance variance_between(const sums *all, const sums *lower) {
    wide total = wide_of(all->sum), count = wide_of(all->count), part = wide_of(lower->sum), w = wide_of(lower->count);
    wide scaled = wide_mul(&total, &w), subtracted = wide_mul(&count, &part);
    wide root = wide_sub(&scaled, &subtracted);
    variance v = {wide_mul(&root, &root), wide_of((uint128)lower->count * (all->count - lower->count))};
    return v;
}

static bool variance_greater(const variance *a, const variance *b) {
    wide left = wide_mul(&a->above, &b->below), right = wide_mul(&b->above, &a->below);
    return wide_greater(&left, &right);
}

uint32_t gi_otsu_level(const uint64_t *counts, uint32_t levels) {
    sums all = {0, 0}, lower = {0, 0};
    variance best = {wide_of(0), wide_of(1)};
    uint32_t level = 0;
    for (uint32_t v = 0; v < levels; v++) {
        all.count += counts[v];
        all.sum += (uint128)counts[v] * v;
    }
    for (uint32_t t = 0; t < levels; t++) {
        if (counts[t] == 0) continue; // the classes of t - 1, or none yet: no greater
        lower.count += counts[t];
        lower.sum += (uint128)counts[t] * t;
        if (lower.count == all.count) break; // nothing above: no second class
        variance here = variance_between(&all, &lower);
        if (!variance_greater(&here, &best)) continue;
        best = here;
        level = t;
    }
    return level;
}
