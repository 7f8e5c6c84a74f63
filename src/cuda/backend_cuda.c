// The CUDA backend: each slot has a stream, page-locked host buffers and two device images that operations pass back
// and forth. Nothing is allocated twice; only counts and download wait.
#include "cuda/backend_cuda.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/buffer.h"
#include "cuda/cuda_status.h"
#include "cuda/resolved.h"
#include "cuda/tables.h"
#include "kernels/launch.h"

typedef struct cuda_backend {
    gi_backend base;
    int index;
    atomic_bool failed; // an error has ruined the context: every later call would fail with the same words
} cuda_backend;

typedef struct cuda_slot {
    gi_slot base;
    cuda_backend *backend;
    cudaStream_t stream;
    gi_cuda_buffer host_in, host_out; // page-locked
    gi_cuda_buffer images[2];         // device; images[now] holds the current one
    int now;
    gi_view current; // device, packed; data NULL: none yet
    gi_cuda_buffer scratch;
    gi_cuda_counts counted;
    gi_cuda_buffer host_counts;
    gi_cuda_tables tables;
    gi_cuda_resolved resolved[GI_MAX_RESOLVED];
    gi_cuda_buffer levels, host_levels; // of the resolved operations: GI_MAX_RESOLVED of uint32_t
} cuda_slot;

static gi_status use_device(cuda_backend *backend, gi_error *err) {
    if (atomic_load(&backend->failed))
        return gi_fail(err, GI_ERR_DEVICE, "CUDA device %d failed earlier in this process and cannot be used again",
                       backend->index);
    return gi_cuda_check(cudaSetDevice(backend->index), "choosing the device", err);
}

static gi_status begin(cuda_slot *slot, bool wants_image, gi_error *err) {
    if (wants_image && !slot->current.data) return gi_fail(err, GI_ERR_USAGE, "the slot holds no image");
    return use_device(slot->backend, err);
}

// After a failure the device may be as good as new, or lost to this process: then the stream fails too.
static gi_status settle(cuda_slot *slot, gi_status status) {
    if (status == GI_ERR_DEVICE && cudaStreamSynchronize(slot->stream) != cudaSuccess)
        atomic_store(&slot->backend->failed, true);
    return status;
}

static gi_status wait_for(cuda_slot *slot, const char *doing, gi_error *err) {
    return gi_cuda_check(cudaStreamSynchronize(slot->stream), doing, err);
}

static gi_status host_buffer(gi_slot *base, size_t bytes, void **data, gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    gi_status status = begin(slot, false, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&slot->host_in, bytes, GI_PINNED, slot->stream, err);
    *data = slot->host_in.data;
    return settle(slot, status);
}

static cudaError_t copy_to_device(const gi_view *host, void *device, size_t row_bytes, cudaStream_t stream) {
    if (host->height <= 1 || host->pitch_bytes == row_bytes)
        return cudaMemcpyAsync(device, host->data, row_bytes * host->height, cudaMemcpyHostToDevice, stream);
    return cudaMemcpy2DAsync(device, row_bytes, host->data, host->pitch_bytes, row_bytes, host->height,
                             cudaMemcpyHostToDevice, stream);
}

static gi_status upload(gi_slot *base, const gi_view *host, gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    const gi_shape shape = gi_view_shape(host);
    size_t bytes = 0;
    slot->current.data = NULL;
    if (shape.sample != GI_U8 && shape.sample != GI_U16)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "images have 8- or 16-bit samples");
    gi_status status = begin(slot, false, err);
    if (status == GI_OK) status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&slot->images[slot->now], bytes, GI_DEVICE, slot->stream, err);
    if (status == GI_OK) {
        size_t row_bytes = gi_row_bytes(shape.width, shape.channels, shape.sample);
        status = gi_cuda_check(copy_to_device(host, slot->images[slot->now].data, row_bytes, slot->stream),
                               "uploading the image", err);
    }
    if (status == GI_OK) slot->current = gi_view_packed(slot->images[slot->now].data, shape, GI_DEVICE);
    return settle(slot, status);
}

// Where the next image goes: the buffer that does not hold the current one.
static gi_status next_image(cuda_slot *slot, gi_shape shape, gi_view *out, gi_error *err) {
    gi_cuda_buffer *other = &slot->images[1 - slot->now];
    size_t bytes = 0;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(other, bytes, GI_DEVICE, slot->stream, err);
    if (status == GI_OK) *out = gi_view_packed(other->data, shape, GI_DEVICE);
    return status;
}

typedef struct launcher {
    size_t (*scratch)(const gi_job *);
    gi_status (*launch)(const gi_job *, gi_error *);
} launcher;

