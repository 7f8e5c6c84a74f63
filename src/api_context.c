// Contexts: a device, and slots that are kept from run to run.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_internal.h"
#include "cpu/backend_cpu.h"
#include "cuda/backend_cuda.h"
#include "run/device_codec.h"
#include "run/pixels.h"

// What a run has of a device, kept while no run has it.
typedef struct lane {
    struct lane *next;
    gi_backend *backend;
    int device; // the backend's place among the context's; -1: it has none
    gi_slot *slot, *fallback;
} lane;

struct gpuimg_context {
    gi_device_request request;
    int threads;
    char device[288];
    gi_devices devices;       // that were asked for; of `auto`, the CPU
    gi_backend *cpu;          // unless GPUs were asked for
    pthread_mutex_t mutex;    // of all below
    int runs[GI_DEVICES_MAX]; // of single files and images, on each of the devices
    gi_backend *cuda;         // the first GPU that was asked for, or the one that `auto` has started
    bool tried;               // `auto` has looked for one
    char none[256];           // and why there is none
    lane *idle;
};

// "cuda:0", or "cuda:0,1" for several.
static void name_devices(gpuimg_context *context) {
    const gi_devices *devices = &context->devices;
    size_t used = 0, size = sizeof context->device;
    for (int i = 0; i < devices->count && used < size; i++) {
        const char *name = devices->backends[i]->name;
        const char *number = i > 0 ? strchr(name, ':') : NULL; // of the first, all of the name
        int written =
            snprintf(context->device + used, size - used, "%s%s", i > 0 ? "," : "", number ? number + 1 : name);
        used += written > 0 ? (size_t)written : 0;
    }
}

static gi_status open_backends(gpuimg_context *context, gi_error *err) {
    gi_device_kind kind = context->request.kind;
    gi_status status = gi_devices_open(&context->request, &context->devices, err);
    if (status != GI_OK) return status;
    *(kind == GI_DEVICE_CUDA ? &context->cuda : &context->cpu) = context->devices.backends[0];
    if (kind == GI_DEVICE_AUTO)
        snprintf(context->device, sizeof context->device, "auto");
    else
        name_devices(context);
    return GI_OK;
}

static gi_status open_context(const char *device, int threads, gpuimg_context **out, gi_error *err) {
    gi_device_request request;
    if (!out) return gi_fail(err, GI_ERR_USAGE, "context: no place for it");
    *out = NULL;
    if (threads < 0) return gi_fail(err, GI_ERR_USAGE, "context: %d is no number of threads", threads);
    gi_status status = gi_device_parse(device ? device : "auto", &request, err);
    if (status != GI_OK) return status;
    gpuimg_context *context = calloc(1, sizeof *context);
    if (!context) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    pthread_mutex_init(&context->mutex, NULL);
    context->request = request;
    context->threads = threads;
    status = open_backends(context, err);
    if (status == GI_OK)
        *out = context;
    else
        gpuimg_context_close(context);
    return status;
}

gpuimg_status gpuimg_context_open(const char *device, int threads, gpuimg_context **context, gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    return gi_api_result(open_context(device, threads, context, &err), &err, error);
}

static void lane_free(lane *l) {
    if (l->slot) l->slot->ops->slot_close(l->slot);
    if (l->fallback) l->fallback->ops->slot_close(l->fallback);
    free(l);
}

void gpuimg_context_close(gpuimg_context *context) {
    if (!context) return;
    for (lane *l = context->idle, *next; l; l = next) {
        next = l->next;
        lane_free(l);
    }
    if (context->request.kind == GI_DEVICE_AUTO && context->cuda) context->cuda->ops->close(context->cuda);
    gi_devices_close(&context->devices);
    pthread_mutex_destroy(&context->mutex);
    free(context);
}

const char *gpuimg_context_device(const gpuimg_context *context) { return context ? context->device : ""; }

int gi_context_threads(const gpuimg_context *context) { return context->threads; }

// The GPU that `auto` takes, started at the first need; NULL, with the reason in `none`, where there is none, or none
// any more. It stays open in any case: slots of it may be about.
static gi_backend *automatic_gpu(gpuimg_context *context) {
    gi_backend *gpu;
    gi_error why = {.status = GI_OK};
    if (!context->tried) gi_device_open_any(&context->cuda, context->none, sizeof context->none);
    context->tried = true;
    gpu = context->cuda;
    if (!gpu || !gpu->ops->lost || !gpu->ops->lost(gpu, false, &why)) return gpu;
    snprintf(context->none, sizeof context->none, "%.255s", why.text);
    return NULL;
}

bool gi_context_weighs_work(const gpuimg_context *context) { return context->request.kind == GI_DEVICE_AUTO; }

