// A CPU and any number of GPUs, all of them fake backends, in the place of those that a context opens.
#ifndef GI_TESTS_FAKE_DEVICES_H
#define GI_TESTS_FAKE_DEVICES_H

#include "cpu/backend_cpu.h"
#include "cuda/backend_cuda.h"
#include "fake_backend.h"

enum { FAKE_GPUS = 4 };
static fake_backend cpu, gpu;                // those opened last; `gpu`: number 0
static fake_backend further_gpus[FAKE_GPUS]; // by number, from 1
static int gpus;                             // there are
static int gpus_opened;
static const gi_primitives *cpu_primitives, *gpu_primitives; // of those opened from now on; NULL: they have none

int gi_cpu_cores(void) { return 3; }

gi_status gi_backend_cpu_open(gi_backend **backend, gi_error *err) {
    (void)err;
    cpu = fake_backend_make();
    strcpy(cpu.base.name, "cpu");
    cpu.base.primitives = cpu_primitives;
    *backend = &cpu.base;
    return GI_OK;
}

bool gi_cuda_built(const char **about) {
    *about = "fake";
    return true;
}

bool gi_cuda_driver(char *reason, size_t size) {
    if (gpus == 0) snprintf(reason, size, "no driver");
    return gpus > 0;
}

int gi_cuda_device_count(char *reason, size_t size) {
    if (gpus == 0) snprintf(reason, size, "no driver");
    return gpus;
}

bool gi_cuda_device_get(int index, gi_cuda_device *device) {
    *device = (gi_cuda_device){.usable = true};
    return index < gpus;
}

gi_status gi_backend_cuda_open(int index, gi_backend **backend, gi_error *err) {
    *backend = NULL;
    if (gpus == 0) return gi_fail(err, GI_ERR_DEVICE, "no driver");
    if (index >= gpus) return gi_fail(err, GI_ERR_DEVICE, "there is no CUDA device %d", index);
    fake_backend *made = index > 0 ? &further_gpus[index] : &gpu;
    *made = fake_backend_make();
    snprintf(made->base.name, sizeof made->base.name, "cuda:%d", index > 0 ? index : 0);
    made->base.primitives = gpu_primitives;
    *backend = &made->base;
    gpus_opened++;
    return GI_OK;
}

#endif
