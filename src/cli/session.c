#include "cli/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api_internal.h"
#include "cli/buffer.h"
#include "cli/environment.h"
#include "cli/records.h"
#include "cli/retry.h"
#include "cli/sha256.h"
#include "cli/shard_option.h"
#include "cli/signals.h"
#include "core/text.h"
#include "run/path.h"
#include "run/pixels.h"

// What --device says, else GPUIMG_DEVICE, else auto.
static const char *device_text(const gi_options *options) {
    const char *text = options->device ? options->device : getenv("GPUIMG_DEVICE");
    return text && *text ? text : "auto";
}

gi_status gi_device_of_options(const gi_options *options, gi_device_request *request, gi_error *err) {
    if (gi_device_parse(device_text(options), request, NULL) == GI_OK) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE, "%s must be auto, cpu, cuda, cuda:N, cuda:N,M,... or cuda:all, not '%.100s'",
                   options->device ? "option --device" : "variable GPUIMG_DEVICE", device_text(options));
}

gi_status gi_context_of_options(const gi_options *options, gpuimg_context **context, gi_error *err) {
    gpuimg_error cause;
    gpuimg_status opened = gpuimg_context_open(device_text(options), 0, context, &cause);
    if (opened) return gi_fail(err, (gi_status)opened, "device %s: %s", device_text(options), cause.text);
    return GI_OK;
}

static gi_status confine(gi_session *session, gi_error *err) {
    const gi_options *options = session->options;
    gi_confinement *c = &session->confinement;
    *c = (gi_confinement){.options = options, .list = &session->list};
    const char *const files[] = {options->manifest, options->stats_json, options->trace,
                                 session->sink ? options->output : NULL};
    memcpy(c->files, files, sizeof files);
    gi_status status = gi_device_of_options(options, &c->device, err);
    if (status != GI_OK) return status;
    // A run that is going to end at the first of its own files leaves no directory behind.
    c->make = (session->list.out_directory || session->list.makes_directories) && gi_records_can_open(session);
    return gi_confine(c, err);
}

static gi_status open_device(gi_session *session, gi_error *err) {
    gi_status status = gi_context_of_options(session->options, &session->context, err);
    if (status) return status;
    const gi_codec_choice codec = (gi_codec_choice)gi_options_choice(session->options, GI_GLOBAL_codec);
    gi_work_estimate work = {
        .pipeline = session->pipeline, .files = session->list.count, .decoded = true, .codec = codec};
    work.told = session->console.verbose;
    if (gi_context_weighs_work(session->context)) work.pixels = gi_list_pixels(&session->list);
    if (session->nominal_pixels) {
        work.files = 1;
        work.pixels = session->nominal_pixels;
    }
    gi_choice *choice = &session->choice;
    gi_context_choose(session->context, &work, choice);
    for (int i = -1; i < choice->more_count; i++) {
        const gi_backend *backend = i < 0 ? choice->backend : choice->more[i];
        gi_say(&session->messages, GI_NOTE, NULL, "device %s (%s): %s", backend->name, backend->detail, choice->why);
    }
    gi_confine_note(&session->confinement, &session->messages);
    return gi_choice_check_codec(choice, codec, err);
}

// Options of codecs that this build has not, or that contradict each other.
static gi_status check_codecs(const gi_options *options, gi_error *err) {
    static const struct {
        gi_global_id id;
        const char *name;
    } of_turbo[] = {{GI_GLOBAL_subsampling, "--subsampling"},
                    {GI_GLOBAL_optimize, "--optimize"},
                    {GI_GLOBAL_progressive, "--progressive"}};
    gi_error cause;
    gi_codec_choice codec = (gi_codec_choice)gi_options_choice(options, GI_GLOBAL_codec);
    gi_status status = gi_options_check_codec(options, false, err);
    if (status != GI_OK) return status;
    for (size_t i = 0; i < sizeof of_turbo / sizeof of_turbo[0]; i++)
        if ((options->given >> of_turbo[i].id & 1) && gi_codec_check_turbo(codec, of_turbo[i].name, &cause))
            return gi_fail(err, GI_ERR_USAGE, "%s", cause.text);
    return GI_OK;
}

