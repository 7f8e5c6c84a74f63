// What the GPU tests share: checks, random numbers, images and operations. No test framework: these programs run on
// machines that have a GPU and little else.
#ifndef TESTS_GPU_SUPPORT_H
#define TESTS_GPU_SUPPORT_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/point.h"
#include "core/view.h"

enum { EXIT_SKIPPED = 77 }; // ctest's SKIP_RETURN_CODE

// --- options and checks ------------------------------------------------------------------------------------------

typedef struct options {
    uint64_t seed; // --seed N
    bool quick;    // --quick: few and small cases, for compute-sanitizer
} options;

// Exits with a usage message on anything else.
options options_parse(int argc, char **argv);

// Counts a check; when it does not hold, prints where, the case and the seed. Safe in threads. Returns `holds`.
bool check_that(bool holds, const char *file, int line, const char *condition);
#define CHECK(condition) check_that((condition), __FILE__, __LINE__, #condition)

// Checks that a call succeeded, and prints the reason where it did not.
bool cuda_ok(cudaError_t error);
bool succeeded(gi_status status, const gi_error *err);

// What the calling thread is testing, for messages: printf style.
void case_name(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Prints the numbers of checks and failures; the program's exit status.
int checks_report(const char *program);

// Device 0's name on stdout, or the reason why none is usable, and false.
bool usable_device(void);

// Ends this process's use of the device, so that a memory checker sees what was not freed.
void device_release(void);

// --- random numbers: splitmix64 -------------------------------------------------------------------------------------

typedef struct rng {
    uint64_t state;
} rng;

uint64_t rng_next(rng *r);
uint32_t rng_below(rng *r, uint32_t limit);

// --- images in host memory ------------------------------------------------------------------------------------------

typedef enum pattern { PATTERN_RANDOM, PATTERN_CONSTANT, PATTERN_PHOTO, PATTERN_COUNT } pattern;

typedef struct image {
    gi_view view;
    void *memory;
} image;

// An image whose rows have `pad` samples after them. Everything is filled, the padding too. Never fails: exits.
image image_make(gi_shape shape, uint32_t pad, pattern kind, rng *r);
void image_free(image *im);

// First differing byte's row and offset within it, or false when all pixels are equal.
bool views_differ(const gi_view *a, const gi_view *b, uint32_t *row, size_t *byte);

// The sizes of DESIGN, section 6, and some more that the fast paths' group sizes make worth a look.
extern const uint32_t test_sizes[][2];
extern const int test_size_count, test_quick_size_count; // the quick ones come first

// --- point operations -----------------------------------------------------------------------------------------------

// Makes operation `index` of the list of all forms: every kind of curve before, every mix, every kind of curve after.
// False past the last one for that kind of image. `name` is room for 64 bytes. Free with gi_point_free.
bool operation_make(int index, int channels, gi_sample sample, rng *r, gi_point *out, char *name);

#endif
