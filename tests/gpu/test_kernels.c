// The launchers of point operations and histograms, on device memory laid out to trap them (device_image.h).
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_image.h"
#include "kernels/launch.h"

static cudaStream_t stream;

// The scalar definition, written once more for the test.
static void reference_point(const gi_point *op, const gi_linear_tables *linear, const uint32_t *in, uint32_t *out) {
    const uint32_t max = gi_sample_max(op->shape.sample);
    uint32_t v[3];
    for (int c = 0; c < gi_colour_channels(op->shape.channels); c++) v[c] = gi_curve_at(&op->before[c], in[c], max);
    const int outputs = gi_colour_channels(gi_point_channels_out(op));
    uint32_t gray = 0;
    if (op->mix == GI_MIX_WEIGHTS || op->mix == GI_MIX_SHIFT)
        gray = (op->weights[0] * v[0] + op->weights[1] * v[1] + op->weights[2] * v[2] + 16384) / 32768;
    if (op->mix == GI_MIX_LINEAR)
        gray = gi_linear_encode(linear, linear->red[v[0]] + linear->green[v[1]] + linear->blue[v[2]]);
    const uint32_t made = gi_curve_at(&op->after, gray, max);
    for (int c = 0; c < outputs; c++) {
        int64_t moved = (int64_t)v[c] + made - gray;
        if (op->mix == GI_MIX_NONE)
            out[c] = v[c];
        else if (op->mix == GI_MIX_SHIFT)
            out[c] = moved < 0 ? 0 : moved > max ? max : (uint32_t)moved;
        else
            out[c] = made;
    }
    if (gi_has_alpha(op->shape.channels)) out[outputs] = in[op->shape.channels - 1];
}

static uint32_t get(const gi_view *v, uint32_t y, size_t i) {
    const void *row = gi_view_row(v, y);
    return v->sample == GI_U8 ? ((const uint8_t *)row)[i] : ((const uint16_t *)row)[i];
}

static void put(const gi_view *v, uint32_t y, size_t i, uint32_t value) {
    void *row = gi_view_row(v, y);
    if (v->sample == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)value;
    else
        ((uint16_t *)row)[i] = (uint16_t)value;
}

// What the whole output allocation must hold: guard bands and padding poisoned, pixels computed.
static void expect(const gi_point *op, const gi_view *in, const gi_view *out) {
    const gi_linear_tables *linear = gi_linear_tables_get(op->shape.sample);
    for (uint32_t y = 0; y < in->height; y++)
        for (uint32_t x = 0; x < in->width; x++) {
            uint32_t from[4], to[4];
            for (int c = 0; c < in->channels; c++) from[c] = get(in, y, (size_t)x * (size_t)in->channels + (size_t)c);
            reference_point(op, linear, from, to);
            for (int c = 0; c < out->channels; c++) put(out, y, (size_t)x * (size_t)out->channels + (size_t)c, to[c]);
        }
}

typedef struct device_tables {
    gi_device_point op;
    const void *owned[9];
    int count;
} device_tables;

static const void *keep(device_tables *t, const void *host, size_t bytes) {
    return t->owned[t->count++] = to_device(host, bytes);
}

static device_tables tables_make(const gi_point *op) {
    device_tables t = {.op = {.point = *op}};
    const size_t levels = (size_t)gi_sample_max(op->shape.sample) + 1;
    gi_curve *curves[] = {&t.op.point.before[0], &t.op.point.before[1], &t.op.point.before[2], &t.op.point.after};
    for (int i = 0; i < 4; i++)
        if (curves[i]->kind == GI_CURVE_TABLE)
            curves[i]->table = (uint16_t *)(uintptr_t)keep(&t, curves[i]->table, 2 * levels);
    if (op->mix == GI_MIX_LINEAR) {
        const gi_linear_tables *h = gi_linear_tables_get(op->shape.sample);
        gi_linear_tables *d = &t.op.linear;
        d->red = keep(&t, h->red, 4 * levels);
        d->green = keep(&t, h->green, 4 * levels);
        d->blue = keep(&t, h->blue, 4 * levels);
        d->threshold = keep(&t, h->threshold, 4 * levels);
        d->coarse = keep(&t, h->coarse, 2 * GI_LINEAR_COARSE_COUNT);
    }
    return t;
}

static void tables_free(device_tables *t) {
    while (t->count > 0) cuda_ok(cudaFree((void *)(uintptr_t)t->owned[--t->count]));
}

