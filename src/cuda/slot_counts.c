// Counts of what goes through a slot's lanes, and operations made of them on the device.
#include "cuda/cuda_status.h"
#include "cuda/fault.h"
#include "cuda/slot.h"

static size_t counts_bytes(const gi_cuda_counts *counted) {
    return (size_t)counted->channels * ((size_t)gi_sample_max(counted->sample) + 1) * sizeof(uint64_t);
}

// Zero counts for images like `seen`, once no lane adds to the last ones any more.
static gi_status clear_counts(gi_cuda_slot *slot, const gi_view *seen, gi_error *err) {
    gi_cuda_counts *counted = &slot->counted;
    cudaStream_t stream = slot->lane->stream;
    counted->channels = seen->channels;
    counted->sample = seen->sample;
    const size_t bytes = counts_bytes(counted);
    gi_status status = gi_cuda_slot_follow_all(slot, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&counted->buffer, bytes, GI_DEVICE, stream, err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaMemsetAsync(counted->buffer.data, 0, bytes, stream), "clearing the counts", err);
    if (status == GI_OK) status = gi_cuda_slot_share(slot, err);
    if (status != GI_OK) counted->channels = 0;
    return status;
}

// *seen = through(current), in the other buffer; the current image itself where nothing lies between.
static gi_status look_through(gi_cuda_slot *slot, const gi_point *through, gi_view *seen, gi_error *err) {
    gi_cuda_lane *lane = slot->lane;
    gi_device_point on_device;
    *seen = lane->current;
    if (!through) return GI_OK;
    gi_status status = gi_cuda_slot_check_kind(slot, through, err);
    if (status != GI_OK || gi_point_is_identity(through)) return status;
    status = gi_cuda_tables_stage(&lane->tables, through, lane->stream, &on_device, err);
    return status == GI_OK ? gi_cuda_lane_apply(lane, &on_device, seen, err) : status;
}

gi_status gi_cuda_slot_measure(gi_slot *base, const gi_point *through, bool first, gi_error *err) {
    static const gi_cuda_launcher hist_launcher = {gi_cuda_hist_scratch, gi_cuda_hist};
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_view seen;
    gi_status status = gi_cuda_slot_begin(slot, true, err);
    if (status == GI_OK) status = look_through(slot, through, &seen, err);
    if (status == GI_OK && first) status = clear_counts(slot, &seen, err);
    if (status != GI_OK) return gi_cuda_slot_settle(slot, status);
    if (slot->counted.channels != seen.channels || slot->counted.sample != seen.sample)
        return gi_fail(err, GI_ERR_USAGE, "the counts are of another kind of image");
    gi_job job = {.in = seen, .counts = slot->counted.buffer.data};
    status = gi_cuda_slot_after_shared(slot, err);
    if (status == GI_OK) status = gi_cuda_lane_launch(slot->lane, hist_launcher, &job, err);
    return gi_cuda_slot_settle(slot, status);
}

// The counts on their way to the host, once every lane has added its own.
static gi_status send_counts(gi_cuda_slot *slot, size_t bytes, gi_error *err) {
    cudaStream_t stream = slot->lane->stream;
    gi_status status = gi_cuda_buffer_reserve(&slot->host_counts, bytes, GI_PINNED, stream, err);
    if (status == GI_OK) status = gi_cuda_slot_follow_all(slot, err);
    gi_cuda_marks_begin(&slot->lane->marks, GI_DEVICE_DOWNLOAD, stream);
    if (status == GI_OK)
        status = gi_cuda_check(
            cudaMemcpyAsync(slot->host_counts.data, slot->counted.buffer.data, bytes, cudaMemcpyDeviceToHost, stream),
            "downloading the counts", err);
    gi_cuda_marks_end(&slot->lane->marks, stream);
    return status;
}

