// Contexts: a device, and slots that are kept from run to run.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_internal.h"
#include "cpu/backend_cpu.h"
#include "cuda/backend_cuda.h"
#include "run/pixels.h"

// What a run has of a device, kept while no run has it.
typedef struct lane {
    struct lane *next;
    gi_backend *backend;
    gi_slot *slot, *fallback;
} lane;

struct gpuimg_context {
    gi_device_request request;
    int threads;
    char device[16];
    pthread_mutex_t mutex; // of all below
    gi_backend *cpu;       // unless a GPU was asked for
    gi_backend *cuda;      // where a GPU was asked for, or `auto` has started one
    bool tried;            // `auto` has looked for one
    char none[256];        // and why there is none
    lane *idle;
};

static gi_status open_backends(gpuimg_context *context, gi_error *err) {
    gi_device_kind kind = context->request.kind;
    bool automatic = kind == GI_DEVICE_AUTO;
    gi_backend **backend = kind == GI_DEVICE_CUDA ? &context->cuda : &context->cpu;
    gi_status status = gi_device_open(context->request, backend, err);
    if (status != GI_OK) return status;
    snprintf(context->device, sizeof context->device, "%s", automatic ? "auto" : (*backend)->name);
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
    if (context->cuda) context->cuda->ops->close(context->cuda);
    if (context->cpu) context->cpu->ops->close(context->cpu);
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

void gi_context_choose(gpuimg_context *context, const gi_work_estimate *work, gi_choice *choice) {
    *choice = (gi_choice){.backend = context->request.kind == GI_DEVICE_CUDA ? context->cuda : context->cpu};
    snprintf(choice->why, sizeof choice->why, "as asked for");
    if (!gi_context_weighs_work(context)) return;
    gi_work_estimate estimate = *work;
    char why[200];
    pthread_mutex_lock(&context->mutex);
    estimate.started = context->cuda != NULL;
    bool pays = gi_device_pays(&estimate, why, sizeof why);
    const char *about;
    if (!pays && !gi_cuda_built(&about)) snprintf(why, sizeof why, "built without CUDA");
    gi_backend *gpu = pays ? automatic_gpu(context) : NULL;
    snprintf(choice->why, sizeof choice->why, "%s%.200s", pays && !gpu ? "no GPU is usable: " : "",
             pays && !gpu ? context->none : why);
    pthread_mutex_unlock(&context->mutex);
    if (gpu) {
        choice->fallback = choice->backend;
        choice->backend = gpu;
    }
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

static lane *take_lane(gpuimg_context *context, gi_backend *backend) {
    pthread_mutex_lock(&context->mutex);
    lane **at = &context->idle, *found;
    while (*at && (*at)->backend != backend) at = &(*at)->next;
    found = *at;
    if (found) *at = found->next;
    pthread_mutex_unlock(&context->mutex);
    if (!found) found = calloc(1, sizeof *found);
    if (found) found->backend = backend;
    return found;
}

static void give_lane(gpuimg_context *context, lane *l) {
    pthread_mutex_lock(&context->mutex);
    l->next = context->idle;
    context->idle = l;
    pthread_mutex_unlock(&context->mutex);
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
    gi_work_estimate work = {.pipeline = batch->pipeline, .files = 1, .decoded = view == NULL};
    if (view)
        work.pixels = (unsigned long long)view->width * view->height;
    else if (gi_context_weighs_work(context))
        work.pixels = gi_file_pixels(request->item->in);
    gi_choice choice;
    gi_context_choose(context, &work, &choice);
    lane *l = take_lane(context, choice.backend);
    if (!l) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    batch->backend = choice.backend;
    batch->fallback = choice.fallback;
    gi_stop stop = {.cancel = batch->cancel};
    gi_gate gate;
    gi_gate_init(&gate, 0);
    gi_worker worker = {.options = batch,
                        .stop = &stop,
                        .gate = &gate,
                        .threads = context->threads > 0 ? context->threads : gi_cpu_cores(),
                        .slot = l->slot,
                        .fallback = l->fallback};
    gi_status status = process(&worker, request, err);
    gi_gate_destroy(&gate);
    l->slot = worker.slot;
    l->fallback = worker.fallback;
    if (status == GI_ERR_DEVICE || !l->slot)
        lane_free(l); // what failed once is not tried again
    else
        give_lane(context, l);
    return status;
}
