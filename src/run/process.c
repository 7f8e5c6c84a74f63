#include "run/process_image.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/text.h"
#include "run/image_file.h"
#include "run/output.h"
#include "run/path.h"
#include "run/work.h"

static bool on_cpu(const gi_backend *backend) { return strcmp(backend->name, "cpu") == 0; }

// For images whose decoded rows are the result: what only passes through has no need of a device, nor to wait for one.
static const gi_backend_ops nothing_ops = {.lanes = 0};
static gi_slot nothing_slot = {&nothing_ops};

// False while the slot's backend is still starting.
static bool is_ready(gi_slot *slot) { return !slot->ops->ready || slot->ops->ready(slot); }

// ---- before the pixels --------------------------------------------------------------------------------------------

// What a damaged file still holds must not be lost to what could be decoded of it.
static bool is_in_place(const gi_item *item) {
    struct stat in, out;
    if (!item->in || !item->out || stat(item->in, &in) != 0 || stat(item->out, &out) != 0) return false;
    return S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

static bool makes_image(const gi_pipeline *pipeline) {
    return pipeline->count == 0 || pipeline->calls[pipeline->count - 1].stage->kind != GI_STAGE_MEASURE;
}

// Decoders warn of nothing but damage; the threads behind one are gone when it is closed.
static void hear_decoder(void *context, gi_severity severity, const char *file, const char *text) {
    gi_process_image *im = context;
    if (severity == GI_WARNING && !atomic_exchange(&im->damaged, true))
        snprintf(im->outcome->damage, sizeof im->outcome->damage, "%s", text);
    gi_say(im->worker->options->messages, severity, file, "%s", text);
}

static gi_status open_decoder(gi_process_image *im, gi_error *err) {
    const gi_batch_options *options = im->worker->options;
    const gi_item *item = im->request->item;
    gi_source *source = &im->pass.source;
    gi_read_options reading = {.regular_only = item->from_directory, .cancel = options->cancel};
    gi_decode_options decode = options->decode;
    decode.jpeg_luma = options->jpeg_luma && gi_pipeline_takes_luma(options->pipeline);
    decode.threads = im->worker->threads;
    im->heard = (gi_messages){hear_decoder, im};
    decode.messages = &im->heard;
    decode.file = im->name;
    decode.metadata = !options->strip && makes_image(options->pipeline) && !im->request->result;
    decode.strict |= is_in_place(item);
    gi_lap_enter(&im->worker->lap, GI_PHASE_DECODE);
    gi_status status = gi_image_open(item->in, &reading, &decode, &source->file, &source->decoder, err);
    if (status != GI_OK) return status;
    im->outcome->bytes_in = source->file.size;
    im->header = *gi_decoder_header(source->decoder);
    im->metadata = gi_decoder_take_metadata(source->decoder);
    return gi_plan_make(options->pipeline, im->header.shape, &im->plan, err);
}

gi_band_rule gi_process_bands(const gi_batch_options *options, const gi_plan *plan, const gi_band_setting *setting,
                              bool *fits) {
    size_t row = gi_row_bytes(plan->in.width, plan->in.channels, plan->in.sample);
    gi_band_rule rule = {plan->in.height, setting->memory, setting->device};
    if (setting->whole)
        rule.rows = plan->in.height;
    else if (setting->device)
        rule.rows = gi_band_rows_device(plan, setting->streams);
    else if (setting->streams)
        rule.rows = gi_band_rows_streamed(plan, gi_work_is_heavy(plan));
    if (options->band_bytes > 0 && options->band_bytes / row < rule.rows)
        rule.rows = options->band_bytes >= row ? (uint32_t)(options->band_bytes / row) : 1;
    if (options->band_rows > 0 && options->band_rows < rule.rows) rule.rows = options->band_rows;
    rule.rows = gi_band_rows(plan, &rule, fits);
    // Where a stage works on the rows as they lie, or none does, they are what there is of the band.
    if (setting->memory > 0 && row > setting->memory) *fits = false;
    return rule;
}

// How high the bands are on the pass's slot, and with how many threads it works on them. True when it is a device's.
static bool choose_bands(gi_process_image *im) {
    gi_worker *worker = im->worker;
    bool device = im->pass.slot == worker->slot && !on_cpu(worker->backend);
    bool streams = im->pass.source.decoder != NULL, fits = true;
    const gi_band_setting setting = {worker->memory, device, streams, im->device.encodes};
    im->pass.bands = gi_process_bands(worker->options, &im->plan, &setting, &fits);
    if (!fits)
        gi_say(worker->options->messages, GI_WARNING, im->name,
               "a band of one row takes more than the %zu byte%s allowed", worker->memory, gi_plural(worker->memory));
    // A team of threads spins between its bands, where a decoder and an encoder have better use for their cores.
    gi_slot_use_threads(im->pass.slot, streams && !gi_work_is_heavy(&im->plan) ? 1 : worker->threads);
    return device;
}

static void prepare_pass(gi_process_image *im) {
    const gi_batch_options *options = im->worker->options;
    gi_pass *pass = &im->pass;
    const bool needs_slot = !gi_plan_is_nothing(&im->plan) || im->device.decodes || im->device.encodes;
    pass->slot = needs_slot ? im->worker->slot : &nothing_slot;
    pass->gate = im->worker->gate;
    pass->stop = im->worker->stop;
    pass->plan = &im->plan;
    pass->fallback = options->fallback ? gi_worker_fallback : NULL;
    pass->fallback_context = im->worker;
    pass->lap = &im->worker->lap;
    pass->messages = options->messages;
    pass->file = im->name;
}

// Takes the fallback's slot where there is one and the backend cannot be used any more, or at all, for which it may
// `wait`. True when it did.
static bool avoid_lost(gi_process_image *im, bool wait) {
    gi_backend *backend = im->worker->backend;
    gi_pass *pass = &im->pass;
    gi_error why = {.status = GI_OK};
    if (pass->slot == &nothing_slot || !pass->fallback || !backend->ops->lost ||
        !backend->ops->lost(backend, wait, &why))
        return false;
    if (gi_worker_fallback(im->worker, &pass->slot, NULL) != GI_OK) return false;
    // Nobody has asked for that device.
    gi_say(pass->messages, GI_NOTE, im->name, "done on the CPU, as no GPU is usable: %s", why.text);
    pass->fallback = NULL;
    return true;
}

// A buffer of the slot's, which a device reads fast, for the rows that the source holds at once: for all of them where
// they are decoded while the device starts.
static gi_status reserve_rows(gi_process_image *im, gi_error *err) {
    gi_pass *pass = &im->pass;
    gi_shape shape = im->header.shape;
    size_t bytes = 0;
    void *data = NULL;
    bool device = choose_bands(im) && is_ready(pass->slot);
    if (pass->source.decoder && is_ready(pass->slot)) shape.height = gi_window_rows(&im->plan, &pass->bands);
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK && pass->slot == &nothing_slot)
        status = gi_worker_plain(im->worker, bytes, &data, err);
    else if (status == GI_OK)
        status = pass->slot->ops->host_buffer(pass->slot, bytes, &data, err);
    if (status != GI_OK) return status;
    pass->source.view = gi_view_packed(data, shape, device ? GI_PINNED : GI_HOST);
    pass->source.height = im->header.shape.height;
    return GI_OK;
}