// Gives the job scratch and stream, and launches.
static gi_status launch(cuda_slot *slot, launcher with, gi_job *job, gi_error *err) {
    job->stream = slot->stream;
    gi_status status = gi_cuda_buffer_reserve(&slot->scratch, with.scratch(job), GI_DEVICE, slot->stream, err);
    job->scratch = slot->scratch.data;
    return status == GI_OK ? with.launch(job, err) : status;
}

static void keep(cuda_slot *slot, gi_view made) {
    slot->current = made;
    slot->now = 1 - slot->now;
}

static gi_status check_kind(const cuda_slot *slot, const gi_point *operation, gi_error *err) {
    const gi_view *in = &slot->current;
    if (operation->shape.channels == in->channels && operation->shape.sample == in->sample) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE, "a point operation for another kind of image");
}

// *out = operation(current), in the other buffer.
static gi_status apply(cuda_slot *slot, const gi_device_point *operation, gi_view *out, gi_error *err) {
    static const launcher point_launcher = {gi_cuda_point_scratch, gi_cuda_point};
    gi_shape shape = gi_view_shape(&slot->current);
    gi_status status = check_kind(slot, &operation->point, err);
    if (status != GI_OK) return status;
    shape.channels = gi_point_channels_out(&operation->point);
    status = next_image(slot, shape, out, err);
    gi_job job = {.in = slot->current, .out = *out, .args = operation};
    return status == GI_OK ? launch(slot, point_launcher, &job, err) : status;
}

static gi_status point(gi_slot *base, const gi_point *operation, gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    gi_device_point on_device;
    gi_view made;
    gi_status status = begin(slot, true, err);
    if (status == GI_OK) status = check_kind(slot, operation, err);
    if (status != GI_OK || gi_point_is_identity(operation)) return status;
    status = gi_cuda_tables_stage(&slot->tables, operation, slot->stream, &on_device, err);
    if (status == GI_OK) status = apply(slot, &on_device, &made, err);
    if (status == GI_OK) keep(slot, made);
    return settle(slot, status);
}

#define WINDOW_LAUNCHER_POINT(name)
#define WINDOW_LAUNCHER_MEASURE(name)
#define WINDOW_LAUNCHER_WINDOW(name) [GI_STAGE_ID_##name] = {gi_cuda_##name##_scratch, gi_cuda_##name},
#define WINDOW_LAUNCHER(kind, name, summary, detail, example1, example2) WINDOW_LAUNCHER_##kind(name)
static const launcher window_launchers[GI_STAGE_COUNT] = {GI_STAGES(WINDOW_LAUNCHER)};

static gi_status window(gi_slot *base, const gi_stage_call *call, const gi_window_place *place, uint32_t rows,
                        gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    const launcher with = window_launchers[call->stage->id];
    gi_job job = {.place = *place, .args = &call->args};
    gi_status status = begin(slot, true, err);
    if (status != GI_OK) return status;
    if (!with.launch) return gi_fail(err, GI_ERR_USAGE, "%s is no window stage", call->stage->name);
    gi_shape shape = gi_view_shape(&slot->current);
    shape.height = rows;
    job.in = slot->current;
    status = next_image(slot, shape, &job.out, err);
    if (status == GI_OK) status = launch(slot, with, &job, err);
    if (status == GI_OK) keep(slot, job.out);
    return settle(slot, status);
}

static size_t counts_bytes(const gi_cuda_counts *counted) {
    return (size_t)counted->channels * ((size_t)gi_sample_max(counted->sample) + 1) * sizeof(uint64_t);
}

// Zero counts for images like `seen`.
static gi_status clear_counts(cuda_slot *slot, const gi_view *seen, gi_error *err) {
    gi_cuda_counts *counted = &slot->counted;
    counted->channels = seen->channels;
    counted->sample = seen->sample;
    const size_t bytes = counts_bytes(counted);
    gi_status status = gi_cuda_buffer_reserve(&counted->buffer, bytes, GI_DEVICE, slot->stream, err);
    if (status == GI_OK)
        status =
            gi_cuda_check(cudaMemsetAsync(counted->buffer.data, 0, bytes, slot->stream), "clearing the counts", err);
    if (status != GI_OK) counted->channels = 0;
    return status;
}

// *seen = through(current), in the other buffer; the current image itself where nothing lies between.
static gi_status look_through(cuda_slot *slot, const gi_point *through, gi_view *seen, gi_error *err) {
    gi_device_point on_device;
    *seen = slot->current;
    if (!through) return GI_OK;
    gi_status status = check_kind(slot, through, err);
    if (status != GI_OK || gi_point_is_identity(through)) return status;
    status = gi_cuda_tables_stage(&slot->tables, through, slot->stream, &on_device, err);
    return status == GI_OK ? apply(slot, &on_device, seen, err) : status;
}

