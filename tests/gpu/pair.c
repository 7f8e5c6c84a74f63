#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/backend_cpu.h"
#include "cuda/backend_cuda.h"

gi_backend *cpu, *cuda;

bool backends_open(void) {
    gi_error err;
    if (gi_backend_cpu_open(&cpu, &err) != GI_OK || gi_backend_cuda_open(0, &cuda, &err) != GI_OK) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    printf("%s (%s) against %s (%s)\n", cuda->name, cuda->detail, cpu->name, cpu->detail);
    return true;
}

void backends_close(void) {
    cuda->ops->close(cuda);
    cpu->ops->close(cpu);
}

pair pair_open(void) {
    gi_error err;
    pair p = {NULL, NULL};
    if (!succeeded(cpu->ops->slot_open(cpu, 4, &p.cpu, &err), &err)) exit(1);
    if (!succeeded(cuda->ops->slot_open(cuda, 4, &p.cuda, &err), &err)) exit(1);
    return p;
}

void pair_close(pair p) {
    p.cpu->ops->slot_close(p.cpu);
    p.cuda->ops->slot_close(p.cuda);
}

bool upload(gi_slot *slot, const gi_view *view, bool staged) {
    gi_error err;
    gi_view from = *view;
    if (staged) {
        size_t bytes = view->pitch_bytes * view->height;
        if (!succeeded(slot->ops->host_buffer(slot, bytes, &from.data, &err), &err)) return false;
        CHECK((uintptr_t)from.data % 64 == 0);
        memcpy(from.data, view->data, bytes);
    }
    return succeeded(slot->ops->upload(slot, &from, &err), &err);
}

bool pair_upload(pair p, const gi_view *view, bool staged) {
    return upload(p.cpu, view, staged) && upload(p.cuda, view, staged);
}

bool point(gi_slot *slot, const gi_point *operation) {
    gi_error err;
    return succeeded(slot->ops->point(slot, operation, &err), &err);
}

void compare_images(pair p) {
    gi_error err;
    gi_view a, b;
    if (!succeeded(p.cpu->ops->download(p.cpu, &a, &err), &err)) return;
    if (!succeeded(p.cuda->ops->download(p.cuda, &b, &err), &err)) return;
    bool same_shape = a.width == b.width && a.height == b.height && a.channels == b.channels && a.sample == b.sample;
    uint32_t row = 0;
    size_t byte = 0;
    if (!CHECK(same_shape)) return;
    bool differ = views_differ(&a, &b, &row, &byte);
    if (differ) fprintf(stderr, "first difference in row %u, byte %zu\n", row, byte);
    CHECK(!differ);
}

static bool count(gi_slot *slot, bool first, gi_histogram *histogram) {
    gi_error err;
    return succeeded(slot->ops->measure(slot, NULL, first, &err), &err) &&
           succeeded(slot->ops->counts(slot, histogram, &err), &err);
}

void compare_histograms(pair p, int channels, gi_sample sample, uint64_t pixels) {
    gi_error err;
    gi_histogram a = {0}, b = {0};
    if (succeeded(gi_histogram_init(&a, channels, sample, &err), &err) &&
        succeeded(gi_histogram_init(&b, channels, sample, &err), &err) && count(p.cpu, true, &a) &&
        count(p.cuda, true, &b)) {
        CHECK(memcmp(a.counts, b.counts, sizeof *a.counts * a.levels * (size_t)channels) == 0);
        for (int c = 0; c < channels; c++) {
            uint64_t sum = 0;
            for (uint32_t v = 0; v < b.levels; v++) sum += gi_histogram_channel(&b, c)[v];
            CHECK(sum == pixels);
        }
        // Another band's counts are added to the slot's, and the slot's to what is there: once and twice.
        bool tripled = count(p.cuda, false, &b);
        for (size_t i = 0; i < a.levels * (size_t)channels; i++) tripled = tripled && b.counts[i] == 3 * a.counts[i];
        CHECK(tripled);
    }
    gi_histogram_free(&a);
    gi_histogram_free(&b);
}
