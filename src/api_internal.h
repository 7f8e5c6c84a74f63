// What the files of the public API share, and what the command line takes from behind it.
#ifndef GI_API_INTERNAL_H
#define GI_API_INTERNAL_H

#include <stdint.h>

#include "core/text.h"
#include "gpuimg.h"
#include "run/batch.h"
#include "run/device.h"
#include "run/process.h"

struct gpuimg_pipeline {
    gi_pipeline stages;
    char *text; // canonical, owned
};

// ---- errors, options and views (api.c) ----------------------------------------------------------------------------

// Gives `status` to the caller, and the reason in *error unless that is NULL.
gpuimg_status gi_api_result(gi_status status, const gi_error *err, gpuimg_error *error);

// Speaks to the options' on_message.
typedef struct gi_api_voice {
    const gpuimg_options *options;
    pthread_mutex_t mutex; // one call at a time
    const char *failed;    // the first file that failed, as it was given
    char reason[480];      // why
} gi_api_voice;

// Options as the run layer has them. `options` and `voice` hold what `batch` and `messages` point at.
typedef struct gi_api_setup {
    gpuimg_options options;
    gi_api_voice voice;
    gi_messages messages;
    gi_batch_options batch; // pipeline, backends and callbacks are not set
} gi_api_setup;

// Checks the caller's options (NULL: the defaults). GI_ERR_USAGE. End with gi_api_setup_end, also after failure.
gi_status gi_api_setup_begin(const gpuimg_options *options, gi_api_setup *setup, gi_error *err);
void gi_api_setup_end(gi_api_setup *setup);

// The caller's image as a view. GI_ERR_USAGE for one that is none; `what` ("input") names it.
gi_status gi_api_view(const gpuimg_image *image, const char *what, gi_view *view, gi_error *err);

// Likewise but for data and pitch.
gi_status gi_api_shape(const gpuimg_image *image, const char *what, gi_shape *shape, gi_error *err);

// GI_ERR_USAGE for NULL, and for a pipeline that ends in hist.
gi_status gi_api_images_only(const gpuimg_pipeline *pipeline, gi_error *err);

// ---- contexts (api_context.c, api_array.c, api_array_device.c)
// --------------------------------------------------------

// Where a piece of work runs. The backends are the context's.
typedef struct gi_choice {
    gi_backend *backend;
    gi_backend *const *more; // `more_count` of them, where several GPUs were asked for
    int more_count;
    gi_backend *fallback; // of `auto`, where the backend is a GPU; else NULL
    char why[256];        // one line
} gi_choice;

// True where the device depends on the work, so that it is worth a look at the files.
bool gi_context_weighs_work(const gpuimg_context *context);

// Chooses for the work; a GPU that `auto` starts is kept for later work. Thread-safe.
void gi_context_choose(gpuimg_context *context, const gi_work_estimate *work, gi_choice *choice);

// GI_ERR_DEVICE when the codec cannot be had where the choice runs, which the run cannot do without.
gi_status gi_choice_check_codec(const gi_choice *choice, gi_codec_choice codec, gi_error *err);

// CPU threads that one call may use; 0: all.
int gi_context_threads(const gpuimg_context *context);

// Chooses for a primitive, by that algorithm of its. GI_ERR_USAGE when the device that was asked for has it not;
// GI_ERR_DEVICE when that has no primitives, or when `auto` finds no GPU for an algorithm that the CPU has not.
// Thread-safe.
gi_status gi_context_choose_primitive(gpuimg_context *context, gi_primitive primitive, int algorithm,
                                      const gi_primitive_work *work, gi_choice *choice, gi_error *err);

// Chooses for a primitive on arrays in a device's memory: the context's GPU, which for `auto` is started where it is
// not. GI_ERR_DEVICE where there is none; GI_ERR_USAGE where it has not the algorithm. Thread-safe.
gi_status gi_context_choose_device(gpuimg_context *context, gi_primitive primitive, int algorithm, gi_backend **backend,
                                   gi_error *err);

// Which algorithm of a primitive has that name; NULL: `auto`. GI_ERR_USAGE, with those that are known.
gi_status gi_api_algorithm(gi_primitive primitive, const char *name, int *algorithm, gi_error *err);

// A job for matrices as a caller gives them; GI_ERR_USAGE where there is none, or their shapes do not match.
gi_status gi_api_matmul_job(const gpuimg_matrix *const operands[3], const char *algorithm, gi_matmul_job *job,
                            gi_error *err);

// Where a reduction's caller wants it: an int64_t, or a double.
typedef struct gi_api_number {
    void *place;
    bool integer;
} gi_api_number;

// Sets the place to 0. GI_ERR_USAGE where there is none, or it has not room for what the reduction gives.
gi_status gi_api_number_begin(gi_api_number number, const gi_reduce_job *job, gi_error *err);
void gi_api_number_end(gi_api_number number, const gi_number *found);

// The primitives on jobs, which are checked here; their threads are the context's. *choice: where it ran. Thread-safe.
gi_status gi_context_matmul(gpuimg_context *context, gi_matmul_job job, gi_choice *choice, gi_error *err);
gi_status gi_context_reduce(gpuimg_context *context, gi_reduce_job job, gi_number *result, gi_choice *choice,
                            gi_error *err);
gi_status gi_context_scan(gpuimg_context *context, gi_scan_job job, gi_choice *choice, gi_error *err);

// Runs one image in the calling thread, on a slot of the context's. `batch` has pipeline and callbacks set.
// Thread-safe.
gi_status gi_context_process(gpuimg_context *context, gi_batch_options *batch, const gi_process_request *request,
                             gi_error *err);

#endif
