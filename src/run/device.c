#include "run/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "cpu/backend_cpu.h"
#include "cuda/backend_cuda.h"
#include "run/work.h"

// The cost model of `auto`, measured on 16 cores and an H200 by tests/gpu/choice.py. Decoding and encoding take the
// same on either side, and beside them a light stage takes nothing; so what counts is what heavy stages add, against
// the GPU's start and the way there.
static const double core_exponent = 0.82;  // 16 cores do the work of 10: they share caches, and pairs of them units
static const double pass_seconds = 0.3e-9; // a POINT or MEASURE stage, for each pixel on one core
static const double samples_per_pixel = 3; // of photographs
static const double apart_seconds = 5e-9;  // a pixel: codecs of one image that have no cores beside its heavy stages
static const double start_seconds = 0.3;   // context and its end; a decoder runs meanwhile, but no encoder beside it
static const double slot_seconds = 0.005;  // page-locked memory for one worker
static const double bus_seconds = 0.15e-9; // a pixel, there and back, page-locked
static const double unlocked_seconds = 0.7e-9; // ... from and to memory of the caller's
static const double device_cores = 400;        // of the CPU's that the GPU's kernels are worth

// Decoding and encoding a pixel of JPEG as gray, which counts where a GPU does that, too: on one core, and on the GPU,
// whose decoders are several, each for a file. What the library for it takes: half a second until it is there, as much
// again until all its decoders are, and their end. Meanwhile, and beside it, the cores decode, and no pixels cross the
// bus.
static const double codec_seconds = 4.3e-9;
static const double device_codec_seconds = 0.11e-9; // 4400 images/s of 1080p
static const double device_file_seconds = 1.3e-9;   // ... of a single file
static const double codec_start_seconds = 1.2;

// Of the primitives: what one core does in a second, and what the bus carries of the caller's memory, copied in pieces
// by as many cores as there are. So reductions and scans of the host's arrays pay nowhere.
static const double core_multiply_adds = 40e9; // 28 to 45, for 1024 to 4096 rows and columns
static const double core_scan_bytes = 8e9;     // 6 on 16 cores
static const double core_copied_bytes = 8e9;
static const double bus_copied_bytes = 20e9; // of products; 30 to 46 of larger arrays

// A number of up to four digits at *text, which is moved behind it; -1: there is none.
static int parse_index(const char **text) {
    size_t digits = strspn(*text, "0123456789");
    int index = digits >= 1 && digits <= 4 ? atoi(*text) : -1;
    *text += digits;
    return index;
}

// Numbers between commas, none of them twice.
static bool parse_indices(const char *text, gi_device_request *request) {
    for (;; text++) {
        int index = parse_index(&text);
        if (index < 0 || request->count == GI_DEVICES_MAX) return false;
        for (int i = 0; i < request->count; i++)
            if (request->indices[i] == index) return false;
        request->indices[request->count++] = index;
        if (*text != ',') return *text == '\0';
    }
}

gi_status gi_device_parse(const char *text, gi_device_request *request, gi_error *err) {
    *request = (gi_device_request){.kind = GI_DEVICE_AUTO};
    if (strcmp(text, "auto") == 0) return GI_OK;
    request->kind = strcmp(text, "cpu") == 0 ? GI_DEVICE_CPU : GI_DEVICE_CUDA;
    if (request->kind == GI_DEVICE_CPU) return GI_OK;
    request->all = strcmp(text, "cuda:all") == 0;
    if (request->all) return GI_OK;
    if (parse_indices(strcmp(text, "cuda") == 0 ? "0" : strncmp(text, "cuda:", 5) == 0 ? text + 5 : "", request))
        return GI_OK;
    *request = (gi_device_request){.kind = GI_DEVICE_AUTO};
    return gi_fail(err, GI_ERR_USAGE,
                   "'%.60s' is no device: auto, cpu, cuda, cuda:N (N from 0), cuda:N,M,... or cuda:all", text);
}

// What the stages take for each pixel: on one core, and of the memory.
static gi_cost cost_of(const gi_pipeline *pipeline) {
    gi_cost all = {0, 0};
    for (int i = 0; i < pipeline->count; i++) {
        const gi_stage_call *call = &pipeline->calls[i];
        gi_cost each = {pass_seconds / samples_per_pixel, 0};
        if (call->stage->kind == GI_STAGE_WINDOW) each = call->stage->cost(&call->args);
        all.core_seconds += each.core_seconds * samples_per_pixel;
        all.memory_seconds += each.memory_seconds * samples_per_pixel;
    }
    return all;
}

