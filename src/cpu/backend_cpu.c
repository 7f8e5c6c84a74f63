#include "cpu/backend_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/checked.h"
#include "cpu/ops.h"

// Large buffers are aligned for huge pages: a fresh one then costs one page fault for 2 MiB rather than 512, which is
// more than what a point operation on it takes.
enum { BUFFER_ALIGNMENT = 64, HUGE_PAGE_BYTES = 2 << 20 };

typedef struct buffer {
    void *data;
    size_t bytes;
} buffer;

typedef struct cpu_slot {
    gi_slot base;
    int threads;
    buffer host;     // what the image is decoded into
    buffer work[2];  // results of point operations
    gi_view current; // data NULL: no image
} cpu_slot;

static cpu_slot *as_cpu(gi_slot *slot) { return (cpu_slot *)slot; }

// Makes the buffer hold `bytes`; its content is lost when it has to grow.
static gi_status buffer_reserve(buffer *b, size_t bytes, gi_error *err) {
    if (b->data && b->bytes >= bytes) return GI_OK;
    size_t alignment = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : BUFFER_ALIGNMENT;
    size_t size;
    free(b->data);
    b->bytes = 0;
    b->data = gi_round_up(bytes ? bytes : 1, alignment, &size) ? aligned_alloc(alignment, size) : NULL;
    if (!b->data) return gi_fail(err, GI_ERR_MEMORY, "out of memory for an image of %zu bytes", bytes);
    if (alignment == HUGE_PAGE_BYTES) madvise(b->data, size, MADV_HUGEPAGE); // a hint: without it all works as well
    b->bytes = size;
    return GI_OK;
}

static void backend_close(gi_backend *backend) { free(backend); }

static gi_status slot_open(gi_backend *backend, int threads, gi_slot **slot, gi_error *err) {
    cpu_slot *self = calloc(1, sizeof *self);
    *slot = NULL;
    if (!self) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    self->base.ops = backend->ops;
    self->threads = threads > 0 ? threads : 1;
    *slot = &self->base;
    return GI_OK;
}

static void slot_close(gi_slot *slot) {
    cpu_slot *self = as_cpu(slot);
    if (!self) return;
    free(self->host.data);
    free(self->work[0].data);
    free(self->work[1].data);
    free(self);
}

static gi_status host_buffer(gi_slot *slot, size_t bytes, void **data, gi_error *err) {
    cpu_slot *self = as_cpu(slot);
    gi_status status = buffer_reserve(&self->host, bytes, err);
    *data = self->host.data;
    return status;
}

static gi_status upload(gi_slot *slot, const gi_view *host, gi_error *err) {
    (void)err;
    as_cpu(slot)->current = *host;
    return GI_OK;
}

static gi_status no_image(gi_error *err) { return gi_fail(err, GI_ERR_USAGE, "the slot holds no image"); }

// Where the result goes: in place when the slot owns the pixels and they stay as large; else a work buffer that does
// not hold the current image.
static gi_status output_view(cpu_slot *self, int channels, gi_view *out, gi_error *err) {
    const gi_view *in = &self->current;
    bool first = in->data == self->work[0].data, owned = first || in->data == self->work[1].data;
    if (owned && channels == in->channels) {
        *out = *in;
        return GI_OK;
    }
    buffer *target = &self->work[first ? 1 : 0];
    gi_shape shape = {in->width, in->height, channels, in->sample};
    size_t bytes;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = buffer_reserve(target, bytes, err);
    if (status == GI_OK) *out = gi_view_packed(target->data, shape, GI_HOST);
    return status;
}

static gi_status point(gi_slot *slot, const gi_point *point, gi_error *err) {
    cpu_slot *self = as_cpu(slot);
    if (!self->current.data) return no_image(err);
    if (gi_point_is_identity(point)) return GI_OK;
    gi_cpu_job job = {.in = self->current, .args = point, .threads = self->threads};
    gi_status status = output_view(self, gi_point_channels_out(point), &job.out, err);
    if (status == GI_OK) status = gi_cpu_point(&job, err);
    if (status == GI_OK) self->current = job.out;
    return status;
}

static gi_status histogram(gi_slot *slot, gi_histogram *histogram, gi_error *err) {
    cpu_slot *self = as_cpu(slot);
    const gi_view *in = &self->current;
    if (!in->data) return no_image(err);
    if (histogram->channels != in->channels || histogram->levels != gi_sample_max(in->sample) + 1)
        return gi_fail(err, GI_ERR_USAGE, "the histogram is not for such images");
    gi_cpu_job job = {.in = *in, .counts = histogram->counts, .threads = self->threads};
    return gi_cpu_hist(&job, err);
}

static gi_status download(gi_slot *slot, gi_view *host, gi_error *err) {
    cpu_slot *self = as_cpu(slot);
    if (!self->current.data) return no_image(err);
    *host = self->current;
    return GI_OK;
}

static const gi_backend_ops cpu_ops = {backend_close, slot_open, slot_close, host_buffer,
                                       upload,        point,     histogram,  download};

gi_status gi_backend_cpu_open(gi_backend **backend, gi_error *err) {
    gi_backend *self = calloc(1, sizeof *self);
    *backend = self;
    if (!self) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    int cores = gi_cpu_cores();
    self->ops = &cpu_ops;
    snprintf(self->name, sizeof self->name, "cpu");
    snprintf(self->detail, sizeof self->detail, "%s, %d thread%s", gi_simd_name(gi_simd_level()), cores,
             cores == 1 ? "" : "s");
    return GI_OK;
}