// Where a GPU would not pay, and there can be none: `why` speaks of no seconds on one.
static void explain_without(const gi_work_estimate *work, char *why, size_t size) {
    const char *about;
    char reason[160];
    if (!gi_cuda_built(&about))
        snprintf(why, size, "built without CUDA");
    else if (work->told && !gi_cuda_driver(reason, sizeof reason))
        snprintf(why, size, "no GPU is usable: %s", reason);
}

void gi_context_choose(gpuimg_context *context, const gi_work_estimate *work, gi_choice *choice) {
    *choice = (gi_choice){.backend = context->request.kind == GI_DEVICE_CUDA ? context->cuda : context->cpu};
    snprintf(choice->why, sizeof choice->why, "as asked for");
    choice->more = context->devices.backends + 1;
    choice->more_count = context->devices.count > 1 ? context->devices.count - 1 : 0;
    if (!gi_context_weighs_work(context)) return;
    gi_work_estimate estimate = *work;
    char why[200];
    pthread_mutex_lock(&context->mutex);
    estimate.started = context->cuda != NULL;
    bool pays = gi_device_pays(&estimate, why, sizeof why) || work->codec == GI_CODEC_NVJPEG;
    if (!pays) explain_without(work, why, sizeof why);
    gi_backend *gpu = pays ? automatic_gpu(context) : NULL;
    snprintf(choice->why, sizeof choice->why, "%s%.200s", pays && !gpu ? "no GPU is usable: " : "",
             pays && !gpu ? context->none : why);
    pthread_mutex_unlock(&context->mutex);
    if (gpu) {
        choice->fallback = choice->backend;
        choice->backend = gpu;
    }
}

gi_status gi_choice_check_codec(const gi_choice *choice, gi_codec_choice codec, gi_error *err) {
    gi_error cause = {.status = GI_OK};
    gi_status status = gi_device_codec_check(codec, choice->backend, &cause);
    for (int i = 0; i < choice->more_count && status == GI_OK; i++)
        status = gi_device_codec_check(codec, choice->more[i], &cause);
    if (status == GI_OK) return GI_OK;
    return gi_fail(err, status, "codec nvjpeg: %s (%s)", cause.text, choice->why);
}

// GI_OK when the backend has that algorithm of the primitive.
static gi_status check_algorithm(const gi_backend *backend, gi_primitive primitive, int algorithm, gi_error *err) {
    char name[GI_ALGORITHM_BYTES], words[128];
    if (!backend->primitives)
        return gi_fail(err, GI_ERR_DEVICE, "%s has no %s", backend->name, gi_primitive_name(primitive));
    const char *list = backend->primitives->algorithms[primitive];
    if (gi_algorithm_in(primitive, algorithm, list)) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE, "algorithm %s of %s is not for %s, which has %s",
                   gi_algorithm_name(primitive, algorithm, name), gi_primitive_name(primitive), backend->name,
                   gi_words_listed(list, words, sizeof words));
}

// The GPU of `auto`, if it has the algorithm. Else choice->why tells why it is not taken.
static gi_backend *gpu_with(gpuimg_context *context, gi_primitive primitive, int algorithm, gi_choice *choice) {
    gi_error reason = {.status = GI_OK};
    const char *about;
    if (!gi_cuda_built(&about)) {
        snprintf(choice->why, sizeof choice->why, "built without CUDA");
        return NULL;
    }
    gi_backend *gpu = automatic_gpu(context);
    if (!gpu)
        snprintf(choice->why, sizeof choice->why, "no GPU is usable: %.200s", context->none);
    else if (check_algorithm(gpu, primitive, algorithm, &reason) != GI_OK)
        snprintf(choice->why, sizeof choice->why, "%.200s", reason.text);
    return reason.status == GI_OK ? gpu : NULL;
}

gi_status gi_context_choose_primitive(gpuimg_context *context, gi_primitive primitive, int algorithm,
                                      const gi_primitive_work *work, gi_choice *choice, gi_error *err) {
    bool automatic = context->request.kind == GI_DEVICE_AUTO;
    *choice = (gi_choice){.backend = context->request.kind == GI_DEVICE_CUDA ? context->cuda : context->cpu};
    snprintf(choice->why, sizeof choice->why, "as asked for");
    gi_status here = check_algorithm(choice->backend, primitive, algorithm, err);
    if (!automatic) return here;
    gi_primitive_work known = *work;
    const char *why = "", *about;
    char name[GI_ALGORITHM_BYTES];
    pthread_mutex_lock(&context->mutex);
    known.started = context->cuda != NULL;
    bool pays = gi_device_pays_primitive(&known, &why);
    if (!gi_cuda_built(&about)) why = "built without CUDA";
    snprintf(choice->why, sizeof choice->why, "%s", here == GI_OK ? why : "the CPU has no such algorithm");
    gi_backend *gpu = pays || here != GI_OK ? gpu_with(context, primitive, algorithm, choice) : NULL;
    pthread_mutex_unlock(&context->mutex);
    if (!gpu && here != GI_OK)
        return gi_fail(err, GI_ERR_DEVICE, "algorithm %s of %s needs a GPU: %.200s",
                       gi_algorithm_name(primitive, algorithm, name), gi_primitive_name(primitive), choice->why);
    if (gpu) choice->fallback = here == GI_OK ? choice->backend : NULL;
    if (gpu) choice->backend = gpu;
    return GI_OK;
}

