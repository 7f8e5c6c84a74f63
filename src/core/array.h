// Arrays of numbers: packed elements in C order (the last index runs fastest) in host memory.
#ifndef GI_CORE_ARRAY_H
#define GI_CORE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of what there are arrays, in the machine's byte order.
typedef enum gi_element {
    GI_ELEMENT_F32 = 0,
    GI_ELEMENT_F64,
    GI_ELEMENT_I32,
    GI_ELEMENT_I64,
    GI_ELEMENT_U8,
    GI_ELEMENT_COUNT
} gi_element;

enum { GI_MAX_DIMENSIONS = 64 }; // what NumPy allows

typedef struct gi_array {
    void *data; // aligned to 64 bytes where it was allocated by us
    gi_element element;
    int dimensions;                  // 0: a single number
    size_t shape[GI_MAX_DIMENSIONS]; // of each dimension
    size_t count;                    // elements: their product
} gi_array;

static inline size_t gi_element_bytes(gi_element element) {
    return element == GI_ELEMENT_U8 ? 1 : element == GI_ELEMENT_F32 || element == GI_ELEMENT_I32 ? 4 : 8;
}

static inline int gi_element_is_float(gi_element element) {
    return element == GI_ELEMENT_F32 || element == GI_ELEMENT_F64;
}

// As NumPy calls it: "float32", ..., "uint8".
const char *gi_element_name(gi_element element);

// Sets count from the shape; *bytes = their size. GI_ERR_LIMIT when the product of the lengths that are not 0 does not
// fit: so that an offset computed from some of the indices does, too.
gi_status gi_array_measure(gi_array *array, size_t *bytes, gi_error *err);

// Takes memory for the elements of an array whose other members are set; the elements are undefined. GI_ERR_LIMIT,
// GI_ERR_MEMORY. Free it with gi_array_free.
gi_status gi_array_allocate(gi_array *array, gi_error *err);

// Frees the elements; the array may be used again.
void gi_array_free(gi_array *array);

#ifdef __cplusplus
}
#endif
#endif
