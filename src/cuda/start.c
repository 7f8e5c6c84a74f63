#include "cuda/start.h"

#include <cuda_runtime_api.h>

#include "cuda/cuda_status.h"
#include "cuda/fault.h"
#include "cuda/trace.h"
#include "kernels/launch.h"

static gi_status load_kernels(gi_error *err) {
    gi_status status = gi_cuda_check(gi_cuda_fault(GI_FAULT_NO_CODE, cudaSuccess), "loading the kernels", err);
    return status == GI_OK ? gi_cuda_probe(err) : status;
}

static gi_status create_context(int index, gi_error *err) {
    gi_status status = gi_cuda_check(cudaSetDevice(index), "choosing the device", err);
    // Threads that wait for the device sleep. A context that the program has made already stays as it is.
    if (status == GI_OK && cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync) != cudaSuccess) cudaGetLastError();
    if (status == GI_OK)
        status = gi_cuda_check(gi_cuda_fault(GI_FAULT_BUSY, cudaFree(NULL)), "creating a context", err);
    if (status == GI_OK) status = load_kernels(err);
    if (status != GI_OK && err) err->status = GI_ERR_DEVICE; // whatever the cause, even a full memory
    return status == GI_OK ? GI_OK : GI_ERR_DEVICE;
}

static gi_status start_any(int *index, gi_error *err) {
    gi_cuda_device device;
    const int count = gi_cuda_device_count(err->text, sizeof err->text);
    gi_status status = err->status = GI_ERR_DEVICE; // with the reason just given
    for (int i = 0; i < count && status != GI_OK; i++) {
        *index = i;
        if (!gi_cuda_device_get(i, &device)) continue;
        status = device.usable ? create_context(i, err)
                               : gi_fail(err, GI_ERR_DEVICE, "CUDA device %d (%s) is not usable: %s", i, device.name,
                                         device.reason);
    }
    return status;
}

static void *run(void *context) {
    gi_cuda_start *start = context;
    gi_trace_begin("start");
    if (start->wanted == GI_CUDA_ANY)
        start->status = start_any(&start->index, &start->why);
    else
        start->status = create_context(start->index, &start->why);
    gi_trace_end();
    pthread_mutex_lock(&start->mutex);
    atomic_store(&start->over, true);
    pthread_cond_broadcast(&start->ended);
    pthread_mutex_unlock(&start->mutex);
    return NULL;
}

void gi_cuda_start_begin(gi_cuda_start *start, int wanted) {
    *start = (gi_cuda_start){.wanted = wanted, .index = wanted};
    pthread_mutex_init(&start->mutex, NULL);
    pthread_cond_init(&start->ended, NULL);
    atomic_init(&start->over, false);
    start->threaded = pthread_create(&start->thread, NULL, run, start) == 0;
    if (!start->threaded) run(start);
}

gi_status gi_cuda_start_wait(gi_cuda_start *start, gi_error *err) {
    if (!atomic_load(&start->over)) {
        pthread_mutex_lock(&start->mutex);
        while (!atomic_load(&start->over)) pthread_cond_wait(&start->ended, &start->mutex);
        pthread_mutex_unlock(&start->mutex);
    }
    if (start->status != GI_OK && err) *err = start->why;
    return start->status;
}

void gi_cuda_start_end(gi_cuda_start *start) {
    if (start->threaded) pthread_join(start->thread, NULL);
    pthread_cond_destroy(&start->ended);
    pthread_mutex_destroy(&start->mutex);
}