gi_status gi_context_choose_device(gpuimg_context *context, gi_primitive primitive, int algorithm, gi_backend **backend,
                                   gi_error *err) {
    char why[256] = "";
    pthread_mutex_lock(&context->mutex);
    *backend = context->request.kind == GI_DEVICE_AUTO ? automatic_gpu(context) : context->cuda;
    if (!*backend) snprintf(why, sizeof why, "%s", context->none);
    pthread_mutex_unlock(&context->mutex);
    if (!*backend && context->request.kind == GI_DEVICE_AUTO)
        return gi_fail(err, GI_ERR_DEVICE, "arrays on a device need a GPU, and none is usable: %.200s", why);
    if (!*backend || !(*backend)->primitives || !(*backend)->primitives->matmul_device)
        return gi_fail(err, GI_ERR_DEVICE, "arrays on a device need a context on a GPU, not on %s", context->device);
    return check_algorithm(*backend, primitive, algorithm, err);
}

// The one of several devices that has the fewest runs; -1 where `first` is none of them.
static int least_busy(const gpuimg_context *context, const gi_backend *first) {
    const gi_devices *devices = &context->devices;
    int best = 0;
    if (first != devices->backends[0]) return -1;
    for (int i = 1; i < devices->count; i++)
        if (context->runs[i] < context->runs[best]) best = i;
    return best;
}

static lane *take_lane(gpuimg_context *context, gi_backend *backend) {
    pthread_mutex_lock(&context->mutex);
    const int device = least_busy(context, backend);
    if (device >= 0) backend = context->devices.backends[device];
    lane **at = &context->idle, *found;
    while (*at && (*at)->backend != backend) at = &(*at)->next;
    found = *at;
    if (found) *at = found->next;
    if (!found) found = calloc(1, sizeof *found);
    if (found && device >= 0) context->runs[device]++;
    pthread_mutex_unlock(&context->mutex);
    if (found) found->backend = backend;
    if (found) found->device = device;
    return found;
}

// Keeps the lane, or frees it where it failed: what failed once is not tried again.
static void give_lane(gpuimg_context *context, lane *l, bool failed) {
    pthread_mutex_lock(&context->mutex);
    if (l->device >= 0) context->runs[l->device]--;
    if (!failed) {
        l->next = context->idle;
        context->idle = l;
    }
    pthread_mutex_unlock(&context->mutex);
    if (failed) lane_free(l);
}

// On the worker's slot, opened when it has none.
static gi_status process(gi_worker *worker, const gi_process_request *request, gi_error *err) {
    gi_outcome outcome = {.status = GI_OK};
    gi_status status = worker->slot ? GI_OK : gi_worker_open(worker, err);
    return status == GI_OK ? gi_process(worker, request, &outcome, err) : status;
}

gi_status gi_context_process(gpuimg_context *context, gi_batch_options *batch, const gi_process_request *request,
                             gi_error *err) {
    const gi_view *view = request->pixels;
    gi_work_estimate work = {
        .pipeline = batch->pipeline, .files = 1, .decoded = view == NULL, .codec = batch->decode.codec};
    if (view)
        work.pixels = (unsigned long long)view->width * view->height;
    else if (gi_context_weighs_work(context))
        work.pixels = gi_file_pixels(request->item->in);
    gi_choice choice;
    gi_context_choose(context, &work, &choice);
    gi_status status = view ? GI_OK : gi_choice_check_codec(&choice, batch->decode.codec, err);
    if (status != GI_OK) return status;
    lane *l = take_lane(context, choice.backend);
    if (!l) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    batch->backend = l->backend;
    batch->fallback = choice.fallback;
    gi_stop stop = {.cancel = batch->cancel};
    gi_gate gate;
    gi_gate_init(&gate, 0);
    gi_worker worker = {.options = batch,
                        .stop = &stop,
                        .gate = &gate,
                        .threads = context->threads > 0 ? context->threads : gi_cpu_cores(),
                        .slot = l->slot,
                        .backend = l->backend,
                        .fallback = l->fallback};
    status = process(&worker, request, err);
    gi_gate_destroy(&gate);
    free(worker.plain);
    l->slot = worker.slot;
    l->fallback = worker.fallback;
    give_lane(context, l, status == GI_ERR_DEVICE || !l->slot);
    return status;
}
