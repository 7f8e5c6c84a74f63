#include "codec/memory_sink.h"

#include <stdlib.h>
#include <string.h>

#include "core/checked.h"

enum { LEAST = 65536 };

static gi_status append(void *context, const void *data, size_t size, gi_error *err) {
    gi_memory_file *file = context;
    size_t need = 0, capacity = file->capacity ? file->capacity : LEAST;
    bool fits = gi_add(file->size, size, &need);
    while (fits && capacity < need) fits = gi_mul(capacity, 2, &capacity);
    if (!fits) return gi_fail(err, GI_ERR_MEMORY, "no memory for an image file");
    if (capacity > file->capacity) {
        uint8_t *larger = realloc(file->data, capacity);
        if (!larger) return gi_fail(err, GI_ERR_MEMORY, "no memory for an image file of %zu bytes", capacity);
        file->data = larger;
        file->capacity = capacity;
    }
    memcpy(file->data + file->size, data, size);
    file->size = need;
    return GI_OK;
}

gi_sink gi_memory_sink(gi_memory_file *file) { return (gi_sink){append, file}; }