// ... and on the fallback's slot where the device has no memory left.
static gi_status reserve_somewhere(gi_process_image *im, gi_error *err) {
    gi_pass *pass = &im->pass;
    gi_error why = {.status = GI_OK};
    gi_status status = reserve_rows(im, &why);
    if (status == GI_ERR_DEVICE_MEMORY && pass->fallback &&
        gi_worker_fallback(im->worker, &pass->slot, NULL) == GI_OK) {
        gi_say(pass->messages, GI_WARNING, im->name, "%s; done on the CPU instead", why.text);
        pass->fallback = NULL;
        status = reserve_rows(im, &why);
    }
    if (status != GI_OK && err) *err = why;
    return status;
}

// ---- the device's own codecs --------------------------------------------------------------------------------------

// One band of all rows; false where that is not to be.
static bool make_whole(const gi_process_image *im, gi_band_rule *bands) {
    const gi_band_setting setting = {.memory = im->worker->memory, .device = true, .whole = true};
    bool fits = true;
    *bands = gi_process_bands(im->worker->options, &im->plan, &setting, &fits);
    return fits && bands->rows >= im->plan.in.height;
}

static void choose_codecs(gi_process_image *im) {
    const gi_worker *worker = im->worker;
    const gi_batch_options *options = worker->options;
    if (im->request->pixels || !gi_codec_asks_device(options->decode.codec)) return;
    const gi_encode_options encode = gi_process_encoding(im);
    const bool pixels_out = im->request->result != NULL || im->plan.measures;
    gi_band_rule whole;
    im->device = gi_device_codecs_choose(
        &(gi_device_codec_request){.codec = options->decode.codec,
                                   .backend = worker->backend,
                                   .ready = is_ready(worker->slot),
                                   .fits = make_whole(im, &whole),
                                   .decoder = im->pass.source.decoder,
                                   .plan = &im->plan,
                                   .needs_rows = options->thumbnail_side > 0 && im->plan.measures,
                                   .encode = pixels_out ? NULL : &encode,
                                   .messages = options->messages,
                                   .name = im->name});
}

// The CPU's codecs take over, for gi_pass.provide too.
static gi_status decode_on_cpu(void *context, gi_error *err) {
    gi_process_image *im = context;
    im->device = (gi_device_codecs){.decodes = false};
    gi_status status = reserve_somewhere(im, err);
    if (status != GI_ERR_DEVICE_MEMORY) return status;
    if (err) err->status = GI_ERR_MEMORY; // smaller bands would not help
    return GI_ERR_MEMORY;
}

// True when the device has decoded the image, or is about to.
static bool decode_on_device(gi_process_image *im) {
    gi_pass *pass = &im->pass;
    gi_error why = {.status = GI_OK};
    if (!im->device.decodes || pass->slot != im->worker->slot || !make_whole(im, &pass->bands)) return false;
    pass->source.height = im->header.shape.height;
    pass->provide = decode_on_cpu;
    pass->provide_context = im;
    if (gi_pass_decode(pass, &im->device.file, &why) == GI_OK) return true;
    gi_say(pass->messages, GI_NOTE, im->name, "decoded on the CPU: %s", why.text);
    im->device.decodes = false;
    avoid_lost(im, false);
    return false;
}

