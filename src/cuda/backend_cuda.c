// The CUDA backend: each slot has a stream, page-locked host buffers and two device images that point operations pass
// back and forth. Nothing is allocated twice; only histogram and download wait.
#include "cuda/backend_cuda.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/buffer.h"
#include "cuda/cuda_status.h"
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
    gi_cuda_buffer counts, host_counts;
    gi_cuda_tables tables;
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

static gi_status point(gi_slot *base, const gi_point *operation, gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    gi_device_point on_device;
    size_t bytes = 0;
    gi_status status = begin(slot, true, err);
    if (status != GI_OK) return status;
    gi_shape shape = gi_view_shape(&slot->current);
    if (operation->shape.channels != shape.channels || operation->shape.sample != shape.sample)
        return gi_fail(err, GI_ERR_USAGE, "a point operation for another kind of image");
    shape.channels = gi_point_channels_out(operation);
    gi_cuda_buffer *other = &slot->images[1 - slot->now];
    status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(other, bytes, GI_DEVICE, slot->stream, err);
    if (status == GI_OK) status = gi_cuda_tables_stage(&slot->tables, operation, slot->stream, &on_device, err);
    if (status != GI_OK) goto out;

    gi_job job = {.in = slot->current,
                  .out = gi_view_packed(other->data, shape, GI_DEVICE),
                  .args = &on_device,
                  .stream = slot->stream};
    status = gi_cuda_buffer_reserve(&slot->scratch, gi_cuda_point_scratch(&job), GI_DEVICE, slot->stream, err);
    job.scratch = slot->scratch.data;
    if (status == GI_OK) status = gi_cuda_point(&job, err);
    if (status != GI_OK) goto out;
    slot->current = job.out;
    slot->now = 1 - slot->now;
out:
    return settle(slot, status);
}

// Counts on the device and brings the counts to slot->host_counts.
static gi_status count_on_device(cuda_slot *slot, size_t bytes, gi_error *err) {
    gi_status status = gi_cuda_buffer_reserve(&slot->counts, bytes, GI_DEVICE, slot->stream, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&slot->host_counts, bytes, GI_PINNED, slot->stream, err);
    gi_job job = {.in = slot->current, .counts = slot->counts.data, .stream = slot->stream};
    if (status == GI_OK)
        status = gi_cuda_buffer_reserve(&slot->scratch, gi_cuda_hist_scratch(&job), GI_DEVICE, slot->stream, err);
    job.scratch = slot->scratch.data;
    if (status == GI_OK)
        status = gi_cuda_check(cudaMemsetAsync(job.counts, 0, bytes, slot->stream), "clearing the counts", err);
    if (status == GI_OK) status = gi_cuda_hist(&job, err);
    if (status == GI_OK)
        status = gi_cuda_check(
            cudaMemcpyAsync(slot->host_counts.data, job.counts, bytes, cudaMemcpyDeviceToHost, slot->stream),
            "downloading the counts", err);
    return status == GI_OK ? wait_for(slot, "counting", err) : status;
}

static gi_status histogram(gi_slot *base, gi_histogram *result, gi_error *err) {
    cuda_slot *slot = (cuda_slot *)base;
    gi_status status = begin(slot, true, err);
    if (status != GI_OK) return status;
    const uint32_t levels = gi_sample_max(slot->current.sample) + 1;
    if (result->channels != slot->current.channels || result->levels != levels)
        return gi_fail(err, GI_ERR_USAGE, "a histogram of %d channels for an image of %d", result->channels,
                       slot->current.channels);
    const size_t count = (size_t)result->channels * levels;
    status = count_on_device(slot, count * sizeof(uint64_t), err);
    if (status != GI_OK) return settle(slot, status);
    const uint64_t *counted = slot->host_counts.data;
    for (size_t i = 0; i < count; i++) result->counts[i] += counted[i];
    return GI_OK;
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
    gi_cuda_tables_free(&slot->tables);
    gi_cuda_buffer_free(&slot->host_counts, GI_PINNED);
    gi_cuda_buffer_free(&slot->counts, GI_DEVICE);
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

static const gi_backend_ops cuda_ops = {close_backend, slot_open, slot_close, host_buffer,
                                        upload,        point,     histogram,  download};

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
