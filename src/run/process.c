#include "run/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run/output.h"
#include "run/path.h"
#include "run/plan.h"
#include "run/read.h"
#include "run/thumbnail.h"

enum { DECODE_CHUNK_BYTES = 8 << 20 }; // rows asked for at once, so that a cancel is seen in between

// One image in work.
typedef struct image {
    gi_worker *worker;
    const gi_process_request *request;
    const char *name; // of the input, for messages; NULL where it is none
    gi_file_data file;
    gi_decoder *decoder;
    gi_header header;
    gi_plan plan;
    gi_histogram histogram;
    gi_thumbnail thumbnail; // made while decoding, when a report asks for it
    gi_pass pass;
} image;

static bool on_cpu(const gi_backend *backend) { return strcmp(backend->name, "cpu") == 0; }

gi_status gi_worker_open(gi_worker *worker, gi_error *err) {
    gi_backend *backend = worker->options->backend;
    return backend->ops->slot_open(backend, worker->threads, &worker->slot, err);
}

void gi_worker_close(gi_worker *worker) {
    if (worker->slot) worker->slot->ops->slot_close(worker->slot);
    if (worker->fallback) worker->fallback->ops->slot_close(worker->fallback);
    worker->slot = worker->fallback = NULL;
}

static gi_status open_fallback(void *context, gi_slot **slot, gi_error *err) {
    gi_worker *worker = context;
    gi_backend *backend = worker->options->fallback;
    gi_status status = GI_OK;
    if (!worker->fallback) status = backend->ops->slot_open(backend, worker->threads, &worker->fallback, err);
    *slot = worker->fallback;
    return status;
}

// ---- before the pixels --------------------------------------------------------------------------------------------

