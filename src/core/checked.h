// Size arithmetic that cannot wrap. Every product or sum that sizes an allocation goes through these.
#ifndef GI_CORE_CHECKED_H
#define GI_CORE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>

// *out = a * b; false (and *out untouched) when it does not fit.
static inline bool gi_mul(size_t a, size_t b, size_t *out) {
    if (b != 0 && a > (size_t)-1 / b) return false;
    *out = a * b;
    return true;
}

// *out = a + b; false (and *out untouched) when it does not fit.
static inline bool gi_add(size_t a, size_t b, size_t *out) {
    if (a > (size_t)-1 - b) return false;
    *out = a + b;
    return true;
}

// *out = value rounded up to a multiple of step (a power of two); false when it does not fit.
static inline bool gi_round_up(size_t value, size_t step, size_t *out) {
    if (!gi_add(value, step - 1, out)) return false;
    *out &= ~(step - 1);
    return true;
}

#endif