static void note_empty(const gi_session *session) {
    if (session->list.count || session->list.failed || session->console.quiet || gi_interrupt) return;
    if (session->shard.count > 0)
        gi_complain("no image falls to share %u of %u", session->shard.index, session->shard.count);
    else if (session->options->retry_failed)
        gi_complain("nothing to do again: no input is failed or not started");
    else if (session->list.skipped)
        gi_complain("no PNG or JPEG images found (%zu other file%s)", session->list.skipped,
                    gi_plural(session->list.skipped));
    else
        gi_complain("no PNG or JPEG images found");
}

static gi_status list_inputs(gi_session *session, gi_error *err) {
    const gi_options *options = session->options;
    gi_inputs_request request = {session->inputs, session->input_count, options->files_from, options->null,
                                 session->output, options->recursive,   session->format,     &session->messages};
    gi_retry retry = {0};
    gi_status status = GI_OK;
    if (options->retry_failed)
        status = gi_retry_read(options->retry_failed, session->pipeline_text, &session->messages, &retry, err);
    if (status == GI_OK && session->recorded) {
        status = gi_retry_collect(&retry, &request, session->sink, &session->list, err);
    } else if (status == GI_OK) {
        status = gi_inputs_collect(&request, &session->list, err);
        if (status == GI_OK && options->retry_failed) status = gi_retry_keep(&retry, &session->list, err);
    }
    gi_retry_free(&retry);
    if (status == GI_OK) gi_shard_keep(session->shard, &session->list);
    return status;
}

gi_status gi_session_open(gi_session *session) {
    gi_error err = {0};
    const gi_options *options = session->options;
    session->console = (gi_console){options->quiet, options->verbose};
    session->messages = (gi_messages){gi_console_say, &session->console};
    gi_pipeline_text(session->pipeline, session->pipeline_text, sizeof session->pipeline_text);
    gi_status status = gi_environment_check(&err);
    if (status == GI_OK) status = check_codecs(options, &err);
    if (status == GI_OK) status = gi_shard_choose(options->shard, &session->shard, &err);
    if (status == GI_OK && !session->nominal_pixels) status = list_inputs(session, &err);
    if (status == GI_OK) status = gi_records_check(session, &err);
    if (status == GI_OK) status = confine(session, &err);
    if (status == GI_OK) status = open_device(session, &err);
    if (status) {
        gi_complain_error(&err, NULL);
        if (status == GI_ERR_USAGE && session->hint) gi_complain("%s", session->hint);
        if (status == GI_ERR_USAGE) gi_suggest_help(session->user);
    } else if (!session->nominal_pixels) {
        note_empty(session);
    }
    return status;
}

// The words of these options stand in the order of their enumerations.
static void take_codecs(const gi_options *options, gi_batch_options *batch) {
    batch->decode.codec = batch->encode.codec = (gi_codec_choice)gi_options_choice(options, GI_GLOBAL_codec);
    batch->encode.quality = options->quality;
    batch->encode.subsampling = (gi_subsampling)gi_options_choice(options, GI_GLOBAL_subsampling);
    batch->encode.optimize = options->optimize;
    batch->encode.progressive = options->progressive;
    batch->encode.png_level = options->png_level;
    batch->encode.png_reduce = (gi_png_reduce)gi_options_choice(options, GI_GLOBAL_png_reduce);
}

gi_batch_options gi_session_batch_options(const gi_session *session) {
    const gi_options *options = session->options;
    gi_batch_options batch = {0};
    batch.pipeline = session->pipeline;
    batch.backend = session->choice.backend;
    batch.more = session->choice.more;
    batch.more_count = session->choice.more_count;
    batch.fallback = session->choice.fallback;
    batch.decode.max_pixels = options->max_pixels;
    batch.decode.depth = gi_options_depth(options);
    batch.decode.strict = options->strict;
    batch.decode.auto_orient = !options->no_auto_orient;
    batch.decode.messages = &session->messages;
    batch.encode.format = session->format;
    take_codecs(options, &batch);
    memcpy(batch.encode.background, options->background.rgb, sizeof batch.encode.background);
    batch.encode.messages = &session->messages;
    batch.strip = options->strip;
    batch.jpeg_luma = !options->no_jpeg_luma;
    batch.skip_existing = options->skip_existing;
    batch.no_clobber = options->no_clobber;
    batch.fail_fast = options->fail_fast;
    batch.max_memory = options->max_memory;
    batch.band_rows = gi_environment_band_rows();
    batch.workers = options->workers;
    batch.slots = options->slots;
    batch.streams = options->streams;
    batch.digester = options->sha256 ? gi_sha256() : NULL;
    batch.messages = &session->messages;
    batch.cancel = &gi_interrupt;
    return batch;
}

