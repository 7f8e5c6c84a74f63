// Arrays of numbers for the tests of reductions and scans, in memory that ends where they do.
#ifndef GI_TESTS_NUMBER_ARRAYS_H
#define GI_TESTS_NUMBER_ARRAYS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/array.h"
#include "core/float_tree.h"

static uint64_t number_state = 1;

static inline uint64_t number_random(void) {
    number_state ^= number_state << 13;
    number_state ^= number_state >> 7;
    number_state ^= number_state << 17;
    return number_state;
}

static inline void number_set(void *data, gi_element element, size_t i, double real, int64_t integer) {
    switch (element) {
    case GI_ELEMENT_F32: ((float *)data)[i] = (float)real; break;
    case GI_ELEMENT_F64: ((double *)data)[i] = real; break;
    case GI_ELEMENT_I32: ((int32_t *)data)[i] = (int32_t)integer; break;
    case GI_ELEMENT_I64: ((int64_t *)data)[i] = integer; break;
    default: ((uint8_t *)data)[i] = (uint8_t)integer; break;
    }
}

static inline double number_real(const void *data, gi_element element, size_t i) {
    return element == GI_ELEMENT_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static inline int64_t number_integer(const void *data, gi_element element, size_t i) {
    return element == GI_ELEMENT_I32   ? ((const int32_t *)data)[i]
           : element == GI_ELEMENT_I64 ? ((const int64_t *)data)[i]
                                       : ((const uint8_t *)data)[i];
}

// Exactly so many bytes, so that a sanitizer sees whoever leaves them.
static inline void *number_memory(gi_element element, size_t count) {
    void *data = malloc(count ? count * gi_element_bytes(element) : 1);
    assert_non_null(data);
    return data;
}

// Reals of both signs and many magnitudes about 1, all bits in use; integers of all bits.
static inline void *number_array(gi_element element, size_t count) {
    void *data = number_memory(element, count);
    for (size_t i = 0; i < count; i++) {
        double real = ldexp((double)(int64_t)number_random(), -63 + (int)(number_random() % 24) - 12);
        number_set(data, element, i, real, (int64_t)number_random());
    }
    return data;
}

static inline uint64_t number_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Positive, not signalling, without a payload.
static const uint64_t canonical_nan = 0x7FF8000000000000;

// ---- the tree of core/float_tree.h, by its definition -------------------------------------------------------------

typedef double (*number_op)(double, double);
static inline double number_add(double a, double b) { return a + b; }
static inline double number_multiply(double a, double b) { return a * b; }

// Neighbours with neighbours; `count` is no power of two only above tiles.
static inline double number_pairs(const double *values, size_t count, size_t stride, number_op op) {
    size_t half = 1;
    if (count == 1) return values[0];
    while (half * 2 < count) half *= 2;
    double left = number_pairs(values, half, stride, op);
    return op(left, number_pairs(values + half * stride, count - half, stride, op));
}

static inline double number_tile(const double tile[GI_TREE_TILE], number_op op) {
    double column[128];
    for (int c = 0; c < 128; c++) column[c] = number_pairs(tile + c, 16, 128, op);
    for (int half = 64; half >= 1; half /= 2)
        for (int c = 0; c < half; c++) column[c] = op(column[c], column[c + half]);
    return column[0];
}

static inline double number_tree(const void *data, gi_element element, size_t count, number_op op, double identity) {
    size_t tiles = (count + GI_TREE_TILE - 1) / GI_TREE_TILE;
    double *found = malloc((tiles + 1) * sizeof *found), tile[GI_TREE_TILE];
    assert_non_null(found);
    for (size_t t = 0; t < tiles; t++) {
        for (size_t i = 0; i < GI_TREE_TILE; i++) {
            size_t at = t * GI_TREE_TILE + i;
            tile[i] = at < count ? number_real(data, element, at) : identity;
        }
        found[t] = number_tile(tile, op);
    }
    double value = tiles ? number_pairs(found, tiles, 1, op) : identity;
    free(found);
    return value;
}

#endif