gi_device_times gi_device_model(const gi_work_estimate *work, int cores) {
    const double pixels = (double)work->pixels, files = work->files ? (double)work->files : 1;
    const bool alone = work->decoded && files < cores;
    const gi_cost cost = cost_of(work->pipeline);
    gi_device_times times;
    times.cpu = pixels * (cost.core_seconds / pow(cores, core_exponent) + cost.memory_seconds);
    if (alone && gi_work_outlasts_codecs(cost.core_seconds)) times.cpu += pixels / files * apart_seconds;
    times.gpu = pixels * (cost.core_seconds / device_cores + (work->decoded ? bus_seconds : unlocked_seconds));
    if (work->decoded && gi_codec_asks_device(work->codec)) {
        const double on_cores = pixels * codec_seconds / pow(files < cores ? files : cores, core_exponent);
        const double on_device = pixels * fmax(device_codec_seconds, device_file_seconds / files);
        times.cpu += on_cores;
        times.gpu += on_cores * on_device / (on_cores + on_device) + (work->started ? 0 : codec_start_seconds);
        times.gpu -= pixels * bus_seconds;
    }
    if (!work->started) times.gpu += start_seconds + slot_seconds * (files < cores ? files : cores);
    return times;
}

bool gi_device_pays(const gi_work_estimate *work, char *why, size_t size) {
    const int cores = gi_cpu_cores();
    const gi_device_times times = gi_device_model(work, cores);
    snprintf(why, size, "%s about %.2f s on %d core%s and %.2f s on a GPU%s",
             gi_codec_asks_device(work->codec) ? "codecs and stages take" : "beside the codecs, these stages add",
             times.cpu, cores, gi_plural((unsigned)cores), times.gpu, work->started ? "" : ", its start included");
    return times.cpu > times.gpu;
}

bool gi_device_pays_primitive(const gi_primitive_work *work, const char **why) {
    const int cores = gi_cpu_cores();
    double cpu_seconds = work->core_seconds / cores;
    double copied_bytes = fmin(cores * core_copied_bytes, bus_copied_bytes);
    bool pays = cpu_seconds > (work->started ? 0 : start_seconds) + work->bus_bytes / copied_bytes;
    *why = pays ? "enough work to outweigh the copies and starting a GPU" : "done before the arrays were on a GPU";
    return pays;
}

gi_primitive_work gi_matmul_work(const gi_matmul_job *job) {
    double m = (double)job->m, k = (double)job->k, n = (double)job->n;
    return (gi_primitive_work){m * k * n / core_multiply_adds, (m * k + k * n + m * n) * sizeof *job->a, false};
}

gi_primitive_work gi_reduce_work(const gi_reduce_job *job) {
    double bytes = (double)job->count * (double)gi_element_bytes(job->element);
    return (gi_primitive_work){bytes / core_scan_bytes, bytes, false};
}

gi_primitive_work gi_scan_work(const gi_scan_job *job) {
    gi_element out = gi_scan_element(job->element);
    double bytes = (double)job->count * (double)(gi_element_bytes(job->element) + gi_element_bytes(out));
    return (gi_primitive_work){bytes / core_scan_bytes, bytes, false};
}

bool gi_device_open_any(gi_backend **backend, char *reason, size_t size) {
    gi_error failure = {.status = GI_OK};
    *backend = NULL;
    if (gi_backend_cuda_open(GI_CUDA_ANY, backend, &failure) == GI_OK) return true;
    snprintf(reason, size, "%s", failure.text);
    return false;
}

// The CUDA devices that are usable, as if they had been named; where none is, the first, for the reason why.
static gi_device_request named(const gi_device_request *request) {
    gi_device_request all = {.kind = GI_DEVICE_CUDA};
    gi_cuda_device device;
    char reason[160];
    if (!request->all) return *request;
    const int there = gi_cuda_device_count(reason, sizeof reason);
    for (int i = 0; i < there && all.count < GI_DEVICES_MAX; i++)
        if (gi_cuda_device_get(i, &device) && device.usable) all.indices[all.count++] = i;
    if (all.count == 0) all.count = 1;
    return all;
}

gi_status gi_devices_open(const gi_device_request *request, gi_devices *devices, gi_error *err) {
    *devices = (gi_devices){.count = 0};
    if (request->kind != GI_DEVICE_CUDA) {
        gi_status status = gi_backend_cpu_open(&devices->backends[0], err);
        devices->count = status == GI_OK;
        return status;
    }
    const gi_device_request these = named(request);
    for (int i = 0; i < these.count; i++) {
        gi_status status = gi_backend_cuda_open(these.indices[i], &devices->backends[i], err);
        if (status != GI_OK) {
            gi_devices_close(devices);
            return status;
        }
        devices->count++;
    }
    return GI_OK;
}

void gi_devices_close(gi_devices *devices) {
    for (int i = 0; i < devices->count; i++) devices->backends[i]->ops->close(devices->backends[i]);
    devices->count = 0;
}
