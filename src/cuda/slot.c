#include "cuda/slot.h"

#include "cuda/cuda_status.h"
#include "cuda/fault.h"

gi_status gi_cuda_backend_use(gi_cuda_backend *backend, gi_error *err) {
    gi_status status = gi_cuda_start_wait(&backend->start, err);
    if (status != GI_OK) return status;
    if (atomic_load(&backend->failed))
        return gi_fail(err, GI_ERR_DEVICE, "CUDA device %d failed earlier in this process and cannot be used again",
                       backend->start.index);
    return gi_cuda_check(cudaSetDevice(backend->start.index), "choosing the device", err);
}

// Where the device is lost to this process, the stream fails too.
gi_status gi_cuda_backend_settle(gi_cuda_backend *backend, cudaStream_t stream, gi_status status) {
    if (status == GI_ERR_DEVICE && gi_cuda_fault(GI_FAULT_LOST, cudaStreamSynchronize(stream)) != cudaSuccess)
        atomic_store(&backend->failed, true);
    return status;
}

static gi_status open_lane(gi_cuda_slot *slot, gi_error *err) {
    gi_status status = gi_cuda_lane_open(slot->lane, err);
    if (status == GI_OK && !slot->shared)
        status =
            gi_cuda_check(cudaEventCreateWithFlags(&slot->shared, cudaEventDisableTiming), "creating an event", err);
    return status;
}

gi_status gi_cuda_slot_begin(gi_cuda_slot *slot, bool wants_image, gi_error *err) {
    if (wants_image && !slot->lane->current.data) return gi_fail(err, GI_ERR_USAGE, "the slot holds no image");
    gi_status status = gi_cuda_backend_use(slot->backend, err);
    return status == GI_OK ? open_lane(slot, err) : status;
}

gi_status gi_cuda_slot_settle(gi_cuda_slot *slot, gi_status status) {
    return slot->lane->stream ? gi_cuda_backend_settle(slot->backend, slot->lane->stream, status) : status;
}

gi_status gi_cuda_slot_follow_all(gi_cuda_slot *slot, gi_error *err) {
    gi_status status = GI_OK;
    for (int i = 0; i < GI_CUDA_LANES && status == GI_OK; i++)
        status = gi_cuda_lane_follow(slot->lane, &slot->lanes[i], err);
    return status;
}

gi_status gi_cuda_slot_share(gi_cuda_slot *slot, gi_error *err) {
    return gi_cuda_check(cudaEventRecord(slot->shared, slot->lane->stream), "ordering the work", err);
}

gi_status gi_cuda_slot_after_shared(gi_cuda_slot *slot, gi_error *err) {
    return gi_cuda_check(cudaStreamWaitEvent(slot->lane->stream, slot->shared, 0), "ordering the work", err);
}

void gi_cuda_slot_tell_all(gi_cuda_slot *slot) {
    for (int i = 0; i < GI_CUDA_LANES; i++) gi_cuda_marks_tell(&slot->lanes[i].marks, i);
}

gi_status gi_cuda_slot_check_kind(const gi_cuda_slot *slot, const gi_point *operation, gi_error *err) {
    const gi_view *in = &slot->lane->current;
    if (operation->shape.channels == in->channels && operation->shape.sample == in->sample) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE, "a point operation for another kind of image");
}
