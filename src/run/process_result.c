#include "run/process_image.h"

#include <pthread.h>
#include <stdlib.h>

#include "run/output.h"
#include "run/path.h"

static gi_format output_format(const gi_process_image *im) {
    const char *out = im->request->item->out;
    gi_format format = im->worker->options->encode.format;
    if (format == GI_FORMAT_UNKNOWN && out) format = gi_format_of_name(out);
    if (format == GI_FORMAT_UNKNOWN) format = out ? im->header.format : GI_FORMAT_PNG;
    return format;
}

gi_encode_options gi_process_encoding(const gi_process_image *im) {
    const gi_batch_options *options = im->worker->options;
    gi_encode_options encode = options->encode;
    encode.format = output_format(im);
    encode.orientation = options->decode.auto_orient || options->strip ? 0 : im->header.orientation;
    encode.metadata = im->metadata;
    encode.threads = im->worker->threads;
    encode.binary = im->plan.binary;
    encode.messages = options->messages;
    encode.file = im->name;
    return encode;
}

static gi_status report(gi_process_image *im, gi_error *err) {
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

static gi_status make_directory(const gi_process_image *im, gi_error *err) {
    const char *out = im->request->item->out;
    if (!im->request->make_directories || !out) return GI_OK;
    char *parent = gi_path_parent(out);
    gi_status status = parent ? gi_path_make_directories(parent, err) : gi_fail(err, GI_ERR_MEMORY, "out of memory");
    free(parent);
    return status;
}

// A name that promises another format than what is in the file now, unless the format was asked for.
static void warn_of_name(const gi_process_image *im, gi_format format) {
    const gi_batch_options *options = im->worker->options;
    const char *out = im->request->item->out;
    if (out && options->encode.format == GI_FORMAT_UNKNOWN && gi_format_is_other(out))
        gi_say(options->messages, GI_WARNING, out, "written as %s; gpuimg writes PNG and JPEG", gi_format_name(format));
}

// Encoded by the device. *done: false when the CPU is to do it.
static gi_status encode_on_device(gi_process_image *im, const gi_encode_options *encode, const gi_sink *sink,
                                  bool *done, gi_error *err) {
    const gi_jpeg_form form = gi_device_jpeg_form(encode);
    gi_error why = {.status = GI_OK};
    gi_bytes made;
    *done = false;
    // The slot may have become another's, or its bands lower, since that was chosen.
    if (!im->device.encodes || im->pass.slot != im->worker->slot || im->pass.bands.rows < im->plan.in.height)
        return GI_OK;
    gi_status status = gi_pass_encode(&im->pass, &form, &made, &why);
    *done = status == GI_OK || status == GI_ERR_CANCELLED;
    if (status == GI_OK) return gi_encode_made_jpeg(made, im->plan.out, encode, sink, err);
    if (*done && err) *err = why;
    if (*done) return status;
    gi_say(im->pass.messages, GI_NOTE, im->name, "encoded on the CPU: %s", why.text);
    return GI_OK;
}

static gi_status encode_rows(gi_process_image *im, const gi_encode_options *encode, const gi_sink *sink,
                             gi_error *err) {
    gi_encoder *encoder = NULL;
    gi_status status = gi_encoder_open(im->plan.out, encode, sink, &encoder, err);
    if (status == GI_OK) status = gi_pass_emit(&im->pass, encoder, err);
    gi_worker_return(im->worker); // the encoder has taken all rows
    gi_lap_enter(&im->worker->lap, GI_PHASE_ENCODE);
    if (status == GI_OK) status = gi_encoder_finish(encoder, err);
    gi_encoder_close(encoder);
    return status;
}

static gi_status write_result(gi_process_image *im, gi_error *err) {
    const gi_batch_options *options = im->worker->options;
    const gi_encode_options encode = gi_process_encoding(im);
    gi_output *output = NULL;
    gi_sink sink;
    bool done = false;
    gi_lap_enter(&im->worker->lap, GI_PHASE_ENCODE);
    gi_status status = make_directory(im, err);
    if (status == GI_OK) status = gi_output_open_cancellable(im->request->item->out, options->cancel, &output, err);
    if (status == GI_OK && options->digester) status = gi_output_hash(output, options->digester, err);
    if (status != GI_OK) goto out;
    sink = gi_output_sink(output);
    status = encode_on_device(im, &encode, &sink, &done, err);
    if (status == GI_OK && !done) status = encode_rows(im, &encode, &sink, err);
    gi_worker_return(im->worker);
    if (status == GI_OK && gi_stopped(im->worker->stop)) status = gi_fail(err, GI_ERR_CANCELLED, "interrupted");
    if (status == GI_OK) status = gi_output_commit(output, options->no_clobber, err);
    if (status == GI_OK) warn_of_name(im, encode.format);
    if (status == GI_OK) im->outcome->bytes_out = gi_output_bytes(output);
    if (status == GI_OK && options->digester) gi_output_digest(output, im->outcome->digest);
out:
    gi_output_close(output);
    return status;
}

gi_status gi_process_result(gi_process_image *im, gi_error *err) {
    const gi_view *result = im->request->result;
    if (im->plan.measures) return report(im, err);
    return result ? gi_pass_store(&im->pass, result, err) : write_result(im, err);
}
