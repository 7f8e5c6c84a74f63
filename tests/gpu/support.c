#include "support.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/backend_cuda.h"

static uint64_t seed_in_use = 1;
static atomic_ulong checks_made, checks_failed;
static _Thread_local char current_case[256];

options options_parse(int argc, char **argv) {
    options o = {.seed = 1, .quick = false};
    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--quick") == 0) {
            o.quick = true;
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc && (o.seed = strtoull(argv[i + 1], &end, 0), !*end)) {
            i++;
        } else {
            fprintf(stderr, "usage: %s [--quick] [--seed N]\n", argv[0]);
            exit(2);
        }
    }
    seed_in_use = o.seed;
    return o;
}

bool check_that(bool holds, const char *file, int line, const char *condition) {
    enum { MOST_PRINTED = 40 };
    atomic_fetch_add(&checks_made, 1);
    if (holds) return true;
    if (atomic_fetch_add(&checks_failed, 1) < MOST_PRINTED)
        fprintf(stderr, "%s:%d: %s [%s; seed %" PRIu64 "]\n", file, line, condition, current_case, seed_in_use);
    return false;
}

bool cuda_ok(cudaError_t error) {
    if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return CHECK(error == cudaSuccess);
}

bool succeeded(gi_status status, const gi_error *err) {
    if (status != GI_OK) fprintf(stderr, "%s: %s\n", gi_status_name(status), err->text);
    return CHECK(status == GI_OK);
}

void case_name(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(current_case, sizeof current_case, format, list);
    va_end(list);
}

int checks_report(const char *program) {
    unsigned long made = atomic_load(&checks_made), failed = atomic_load(&checks_failed);
    printf("%s: %lu checks, %lu failed (seed %" PRIu64 ")\n", program, made, failed, seed_in_use);
    return failed ? 1 : 0;
}

bool usable_device(void) {
    char reason[160];
    gi_cuda_device device;
    if (gi_cuda_device_count(reason, sizeof reason) == 0) {
        printf("skipped: %s\n", reason);
        return false;
    }
    if (!gi_cuda_device_get(0, &device) || !device.usable) {
        printf("skipped: device 0 is not usable: %s\n", device.reason);
        return false;
    }
    printf("device 0: %s, sm_%d%d\n", device.name, device.major, device.minor);
    return true;
}

void device_release(void) { cuda_ok(cudaDeviceReset()); }