static void try_point(const gi_view *host, const gi_point *op, const layout l[2]) {
    gi_error err;
    void *in_memory;
    gi_shape shape = gi_view_shape(host);
    shape.channels = gi_point_channels_out(op);
    gi_view in = device_input(host, l[0], &in_memory);
    trapped out = trapped_make(shape, l[1]);
    expect(op, host, &out.wanted_view);

    device_tables tables = tables_make(op);
    gi_job job = {.in = in, .out = out.view, .args = &tables.op, .stream = stream};
    CHECK(gi_cuda_point_scratch(&job) == 0);
    cuda_ok(cudaDeviceSynchronize());
    succeeded(gi_cuda_point(&job, &err), &err);
    cuda_ok(cudaStreamSynchronize(stream));
    trapped_check(&out);
    tables_free(&tables);
    cuda_ok(cudaFree(in_memory));
}

static void test_points(const options *o) {
    rng r = {o->seed + 10};
    const int sizes = o->quick ? 6 : test_size_count - 1;
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i < sizes; i++) {
                gi_shape shape = {test_sizes[i][0], test_sizes[i][1], channels, (gi_sample)s};
                image im = image_make(shape, 3, PATTERN_RANDOM, &r);
                char name[64];
                gi_point op;
                const int step = o->quick ? 3 : 1;
                for (int k = i % step; operation_make(k, channels, (gi_sample)s, &r, &op, name); k += step) {
                    // All layouts in turn; packed rows for every form.
                    const int l = (k + i) % layout_count;
                    case_name("%ux%u, %d channels of %d bytes, layout %d, %s", shape.width, shape.height, channels,
                              1 << s, l, name);
                    if (l != 0 && !o->quick) try_point(&im.view, &op, layouts[0]);
                    try_point(&im.view, &op, layouts[l]);
                    gi_point_free(&op);
                }
                image_free(&im);
            }
}

static void try_histogram(const gi_view *host, layout l, rng *r) {
    gi_error err;
    void *in_memory;
    const size_t levels = (size_t)gi_sample_max(host->sample) + 1, count = levels * (size_t)host->channels;
    const size_t guard = GUARD_BYTES / sizeof(uint64_t), bytes = (count + 2 * guard) * sizeof(uint64_t);
    gi_view in = device_input(host, l, &in_memory);
    uint64_t *wanted = host_memory(bytes), *got = host_memory(bytes), *counts = device_memory(bytes);
    // Counts near the 32-bit limit show whether carries reach the upper half.
    for (size_t i = 0; i < count + 2 * guard; i++) wanted[i] = 0xffffff00U + rng_below(r, 256);
    cuda_ok(cudaMemcpy(counts, wanted, bytes, cudaMemcpyHostToDevice));
    for (uint32_t y = 0; y < host->height; y++)
        for (size_t i = 0; i < (size_t)host->width * (size_t)host->channels; i++)
            wanted[guard + i % (size_t)host->channels * levels + get(host, y, i)]++;

    gi_job job = {.in = in, .counts = counts + guard, .stream = stream};
    CHECK(gi_cuda_hist_scratch(&job) == 0);
    cuda_ok(cudaDeviceSynchronize());
    succeeded(gi_cuda_hist(&job, &err), &err);
    cuda_ok(cudaStreamSynchronize(stream));
    cuda_ok(cudaMemcpy(got, counts, bytes, cudaMemcpyDeviceToHost));
    CHECK(memcmp(got, wanted, bytes) == 0);
    free(got);
    free(wanted);
    cuda_ok(cudaFree(counts));
    cuda_ok(cudaFree(in_memory));
}

static void test_histograms(const options *o) {
    rng r = {o->seed + 11};
    const int sizes = o->quick ? 7 : test_size_count;
    for (int s = 0; s < 2; s++)
        for (int channels = 1; channels <= GI_MAX_CHANNELS; channels++)
            for (int i = 0; i < sizes; i++)
                for (int kind = 0; kind < PATTERN_COUNT; kind++) {
                    gi_shape shape = {test_sizes[i][0], test_sizes[i][1], channels, (gi_sample)s};
                    image im = image_make(shape, 3, (pattern)kind, &r);
                    const int l = (i + kind) % layout_count;
                    case_name("histogram %ux%u, %d channels of %d bytes, pattern %d, layout %d", shape.width,
                              shape.height, channels, 1 << s, kind, l);
                    try_histogram(&im.view, layouts[0][0], &r);
                    if (l != 0) try_histogram(&im.view, layouts[l][0], &r);
                    image_free(&im);
                }
}

int main(int argc, char **argv) {
    options o = options_parse(argc, argv);
    gi_error err;
    if (!usable_device()) return EXIT_SKIPPED;
    if (!succeeded(gi_cuda_probe(&err), &err)) return 1;
    if (!cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return 1;
    test_points(&o);
    test_histograms(&o);
    cuda_ok(cudaStreamDestroy(stream));
    device_release();
    return checks_report("kernels");
}
