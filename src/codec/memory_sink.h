// A sink that keeps what it is given in memory.
#ifndef GI_CODEC_MEMORY_SINK_H
#define GI_CODEC_MEMORY_SINK_H

#include "codec/codec.h"

// Zero at first; size = 0 empties it and keeps the memory. `data` is the owner's to free.
typedef struct gi_memory_file {
    uint8_t *data;
    size_t size, capacity;
} gi_memory_file;

// Appends to *file, which must outlive the sink. Its writes fail with GI_ERR_MEMORY.
gi_sink gi_memory_sink(gi_memory_file *file);

#endif
