// The public C API over the run layer.
#include "gpuimg.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/pipeline.h"
#include "cpu/backend_cpu.h"
#include "run/device.h"
#include "run/process.h"

#define SAME(name) static_assert((int)GPUIMG_##name == (int)GI_##name, #name " differs")
SAME(OK);
SAME(ERR_USAGE);
SAME(ERR_IO);
SAME(ERR_FORMAT);
SAME(ERR_UNSUPPORTED);
SAME(ERR_LIMIT);
SAME(ERR_EXISTS);
SAME(ERR_MEMORY);
SAME(ERR_DEVICE);
SAME(ERR_DEVICE_MEMORY);
SAME(ERR_CANCELLED);
static_assert((int)GI_STATUS_COUNT == (int)GPUIMG_ERR_CANCELLED + 1, "a status is missing from gpuimg.h");

static const gi_batch_options standard = {
    .decode = {.max_pixels = 1000000000, .auto_orient = true},
    .encode = {.quality = 90, .png_level = 6, .background = {255, 255, 255}},
    .jpeg_luma = true,
};

const char *gpuimg_version(void) { return GPUIMG_VERSION; }

const char *gpuimg_status_name(gpuimg_status status) { return gi_status_name((gi_status)status); }

static gi_status parse(const char *text, const char *device, gi_pipeline *pipeline, gi_device_request *request,
                       gi_error *err) {
    gi_status status = gi_pipeline_parse(text, pipeline, err);
    if (status == GI_OK && pipeline->calls[pipeline->count - 1].stage->kind == GI_STAGE_MEASURE)
        status = gi_fail(err, GI_ERR_USAGE, "a pipeline that ends in hist gives no image");
    if (status == GI_OK) status = gi_device_parse(device ? device : "auto", request, err);
    return status;
}

// One image on a backend that is open, in the calling thread.
static gi_status process_one(const gi_batch_options *options, const gi_item *item, gi_error *err) {
    gi_stop stop = {.cancel = NULL};
    gi_gate gate;
    gi_gate_init(&gate, 0);
    gi_worker worker = {.options = options, .stop = &stop, .gate = &gate, .threads = gi_cpu_cores()};
    gi_process_request request = {.item = item, .sweep = true};
    bool skipped = false;
    gi_status status = gi_worker_open(&worker, err);
    if (status == GI_OK) status = gi_process(&worker, &request, &skipped, err);
    gi_worker_close(&worker);
    gi_gate_destroy(&gate);
    return status;
}

static gi_status process_file(const char *text, const gi_item *item, const char *device, gi_error *err) {
    gi_pipeline pipeline = {.count = 0};
    gi_device_request request;
    gi_batch_options options = standard;
    char why[256];
    gi_status status = parse(text, device, &pipeline, &request, err);
    if (status != GI_OK) return status;
    gi_work_estimate work = {.pipeline = &pipeline, .files = 1};
    options.pipeline = &pipeline;
    status = gi_device_open(request, &work, &options.backend, why, sizeof why, err);
    if (status == GI_OK && request.kind == GI_DEVICE_AUTO && strcmp(options.backend->name, "cpu") != 0)
        status = gi_backend_cpu_open(&options.fallback, err);
    if (status == GI_OK) status = process_one(&options, item, err);
    if (options.fallback) options.fallback->ops->close(options.fallback);
    if (options.backend) options.backend->ops->close(options.backend);
    return status;
}

gpuimg_status gpuimg_process_file(const char *pipeline, const char *input, const char *output, const char *device,
                                  gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    gi_status status;
    // The names are only read; gi_item owns its names elsewhere.
    gi_item item = {(char *)input, (char *)output, false};
    if (!pipeline || !input || !output) status = gi_fail(&err, GI_ERR_USAGE, "pipeline, input and output are needed");
    else status = process_file(pipeline, &item, device, &err);
    if (error) {
        error->status = (gpuimg_status)status;
        snprintf(error->text, sizeof error->text, "%s", err.text);
    }
    return (gpuimg_status)status;
}
