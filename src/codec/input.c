#include <stdint.h>
#include <string.h>

#include "codec/codec.h"

static gi_status read_memory(void *context, size_t at, void *to, size_t size, gi_error *err) {
    (void)err;
    memcpy(to, ((const gi_bytes *)context)->data + at, size);
    return GI_OK;
}

gi_input gi_bytes_input(const gi_bytes *bytes) {
    return (gi_input){bytes->size, read_memory, (void *)(uintptr_t)bytes}; // which is only read
}
