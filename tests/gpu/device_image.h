// Images in device memory laid out to trap kernels: any alignment and pitch, inputs that end where their allocation
// ends, padding that was never written, poisoned outputs between guard bands.
#ifndef TESTS_GPU_DEVICE_IMAGE_H
#define TESTS_GPU_DEVICE_IMAGE_H

#include "support.h"

enum { GUARD_BYTES = 512, POISON = 0xa5 };

// How an image lies in device memory: samples before its first one, samples after each row.
typedef struct layout {
    uint32_t offset, pad;
} layout;

// Pairs of layouts, of input and output; the first is packed.
extern const layout layouts[][2];
extern const int layout_count;

// Never fails: exits.
void *device_memory(size_t bytes);
void *host_memory(size_t bytes);
const void *to_device(const void *host, size_t bytes);

// A device copy of the image that ends with its last pixel. Padding is left unwritten. *memory is what to free.
gi_view device_input(const gi_view *host, layout l, void **memory);

// A poisoned output on the device, and beside it what must lie there in the end, which is poisoned too: the test writes
// the pixels through `wanted_view`.
typedef struct trapped {
    gi_view view, wanted_view;
    size_t bytes;
    char *memory, *wanted;
} trapped;

trapped trapped_make(gi_shape shape, layout l);

// Checks that all of the device memory is as wanted, and frees.
void trapped_check(trapped *t);

// Scratch memory that ends in a guard band.
typedef struct guarded_scratch {
    void *data;
    size_t bytes;
} guarded_scratch;

guarded_scratch scratch_make(size_t bytes);
void scratch_check(guarded_scratch *scratch);

#endif
