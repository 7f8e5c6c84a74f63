// A slot of each backend, driven alike.
#ifndef TESTS_GPU_PAIR_H
#define TESTS_GPU_PAIR_H

#include "core/backend.h"
#include "support.h"

typedef struct pair {
    gi_slot *cpu, *cuda;
} pair;

extern gi_backend *cpu, *cuda;

// Opens both backends; false, with the reason printed, when one does not open.
bool backends_open(void);
void backends_close(void);

// Never fails: exits.
pair pair_open(void);
void pair_close(pair p);

// Uploads, from the slot's own host buffer where `staged`.
bool upload(gi_slot *slot, const gi_view *view, bool staged);
bool pair_upload(pair p, const gi_view *view, bool staged);
bool point(gi_slot *slot, const gi_point *operation);

// Checks that the slots hold the same image, byte for byte.
void compare_images(pair p);

// Checks that both count the same in the images they hold, and the right number of pixels.
void compare_histograms(pair p, int channels, gi_sample sample, uint64_t pixels);

#endif
