#include "cpu/backend_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/large.h"
#include "core/simd.h"
#include "core/text.h"
#include "cpu/ops.h"
#include "cpu/primitives.h"

typedef struct buffer {
    void *data;
    size_t bytes;
} buffer;

typedef struct cpu_slot {
    gi_slot base;
    int threads;
    buffer host;     // what the image is decoded into
    buffer work[2];  // results of operations
    gi_view current; // data NULL: no image
    gi_view target;  // where the next operation's result is to lie; data NULL: in `work`
    gi_histogram counts;
    gi_sample counts_sample;
    gi_point resolved[GI_MAX_RESOLVED];
    uint32_t levels[GI_MAX_RESOLVED]; // that they threshold at
} cpu_slot;

// gi_cpu_NAME of the WINDOW stages, by id; NULL for the others.
typedef gi_status (*window_fn)(const gi_window_job *job, gi_error *err);
#define WINDOW_OF_POINT(name) NULL
#define WINDOW_OF_WINDOW(name) gi_cpu_##name
#define WINDOW_OF_MEASURE(name) NULL
#define WINDOW_ROW(kind, name, summary, detail, example1, example2) WINDOW_OF_##kind(name),
static const window_fn window_functions[GI_STAGE_COUNT] = {GI_STAGES(WINDOW_ROW)};

static cpu_slot *as_cpu(gi_slot *slot) { return (cpu_slot *)slot; }

static void use_threads(gi_slot *slot, int threads) { as_cpu(slot)->threads = threads > 0 ? threads : 1; }

// Makes the buffer hold `bytes`; its content is lost when it has to grow.
static gi_status buffer_reserve(buffer *b, size_t bytes, gi_error *err) {
    if (b->data && b->bytes >= bytes) return GI_OK;
    free(b->data);
    b->data = gi_large_alloc(bytes);
    b->bytes = b->data ? bytes : 0;
    return b->data ? GI_OK : gi_fail(err, GI_ERR_MEMORY, "out of memory for an image of %zu bytes", bytes);
}

static void backend_close(gi_backend *backend) { free(backend); }

static gi_status slot_open(gi_backend *backend, int threads, gi_slot **slot, gi_error *err) {
    cpu_slot *self = calloc(1, sizeof *self);
    *slot = NULL;
    if (!self) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    self->base.ops = backend->ops;
    use_threads(&self->base, threads);
    for (int i = 0; i < GI_MAX_RESOLVED; i++) self->resolved[i] = gi_point_identity(1, GI_U8);
    *slot = &self->base;
    return GI_OK;
}

