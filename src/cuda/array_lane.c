#include "cuda/array_lane.h"

#include <stdlib.h>

#include "cuda/cuda_status.h"
#include "cuda/fault.h"

void gi_array_lanes_init(gi_array_lanes *lanes) {
    pthread_mutex_init(&lanes->mutex, NULL);
    lanes->idle = NULL;
}

static void lane_free(gi_array_lane *lane) {
    if (lane->used) cudaEventSynchronize(lane->done);
    if (lane->stream) cudaStreamSynchronize(lane->stream);
    gi_cublas_close(lane->cublas);
    gi_staging_free(&lane->staging);
    gi_cuda_buffer_free(&lane->host_result, GI_PINNED);
    gi_cuda_buffer_free(&lane->result, GI_DEVICE);
    gi_cuda_buffer_free(&lane->scratch, GI_DEVICE);
    for (int i = 0; i < 3; i++) gi_cuda_buffer_free(&lane->operands[i], GI_DEVICE);
    if (lane->done) cudaEventDestroy(lane->done);
    if (lane->stream) cudaStreamDestroy(lane->stream);
    free(lane);
}

void gi_array_lanes_clear(gi_array_lanes *lanes) {
    pthread_mutex_lock(&lanes->mutex);
    gi_array_lane *idle = lanes->idle, *next;
    lanes->idle = NULL;
    pthread_mutex_unlock(&lanes->mutex);
    for (; idle; idle = next) {
        next = idle->next;
        lane_free(idle);
    }
}

void gi_array_lanes_free(gi_array_lanes *lanes) {
    gi_array_lanes_clear(lanes);
    pthread_mutex_destroy(&lanes->mutex);
}

// The lane that waits least: of the same stream, or without work; not one that still works for another stream, as then
// the streams would wait for each other.
static gi_array_lane *take_idle(gi_array_lanes *lanes, cudaStream_t user) {
    gi_array_lane *found = NULL;
    pthread_mutex_lock(&lanes->mutex);
    for (gi_array_lane **at = &lanes->idle; *at && !found; at = &(*at)->next) {
        gi_array_lane *lane = *at;
        const bool same = lane->user == (user == GI_OWN_STREAM ? lane->stream : user);
        if (!same && lane->used && cudaEventQuery(lane->done) != cudaSuccess) continue;
        found = lane;
        *at = lane->next;
        break;
    }
    pthread_mutex_unlock(&lanes->mutex);
    return found;
}

static gi_status lane_open(gi_array_lane **out, gi_error *err) {
    gi_array_lane *lane = *out = calloc(1, sizeof *lane);
    if (!lane) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    gi_status status =
        gi_cuda_check(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking), "creating a stream", err);
    lane->staging.stream = lane->stream;
    if (status == GI_OK) // a thread that waits for it sleeps
        status = gi_cuda_check(cudaEventCreateWithFlags(&lane->done, cudaEventDisableTiming | cudaEventBlockingSync),
                               "creating an event", err);
    if (status == GI_OK)
        status = gi_cuda_buffer_reserve(&lane->result, sizeof(gi_array_result), GI_DEVICE, lane->stream, err);
    if (status == GI_OK)
        status = gi_cuda_buffer_reserve(&lane->host_result, sizeof(gi_array_result), GI_PINNED, lane->stream, err);
    if (status == GI_OK) // kernels want the ticket so, and leave it so
        status = gi_cuda_check(cudaMemsetAsync(lane->result.data, 0, sizeof(gi_array_result), lane->stream),
                               "clearing memory", err);
    if (status == GI_OK) status = gi_cuda_check(cudaEventRecord(lane->done, lane->stream), "ordering the work", err);
    lane->used = status == GI_OK;
    return status;
}

gi_status gi_array_lane_take(gi_array_lanes *lanes, cudaStream_t user, gi_array_lane **out, gi_error *err) {
    gi_status status = GI_OK;
    gi_array_lane *lane = take_idle(lanes, user);
    if (!lane) status = lane_open(&lane, err);
    if (status == GI_OK) {
        lane->user = user == GI_OWN_STREAM ? lane->stream : user;
        status = gi_cuda_check(cudaStreamWaitEvent(lane->user, lane->done, 0), "ordering the work", err);
    }
    if (status != GI_OK && lane) lane_free(lane);
    *out = status == GI_OK ? lane : NULL;
    return status;
}

void gi_array_lane_give(gi_array_lanes *lanes, gi_array_lane *lane) {
    if (!lane) return;
    if (cudaEventRecord(lane->done, lane->user) != cudaSuccess) cudaGetLastError();
    pthread_mutex_lock(&lanes->mutex);
    lane->next = lanes->idle;
    lanes->idle = lane;
    pthread_mutex_unlock(&lanes->mutex);
}

gi_status gi_array_lane_cublas(gi_array_lane *lane, gi_error *err) {
    return lane->cublas ? GI_OK : gi_cublas_open(&lane->cublas, err);
}

gi_status gi_array_lane_scratch(gi_array_lane *lane, size_t bytes, gi_error *err) {
    return bytes ? gi_cuda_buffer_reserve(&lane->scratch, bytes, GI_DEVICE, lane->user, err) : GI_OK;
}

gi_status gi_array_lane_wait(gi_array_lane *lane, gi_error *err) {
    gi_status status = gi_cuda_check(cudaEventRecord(lane->done, lane->user), "ordering the work", err);
    if (status != GI_OK) return status;
    return gi_cuda_check(gi_cuda_fault(GI_FAULT_LOST, cudaEventSynchronize(lane->done)), "working on arrays", err);
}

gi_status gi_array_lane_receive(gi_array_lane *lane, gi_array_result *result, gi_error *err) {
    gi_status status = gi_cuda_check(
        cudaMemcpyAsync(lane->host_result.data, lane->result.data, sizeof *result, cudaMemcpyDeviceToHost, lane->user),
        "downloading the result", err);
    if (status == GI_OK) status = gi_array_lane_wait(lane, err);
    if (status == GI_OK) *result = *(const gi_array_result *)lane->host_result.data;
    return status;
}
