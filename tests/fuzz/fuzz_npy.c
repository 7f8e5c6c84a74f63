// .npy: the header never makes trouble, and what it accepts is written again and read as the same array.
#include <stdlib.h>
#include <string.h>

#include "codec/npy.h"

typedef struct file {
    uint8_t *data;
    size_t size;
} file;

static gi_status collect(void *context, const void *data, size_t size, gi_error *err) {
    file *f = context;
    uint8_t *larger = realloc(f->data, f->size + size + 1);
    if (!larger) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    memcpy(larger + f->size, data, size);
    f->data = larger;
    f->size += size;
    return GI_OK;
}

static void check_written(const gi_array *array, size_t data_bytes) {
    file f = {NULL, 0};
    gi_npy_header again;
    if (gi_npy_write(array, &(gi_sink){collect, &f}, NULL) != GI_OK) abort();
    if (gi_npy_header_parse((gi_bytes){f.data, f.size}, &again, NULL) != GI_OK) abort();
    bool same = again.array.element == array->element && again.array.dimensions == array->dimensions &&
                memcmp(again.array.shape, array->shape, sizeof array->shape) == 0 && !again.fortran && !again.swapped &&
                again.data_bytes == data_bytes && again.header_bytes + data_bytes == f.size &&
                memcmp(f.data + again.header_bytes, array->data, data_bytes) == 0;
    if (!same) abort();
    free(f.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gi_npy_header header;
    gi_error err;
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) return 0;
    memcpy(exact, data, size);
    gi_status status = gi_npy_header_parse((gi_bytes){exact, size}, &header, &err);
    if (status == GI_OK && header.data_bytes <= size - header.header_bytes) {
        void *elements = malloc(header.data_bytes ? header.data_bytes : 1);
        if (!elements) abort();
        memcpy(elements, exact + header.header_bytes, header.data_bytes);
        if (gi_npy_unpack(&header, &elements, &err) != GI_OK) abort();
        header.array.data = elements;
        check_written(&header.array, header.data_bytes);
        free(elements);
    }
    free(exact);
    return 0;
}
