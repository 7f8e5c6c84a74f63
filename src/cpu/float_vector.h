// Eight doubles as one vector, on any processor: GCC and Clang make of it what the instruction set has.
#ifndef GI_CPU_FLOAT_VECTOR_H
#define GI_CPU_FLOAT_VECTOR_H

#include <stdint.h>
#include <string.h>

enum { GI_V8 = 8 };
typedef double gi_v8 __attribute__((vector_size(64)));
typedef float gi_v8f __attribute__((vector_size(32)));
typedef int64_t gi_v8i __attribute__((vector_size(64)));

// By macros, as a function that takes or returns vectors has another ABI with each instruction set.
#define GI_V8_LOAD_F32(from, to)                                                                                       \
    do {                                                                                                               \
        gi_v8f narrow_;                                                                                                \
        memcpy(&narrow_, from, sizeof narrow_);                                                                        \
        to = __builtin_convertvector(narrow_, gi_v8);                                                                  \
    } while (0)
#define GI_V8_LOAD_F64(from, to) memcpy(&(to), from, sizeof(gi_v8))

#define GI_V8_STORE_F32(value, to)                                                                                     \
    do {                                                                                                               \
        gi_v8f narrow_ = __builtin_convertvector(value, gi_v8f);                                                       \
        memcpy(to, &narrow_, sizeof narrow_);                                                                          \
    } while (0)
#define GI_V8_STORE_F64(value, to) memcpy(to, &(value), sizeof(gi_v8))

// Elements i0 .. i7 of 0..15, counted through a and then b.
#if defined(__clang__)
#define GI_V8_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define GI_V8_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (gi_v8i){__VA_ARGS__})
#endif

// `value` moved by 1, 2 or 4 places, after the last elements of `before`.
#define GI_V8_AFTER_1(before, value) GI_V8_SHUFFLE(before, value, 7, 8, 9, 10, 11, 12, 13, 14)
#define GI_V8_AFTER_2(before, value) GI_V8_SHUFFLE(before, value, 6, 7, 8, 9, 10, 11, 12, 13)
#define GI_V8_AFTER_4(before, value) GI_V8_SHUFFLE(before, value, 4, 5, 6, 7, 8, 9, 10, 11)

#endif