// What a damaged file still holds must not be lost to what could be decoded of it.
static bool is_in_place(const gi_item *item) {
    struct stat in, out;
    if (!item->in || !item->out || stat(item->in, &in) != 0 || stat(item->out, &out) != 0) return false;
    return S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

static gi_status open_decoder(image *im, gi_error *err) {
    const gi_batch_options *options = im->worker->options;
    const gi_item *item = im->request->item;
    gi_read_options reading = {.image_only = true, .regular_only = item->from_directory, .cancel = options->cancel};
    gi_status status = gi_read_file(item->in, &reading, &im->file, err);
    if (status != GI_OK) return status;
    gi_decode_options decode = options->decode;
    decode.jpeg_luma = options->jpeg_luma && gi_pipeline_takes_luma(options->pipeline);
    decode.messages = options->messages;
    decode.file = im->name;
    decode.strict |= is_in_place(item);
    status = gi_decoder_open((gi_bytes){im->file.data, im->file.size}, &decode, &im->decoder, err);
    if (status != GI_OK) return status;
    im->header = *gi_decoder_header(im->decoder);
    return gi_plan_make(options->pipeline, im->header.shape, &im->plan, err);
}

// Memory that the device reads fast, or the fallback's where the device has none left.
static gi_status pixel_buffer(image *im, size_t bytes, void **data, gi_error *err) {
    gi_worker *worker = im->worker;
    gi_pass *pass = &im->pass;
    gi_error why = {.status = GI_OK};
    gi_status status = worker->slot->ops->host_buffer(worker->slot, bytes, data, &why);
    if (status == GI_ERR_DEVICE_MEMORY && pass->fallback && open_fallback(worker, &pass->slot, NULL) == GI_OK) {
        gi_say(pass->messages, GI_WARNING, im->name, "%s; done on the CPU instead", why.text);
        pass->fallback = NULL;
        status = pass->slot->ops->host_buffer(pass->slot, bytes, data, &why);
    }
    if (status != GI_OK && err) *err = why;
    return status;
}

static void prepare_pass(image *im) {
    const gi_batch_options *options = im->worker->options;
    im->pass = (gi_pass){.slot = im->worker->slot,
                         .gate = im->worker->gate,
                         .stop = im->worker->stop,
                         .plan = &im->plan,
                         .fallback = options->fallback ? open_fallback : NULL,
                         .fallback_context = im->worker,
                         .messages = options->messages,
                         .file = im->name};
}

gi_band_rule gi_process_bands(const gi_batch_options *options, const gi_plan *plan, size_t memory, bool device,
                              bool *fits) {
    size_t row = gi_row_bytes(plan->in.width, plan->in.channels, plan->in.sample);
    gi_band_rule rule = {plan->in.height, memory, device};
    if (options->band_bytes > 0 && options->band_bytes / row < rule.rows)
        rule.rows = options->band_bytes >= row ? (uint32_t)(options->band_bytes / row) : 1;
    if (options->band_rows > 0 && options->band_rows < rule.rows) rule.rows = options->band_rows;
    rule.rows = gi_band_rows(plan, &rule, fits);
    return rule;
}

// How high the bands are, once the slot is known. True when the slot is a device's.
static bool choose_bands(image *im) {
    const gi_batch_options *options = im->worker->options;
    bool device = im->pass.slot == im->worker->slot && !on_cpu(options->backend);
    size_t memory = im->worker->memory;
    bool fits = true;
    im->pass.bands = gi_process_bands(options, &im->plan, memory, device, &fits);
    if (!fits)
        gi_say(options->messages, GI_WARNING, im->name, "a band of one row takes more than the %zu bytes allowed",
               memory);
    return device;
}

// Sets the pass up over a buffer of the slot's that the image fits into.
static gi_status reserve_pixels(image *im, gi_error *err) {
    gi_shape shape = im->header.shape;
    size_t bytes = 0;
    void *data = NULL;
    prepare_pass(im);
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = pixel_buffer(im, bytes, &data, err);
    if (status == GI_OK) im->pass.in = gi_view_packed(data, shape, choose_bands(im) ? GI_PINNED : GI_HOST);
    return status;
}

static gi_status decode_pixels(image *im, gi_error *err) {
    const gi_batch_options *options = im->worker->options;
    gi_shape shape = im->header.shape;
    size_t row = gi_row_bytes(shape.width, shape.channels, shape.sample);
    gi_status status = reserve_pixels(im, err);
    if (status == GI_OK && options->thumbnail_side && im->plan.measures)
        status = gi_thumbnail_init(&im->thumbnail, shape, options->thumbnail_side, err);
    uint32_t chunk = row < DECODE_CHUNK_BYTES ? (uint32_t)(DECODE_CHUNK_BYTES / row) : 1;
    for (uint32_t y = 0; y < shape.height && status == GI_OK; y += chunk) {
        if (gi_stopped(im->worker->stop)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
        if (chunk > shape.height - y) chunk = shape.height - y;
        gi_view rows = gi_view_rows(&im->pass.in, y, chunk);
        status = gi_decoder_rows(im->decoder, &rows, err);
        if (status == GI_OK && im->thumbnail.sums) gi_thumbnail_rows(&im->thumbnail, &rows);
    }
    // The file is not needed any more, and may be as large as the pixels.
    gi_decoder_close(im->decoder);
    im->decoder = NULL;
    free(im->file.data);
    im->file = (gi_file_data){NULL, 0};
    return status;
}

// ---- images in memory ---------------------------------------------------------------------------------------------

static bool same_shape(gi_shape a, gi_shape b) {
    return a.width == b.width && a.height == b.height && a.channels == b.channels && a.sample == b.sample;
}

// True when the backends can read the pixels where they lie while the result is written.
static bool usable_in_place(const gi_view *pixels, const gi_view *result) {
    uintptr_t begin = (uintptr_t)pixels->data, end = begin + pixels->pitch_bytes * pixels->height;
    if ((begin | pixels->pitch_bytes) % gi_sample_bytes(pixels->sample) != 0) return false;
    if (!result) return true;
    uintptr_t other = (uintptr_t)result->data;
    return end <= other || other + result->pitch_bytes * result->height <= begin;
}

// Makes the request's pixels the image that is processed.
static gi_status take_pixels(image *im, gi_error *err) {
    const gi_view *pixels = im->request->pixels, *result = im->request->result;
    im->header = (gi_header){.shape = gi_view_shape(pixels)};
    gi_status status = gi_plan_make(im->worker->options->pipeline, im->header.shape, &im->plan, err);
    if (status != GI_OK) return status;
    if (result && !im->plan.measures && !same_shape(im->plan.out, gi_view_shape(result)))
        return gi_fail(err, GI_ERR_USAGE, "the result is %ux%u %s of %u bytes a sample, not %ux%u %s of %u",
                       im->plan.out.width, im->plan.out.height, gi_channels_name(im->plan.out.channels),
                       (unsigned)gi_sample_bytes(im->plan.out.sample), result->width, result->height,
                       gi_channels_name(result->channels), (unsigned)gi_sample_bytes(result->sample));
    if (usable_in_place(pixels, result)) {
        prepare_pass(im);
        im->pass.in = *pixels;
        choose_bands(im);
        return GI_OK;
    }
    status = reserve_pixels(im, err);
    if (status != GI_OK) return status;
    size_t row_bytes = gi_row_bytes(pixels->width, pixels->channels, pixels->sample);
    for (uint32_t y = 0; y < pixels->height; y++)
        memcpy(gi_view_row(&im->pass.in, y), gi_view_row(pixels, y), row_bytes);
    return GI_OK;
}

// ---- the result ---------------------------------------------------------------------------------------------------

static gi_status report(image *im, gi_error *err) {
    const gi_batch_options *options = im->worker->options;
    gi_status status = gi_histogram_init(&im->histogram, im->plan.out.channels, im->plan.out.sample, err);
    if (status == GI_OK) status = gi_pass_measure(&im->pass, &im->histogram, err);
    if (status != GI_OK || !options->on_measured) return status;
    uint32_t bins = im->plan.hist.bins > 0 ? (uint32_t)im->plan.hist.bins : im->histogram.levels;
    if (bins > im->histogram.levels) bins = im->histogram.levels;
    gi_measured measured = {im->request->item->in, im->plan.out, &im->histogram, bins, NULL};
    if (im->thumbnail.sums) measured.thumbnail = &im->thumbnail.view;
    if (im->worker->callbacks) pthread_mutex_lock(im->worker->callbacks);
    options->on_measured(options->context, im->request->index, &measured);
    if (im->worker->callbacks) pthread_mutex_unlock(im->worker->callbacks);
    return GI_OK;
}

static gi_format output_format(const image *im) {
    const char *out = im->request->item->out;
    gi_format format = im->worker->options->encode.format;
    if (format == GI_FORMAT_UNKNOWN && out) format = gi_format_of_name(out);
    if (format == GI_FORMAT_UNKNOWN) format = out ? im->header.format : GI_FORMAT_PNG;
    return format;
}

static gi_status make_directory(const image *im, gi_error *err) {
    const char *out = im->request->item->out;
    if (!im->request->make_directories || !out) return GI_OK;
    char *parent = gi_path_parent(out);
    gi_status status = parent ? gi_path_make_directories(parent, err) : gi_fail(err, GI_ERR_MEMORY, "out of memory");
    free(parent);
    return status;
}

static gi_status write_result(image *im, gi_error *err) {
    const gi_batch_options *options = im->worker->options;
    gi_encode_options encode = options->encode;
    encode.format = output_format(im);
    encode.orientation = options->decode.auto_orient ? 0 : im->header.orientation;
    encode.messages = options->messages;
    encode.file = im->name;
    gi_output *output = NULL;
    gi_encoder *encoder = NULL;
    gi_sink sink;
    gi_status status = make_directory(im, err);
    if (status == GI_OK) status = gi_output_open_cancellable(im->request->item->out, options->cancel, &output, err);
    if (status != GI_OK) goto out;
    sink = gi_output_sink(output);
    status = gi_encoder_open(im->plan.out, &encode, &sink, &encoder, err);
    if (status == GI_OK) status = gi_pass_emit(&im->pass, encoder, err);
    if (status == GI_OK) status = gi_encoder_finish(encoder, err);
    if (status == GI_OK && gi_stopped(im->worker->stop)) status = gi_fail(err, GI_ERR_CANCELLED, "interrupted");
    if (status == GI_OK) status = gi_output_commit(output, options->no_clobber, err);
out:
    gi_encoder_close(encoder);
    gi_output_close(output);
    return status;
}

static gi_status deliver(image *im, gi_error *err) {
    const gi_view *result = im->request->result;
    return result ? gi_pass_store(&im->pass, result, err) : write_result(im, err);
}

// Looks at an output that exists, before any work for it.
static gi_status check_existing(const image *im, bool *skipped, gi_error *err) {
    const gi_batch_options *options = im->worker->options;
    const char *out = im->request->item->out;
    struct stat st;
    char shown[GI_PATH_SHOWN];
    if (!out || (!options->skip_existing && !options->no_clobber)) return GI_OK;
    if (stat(out, &st) != 0 || !S_ISREG(st.st_mode)) return GI_OK;
    *skipped = options->skip_existing;
    return *skipped ? GI_OK : gi_fail(err, GI_ERR_EXISTS, "%s exists", gi_path_show(out, shown));
}

static void image_free(image *im) {
    gi_decoder_close(im->decoder);
    free(im->file.data);
    gi_pass_free(&im->pass);
    gi_plan_free(&im->plan);
    gi_histogram_free(&im->histogram);
    gi_thumbnail_free(&im->thumbnail);
}

gi_status gi_process(gi_worker *worker, const gi_process_request *request, bool *skipped, gi_error *err) {
    image im = {.worker = worker, .request = request};
    if (!request->pixels) im.name = request->item->in ? request->item->in : "-";
    *skipped = false;
    if (request->sweep && request->item->out) gi_output_sweep_beside(request->item->out);
    gi_status status = check_existing(&im, skipped, err);
    if (status != GI_OK || *skipped) return status;
    status = request->pixels ? take_pixels(&im, err) : open_decoder(&im, err);
    if (status == GI_OK && !request->pixels) status = decode_pixels(&im, err);
    if (status == GI_OK) status = im.plan.measures ? report(&im, err) : deliver(&im, err);
    image_free(&im);
    return status;
}