gi_status gi_cuda_slot_counts(gi_slot *base, gi_histogram *result, gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    const gi_cuda_counts *counted = &slot->counted;
    gi_status status = gi_cuda_slot_begin(slot, false, err);
    if (status != GI_OK) return status;
    if (counted->channels == 0 || result->channels != counted->channels ||
        result->levels != gi_sample_max(counted->sample) + 1)
        return gi_fail(err, GI_ERR_USAGE, "a histogram of %d channels for counts of %d", result->channels,
                       counted->channels);
    const size_t bytes = counts_bytes(counted);
    status = send_counts(slot, bytes, err);
    if (status == GI_OK)
        status =
            gi_cuda_check(gi_cuda_fault(GI_FAULT_LOST, cudaStreamSynchronize(slot->lane->stream)), "counting", err);
    if (status != GI_OK) return gi_cuda_slot_settle(slot, status);
    gi_cuda_slot_tell_all(slot);
    const uint64_t *host = slot->host_counts.data;
    for (size_t i = 0; i < bytes / sizeof *host; i++) result->counts[i] += host[i];
    return GI_OK;
}

// Makes operation `index` of the counts, and sends the level that it came to.
static gi_status make_resolved(gi_cuda_slot *slot, int index, const gi_stage_call *call, const gi_device_point *rest,
                               gi_error *err) {
    gi_cuda_lane *lane = slot->lane;
    uint32_t *level = (uint32_t *)slot->levels.data + index, *host_level = (uint32_t *)slot->host_levels.data + index;
    const gi_cuda_resolve from = {call, rest, &slot->counted, level, &lane->scratch, lane->stream};
    gi_status status = gi_cuda_slot_follow_all(slot, err);
    gi_cuda_marks_begin(&lane->marks, GI_DEVICE_KERNELS, lane->stream);
    if (status == GI_OK) status = gi_cuda_resolved_make(&slot->resolved[index], &from, err);
    gi_cuda_marks_end(&lane->marks, lane->stream);
    if (status == GI_OK)
        status = gi_cuda_check(cudaMemcpyAsync(host_level, level, sizeof *level, cudaMemcpyDeviceToHost, lane->stream),
                               "downloading a level", err);
    return status == GI_OK ? gi_cuda_slot_share(slot, err) : status;
}

gi_status gi_cuda_slot_resolve(gi_slot *base, int index, const gi_stage_call *call, const gi_point *rest,
                               gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    const size_t bytes = GI_MAX_RESOLVED * sizeof(uint32_t);
    gi_device_point on_device;
    gi_status status = gi_cuda_slot_begin(slot, false, err);
    cudaStream_t stream = slot->lane->stream;
    if (status == GI_OK && (index < 0 || index >= GI_MAX_RESOLVED))
        status = gi_fail(err, GI_ERR_USAGE, "%s cannot be kept as operation %d", call->stage->name, index);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&slot->levels, bytes, GI_DEVICE, stream, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(&slot->host_levels, bytes, GI_PINNED, stream, err);
    if (status == GI_OK) status = gi_cuda_tables_stage(&slot->lane->tables, rest, stream, &on_device, err);
    if (status == GI_OK) status = make_resolved(slot, index, call, &on_device, err);
    return gi_cuda_slot_settle(slot, status);
}

gi_status gi_cuda_slot_point_resolved(gi_slot *base, int index, gi_error *err) {
    gi_cuda_slot *slot = (gi_cuda_slot *)base;
    gi_view made;
    gi_status status = gi_cuda_slot_begin(slot, true, err);
    if (status != GI_OK) return status;
    if (index < 0 || index >= GI_MAX_RESOLVED || !slot->resolved[index].made)
        return gi_fail(err, GI_ERR_USAGE, "there is no operation %d", index);
    status = gi_cuda_slot_after_shared(slot, err);
    if (status == GI_OK) status = gi_cuda_lane_apply(slot->lane, &slot->resolved[index].op, &made, err);
    if (status == GI_OK) gi_cuda_lane_keep(slot->lane, made);
    return gi_cuda_slot_settle(slot, status);
}

uint32_t gi_cuda_slot_resolved_level(gi_slot *base, int index) {
    const gi_cuda_slot *slot = (const gi_cuda_slot *)base;
    if (index < 0 || index >= GI_MAX_RESOLVED || !slot->resolved[index].made) return 0;
    return ((const uint32_t *)slot->host_levels.data)[index];
}
