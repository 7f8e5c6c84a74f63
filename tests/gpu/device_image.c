#include "device_image.h"

#include <stdlib.h>
#include <string.h>

const layout layouts[][2] = {{{0, 0}, {0, 0}}, {{1, 0}, {0, 0}}, {{0, 0}, {1, 0}},  {{0, 5}, {0, 0}},
                             {{0, 0}, {0, 5}}, {{3, 1}, {3, 1}}, {{0, 16}, {0, 5}}, {{1, 0}, {1, 0}}};
const int layout_count = sizeof layouts / sizeof *layouts;

void *device_memory(size_t bytes) {
    void *data = NULL;
    if (!cuda_ok(cudaMalloc(&data, bytes))) exit(1);
    return data;
}

void *host_memory(size_t bytes) {
    void *data = malloc(bytes ? bytes : 1);
    if (!data) exit(1);
    return data;
}

const void *to_device(const void *host, size_t bytes) {
    void *data = device_memory(bytes);
    cuda_ok(cudaMemcpy(data, host, bytes, cudaMemcpyHostToDevice));
    return data;
}

gi_view device_input(const gi_view *host, layout l, void **memory) {
    const size_t sample = gi_sample_bytes(host->sample), row = gi_row_bytes(host->width, host->channels, host->sample);
    gi_view view = gi_view_packed(NULL, gi_view_shape(host), GI_DEVICE);
    view.pitch_bytes = row + l.pad * sample;
    *memory = device_memory(l.offset * sample + view.pitch_bytes * (host->height - 1) + row);
    view.data = (char *)*memory + l.offset * sample;
    cuda_ok(cudaMemcpy2D(view.data, view.pitch_bytes, host->data, host->pitch_bytes, row, host->height,
                         cudaMemcpyHostToDevice));
    return view;
}

trapped trapped_make(gi_shape shape, layout l) {
    const size_t sample = gi_sample_bytes(shape.sample), start = GUARD_BYTES + l.offset * sample;
    trapped t = {.view = gi_view_packed(NULL, shape, GI_DEVICE)};
    t.view.pitch_bytes += l.pad * sample;
    t.bytes = start + t.view.pitch_bytes * shape.height + GUARD_BYTES;
    t.memory = device_memory(t.bytes);
    t.wanted = host_memory(t.bytes);
    memset(t.wanted, POISON, t.bytes);
    cuda_ok(cudaMemset(t.memory, POISON, t.bytes));
    t.wanted_view = t.view;
    t.view.data = t.memory + start;
    t.wanted_view.data = t.wanted + start;
    return t;
}

void trapped_check(trapped *t) {
    char *got = host_memory(t->bytes);
    cuda_ok(cudaMemcpy(got, t->memory, t->bytes, cudaMemcpyDeviceToHost));
    CHECK(memcmp(got, t->wanted, t->bytes) == 0);
    free(got);
    free(t->wanted);
    cuda_ok(cudaFree(t->memory));
}

guarded_scratch scratch_make(size_t bytes) {
    guarded_scratch scratch = {device_memory(bytes + GUARD_BYTES), bytes};
    cuda_ok(cudaMemset((char *)scratch.data + bytes, POISON, GUARD_BYTES));
    return scratch;
}

void scratch_check(guarded_scratch *scratch) {
    unsigned char guard[GUARD_BYTES];
    bool intact = true;
    cuda_ok(cudaMemcpy(guard, (char *)scratch->data + scratch->bytes, GUARD_BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < GUARD_BYTES; i++) intact = intact && guard[i] == POISON;
    CHECK(intact);
    cuda_ok(cudaFree(scratch->data));
}