uint64_t rng_next(rng *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

uint32_t rng_below(rng *r, uint32_t limit) { return (uint32_t)((rng_next(r) >> 32) * limit >> 32); }

static void fill_sample(const gi_view *view, size_t index, uint32_t value) {
    if (view->sample == GI_U8)
        ((uint8_t *)view->data)[index] = (uint8_t)value;
    else
        ((uint16_t *)view->data)[index] = (uint16_t)value;
}

// A smooth gradient with a little noise and a flat area: neighbours are often equal.
static uint32_t photo_value(uint32_t x, uint32_t y, const gi_view *view, rng *r) {
    uint32_t max = gi_sample_max(view->sample);
    if (y < view->height / 4) return max;
    uint64_t slope = (uint64_t)max * ((uint64_t)x + y) / ((uint64_t)view->width + view->height);
    uint64_t value = slope + (rng_next(r) & 3);
    return value > max ? max : (uint32_t)value;
}

image image_make(gi_shape shape, uint32_t pad, pattern kind, rng *r) {
    image im = {.view = gi_view_packed(NULL, shape, GI_HOST)};
    im.view.pitch_bytes += pad * gi_sample_bytes(shape.sample);
    im.memory = malloc(im.view.pitch_bytes * shape.height);
    if (!im.memory) {
        fprintf(stderr, "no memory for a test image\n");
        exit(1);
    }
    im.view.data = im.memory;
    const size_t row = im.view.pitch_bytes / gi_sample_bytes(shape.sample);
    const uint32_t channels = (uint32_t)shape.channels, max = gi_sample_max(shape.sample);
    const uint32_t constant = rng_below(r, max + 1);
    for (uint32_t y = 0; y < shape.height; y++)
        for (size_t i = 0; i < row; i++) {
            uint32_t value = constant;
            if (kind == PATTERN_RANDOM) value = (uint32_t)rng_next(r) & max;
            if (kind == PATTERN_PHOTO) value = photo_value((uint32_t)(i / channels), y, &im.view, r);
            fill_sample(&im.view, y * row + i, value);
        }
    return im;
}

void image_free(image *im) {
    free(im->memory);
    im->memory = NULL;
}

bool views_differ(const gi_view *a, const gi_view *b, uint32_t *row, size_t *byte) {
    const size_t bytes = gi_row_bytes(a->width, a->channels, a->sample);
    for (uint32_t y = 0; y < a->height; y++) {
        const unsigned char *p = gi_view_row(a, y), *q = gi_view_row(b, y);
        if (memcmp(p, q, bytes) == 0) continue;
        *row = y;
        for (*byte = 0; p[*byte] == q[*byte]; ++*byte) continue;
        return true;
    }
    return false;
}

const uint32_t test_sizes[][2] = {{1, 1},     {15, 1},    {1, 15},    {17, 31},   {16, 1},
                                  {8, 3},     {33, 7},    {64, 64},   {511, 129}, {1, 10000},
                                  {10000, 1}, {4096, 16}, {257, 255}, {2049, 37}, {1920, 1080}};
const int test_size_count = sizeof test_sizes / sizeof *test_sizes;
const int test_quick_size_count = 9;

enum { BEFORE_COUNT = 4, MIX_COUNT = 6, AFTER_COUNT = 3, MIXED = 3 };
static const char *const curve_names[] = {"identity", "threshold", "table", "mixed"};
static const char *const mix_names[] = {"none", "601", "709", "red", "linear", "shift"};
static const gi_mix_kind mix_kinds[] = {GI_MIX_NONE,    GI_MIX_WEIGHTS, GI_MIX_WEIGHTS,
                                        GI_MIX_WEIGHTS, GI_MIX_LINEAR,  GI_MIX_SHIFT};
static const uint32_t mix_weights[][3] = {{0, 0, 0},     {9798, 19235, 3735}, {6966, 23436, 2366},
                                          {32768, 0, 0}, {0, 0, 0},           {9798, 19235, 3735}};

static gi_curve curve_make(gi_curve_kind kind, gi_sample sample, rng *r) {
    const uint32_t max = gi_sample_max(sample);
    const uint32_t levels[] = {0, max / 2, max - 1, max, rng_below(r, max + 1)};
    gi_curve curve = {.kind = kind};
    if (kind == GI_CURVE_THRESHOLD) curve.level = levels[rng_below(r, 5)];
    if (kind != GI_CURVE_TABLE) return curve;
    curve.table = malloc(((size_t)max + 1) * sizeof *curve.table);
    if (!curve.table) exit(1);
    for (uint32_t v = 0; v <= max; v++) curve.table[v] = (uint16_t)rng_below(r, max + 1);
    return curve;
}

bool operation_make(int index, int channels, gi_sample sample, rng *r, gi_point *out, char *name) {
    // The first BEFORE_COUNT have no mix; then every mix with every curve after it.
    const int before = index % BEFORE_COUNT, rest = index / BEFORE_COUNT;
    const int mix = rest == 0 ? 0 : 1 + (rest - 1) % (MIX_COUNT - 1),
              after = rest == 0 ? 0 : (rest - 1) / (MIX_COUNT - 1);
    if (index < 0 || after >= AFTER_COUNT || (channels < 3 && rest > 0)) return false;
    *out = gi_point_identity(channels, sample);
    for (int c = 0; c < gi_colour_channels(channels); c++)
        out->before[c] = curve_make((gi_curve_kind)(before == MIXED ? c : before), sample, r);
    if (mix > 0) {
        out->mix = mix_kinds[mix];
        memcpy(out->weights, mix_weights[mix], sizeof out->weights);
        out->after = curve_make((gi_curve_kind)after, sample, r);
    }
    snprintf(name, 64, "%s | %s | %s", curve_names[before], mix_names[mix], curve_names[after]);
    return true;
}
