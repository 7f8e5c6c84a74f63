// A backend for tests of the executor: 8-bit images, plain loops, a limit of memory, and counts of what is asked of it.
#ifndef GI_TESTS_FAKE_BACKEND_H
#define GI_TESTS_FAKE_BACKEND_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend.h"

typedef struct fake_backend {
    gi_backend base;
    uint32_t rows_max;   // uploads of more rows are out of memory
    int slots_max;       // opening more fails
    bool no_host_memory; // host_buffer is out of device memory
    atomic_int slots, threads, uploads, inside, inside_max;
} fake_backend;

typedef struct fake_slot {
    gi_slot base;
    fake_backend *backend;
    void *host;
    uint8_t *pixels;
    gi_view current;
} fake_slot;

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
    free(s->host);
    free(s->pixels);
    free(s);
}

static gi_status fake_host_buffer(gi_slot *slot, size_t bytes, void **data, gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    if (s->backend->no_host_memory) return gi_fail(err, GI_ERR_DEVICE_MEMORY, "no pinned memory");
    free(s->host);
    *data = s->host = malloc(bytes);
    memset(s->host, 0xA5, bytes);
    return GI_OK;
}

// Notes how many threads are between upload and the wait that ends the device's work.
static void fake_enter(fake_backend *b) {
    int inside = atomic_fetch_add(&b->inside, 1) + 1, most = atomic_load(&b->inside_max);
    while (inside > most && !atomic_compare_exchange_weak(&b->inside_max, &most, inside)) continue;
    usleep(200);
}

static gi_status fake_upload(gi_slot *slot, const gi_view *host, gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    atomic_fetch_add(&s->backend->uploads, 1);
    if (host->height > s->backend->rows_max) return gi_fail(err, GI_ERR_DEVICE_MEMORY, "out of device memory");
    fake_enter(s->backend);
    size_t row = gi_row_bytes(host->width, host->channels, host->sample);
    free(s->pixels);
    s->pixels = malloc(row * host->height);
    for (uint32_t y = 0; y < host->height; y++) memcpy(s->pixels + row * y, gi_view_row(host, y), row);
    s->current = gi_view_packed(s->pixels, gi_view_shape(host), GI_HOST);
    atomic_fetch_sub(&s->backend->inside, 1);
    return GI_OK;
}

static gi_status fake_point(gi_slot *slot, const gi_point *point, gi_error *err) {
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
        if (point->mix == GI_MIX_WEIGHTS) {
            v[0] = (point->weights[0] * v[0] + point->weights[1] * v[1] + point->weights[2] * v[2] + 16384) >> 15;
            v[0] = gi_curve_at(&point->after, v[0], 255);
            v[1] = v[3];
        }
        for (int c = 0; c < out; c++) s->pixels[i * (size_t)out + (size_t)c] = (uint8_t)v[c];
    }
    gi_shape shape = {s->current.width, s->current.height, out, GI_U8};
    s->current = gi_view_packed(s->pixels, shape, GI_HOST);
    atomic_fetch_sub(&s->backend->inside, 1);
    return GI_OK;
}

static gi_status fake_histogram(gi_slot *slot, gi_histogram *histogram, gi_error *err) {
    fake_slot *s = (fake_slot *)slot;
    if (histogram->channels != s->current.channels) return gi_fail(err, GI_ERR_USAGE, "a histogram of other channels");
    size_t count = (size_t)s->current.width * s->current.height * (size_t)s->current.channels;
    for (size_t i = 0; i < count; i++)
        histogram->counts[i % (size_t)s->current.channels * histogram->levels + s->pixels[i]]++;
    return GI_OK;
}

static gi_status fake_download(gi_slot *slot, gi_view *host, gi_error *err) {
    (void)err;
    *host = ((fake_slot *)slot)->current;
    return GI_OK;
}

static void fake_close(gi_backend *backend) { (void)backend; }

static const gi_backend_ops fake_ops = {fake_close,  fake_slot_open, fake_slot_close, fake_host_buffer,
                                        fake_upload, fake_point,     fake_histogram,  fake_download};

static inline fake_backend fake_backend_make(void) {
    return (fake_backend){.base = {&fake_ops, "fake:0", ""}, .rows_max = UINT32_MAX, .slots_max = 1 << 20};
}

#endif
