// Images in memory: pipelines on them, their memory, and files in and out of it.
#include <stdlib.h>

#include "api_internal.h"
#include "run/image_file.h"

static gi_status run_image(gpuimg_context *context, const gpuimg_pipeline *pipeline, const gpuimg_image *input,
                           const gpuimg_image *output, gi_error *err) {
    gi_view pixels, result;
    gi_api_setup setup;
    if (!context) return gi_fail(err, GI_ERR_USAGE, "no context");
    gi_status status = gi_api_images_only(pipeline, err);
    if (status == GI_OK) status = gi_api_view(input, "input", &pixels, err);
    if (status == GI_OK) status = gi_api_view(output, "output", &result, err);
    if (status != GI_OK) return status;
    status = gi_api_setup_begin(NULL, &setup, err);
    gi_item nameless = {.in = NULL};
    gi_process_request request = {.item = &nameless, .pixels = &pixels, .result = &result};
    setup.batch.pipeline = &pipeline->stages;
    if (status == GI_OK) status = gi_context_process(context, &setup.batch, &request, err);
    gi_api_setup_end(&setup);
    return status;
}

gpuimg_status gpuimg_run_image(gpuimg_context *context, const gpuimg_pipeline *pipeline, const gpuimg_image *input,
                               const gpuimg_image *output, gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    return gi_api_result(run_image(context, pipeline, input, output, &err), &err, error);
}

// ---- memory -------------------------------------------------------------------------------------------------------

static gi_status allocate(gpuimg_image *image, gi_error *err) {
    gi_shape shape;
    if (image) image->data = NULL;
    gi_status status = gi_api_shape(image, "image", &shape, err);
    if (status != GI_OK) return status;
    gpuimg_image made = *image;
    gi_view view;
    made.data = &made; // any, so that size and pitch are checked before memory is taken
    status = gi_api_view(&made, "image", &view, err);
    if (status != GI_OK) return status;
    made.pitch_bytes = view.pitch_bytes;
    made.data = malloc(view.pitch_bytes * view.height);
    if (!made.data)
        return gi_fail(err, GI_ERR_MEMORY, "out of memory for an image of %zu bytes", view.pitch_bytes * view.height);
    *image = made;
    return GI_OK;
}

gpuimg_status gpuimg_image_allocate(gpuimg_image *image, gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    return gi_api_result(allocate(image, &err), &err, error);
}

void gpuimg_image_free(gpuimg_image *image) {
    if (!image) return;
    free(image->data);
    image->data = NULL;
}

// ---- files --------------------------------------------------------------------------------------------------------

static gi_status load(const char *path, gpuimg_image *image, const gpuimg_options *options, gi_error *err) {
    gi_api_setup setup;
    gi_view view = {.data = NULL};
    if (!image) return gi_fail(err, GI_ERR_USAGE, "image: no place for it");
    *image = (gpuimg_image){.data = NULL};
    if (!path) return gi_fail(err, GI_ERR_USAGE, "no file name");
    gi_status status = gi_api_setup_begin(options, &setup, err);
    if (status == GI_OK) status = gi_image_load(path, &setup.batch, &view, err);
    if (status == GI_OK)
        *image = (gpuimg_image){view.data,        view.pitch_bytes, (int)view.width,
                                (int)view.height, view.channels,    (gpuimg_sample)view.sample};
    gi_api_setup_end(&setup);
    return status;
}

gpuimg_status gpuimg_load(const char *path, gpuimg_image *image, const gpuimg_options *options, gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    return gi_api_result(load(path, image, options, &err), &err, error);
}

static gi_status save(const char *path, const gpuimg_image *image, const gpuimg_options *options, gi_error *err) {
    gi_api_setup setup;
    gi_view view;
    if (!path) return gi_fail(err, GI_ERR_USAGE, "no file name");
    gi_status status = gi_api_view(image, "image", &view, err);
    if (status != GI_OK) return status;
    status = gi_api_setup_begin(options, &setup, err);
    if (status == GI_OK) status = gi_image_save(path, &setup.batch, &view, err);
    gi_api_setup_end(&setup);
    return status;
}

gpuimg_status gpuimg_save(const char *path, const gpuimg_image *image, const gpuimg_options *options,
                          gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    return gi_api_result(save(path, image, options, &err), &err, error);
}