static gi_status measure(gi_slot *base, const gi_point *through, bool first, gi_error *err) {
    static const launcher hist_launcher = {gi_cuda_hist_scratch, gi_cuda_hist};
    cuda_slot *slot = (cuda_slot *)base;
    gi_view seen;
    gi_status status = begin(slot, true, err);
    if (status == GI_OK) status = look_through(slot, through, &seen, err);
    if (status == GI_OK && first) status = clear_counts(slot, &seen, err);
    if (status != GI_OK) return settle(slot, status);
    if (slot->counted.channels != seen.channels || slot->counted.sample != seen.sample)
        return gi_fail(err, GI_ERR_USAGE, "the counts are of another kind of image");
    gi_job job = {.in = seen, .counts = slot->counted.buffer.data};
    return settle(slot, launch(slot, hist_launcher, &job, err));
}

static gi_status counts(gi_slot *base, gi_histogram *result, gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    const gi_cuda_counts *counted = &slot->counted;
    gi_status status = begin(slot, false, err);
    if (status != GI_OK) return status;
    if (counted->channels == 0 || result->channels != counted->channels ||
        result->levels != gi_sample_max(counted->sample) + 1)
        return gi_fail(err, GI_ERR_USAGE, "a histogram of %d channels for counts of %d", result->channels,
                       counted->channels);
    const size_t bytes = counts_bytes(counted);
    status = gi_cuda_buffer_reserve(&slot->host_counts, bytes, GI_PINNED, slot->stream, err);
    if (status == GI_OK)
        status = gi_cuda_check(
            cudaMemcpyAsync(slot->host_counts.data, counted->buffer.data, bytes, cudaMemcpyDeviceToHost, slot->stream),
            "downloading the counts", err);
    if (status == GI_OK) status = wait_for(slot, "counting", err);
    if (status != GI_OK) return settle(slot, status);
    const uint64_t *host = slot->host_counts.data;
    for (size_t i = 0; i < bytes / sizeof *host; i++) result->counts[i] += host[i];
    return GI_OK;
}

static gi_status resolve(gi_slot *base, int index, const gi_stage_call *call, const gi_point *rest, gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    const size_t bytes = GI_MAX_RESOLVED * sizeof(uint32_t);
    gi_device_point on_device;
    gi_status status = begin(slot, false, err);
    if (status == GI_OK && (index < 0 || index >= GI_MAX_RESOLVED))
        status = gi_fail(err, GI_ERR_USAGE, "%s cannot be kept as operation %d", call->stage->name, index);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&slot->levels, bytes, GI_DEVICE, slot->stream, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&slot->host_levels, bytes, GI_PINNED, slot->stream, err);
    if (status == GI_OK) status = gi_cuda_tables_stage(&slot->tables, rest, slot->stream, &on_device, err);
    if (status != GI_OK) return settle(slot, status);

    uint32_t *level = (uint32_t *)slot->levels.data + index, *host_level = (uint32_t *)slot->host_levels.data + index;
    const gi_cuda_resolve from = {call, &on_device, &slot->counted, level, &slot->scratch, slot->stream};
    status = gi_cuda_resolved_make(&slot->resolved[index], &from, err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaMemcpyAsync(host_level, level, sizeof *level, cudaMemcpyDeviceToHost, slot->stream),
                               "downloading a level", err);
    return settle(slot, status);
}

static gi_status point_resolved(gi_slot *base, int index, gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    gi_view made;
    gi_status status = begin(slot, true, err);
    if (status != GI_OK) return status;
    if (index < 0 || index >= GI_MAX_RESOLVED || !slot->resolved[index].made)
        return gi_fail(err, GI_ERR_USAGE, "there is no operation %d", index);
    status = apply(slot, &slot->resolved[index].op, &made, err);
    if (status == GI_OK) keep(slot, made);
    return settle(slot, status);
}

static uint32_t resolved_level(gi_slot *base, int index) {
    const cuda_slot *slot = (const cuda_slot *)base;
    if (index < 0 || index >= GI_MAX_RESOLVED || !slot->resolved[index].made) return 0;
    return ((const uint32_t *)slot->host_levels.data)[index];
}

static gi_status download(gi_slot *base, gi_view *host, gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    gi_status status = begin(slot, true, err);
    if (status != GI_OK) return status;
    const gi_shape shape = gi_view_shape(&slot->current);
    size_t bytes = 0;
    status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&slot->host_out, bytes, GI_PINNED, slot->stream, err);
    if (status == GI_OK)
        status = gi_cuda_check(
            cudaMemcpyAsync(slot->host_out.data, slot->current.data, bytes, cudaMemcpyDeviceToHost, slot->stream),
            "downloading the image", err);
    if (status == GI_OK) status = wait_for(slot, "processing the image", err);
    if (status == GI_OK) *host = gi_view_packed(slot->host_out.data, shape, GI_PINNED);
    return settle(slot, status);
}

