#include "cuda/lane.h"

#include "cuda/cuda_status.h"
#include "cuda/fault.h"
#include "cuda/trace.h"

static gi_status event(cudaEvent_t *made, unsigned flags, gi_error *err) {
    return gi_cuda_check(cudaEventCreateWithFlags(made, cudaEventDisableTiming | flags), "creating an event", err);
}

gi_status gi_cuda_lane_open(gi_cuda_lane *lane, gi_error *err) {
    if (lane->joined) return GI_OK;
    gi_status status = GI_OK;
    if (!lane->stream)
        status =
            gi_cuda_check(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking), "creating a stream", err);
    // A thread that waits for one of these sleeps: codecs use its core.
    if (status == GI_OK && !lane->uploaded) status = event(&lane->uploaded, cudaEventBlockingSync, err);
    if (status == GI_OK && !lane->sent_whole) status = event(&lane->sent_whole, cudaEventBlockingSync, err);
    if (status == GI_OK && !lane->tables.taken) status = event(&lane->tables.taken, cudaEventBlockingSync, err);
    if (status == GI_OK) status = event(&lane->joined, 0, err);
    return status;
}

static void event_free(cudaEvent_t *made) {
    if (*made) cudaEventDestroy(*made);
    *made = NULL;
}

void gi_cuda_lane_close(gi_cuda_lane *lane) {
    if (lane->stream) cudaStreamSynchronize(lane->stream);
    gi_cuda_tables_free(&lane->tables);
    gi_cuda_buffer_free(&lane->host_out, GI_PINNED);
    gi_cuda_buffer_free(&lane->scratch, GI_DEVICE);
    for (int i = 0; i < 2; i++) gi_cuda_buffer_free(&lane->images[i], GI_DEVICE);
    gi_cuda_marks_free(&lane->marks);
    event_free(&lane->joined);
    event_free(&lane->sent_whole);
    event_free(&lane->uploaded);
    if (lane->stream) cudaStreamDestroy(lane->stream);
    lane->stream = NULL;
}

static cudaError_t copy_rows(const gi_view *from, const gi_view *to, enum cudaMemcpyKind kind, cudaStream_t stream) {
    const size_t row_bytes = gi_row_bytes(from->width, from->channels, from->sample);
    const bool packed = from->pitch_bytes == row_bytes && to->pitch_bytes == row_bytes;
    if (packed || from->height <= 1)
        return cudaMemcpyAsync(to->data, from->data, row_bytes * from->height, kind, stream);
    return cudaMemcpy2DAsync(to->data, to->pitch_bytes, from->data, from->pitch_bytes, row_bytes, from->height, kind,
                             stream);
}

gi_status gi_cuda_lane_first(gi_cuda_lane *lane, gi_shape shape, gi_view *out, gi_error *err) {
    gi_cuda_buffer *buffer = &lane->images[0]; // always: then images alike find buffers of their sizes
    size_t bytes = 0;
    lane->now = 0;
    lane->current.data = NULL;
    lane->aimed.data = lane->sent.data = NULL;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(buffer, bytes, GI_DEVICE, lane->stream, err);
    if (status == GI_OK) *out = gi_view_packed(buffer->data, shape, GI_DEVICE);
    return status;
}

gi_status gi_cuda_lane_upload(gi_cuda_lane *lane, const gi_view *host, gi_error *err) {
    gi_view device;
    gi_status status = gi_cuda_lane_first(lane, gi_view_shape(host), &device, err);
    if (status != GI_OK) return status;
    gi_trace_begin("upload");
    gi_cuda_marks_begin(&lane->marks, GI_DEVICE_UPLOAD, lane->stream);
    status = gi_cuda_check(copy_rows(host, &device, cudaMemcpyHostToDevice, lane->stream), "uploading the image", err);
    gi_cuda_marks_end(&lane->marks, lane->stream);
    gi_trace_end();
    if (status == GI_OK)
        status = gi_cuda_check(cudaEventRecord(lane->uploaded, lane->stream), "uploading the image", err);
    if (status == GI_OK) lane->current = device;
    return status;
}

gi_status gi_cuda_lane_next(gi_cuda_lane *lane, gi_shape shape, gi_view *out, gi_error *err) {
    gi_cuda_buffer *other = &lane->images[1 - lane->now];
    size_t bytes = 0;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = gi_cuda_buffer_reserve(other, bytes, GI_DEVICE, lane->stream, err);
    if (status == GI_OK) *out = gi_view_packed(other->data, shape, GI_DEVICE);
    return status;
}

