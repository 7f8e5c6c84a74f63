// Arrays between .npy files and memory.
#ifndef GI_RUN_ARRAY_FILE_H
#define GI_RUN_ARRAY_FILE_H

#include <signal.h>
#include <stdbool.h>

#include "codec/npy.h"
#include "core/array.h"
#include "core/view.h"
#include "run/batch.h"

// Reads a .npy file, or standard input where `path` is NULL, into an array that the caller frees. The header is
// checked, against the file's size where it is regular, before memory is taken; of a stream, memory is taken as its
// bytes come. GI_ERR_FORMAT also for a file that ends early or goes on behind its array. `cancel` may be NULL.
gi_status gi_array_load(const char *path, volatile sig_atomic_t *cancel, gi_array *array, gi_error *err);

// Looks at the header of the regular file `path` alone. *found: it is a .npy file; *bytes: its size. A failure with
// header->header_bytes > 0 tells what is wrong behind a header that could be read; GI_ERR_FORMAT without *found, that
// it begins as neither an array nor an image.
gi_status gi_array_peek(const char *path, gi_npy_header *header, uint64_t *bytes, bool *found, gi_error *err);

// What a file was found to hold. One of them has data.
typedef struct gi_values {
    gi_array array; // free with gi_array_free
    gi_view image;  // packed; free its data
} gi_values;

// Likewise of a file that holds an array, or a PNG or JPEG image, decoded as `options` tell.
gi_status gi_values_load(const char *path, const gi_batch_options *options, gi_values *values, gi_error *err);

// Writes a .npy file, complete or not at all; `path` NULL: standard output. With `no_clobber` a file that exists is
// kept: GI_ERR_EXISTS.
gi_status gi_array_save(const char *path, const gi_array *array, bool no_clobber, volatile sig_atomic_t *cancel,
                        gi_error *err);

#endif
