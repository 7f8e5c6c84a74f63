#include "run/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/backend_cpu.h"
#include "cuda/backend_cuda.h"

// The cost model of `auto`: what remains of the choice once decoding and encoding, the same on either side, are left
// out. Seconds for each pixel on one core: POINT and MEASURE stages are one pass at memory speed, a WINDOW stage says
// what it takes for a sample. On the device the copies over the bus outweigh the kernels.
static const double pass_pixel_seconds = 1e-9;
static const double samples_per_pixel = 3;
static const double bus_pixel_seconds = 0.5e-9; // three bytes up and three down, pinned, not overlapped
static const double context_seconds = 0.35;
static const double pixels_per_file_byte = 1.0; // between PNG (about 0.5) and JPEG (2 to 4)
static const double unknown_file_pixels = 4e6;

gi_status gi_device_parse(const char *text, gi_device_request *request, gi_error *err) {
    *request = (gi_device_request){GI_DEVICE_AUTO, 0};
    if (strcmp(text, "auto") == 0) return GI_OK;
    request->kind = strcmp(text, "cpu") == 0 ? GI_DEVICE_CPU : GI_DEVICE_CUDA;
    if (request->kind == GI_DEVICE_CPU || strcmp(text, "cuda") == 0) return GI_OK;
    if (strncmp(text, "cuda:", 5) == 0) {
        size_t digits = strspn(text + 5, "0123456789");
        request->index = digits >= 1 && digits <= 4 && text[5 + digits] == '\0' ? atoi(text + 5) : -1;
        if (request->index >= 0) return GI_OK;
    }
    *request = (gi_device_request){GI_DEVICE_AUTO, 0};
    return gi_fail(err, GI_ERR_USAGE, "'%.60s' is no device: auto, cpu, cuda or cuda:N (N from 0)", text);
}

bool gi_device_pays(const gi_work_estimate *work, const char **why) {
    double pixels = (double)work->input_bytes * pixels_per_file_byte;
    if (work->input_bytes == 0) pixels = (double)work->files * unknown_file_pixels;
    double cpu_seconds = 0, start_seconds = work->started ? 0 : context_seconds;
    bool window = false;
    for (int i = 0; i < work->pipeline->count; i++) {
        const gi_stage_call *call = &work->pipeline->calls[i];
        bool here = call->stage->kind == GI_STAGE_WINDOW;
        window |= here;
        double each = here ? call->stage->cpu_seconds(&call->args) * samples_per_pixel : pass_pixel_seconds;
        cpu_seconds += each * pixels / gi_cpu_cores();
    }
    bool pays = window && cpu_seconds > start_seconds + bus_pixel_seconds * pixels;
    *why = pays     ? "enough work to outweigh starting a GPU"
           : window ? "the work is done before a CUDA context is up"
                    : "these stages run at memory speed, no slower than the copies to a GPU";
    return pays;
}

bool gi_device_open_any(gi_backend **backend, char *reason, size_t size) {
    *backend = NULL;
    int count = gi_cuda_device_count(reason, size);
    for (int i = 0; i < count; i++) {
        gi_cuda_device device;
        gi_error failure = {.status = GI_OK};
        if (!gi_cuda_device_get(i, &device)) continue;
        if (device.usable && gi_backend_cuda_open(i, backend, &failure) == GI_OK) return true;
        snprintf(reason, size, "%s", device.usable ? failure.text : device.reason);
    }
    return false;
}

gi_status gi_device_open(gi_device_request request, gi_backend **backend, gi_error *err) {
    *backend = NULL;
    return request.kind == GI_DEVICE_CUDA ? gi_backend_cuda_open(request.index, backend, err)
                                          : gi_backend_cpu_open(backend, err);
}
