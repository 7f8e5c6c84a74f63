// A backend for tests of the executor: 8-bit images, plain loops, a limit of memory, and counts of what is asked of it;
// and a WINDOW stage that it alone knows.
#ifndef GI_TESTS_FAKE_BACKEND_H
#define GI_TESTS_FAKE_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend.h"

typedef struct fake_backend {
    gi_backend base;
    uint32_t rows_max;   // uploads of more rows are out of memory
    int slots_max;       // opening more fails
    bool no_host_memory; // host_buffer is out of device memory
    unsigned pause_us;   // that each operation takes, so that threads meet
    atomic_int slots, threads, uploads, inside, inside_max;
    atomic_int windows, windows_until; // windows begun; after so many more, one fails for want of memory
    atomic_int calls_until;            // likewise of all calls on a slot that has an image
    bool is_lost;                      // then the device itself fails, not its memory
    atomic_int threads_used;           // as the slots were told last
} fake_backend;

// Host memory that was uploaded and must not change until the next wait.
typedef struct fake_pending {
    gi_view host;
    uint8_t *copy;
} fake_pending;

enum { FAKE_UPLOADS = 4096 };

typedef struct fake_slot {
    gi_slot base;
    fake_backend *backend;
    void *host;
    uint8_t *pixels;
    gi_view current;
    gi_histogram counts;
    gi_point resolved[GI_MAX_RESOLVED];
    uint32_t levels[GI_MAX_RESOLVED];
    fake_pending uploads[FAKE_UPLOADS];
    int upload_count;
} fake_slot;

// In any thread.
static void fake_require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "fake backend: %s\n", what);
    abort();
}

static void fake_forget_uploads(fake_slot *s) {
    for (int i = 0; i < s->upload_count; i++) free(s->uploads[i].copy);
    s->upload_count = 0;
}

// Ends a wait: until now a device might have been reading.
static void fake_wait(fake_slot *s) {
    for (int i = 0; i < s->upload_count; i++) {
        const gi_view *host = &s->uploads[i].host;
        size_t row = gi_row_bytes(host->width, host->channels, host->sample);
        for (uint32_t y = 0; y < host->height; y++)
            fake_require(memcmp(gi_view_row(host, y), s->uploads[i].copy + row * y, row) == 0,
                         "uploaded rows changed before the next wait");
    }
    fake_forget_uploads(s);
}

// What was asked of a slot before it ran out of memory does not count any more.
static gi_status fake_call(fake_slot *s, gi_error *err) {
    if (atomic_fetch_sub(&s->backend->calls_until, 1) != 0) return GI_OK;
    fake_forget_uploads(s);
    if (s->backend->is_lost) return gi_fail(err, GI_ERR_DEVICE, "the device is lost");
    return gi_fail(err, GI_ERR_DEVICE_MEMORY, "out of device memory");
}

static gi_status fake_slot_open(gi_backend *backend, int threads, gi_slot **slot, gi_error *err) {
    fake_backend *b = (fake_backend *)backend;
    *slot = NULL;
    if (atomic_fetch_add(&b->slots, 1) >= b->slots_max) return gi_fail(err, GI_ERR_DEVICE, "no more slots");
    atomic_fetch_add(&b->threads, threads);
    fake_slot *made = calloc(1, sizeof *made);
    made->base.ops = backend->ops;
    made->backend = b;
    *slot = &made->base;
    return GI_OK;
}

static void fake_slot_close(gi_slot *slot) {
    fake_slot *s = (fake_slot *)slot;
    fake_forget_uploads(s);
    free(s->host);
    free(s->pixels);
    gi_histogram_free(&s->counts);
    for (int i = 0; i < GI_MAX_RESOLVED; i++)
        if (s->resolved[i].shape.channels) gi_point_free(&s->resolved[i]);
    free(s);
}

static void fake_use_threads(gi_slot *slot, int threads) {
    atomic_store(&((fake_slot *)slot)->backend->threads_used, threads);
}

static gi_status fake_host_buffer(gi_slot *slot, size_t bytes, void **data, gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    if (s->backend->no_host_memory) return gi_fail(err, GI_ERR_DEVICE_MEMORY, "no pinned memory");
    fake_forget_uploads(s);
    free(s->host);
    *data = s->host = malloc(bytes);
    memset(s->host, 0xA5, bytes);
    return GI_OK;
}

// Notes how many threads are between upload and the wait that ends the device's work.
static void fake_enter(fake_backend *b) {
    int inside = atomic_fetch_add(&b->inside, 1) + 1, most = atomic_load(&b->inside_max);
    while (inside > most && !atomic_compare_exchange_weak(&b->inside_max, &most, inside)) continue;
    if (b->pause_us) usleep(b->pause_us);
}