static void slot_close(gi_slot *base) {
    cuda_slot *slot = (cuda_slot *)base;
    if (!slot) return;
    cudaSetDevice(slot->backend->index);
    if (slot->stream) cudaStreamSynchronize(slot->stream);
    gi_cuda_buffer_free(&slot->host_levels, GI_PINNED);
    gi_cuda_buffer_free(&slot->levels, GI_DEVICE);
    for (int i = 0; i < GI_MAX_RESOLVED; i++) gi_cuda_resolved_free(&slot->resolved[i]);
    gi_cuda_tables_free(&slot->tables);
    gi_cuda_buffer_free(&slot->host_counts, GI_PINNED);
    gi_cuda_buffer_free(&slot->counted.buffer, GI_DEVICE);
    gi_cuda_buffer_free(&slot->scratch, GI_DEVICE);
    for (int i = 0; i < 2; i++) gi_cuda_buffer_free(&slot->images[i], GI_DEVICE);
    gi_cuda_buffer_free(&slot->host_out, GI_PINNED);
    gi_cuda_buffer_free(&slot->host_in, GI_PINNED);
    if (slot->stream) cudaStreamDestroy(slot->stream);
    free(slot);
}

static gi_status slot_open(gi_backend *base, int threads, gi_slot **out, gi_error *err) {
    cuda_backend *backend = (cuda_backend *)base;
    (void)threads;
    *out = NULL;
    cuda_slot *slot = calloc(1, sizeof *slot);
    if (!slot) return gi_fail(err, GI_ERR_MEMORY, "no memory for a slot");
    slot->base.ops = base->ops;
    slot->backend = backend;
    gi_status status = use_device(backend, err);
    if (status == GI_OK)
        status =
            gi_cuda_check(cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking), "creating a stream", err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaEventCreateWithFlags(&slot->tables.taken, cudaEventDisableTiming),
                               "creating an event", err);
    if (status == GI_OK)
        *out = &slot->base;
    else
        slot_close(&slot->base);
    return status;
}

// The context stays: it is the process's, and others may use it.
static void close_backend(gi_backend *backend) { free(backend); }

static const gi_backend_ops cuda_ops = {.close = close_backend,
                                        .slot_open = slot_open,
                                        .slot_close = slot_close,
                                        .host_buffer = host_buffer,
                                        .upload = upload,
                                        .point = point,
                                        .window = window,
                                        .measure = measure,
                                        .counts = counts,
                                        .resolve = resolve,
                                        .point_resolved = point_resolved,
                                        .resolved_level = resolved_level,
                                        .download = download};

static gi_status check_device(int index, gi_cuda_device *device, gi_error *err) {
    char reason[160];
    int count = gi_cuda_device_count(reason, sizeof reason);
    if (count == 0) return gi_fail(err, GI_ERR_DEVICE, "%s", reason);
    if (index < 0 || index >= count)
        return gi_fail(err, GI_ERR_DEVICE, "there is no CUDA device %d: the driver shows %d, numbered from 0", index,
                       count);
    if (!gi_cuda_device_get(index, device)) return gi_fail(err, GI_ERR_DEVICE, "CUDA device %d does not answer", index);
    if (!device->usable)
        return gi_fail(err, GI_ERR_DEVICE, "CUDA device %d (%s) is not usable: %s", index, device->name,
                       device->reason);
    return GI_OK;
}

gi_status gi_backend_cuda_open(int index, gi_backend **out, gi_error *err) {
    gi_cuda_device device;
    *out = NULL;
    gi_status status = check_device(index, &device, err);
    if (status != GI_OK) return status;
    status = gi_cuda_check(cudaSetDevice(index), "creating a context", err);
    if (status == GI_OK) status = gi_cuda_probe(err);
    if (status != GI_OK) {
        // Whatever the cause, even a full memory: this device cannot be had.
        if (err) err->status = GI_ERR_DEVICE;
        return GI_ERR_DEVICE;
    }
    cuda_backend *backend = calloc(1, sizeof *backend);
    if (!backend) return gi_fail(err, GI_ERR_MEMORY, "no memory for the CUDA backend");
    backend->base.ops = &cuda_ops;
    backend->index = index;
    atomic_init(&backend->failed, false);
    snprintf(backend->base.name, sizeof backend->base.name, "cuda:%d", index);
    snprintf(backend->base.detail, sizeof backend->base.detail, "%s, sm_%d%d", device.name, device.major, device.minor);
    *out = &backend->base;
    return GI_OK;
}