void gi_cuda_lane_keep(gi_cuda_lane *lane, gi_view made) {
    lane->current = made;
    lane->sent.data = NULL;
    lane->now = 1 - lane->now;
}

gi_status gi_cuda_lane_launch(gi_cuda_lane *lane, gi_cuda_launcher with, gi_job *job, gi_error *err) {
    job->stream = lane->stream;
    gi_status status = gi_cuda_buffer_reserve(&lane->scratch, with.scratch(job), GI_DEVICE, lane->stream, err);
    if (status != GI_OK) return status;
    job->scratch = lane->scratch.data;
    gi_trace_begin("kernels");
    gi_cuda_marks_begin(&lane->marks, GI_DEVICE_KERNELS, lane->stream);
    status = with.launch(job, err);
    gi_cuda_marks_end(&lane->marks, lane->stream);
    gi_trace_end();
    return status;
}

gi_status gi_cuda_lane_apply(gi_cuda_lane *lane, const gi_device_point *operation, gi_view *out, gi_error *err) {
    static const gi_cuda_launcher point_launcher = {gi_cuda_point_scratch, gi_cuda_point};
    const gi_shape wanted = {0, 0, operation->point.shape.channels, operation->point.shape.sample};
    gi_shape shape = gi_view_shape(&lane->current);
    if (wanted.channels != shape.channels || wanted.sample != shape.sample)
        return gi_fail(err, GI_ERR_USAGE, "a point operation for another kind of image");
    shape.channels = gi_point_channels_out(&operation->point);
    gi_status status = gi_cuda_lane_next(lane, shape, out, err);
    gi_job job = {.in = lane->current, .out = *out, .args = operation};
    return status == GI_OK ? gi_cuda_lane_launch(lane, point_launcher, &job, err) : status;
}

// True when the current image can go straight to where the caller wants it.
static bool aim_fits(const gi_cuda_lane *lane) {
    const gi_view *to = &lane->aimed, *from = &lane->current;
    return to->data && to->where == GI_PINNED && to->width == from->width && to->height == from->height &&
           to->channels == from->channels && to->sample == from->sample;
}

gi_status gi_cuda_lane_send(gi_cuda_lane *lane, gi_error *err) {
    const gi_shape shape = gi_view_shape(&lane->current);
    gi_view to = lane->aimed;
    size_t bytes = 0;
    if (lane->sent.data) return GI_OK;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK && !aim_fits(lane)) {
        status = gi_cuda_buffer_reserve(&lane->host_out, bytes, GI_PINNED, lane->stream, err);
        to = gi_view_packed(lane->host_out.data, shape, GI_PINNED);
    }
    if (status != GI_OK) return status;
    gi_trace_begin("download");
    gi_cuda_marks_begin(&lane->marks, GI_DEVICE_DOWNLOAD, lane->stream);
    status = gi_cuda_check(copy_rows(&lane->current, &to, cudaMemcpyDeviceToHost, lane->stream),
                           "downloading the image", err);
    gi_cuda_marks_end(&lane->marks, lane->stream);
    gi_trace_end();
    if (status == GI_OK)
        status = gi_cuda_check(cudaEventRecord(lane->sent_whole, lane->stream), "downloading the image", err);
    if (status == GI_OK) lane->sent = to;
    return status;
}

gi_status gi_cuda_lane_receive(gi_cuda_lane *lane, gi_view *host, gi_error *err) {
    gi_status status = gi_cuda_check(gi_cuda_fault(GI_FAULT_LOST, cudaEventSynchronize(lane->sent_whole)),
                                     "processing the image", err);
    if (status == GI_OK) *host = lane->sent;
    return status;
}

gi_status gi_cuda_lane_follow(gi_cuda_lane *lane, gi_cuda_lane *other, gi_error *err) {
    if (other == lane || !other->joined) return GI_OK;
    gi_status status = gi_cuda_check(cudaEventRecord(other->joined, other->stream), "ordering the work", err);
    if (status == GI_OK)
        status = gi_cuda_check(cudaStreamWaitEvent(lane->stream, other->joined, 0), "ordering the work", err);
    return status;
}
