// Pipelines of the public API, and the shape of their results.
#include <stdlib.h>
#include <string.h>

#include "api_internal.h"
#include "run/plan.h"

enum { FIRST_TEXT_BYTES = 256 };

// *text = the canonical text, in memory that is the caller's.
static gi_status canonical_text(const gi_pipeline *stages, char **text, gi_error *err) {
    for (size_t size = FIRST_TEXT_BYTES;; size *= 2) {
        char *larger = realloc(*text, size);
        if (!larger) return gi_fail(err, GI_ERR_MEMORY, "out of memory for a pipeline");
        *text = larger;
        gi_pipeline_text(stages, *text, size);
        if (strlen(*text) + 1 < size) return GI_OK;
    }
}

static gi_status parse(const char *text, gpuimg_pipeline **out, gi_error *err) {
    if (!out) return gi_fail(err, GI_ERR_USAGE, "pipeline: no place for it");
    *out = NULL;
    if (!text) return gi_fail(err, GI_ERR_USAGE, "pipeline: no text");
    gpuimg_pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (!pipeline) return gi_fail(err, GI_ERR_MEMORY, "out of memory for a pipeline");
    gi_status status = gi_pipeline_parse(text, &pipeline->stages, err);
    if (status == GI_OK) status = canonical_text(&pipeline->stages, &pipeline->text, err);
    if (status == GI_OK)
        *out = pipeline;
    else
        gpuimg_pipeline_free(pipeline);
    return status;
}

gpuimg_status gpuimg_pipeline_parse(const char *text, gpuimg_pipeline **pipeline, gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    return gi_api_result(parse(text, pipeline, &err), &err, error);
}

void gpuimg_pipeline_free(gpuimg_pipeline *pipeline) {
    if (!pipeline) return;
    free(pipeline->text);
    free(pipeline);
}

const char *gpuimg_pipeline_text(const gpuimg_pipeline *pipeline) { return pipeline ? pipeline->text : ""; }

gi_status gi_api_images_only(const gpuimg_pipeline *pipeline, gi_error *err) {
    if (!pipeline) return gi_fail(err, GI_ERR_USAGE, "no pipeline");
    if (pipeline->stages.calls[pipeline->stages.count - 1].stage->kind == GI_STAGE_MEASURE)
        return gi_fail(err, GI_ERR_USAGE, "a pipeline that ends in hist gives no image");
    return GI_OK;
}

static gi_status output_shape(const gpuimg_pipeline *pipeline, const gpuimg_image *input, gpuimg_image *output,
                              gi_error *err) {
    gi_plan plan = {.segments = NULL};
    gi_shape shape;
    if (!output) return gi_fail(err, GI_ERR_USAGE, "output: no image");
    gi_status status = gi_api_images_only(pipeline, err);
    if (status == GI_OK) status = gi_api_shape(input, "input", &shape, err);
    if (status == GI_OK) status = gi_plan_make(&pipeline->stages, shape, &plan, err);
    *output = (gpuimg_image){.data = NULL};
    if (status == GI_OK) {
        output->pitch_bytes = gi_row_bytes(plan.out.width, plan.out.channels, plan.out.sample);
        output->width = (int)plan.out.width;
        output->height = (int)plan.out.height;
        output->channels = plan.out.channels;
        output->sample = (gpuimg_sample)plan.out.sample;
    }
    gi_plan_free(&plan);
    return status;
}

gpuimg_status gpuimg_pipeline_output(const gpuimg_pipeline *pipeline, const gpuimg_image *input, gpuimg_image *output,
                                     gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    return gi_api_result(output_shape(pipeline, input, output, &err), &err, error);
}
