// Pipelines on files, one or many.
#include <stdlib.h>

#include "api_internal.h"
#include "core/checked.h"
#include "core/text.h"
#include "run/item_list.h"
#include "run/path.h"
#include "run/pixels.h"

// A gi_item of names that are only read; elsewhere it owns them.
static gi_item borrowed(const char *input, const char *output) {
    return (gi_item){.in = (char *)input, .out = (char *)output};
}

static gi_status run_file(gpuimg_context *context, const gpuimg_pipeline *pipeline, const gpuimg_file *file,
                          const gpuimg_options *options, gi_error *err) {
    gi_api_setup setup;
    if (!context) return gi_fail(err, GI_ERR_USAGE, "no context");
    gi_status status = gi_api_images_only(pipeline, err);
    if (status != GI_OK) return status;
    if (!file->input || !file->output) return gi_fail(err, GI_ERR_USAGE, "input and output are needed");
    status = gi_api_setup_begin(options, &setup, err);
    gi_item item = borrowed(file->input, file->output);
    gi_process_request request = {.item = &item, .sweep = true};
    setup.batch.pipeline = &pipeline->stages;
    if (status == GI_OK) status = gi_context_process(context, &setup.batch, &request, err);
    gi_api_setup_end(&setup);
    return status;
}

gpuimg_status gpuimg_run_file(gpuimg_context *context, const gpuimg_pipeline *pipeline, const char *input,
                              const char *output, const gpuimg_options *options, gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    gpuimg_file file = {input, output};
    return gi_api_result(run_file(context, pipeline, &file, options, &err), &err, error);
}

// ---- batches ------------------------------------------------------------------------------------------------------

typedef struct batch {
    gi_item_list list;
    gi_api_setup setup;
    gi_status first; // the status of setup.voice.failed
    gi_batch_result result;
} batch;

static void on_progress(void *context, size_t index, const gi_outcome *outcome) {
    batch *b = context;
    const gpuimg_options *options = &b->setup.options;
    // The reason was said just before, perhaps while another file's was.
    pthread_mutex_lock(&b->setup.voice.mutex);
    if (outcome->status != GI_OK && b->list.items[index].in == b->setup.voice.failed) b->first = outcome->status;
    if (options->on_done) options->on_done(options->user, index, (gpuimg_status)outcome->status);
    pthread_mutex_unlock(&b->setup.voice.mutex);
}

static gi_status list_files(batch *b, const gpuimg_file *files, size_t count, gi_error *err) {
    size_t bytes = 0;
    if (count == 0) return GI_OK;
    if (!files) return gi_fail(err, GI_ERR_USAGE, "no files");
    b->list.items = gi_mul(count, sizeof *b->list.items, &bytes) ? malloc(bytes) : NULL;
    if (!b->list.items) return gi_fail(err, GI_ERR_MEMORY, "out of memory for %zu file%s", count, gi_plural(count));
    for (size_t i = 0; i < count; i++) {
        if (!files[i].input || !files[i].output)
            return gi_fail(err, GI_ERR_USAGE, "file %zu lacks its input or output", i);
        b->list.items[b->list.count++] = borrowed(files[i].input, files[i].output);
    }
    return gi_collisions_check(&b->list, err);
}

static gi_status run_batch(gpuimg_context *context, const gi_pipeline *stages, batch *b, gi_error *err) {
    gi_batch_options *options = &b->setup.batch;
    gi_work_estimate work = {
        .pipeline = stages, .files = b->list.count, .decoded = true, .codec = options->decode.codec};
    if (gi_context_weighs_work(context)) work.pixels = gi_list_pixels(&b->list);
    gi_choice choice;
    gi_context_choose(context, &work, &choice);
    gi_status status = gi_choice_check_codec(&choice, options->decode.codec, err);
    if (status != GI_OK) return status;
    options->pipeline = stages;
    options->backend = choice.backend;
    options->more = choice.more;
    options->more_count = choice.more_count;
    options->fallback = choice.fallback;
    options->threads = gi_context_threads(context);
    options->on_progress = on_progress;
    options->context = b;
    status = gi_batch_run(&b->list, options, &b->result, err);
    if (status != GI_OK || b->result.failed == 0) return status;
    char shown[GI_PATH_SHOWN];
    return gi_fail(err, b->first, "%s: %s", gi_path_show(b->setup.voice.failed, shown), b->setup.voice.reason);
}

static gi_status run_files(gpuimg_context *context, const gpuimg_pipeline *pipeline, batch *b,
                           const gpuimg_options *options, gi_error *err) {
    if (!context) return gi_fail(err, GI_ERR_USAGE, "no context");
    gi_status status = gi_api_images_only(pipeline, err);
    if (status != GI_OK) return status;
    status = gi_api_setup_begin(options, &b->setup, err);
    if (status == GI_OK) status = run_batch(context, &pipeline->stages, b, err);
    gi_api_setup_end(&b->setup);
    return status;
}

gpuimg_status gpuimg_run_files(gpuimg_context *context, const gpuimg_pipeline *pipeline, const gpuimg_file *files,
                               size_t count, const gpuimg_options *options, gpuimg_batch_result *result,
                               gpuimg_error *error) {
    gi_error err = {.status = GI_OK};
    batch b = {.first = GI_OK, .result = {.not_started = count}};
    gi_status status = list_files(&b, files, count, &err);
    if (status == GI_OK) status = run_files(context, pipeline, &b, options, &err);
    free(b.list.items);
    if (result) *result = (gpuimg_batch_result){b.result.done, b.result.skipped, b.result.failed, b.result.not_started};
    return gi_api_result(status, &err, error);
}
