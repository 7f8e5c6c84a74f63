// The CUDA backend: what the executor asks of a slot (slot.h), and the device's opening and closing. Nothing is
// allocated twice; only counts, download and release wait.
#include "cuda/backend_cuda.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/large.h"
#include "cuda/cuda_status.h"
#include "cuda/primitives.h"
#include "cuda/slot.h"

// ---- images -------------------------------------------------------------------------------------------------------

static bool ready(gi_slot *base) { return atomic_load(&((gi_cuda_slot *)base)->backend->start.over); }

static void use_lane(gi_slot *base, int lane) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    slot->lane = &slot->lanes[lane];
}

static void watch(gi_slot *base, const gi_watch *watch) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    for (int i = 0; i < GI_CUDA_LANES; i++) {
        slot->lanes[i].marks.watch = watch;
        slot->lanes[i].marks.count = 0; // of an image that failed
    }
}

// Memory for a first image, which is decoded while the context is created.
static gi_status plain_buffer(gi_cuda_slot *slot, size_t bytes, void **data, gi_error *err) {
    free(slot->plain);
    *data = slot->plain = gi_large_alloc(bytes);
    slot->plain_bytes = bytes;
    return *data ? GI_OK : gi_fail(err, GI_ERR_MEMORY, "out of memory for an image of %zu bytes", bytes);
}

static gi_status host_buffer(gi_slot *base, size_t bytes, void **data, gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    if (!ready(base)) return plain_buffer(slot, bytes, data, err);
    free(slot->plain);
    slot->plain = NULL;
    gi_status status = gi_cuda_slot_begin(slot, false, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&slot->host_in, bytes, GI_PINNED, slot->lane->stream, err);
    *data = slot->host_in.data;
    return gi_cuda_slot_settle(slot, status);
}

// ... which then stays the slot's, page-locked where that can be.
static void keep_plain(gi_cuda_slot *slot) {
    if (slot->plain && !slot->host_in.data && gi_cuda_buffer_take(&slot->host_in, slot->plain, slot->plain_bytes))
        slot->plain = NULL;
}

static gi_status upload(gi_slot *base, const gi_view *host, gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    slot->lane->current.data = NULL;
    if (host->sample != GI_U8 && host->sample != GI_U16)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "images have 8- or 16-bit samples");
    gi_status status = gi_cuda_slot_begin(slot, false, err);
    if (status == GI_OK) keep_plain(slot);
    if (status == GI_OK) status = gi_cuda_lane_upload(slot->lane, host, err);
    return gi_cuda_slot_settle(slot, status);
}

static gi_status release(gi_slot *base, gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_status status = GI_OK;
    for (int i = 0; i < GI_CUDA_LANES && status == GI_OK; i++)
        if (slot->lanes[i].uploaded)
            status = gi_cuda_check(cudaEventSynchronize(slot->lanes[i].uploaded), "uploading the image", err);
    return gi_cuda_slot_settle(slot, status);
}

static void aim(gi_slot *base, const gi_view *host) { ((gi_cuda_slot *)base)->lane->aimed = *host; }

static gi_status send(gi_slot *base, gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_status status = gi_cuda_slot_begin(slot, true, err);
    if (status == GI_OK) status = gi_cuda_lane_send(slot->lane, err);
    return gi_cuda_slot_settle(slot, status);
}

static gi_status download(gi_slot *base, gi_view *host, gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_status status = gi_cuda_slot_begin(slot, true, err);
    if (status == GI_OK) status = gi_cuda_lane_send(slot->lane, err);
    if (status == GI_OK) status = gi_cuda_lane_receive(slot->lane, host, err);
    if (status == GI_OK) gi_cuda_marks_tell(&slot->lane->marks, (int)(slot->lane - slot->lanes));
    return gi_cuda_slot_settle(slot, status);
}

// ---- operations ---------------------------------------------------------------------------------------------------

static gi_status point(gi_slot *base, const gi_point *operation, gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_cuda_lane *lane = slot->lane;
    gi_device_point on_device;
    gi_view made;
    gi_status status = gi_cuda_slot_begin(slot, true, err);
    if (status == GI_OK) status = gi_cuda_slot_check_kind(slot, operation, err);
    if (status != GI_OK || gi_point_is_identity(operation)) return status;
    status = gi_cuda_tables_stage(&lane->tables, operation, lane->stream, &on_device, err);
    if (status == GI_OK) status = gi_cuda_lane_apply(lane, &on_device, &made, err);
    if (status == GI_OK) gi_cuda_lane_keep(lane, made);
    return gi_cuda_slot_settle(slot, status);
}

#define WINDOW_LAUNCHER_POINT(name)
#define WINDOW_LAUNCHER_MEASURE(name)
#define WINDOW_LAUNCHER_WINDOW(name) [GI_STAGE_ID_##name] = {gi_cuda_##name##_scratch, gi_cuda_##name},
#define WINDOW_LAUNCHER(kind, name, summary, detail, example1, example2) WINDOW_LAUNCHER_##kind(name)
static const gi_cuda_launcher window_launchers[GI_STAGE_COUNT] = {GI_STAGES(WINDOW_LAUNCHER)};

static gi_status window(gi_slot *base, const gi_stage_call *call, const gi_window_place *place, uint32_t rows,
                        gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_cuda_lane *lane = slot->lane;
    const gi_cuda_launcher with = window_launchers[call->stage->id];
    gi_job job = {.place = *place, .args = &call->args};
    gi_status status = gi_cuda_slot_begin(slot, true, err);
    if (status != GI_OK) return status;
    if (!with.launch) return gi_fail(err, GI_ERR_USAGE, "%s is no window stage", call->stage->name);
    gi_shape shape = gi_view_shape(&lane->current);
    shape.height = rows;
    job.in = lane->current;
    status = gi_cuda_lane_next(lane, shape, &job.out, err);
    if (status == GI_OK) status = gi_cuda_lane_launch(lane, with, &job, err);
    if (status == GI_OK) gi_cuda_lane_keep(lane, job.out);
    return gi_cuda_slot_settle(slot, status);
}