// Sets the pass up, with memory for rows unless the device decodes them.
static gi_status begin_pass(gi_process_image *im, gi_error *err) {
    gi_status status = gi_worker_borrow(im->worker, err);
    if (status != GI_OK) return status;
    choose_codecs(im);
    prepare_pass(im);
    if (avoid_lost(im, false)) im->device = (gi_device_codecs){.decodes = false};
    return decode_on_device(im) ? GI_OK : reserve_somewhere(im, err);
}

// ---- the first rows -----------------------------------------------------------------------------------------------

// Decodes on, behind the first band, while the device is starting.
static gi_status decode_while_starting(gi_process_image *im, gi_error *err) {
    gi_source *source = &im->pass.source;
    gi_status status = GI_OK;
    gi_view rows;
    gi_rows next = {im->pass.bands.rows, im->pass.bands.rows};
    for (; status == GI_OK && next.y < source->height && !is_ready(im->pass.slot); next.y += next.count) {
        if (next.count > source->height - next.y) next.count = source->height - next.y;
        status = gi_source_rows(source, next, &rows, err);
    }
    // With all rows there is nothing left to do without the device: to wait for it is no work.
    if (status != GI_OK || im->pass.slot == &nothing_slot) return status;
    gi_lap_leave(&im->worker->lap);
    if (!is_ready(im->pass.slot)) gi_lap_enter(&im->worker->lap, GI_PHASE_START);
    if (avoid_lost(im, true)) choose_bands(im);
    if (im->worker->backend->ops->lost && im->pass.slot == im->worker->slot)
        im->worker->backend->ops->lost(im->worker->backend, true, NULL);
    gi_lap_leave(&im->worker->lap);
    return status;
}

// Begins to decode: the first band, so that most of what is wrong with a file is known before its output is begun.
static gi_status begin_decoding(gi_process_image *im, gi_error *err) {
    const gi_batch_options *options = im->worker->options;
    gi_source *source = &im->pass.source;
    gi_view rows;
    source->stop = im->worker->stop;
    source->lap = &im->worker->lap;
    gi_status status = begin_pass(im, err);
    if (status != GI_OK || im->device.decodes) return status;
    if (options->thumbnail_side && im->plan.measures) {
        status = gi_thumbnail_init(&im->thumbnail, im->header.shape, options->thumbnail_side, err);
        if (status != GI_OK) return status;
        source->thumbnail = &im->thumbnail;
    }
    status = gi_source_rows(source, (gi_rows){0, im->pass.bands.rows}, &rows, err);
    return status == GI_OK ? decode_while_starting(im, err) : status;
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
static gi_status take_pixels(gi_process_image *im, gi_error *err) {
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
        im->pass.source = gi_source_of_image(pixels);
        choose_bands(im);
        return GI_OK;
    }
    status = begin_pass(im, err);
    if (status != GI_OK) return status;
    const gi_view copy = im->pass.source.view;
    size_t row_bytes = gi_row_bytes(pixels->width, pixels->channels, pixels->sample);
    for (uint32_t y = 0; y < pixels->height; y++) memcpy(gi_view_row(&copy, y), gi_view_row(pixels, y), row_bytes);
    im->pass.source = gi_source_of_image(&copy);
    return GI_OK;
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// Looks at an output that exists, before any work for it.
static gi_status check_existing(const gi_process_image *im, gi_error *err) {
    const gi_batch_options *options = im->worker->options;
    const char *out = im->request->item->out;
    if (!out || (!options->skip_existing && !options->no_clobber) || !gi_output_replaces(out)) return GI_OK;
    im->outcome->skipped = options->skip_existing;
    return im->outcome->skipped ? GI_OK : gi_path_fail_existing(err, out);
}

static void image_free(gi_process_image *im) {
    gi_pass_free(&im->pass);
    gi_plan_free(&im->plan);
    gi_histogram_free(&im->histogram);
    gi_thumbnail_free(&im->thumbnail);
    gi_worker_return(im->worker);
    gi_metadata_free(im->metadata);
}

gi_status gi_process(gi_worker *worker, const gi_process_request *request, gi_outcome *outcome, gi_error *err) {
    gi_process_image im = {.worker = worker, .request = request, .outcome = outcome};
    outcome->damage[0] = '\0';
    if (!request->pixels) im.name = gi_path_input(request->item->in);
    if (request->sweep && request->item->out) gi_output_sweep_beside(request->item->out);
    gi_status status = check_existing(&im, err);
    if (status != GI_OK || outcome->skipped) return status;
    status = request->pixels ? take_pixels(&im, err) : open_decoder(&im, err);
    if (status == GI_OK && !request->pixels) status = begin_decoding(&im, err);
    if (status == GI_OK) status = gi_process_result(&im, err);
    image_free(&im);
    return status;
}