static gi_status fake_upload(gi_slot *slot, const gi_view *host, gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    atomic_fetch_add(&s->backend->uploads, 1);
    if (host->height > s->backend->rows_max) atomic_store(&s->backend->calls_until, 0);
    gi_status status = fake_call(s, err);
    if (status != GI_OK) return status;
    fake_enter(s->backend);
    size_t row = gi_row_bytes(host->width, host->channels, host->sample);
    free(s->pixels);
    s->pixels = malloc(row * host->height);
    for (uint32_t y = 0; y < host->height; y++) memcpy(s->pixels + row * y, gi_view_row(host, y), row);
    s->current = gi_view_packed(s->pixels, gi_view_shape(host), GI_HOST);
    fake_require(s->upload_count < FAKE_UPLOADS, "too many uploads without a wait");
    fake_pending *upload = &s->uploads[s->upload_count++];
    upload->host = *host;
    upload->copy = malloc(row * host->height);
    memcpy(upload->copy, s->pixels, row * host->height);
    atomic_fetch_sub(&s->backend->inside, 1);
    return GI_OK;
}

static gi_status fake_apply(gi_slot *slot, const gi_point *point, gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    int in = s->current.channels, out = gi_point_channels_out(point);
    if (point->shape.channels != in) return gi_fail(err, GI_ERR_USAGE, "a point for other channels");
    fake_enter(s->backend);
    size_t count = (size_t)s->current.width * s->current.height;
    for (size_t i = 0; i < count; i++) {
        uint32_t v[4];
        for (int c = 0; c < in; c++) {
            v[c] = s->pixels[i * (size_t)in + (size_t)c];
            if (c < gi_colour_channels(in)) v[c] = gi_curve_at(&point->before[c], v[c], 255);
        }
        uint32_t luma = 0, becomes = 0;
        if (point->mix != GI_MIX_NONE) {
            luma = (point->weights[0] * v[0] + point->weights[1] * v[1] + point->weights[2] * v[2] + 16384) >> 15;
            becomes = gi_curve_at(&point->after, luma, 255);
        }
        for (int c = 0; c < 3 && point->mix == GI_MIX_SHIFT; c++) {
            int moved = (int)(v[c] + becomes) - (int)luma;
            v[c] = moved < 0 ? 0 : moved > 255 ? 255 : (uint32_t)moved;
        }
        if (point->mix == GI_MIX_WEIGHTS) {
            v[0] = becomes;
            v[1] = v[3];
        }
        for (int c = 0; c < out; c++) s->pixels[i * (size_t)out + (size_t)c] = (uint8_t)v[c];
    }
    gi_shape shape = {s->current.width, s->current.height, out, GI_U8};
    s->current = gi_view_packed(s->pixels, shape, GI_HOST);
    atomic_fetch_sub(&s->backend->inside, 1);
    return GI_OK;
}

static gi_status fake_point(gi_slot *slot, const gi_point *point, gi_error *err) {
    gi_status status = fake_call((fake_slot *)slot, err);
    return status == GI_OK ? fake_apply(slot, point, err) : status;
}

// The sum of the pixels above and below, as far as the halo reaches, modulo 251; the image's edge ends it.
static gi_status fake_window(gi_slot *slot, const gi_stage_call *call, const gi_window_place *place, uint32_t rows,
                             gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    const uint64_t halo = call->stage->halo(&call->args), height = place->image_height;
    const uint64_t in_end = (uint64_t)place->in_y0 + s->current.height;
    atomic_fetch_add(&s->backend->windows, 1);
    if (atomic_fetch_sub(&s->backend->windows_until, 1) == 0) atomic_store(&s->backend->calls_until, 0);
    gi_status status = fake_call(s, err);
    if (status != GI_OK) return status;
    size_t row = gi_row_bytes(s->current.width, s->current.channels, GI_U8);
    uint8_t *made = calloc(rows + 1, row);
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t y = (uint64_t)place->out_y0 + i, from = y > halo ? y - halo : 0;
        uint64_t end = y + halo + 1 < height ? y + halo + 1 : height;
        if (from < place->in_y0 || end > in_end) return gi_fail(err, GI_ERR_USAGE, "rows are missing");
        for (size_t x = 0; x < row; x++) {
            uint32_t sum = 0;
            for (uint64_t k = from; k < end; k++) sum += s->pixels[(k - place->in_y0) * row + x];
            made[i * row + x] = (uint8_t)(sum % 251);
        }
    }
    free(s->pixels);
    s->pixels = made;
    gi_shape shape = {s->current.width, rows, s->current.channels, GI_U8};
    s->current = gi_view_packed(made, shape, GI_HOST);
    return GI_OK;
}