static bool is_batch(const gi_session *session) {
    if (session->list.count == 0 && session->list.failed == 0) return false; // said already
    return session->list.count > 1 || session->list.skipped || session->list.failed ||
           (session->list.count == 1 && session->list.items[0].from_directory);
}

// True for a report on standard output that nobody reads any more.
static bool is_unread(const gi_session *session) {
    const char *output = session->options->output;
    return session->sink && (!output || !gi_path_of_argument(output)) && gi_reader_is_gone();
}

static void print_summary(const gi_session *session, const gi_batch_result *result) {
    if (session->console.quiet || !is_batch(session) || is_unread(session)) return;
    gi_buffer text = {0};
    size_t other = session->list.skipped, skipped = result->skipped + other;
    gi_buffer_printf(&text, "%zu done", result->done);
    if (skipped) gi_buffer_printf(&text, ", %zu skipped", skipped);
    if (other && result->skipped)
        gi_buffer_printf(&text, " (%zu there already, %zu neither PNG nor JPEG)", result->skipped, other);
    else if (skipped)
        gi_buffer_puts(&text, other ? " (neither PNG nor JPEG)" : " (there already)");
    if (result->failed) gi_buffer_printf(&text, ", %zu failed", result->failed);
    if (result->not_started) gi_buffer_printf(&text, ", %zu not started", result->not_started);
    if (!text.failed) gi_complain("%s", text.data);
    gi_buffer_free(&text);
}

enum { NAMES_SAID = 20 }; // of what was not started; a manifest has them all

// A full disk: which inputs have no output for it, beside those that failed by name.
static void name_not_started(const gi_session *session, const gi_batch_result *result, const bool *ended) {
    size_t said = 0;
    for (size_t i = 0; i < session->list.count && said < NAMES_SAID; i++) {
        if (ended[i]) continue;
        const char *in = session->list.items[i].in;
        gi_say(&session->messages, GI_FAILURE, gi_path_input(in), "not done, because the disk is full");
        said++;
    }
    if (result->not_started > said) gi_complain("and %zu more are not done", result->not_started - said);
}

// The session's callbacks, which pass on to its caller's.
typedef struct hooks {
    gi_session *session;
    bool *ended; // for each item
    const gi_batch_options *caller;
} hooks;

static void on_measured(void *context, size_t index, gi_measured *measured) {
    const hooks *h = context;
    h->caller->on_measured(h->caller->context, index, measured);
}

static void on_progress(void *context, size_t index, const gi_outcome *outcome) {
    const hooks *h = context;
    h->ended[index] = true;
    gi_records_add(h->session, index, outcome);
    if (h->caller->on_progress) h->caller->on_progress(h->caller->context, index, outcome);
}

gi_status gi_session_run(gi_session *session, const gi_batch_options *batch, gi_batch_result *result) {
    gi_error err = {0};
    hooks h = {session, calloc(session->list.count + 1, sizeof(bool)), batch};
    gi_batch_options options = *batch;
    memset(result, 0, sizeof *result);
    if (!h.ended) {
        gi_complain("out of memory for %zu file%s", session->list.count, gi_plural(session->list.count));
        return GI_ERR_MEMORY;
    }
    options.context = &h;
    options.on_progress = on_progress;
    if (batch->on_measured) options.on_measured = on_measured;
    gi_status status = gi_records_open(session, &options);
    if (status) goto out;
    status = gi_batch_run(&session->list, &options, result, &err);
    gi_progress_close(session->progress);
    session->progress = NULL;
    // A stopped run says so by its exit status; fail_fast named the file that stopped it.
    if (status && status != GI_ERR_CANCELLED) gi_complain_error(&err, NULL);
    if (result->disk_full) name_not_started(session, result, h.ended);
    print_summary(session, result);
    status = gi_records_finish(session, result, status);
    if (status == GI_OK && (result->failed || result->not_started)) status = GI_ERR_IO;
out:
    free(h.ended);
    return status;
}

void gi_session_close(gi_session *session) {
    gi_records_close(session);
    gpuimg_context_close(session->context);
    gi_item_list_free(&session->list);
}