// ---- opening and closing ------------------------------------------------------------------------------------------

static void slot_close(gi_slot *base) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    if (!slot) return;
    if (gi_cuda_start_wait(&slot->backend->start, NULL) == GI_OK) cudaSetDevice(slot->backend->start.index);
    gi_cuda_jpeg_free(&slot->jpeg);
    for (int i = 0; i < GI_CUDA_LANES; i++) gi_cuda_lane_close(&slot->lanes[i]);
    gi_cuda_buffer_free(&slot->host_levels, GI_PINNED);
    gi_cuda_buffer_free(&slot->levels, GI_DEVICE);
    for (int i = 0; i < GI_MAX_RESOLVED; i++) gi_cuda_resolved_free(&slot->resolved[i]);
    gi_cuda_buffer_free(&slot->host_counts, GI_PINNED);
    gi_cuda_buffer_free(&slot->counted.buffer, GI_DEVICE);
    gi_cuda_buffer_free(&slot->host_in, GI_PINNED);
    if (slot->shared) cudaEventDestroy(slot->shared);
    free(slot->plain);
    free(slot);
}

// Nothing of the device's: it may not have started yet.
static gi_status slot_open(gi_backend *base, int threads, gi_slot **out, gi_error *err) {
    (void)threads;
    *out = NULL;
    gi_cuda_slot *slot = calloc(1, sizeof *slot);
    if (!slot) return gi_fail(err, GI_ERR_MEMORY, "no memory for a slot");
    slot->base.ops = base->ops;
    slot->backend = (gi_cuda_backend *)base;
    slot->lane = &slot->lanes[0];
    *out = &slot->base;
    return GI_OK;
}

static bool lost(gi_backend *base, bool wait, gi_error *err) {
    gi_cuda_backend *backend = (gi_cuda_backend *)base;
    if (!wait && !atomic_load(&backend->start.over)) return false;
    gi_status status = gi_cuda_start_wait(&backend->start, err);
    if (status == GI_OK && atomic_load(&backend->failed))
        status = gi_fail(err, GI_ERR_DEVICE, "CUDA device %d failed earlier in this process", backend->start.index);
    return status != GI_OK;
}

// The context stays: it is the process's, and others may use it.
static void close_backend(gi_backend *base) {
    gi_cuda_backend *backend = (gi_cuda_backend *)base;
    if (gi_cuda_start_wait(&backend->start, NULL) == GI_OK) cudaSetDevice(backend->start.index);
    gi_array_lanes_free(&backend->arrays);
    gi_jpeg_device_end(&backend->jpeg);
    gi_cuda_start_end(&backend->start);
    free(backend);
}

static const gi_backend_ops cuda_ops = {.close = close_backend,
                                        .lost = lost,
                                        .slot_open = slot_open,
                                        .slot_close = slot_close,
                                        .watch = watch,
                                        .ready = ready,
                                        .host_buffer = host_buffer,
                                        .lanes = GI_CUDA_LANES,
                                        .use_lane = use_lane,
                                        .upload = upload,
                                        .release = release,
                                        .aim = aim,
                                        .point = point,
                                        .window = window,
                                        .measure = gi_cuda_slot_measure,
                                        .counts = gi_cuda_slot_counts,
                                        .resolve = gi_cuda_slot_resolve,
                                        .point_resolved = gi_cuda_slot_point_resolved,
                                        .resolved_level = gi_cuda_slot_resolved_level,
                                        .send = send,
                                        .download = download,
                                        .jpeg_check = gi_cuda_slot_jpeg_check,
                                        .jpeg_busy = gi_cuda_slot_jpeg_busy,
                                        .jpeg_decode = gi_cuda_slot_jpeg_decode,
                                        .jpeg_encode = gi_cuda_slot_jpeg_encode};

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

// Fills name and detail of the backend, where the device can be known without waiting for it.
static gi_status describe(gi_backend *base, int index, gi_error *err) {
    gi_cuda_device device;
    char reason[160];
    if (index == GI_CUDA_ANY) {
        snprintf(base->name, sizeof base->name, "cuda");
        snprintf(base->detail, sizeof base->detail, "the first usable GPU, started in the background");
        return gi_cuda_driver(reason, sizeof reason) ? GI_OK : gi_fail(err, GI_ERR_DEVICE, "%s", reason);
    }
    gi_status status = check_device(index, &device, err);
    if (status != GI_OK) return status;
    snprintf(base->name, sizeof base->name, "cuda:%d", index);
    snprintf(base->detail, sizeof base->detail, "%s, sm_%d%d", device.name, device.major, device.minor);
    return GI_OK;
}

gi_status gi_backend_cuda_open(int index, gi_backend **out, gi_error *err) {
    *out = NULL;
    gi_cuda_backend *backend = calloc(1, sizeof *backend);
    if (!backend) return gi_fail(err, GI_ERR_MEMORY, "no memory for the CUDA backend");
    backend->base.ops = &cuda_ops;
    backend->base.primitives = &gi_cuda_primitives;
    gi_array_lanes_init(&backend->arrays);
    atomic_init(&backend->failed, false);
    gi_jpeg_device_init(&backend->jpeg, &backend->start);
    gi_status status = describe(&backend->base, index, err);
    if (status != GI_OK) {
        gi_array_lanes_free(&backend->arrays);
        free(backend);
        return status;
    }
    gi_cuda_start_begin(&backend->start, index);
    *out = &backend->base;
    return GI_OK;
}