static gi_status fake_measure(gi_slot *slot, const gi_point *through, bool first, gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    gi_status status = fake_call(s, err);
    if (status != GI_OK) return status;
    const gi_view before = s->current;
    size_t bytes = gi_row_bytes(before.width, before.channels, GI_U8) * before.height;
    uint8_t *kept = malloc(bytes);
    memcpy(kept, s->pixels, bytes);
    if (through) status = fake_apply(slot, through, err);
    if (first) {
        gi_histogram_free(&s->counts);
        gi_histogram_init(&s->counts, s->current.channels, GI_U8, NULL);
    }
    if (s->counts.channels != s->current.channels) status = gi_fail(err, GI_ERR_USAGE, "counts of other channels");
    size_t channels = (size_t)s->current.channels, count = (size_t)s->current.width * s->current.height * channels;
    for (size_t i = 0; i < count && status == GI_OK; i++)
        s->counts.counts[i % channels * s->counts.levels + s->pixels[i]]++;
    memcpy(s->pixels, kept, bytes);
    free(kept);
    s->current = before;
    return status;
}

static gi_status fake_counts(gi_slot *slot, gi_histogram *histogram, gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    gi_status status = fake_call(s, err);
    if (status != GI_OK) return status;
    fake_wait(s);
    return gi_histogram_add(histogram, &s->counts, err);
}

static gi_status fake_resolve(gi_slot *slot, int index, const gi_stage_call *call, const gi_point *rest,
                              gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    gi_point_input in = {rest->shape.channels, GI_U8, &s->counts};
    gi_point made;
    gi_status status = fake_call(s, err);
    if (status == GI_OK) status = call->stage->point(&call->args, &in, &made, err);
    if (status != GI_OK) return status;
    s->levels[index] = made.before[0].level;
    if (s->resolved[index].shape.channels) gi_point_free(&s->resolved[index]);
    status = gi_point_compose(&made, rest, &s->resolved[index], err);
    gi_point_free(&made);
    return status;
}

static gi_status fake_point_resolved(gi_slot *slot, int index, gi_error *err) {
    return fake_point(slot, &((fake_slot *)slot)->resolved[index], err);
}

static uint32_t fake_resolved_level(gi_slot *slot, int index) { return ((fake_slot *)slot)->levels[index]; }

static gi_status fake_download(gi_slot *slot, gi_view *host, gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    gi_status status = fake_call(s, err);
    if (status != GI_OK) return status;
    fake_wait(s);
    *host = s->current;
    return GI_OK;
}

static void fake_close(gi_backend *backend) { (void)backend; }

static const gi_backend_ops fake_ops = {.close = fake_close,
                                        .slot_open = fake_slot_open,
                                        .slot_close = fake_slot_close,
                                        .use_threads = fake_use_threads,
                                        .host_buffer = fake_host_buffer,
                                        .upload = fake_upload,
                                        .point = fake_point,
                                        .window = fake_window,
                                        .measure = fake_measure,
                                        .counts = fake_counts,
                                        .resolve = fake_resolve,
                                        .point_resolved = fake_point_resolved,
                                        .resolved_level = fake_resolved_level,
                                        .download = fake_download};

// The WINDOW stage: its halo stands in its arguments.
static uint32_t fake_halo(const void *args) {
    const gi_hist_args *hist = args;
    return (uint32_t)hist->bins;
}

static uint32_t fake_scratch(const void *args) {
    (void)args;
    return 0;
}

static gi_status fake_check(const void *args, gi_sample sample, gi_error *err) {
    bool good = fake_halo(args) != 13 && (sample == GI_U16 || fake_halo(args) != 1300);
    return good ? GI_OK : gi_fail(err, GI_ERR_USAGE, "an unlucky halo");
}

static gi_cost fake_cost(const void *args) { return (gi_cost){fake_halo(args) * 1e-9, 0}; }

static const gi_stage fake_window_stage = {.name = "sum",
                                           .kind = GI_STAGE_WINDOW,
                                           .id = GI_STAGE_COUNT,
                                           .halo = fake_halo,
                                           .scratch = fake_scratch,
                                           .check = fake_check,
                                           .cost = fake_cost};

// Inserts the WINDOW stage as call number `at`.
static inline void fake_window_insert(gi_pipeline *pipeline, int at, uint32_t halo) {
    for (int i = pipeline->count++; i > at; i--) pipeline->calls[i] = pipeline->calls[i - 1];
    pipeline->calls[at] = (gi_stage_call){.stage = &fake_window_stage};
    pipeline->calls[at].args.hist.bins = (int32_t)halo;
}

static inline fake_backend fake_backend_make(void) {
    return (fake_backend){.base = {.ops = &fake_ops, .name = "fake:0"},
                          .rows_max = UINT32_MAX,
                          .slots_max = 1 << 20,
                          .windows_until = INT32_MAX,
                          .calls_until = INT32_MAX,
                          .pause_us = 200};
}

#endif