static void slot_close(gi_slot *slot) {
    cpu_slot *self = as_cpu(slot);
    if (!self) return;
    free(self->host.data);
    free(self->work[0].data);
    free(self->work[1].data);
    gi_histogram_free(&self->counts);
    for (int i = 0; i < GI_MAX_RESOLVED; i++) gi_point_free(&self->resolved[i]);
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

static bool is_owned(const cpu_slot *self, const void *data) {
    return data == self->work[0].data || data == self->work[1].data;
}

static bool fits(const gi_view *target, gi_shape shape) {
    return target->data && target->width == shape.width && target->height == shape.height &&
           target->channels == shape.channels && target->sample == shape.sample &&
           ((uintptr_t)target->data | target->pitch_bytes) % gi_sample_bytes(shape.sample) == 0;
}

static void aim(gi_slot *slot, const gi_view *host) { as_cpu(slot)->target = *host; }

// Memory for a result of that shape: the target, or a work buffer that does not hold the current image.
static gi_status result_view(cpu_slot *self, gi_shape shape, gi_view *out, gi_error *err) {
    if (fits(&self->target, shape)) {
        *out = self->target;
        return GI_OK;
    }
    buffer *target = &self->work[self->current.data == self->work[0].data ? 1 : 0];
    size_t bytes;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = buffer_reserve(target, bytes, err);
    if (status == GI_OK) *out = gi_view_packed(target->data, shape, GI_HOST);
    return status;
}

// Without a target, in place when the slot owns the pixels and they stay as large.
static gi_status apply_point(cpu_slot *self, const gi_point *point, gi_error *err) {
    gi_status status = GI_OK;
    if (!self->current.data) return no_image(err);
    if (gi_point_is_identity(point)) return GI_OK;
    gi_cpu_job job = {.in = self->current, .out = self->current, .args = point, .threads = self->threads};
    gi_shape shape = gi_view_shape(&self->current);
    shape.channels = gi_point_channels_out(point);
    if (fits(&self->target, shape) || !is_owned(self, job.in.data) || shape.channels != job.in.channels)
        status = result_view(self, shape, &job.out, err);
    if (status == GI_OK) status = gi_cpu_point(&job, err);
    if (status == GI_OK) self->current = job.out;
    return status;
}

static gi_status point(gi_slot *slot, const gi_point *point, gi_error *err) {
    cpu_slot *self = as_cpu(slot);
    gi_status status = apply_point(self, point, err);
    self->target.data = NULL;
    return status;
}

static gi_status apply_window(cpu_slot *self, const gi_stage_call *call, const gi_window_place *place, uint32_t rows,
                              gi_error *err) {
    unsigned id = (unsigned)call->stage->id;
    window_fn function = id < GI_STAGE_COUNT ? window_functions[id] : NULL;
    gi_shape shape = gi_view_shape(&self->current);
    if (!self->current.data) return no_image(err);
    if (!function) return gi_fail(err, GI_ERR_USAGE, "%s is no window stage", call->stage->name);
    uint64_t in_end = (uint64_t)place->in_y0 + shape.height, out_end = (uint64_t)place->out_y0 + rows;
    if (in_end > place->image_height || out_end > in_end || place->out_y0 < place->in_y0)
        return gi_fail(err, GI_ERR_USAGE, "rows %u to %llu cannot be made of rows %u to %llu", place->out_y0,
                       (unsigned long long)out_end, place->in_y0, (unsigned long long)in_end);
    gi_window_job job = {.in = self->current, .place = *place, .args = &call->args, .threads = self->threads};
    shape.height = rows;
    gi_status status = result_view(self, shape, &job.out, err);
    if (status == GI_OK) status = function(&job, err);
    if (status == GI_OK) self->current = job.out;
    return status;
}

static gi_status window(gi_slot *slot, const gi_stage_call *call, const gi_window_place *place, uint32_t rows,
                        gi_error *err) {
    cpu_slot *self = as_cpu(slot);
    gi_status status = apply_window(self, call, place, rows, err);
    self->target.data = NULL;
    return status;
}

// Makes the counts zero, for that kind of image.
static gi_status clear_counts(cpu_slot *self, int channels, gi_sample sample, gi_error *err) {
    gi_histogram *counts = &self->counts;
    if (counts->channels == channels && self->counts_sample == sample) {
        memset(counts->counts, 0, (size_t)channels * counts->levels * sizeof *counts->counts);
        return GI_OK;
    }
    gi_histogram_free(counts);
    self->counts_sample = sample;
    return gi_histogram_init(counts, channels, sample, err);
}

static gi_status measure(gi_slot *slot, const gi_point *through, bool first, gi_error *err) {
    cpu_slot *self = as_cpu(slot);
    const gi_view *in = &self->current;
    if (!in->data) return no_image(err);
    int channels = through ? gi_point_channels_out(through) : in->channels;
    gi_status status = first ? clear_counts(self, channels, in->sample, err) : GI_OK;
    if (status != GI_OK) return status;
    if (self->counts.channels != channels || self->counts_sample != in->sample)
        return gi_fail(err, GI_ERR_USAGE, "the counts are of another kind of image");
    gi_cpu_job job = {.in = *in, .counts = self->counts.counts, .through = through, .threads = self->threads};
    return gi_cpu_hist(&job, err);
}

static gi_status counts(gi_slot *slot, gi_histogram *histogram, gi_error *err) {
    return gi_histogram_add(histogram, &as_cpu(slot)->counts, err);
}

static gi_status resolve(gi_slot *slot, int index, const gi_stage_call *call, const gi_point *rest, gi_error *err) {
    cpu_slot *self = as_cpu(slot);
    if (index < 0 || index >= GI_MAX_RESOLVED || !call->stage->point)
        return gi_fail(err, GI_ERR_USAGE, "%s cannot be kept as operation %d", call->stage->name, index);
    gi_point_input in = {rest->shape.channels, rest->shape.sample, &self->counts};
    gi_point made, whole;
    gi_status status = call->stage->point(&call->args, &in, &made, err);
    if (status != GI_OK) return status;
    status = gi_point_compose(&made, rest, &whole, err);
    if (status == GI_OK) {
        gi_point_free(&self->resolved[index]);
        self->resolved[index] = whole;
        self->levels[index] = made.before[0].level;
    }
    gi_point_free(&made);
    return status;
}

static gi_status point_resolved(gi_slot *slot, int index, gi_error *err) {
    if (index < 0 || index >= GI_MAX_RESOLVED) return gi_fail(err, GI_ERR_USAGE, "there is no operation %d", index);
    return point(slot, &as_cpu(slot)->resolved[index], err);
}

static uint32_t resolved_level(gi_slot *slot, int index) {
    return index >= 0 && index < GI_MAX_RESOLVED ? as_cpu(slot)->levels[index] : 0;
}

static gi_status download(gi_slot *slot, gi_view *host, gi_error *err) {
    cpu_slot *self = as_cpu(slot);
    if (!self->current.data) return no_image(err);
    *host = self->current;
    return GI_OK;
}

static const gi_backend_ops cpu_ops = {.close = backend_close,
                                       .slot_open = slot_open,
                                       .slot_close = slot_close,
                                       .use_threads = use_threads,
                                       .host_buffer = host_buffer,
                                       .upload = upload,
                                       .point = point,
                                       .window = window,
                                       .aim = aim,
                                       .measure = measure,
                                       .counts = counts,
                                       .resolve = resolve,
                                       .point_resolved = point_resolved,
                                       .resolved_level = resolved_level,
                                       .download = download};

gi_status gi_backend_cpu_open(gi_backend **backend, gi_error *err) {
    gi_backend *self = calloc(1, sizeof *self);
    *backend = self;
    if (!self) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    int cores = gi_cpu_cores();
    self->ops = &cpu_ops;
    self->primitives = &gi_cpu_primitives;
    snprintf(self->name, sizeof self->name, "cpu");
    snprintf(self->detail, sizeof self->detail, "%s, %d thread%s", gi_simd_name(gi_simd_level()), cores,
             gi_plural((unsigned)cores));
    return GI_OK;
}
