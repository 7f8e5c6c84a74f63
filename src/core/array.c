#include "core/array.h"

#include <stdlib.h>

#include "core/checked.h"
#include "core/large.h"

const char *gi_element_name(gi_element element) {
    static const char *const names[GI_ELEMENT_COUNT] = {"float32", "float64", "int32", "int64", "uint8"};
    return (unsigned)element < GI_ELEMENT_COUNT ? names[element] : "unknown";
}

gi_status gi_array_measure(gi_array *array, size_t *bytes, gi_error *err) {
    size_t largest = gi_element_bytes(array->element), count = 1;
    bool fits = true;
    for (int i = 0; i < array->dimensions; i++) {
        size_t length = array->shape[i];
        fits = fits && gi_mul(largest, length ? length : 1, &largest) && largest <= PTRDIFF_MAX;
        if (fits) count *= length; // no larger than `largest`
    }
    if (!fits) return gi_fail(err, GI_ERR_LIMIT, "an array of that shape is larger than any memory");
    array->count = count;
    *bytes = count * gi_element_bytes(array->element);
    return GI_OK;
}

gi_status gi_array_allocate(gi_array *array, gi_error *err) {
    size_t bytes = 0;
    array->data = NULL;
    gi_status status = gi_array_measure(array, &bytes, err);
    if (status != GI_OK) return status;
    array->data = gi_large_alloc(bytes);
    if (!array->data) return gi_fail(err, GI_ERR_MEMORY, "out of memory for an array of %zu bytes", bytes);
    return GI_OK;
}

void gi_array_free(gi_array *array) {
    free(array->data);
    array->data = NULL;
}
