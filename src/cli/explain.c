#include "cli/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/buffer.h"
#include "cli/console.h"
#include "cli/session.h"
#include "core/text.h"
#include "run/image_file.h"
#include "run/path.h"
#include "run/process.h"
#include "run/work.h"

static const gi_shape nominal = {7680, 4320, 3, GI_U8};

static void add_bytes(gi_buffer *text, size_t bytes) {
    if (bytes < 10240)
        gi_buffer_printf(text, "%zu byte%s", bytes, gi_plural(bytes));
    else if (bytes < (size_t)10 << 20)
        gi_buffer_printf(text, "%.1f KiB", (double)bytes / 1024);
    else
        gi_buffer_printf(text, "%.1f MiB", (double)bytes / (1 << 20));
}

// A call with its options, as in a pipeline.
static void add_call(gi_buffer *text, const gi_stage_call *call) {
    gi_pipeline one = {.calls = {*call}, .count = 1};
    char words[400];
    gi_pipeline_text(&one, words, sizeof words);
    gi_buffer_puts(text, words);
}

static void add_barrier(gi_buffer *text, const gi_segment *segment) {
    gi_buffer_printf(text, "   first    the histogram of the whole %s, for %s\n",
                     segment->counted == GI_COUNTED_LUMA ? "image's luma" : "image", segment->calls[0].stage->name);
}

static void add_segment(gi_buffer *text, const gi_segment *segment, int number) {
    bool point = segment->kind == GI_STAGE_POINT;
    if (point && segment->counted != GI_COUNTED_NOTHING) add_barrier(text, segment);
    gi_buffer_printf(text, "%2d %-8s ", number, point ? "point" : "window");
    for (int i = 0; i < segment->count; i++) {
        gi_buffer_puts(text, i ? " | " : "");
        add_call(text, &segment->calls[i]);
    }
    gi_buffer_puts(text, segment->count > 1 ? " (in one pass)\n" : "\n");
    gi_buffer_printf(text, "            %s", gi_channels_name(segment->channels_in));
    if (segment->channels_in != segment->channels_out)
        gi_buffer_printf(text, " to %s", gi_channels_name(segment->channels_out));
    if (gi_segment_is_identity(segment)) gi_buffer_puts(text, ": nothing to do, left out");
    if (!point && segment->halo == UINT32_MAX)
        gi_buffer_puts(text, ", from the whole image");
    else if (!point)
        gi_buffer_printf(text, ", from %u row%s above and below", segment->halo, gi_plural(segment->halo));
    gi_buffer_puts(text, "\n");
}

static void add_leg(gi_buffer *text, const gi_plan *plan, const gi_leg *leg) {
    if (leg->from == leg->to)
        gi_buffer_puts(text, "            the image as it is");
    else if (leg->from + 1 == leg->to)
        gi_buffer_printf(text, "            step %d", leg->to);
    else
        gi_buffer_printf(text, "            steps %d to %d", leg->from + 1, leg->to);
    uint32_t halo = gi_halo_sum(plan, leg->from, leg->to);
    if (halo == UINT32_MAX)
        gi_buffer_puts(text, " from the whole image");
    else if (halo > 0)
        gi_buffer_printf(text, " from %u row%s above and below", halo, gi_plural(halo));
    if (leg->counted != GI_COUNTED_NOTHING) gi_buffer_puts(text, ", histogram taken");
    if (leg->stored) gi_buffer_puts(text, ", kept whole in memory");
    if (leg->last) gi_buffer_puts(text, plan->measures ? ", histogram taken for hist" : ", encoded");
    gi_buffer_puts(text, "\n");
}

static void add_legs(gi_buffer *text, const gi_plan *plan, const gi_band_rule *rule) {
    gi_leg leg = {.last = false};
    for (int from = 0, resolved = 0; !leg.last; from = leg.stored ? leg.to : from) {
        leg = gi_leg_next(plan, from, resolved, rule);
        resolved += leg.counted != GI_COUNTED_NOTHING;
        add_leg(text, plan, &leg);
    }
}

static void add_work(gi_buffer *text, const gi_plan *plan, const gi_band_rule *rule) {
    gi_work work = gi_work_of(plan, rule);
    double pixels = (double)plan->in.width * plan->in.height;
    if (work.bands == 1) {
        gi_buffer_printf(text, "bands       one: the whole image, %u row%s\n", plan->in.height,
                         gi_plural(plan->in.height));
    } else {
        gi_buffer_printf(text, "bands       %u of %u row%s, in turn:\n", work.bands, rule->rows, gi_plural(rule->rows));
        add_legs(text, plan, rule);
    }
    gi_buffer_printf(text, "moved       %.2f bytes read and %.2f written a pixel", work.read / pixels,
                     work.written / pixels);
    if (rule->uploads)
        gi_buffer_printf(text, "; %.2f up to the device and %.2f down", work.up / pixels, work.down / pixels);
    gi_buffer_puts(text, work.window < work.image ? "\nmemory      decoded rows " : "\nmemory      decoded image ");
    add_bytes(text, work.window);
    if (work.window < work.image) {
        gi_buffer_puts(text, " of ");
        add_bytes(text, work.image);
    }
    gi_buffer_puts(text, rule->uploads ? ", on the device " : ", working buffers ");
    add_bytes(text, work.working);
    if (work.stored) {
        gi_buffer_puts(text, ", kept whole between ");
        add_bytes(text, work.stored);
    }
    gi_buffer_puts(text, "\n");
}

// `about`: where the image comes from.
static gi_status add_plan(gi_buffer *text, const gi_session *session, gi_shape shape, const char *about,
                          gi_error *err) {
    gi_batch_options batch = gi_session_batch_options(session);
    gi_plan plan;
    gi_status status = gi_plan_make(session->pipeline, shape, &plan, err);
    if (status == GI_OK) {
        bool fits = true;
        size_t memory = gi_batch_memory_share(&batch, session->list.count);
        const gi_band_setting setting = {memory, strcmp(session->choice.backend->name, "cpu") != 0, true, false};
        gi_band_rule rule = gi_process_bands(&batch, &plan, &setting, &fits);
        gi_buffer_puts(text, "image       ");
        gi_buffer_safe(text, about);
        gi_buffer_printf(text, ", %ux%u %s, %d bits\n", shape.width, shape.height, gi_channels_name(shape.channels),
                         shape.sample == GI_U8 ? 8 : 16);
        gi_buffer_printf(text, "device      %s (%s)\n", session->choice.backend->name, session->choice.backend->detail);
        for (int i = 0; i < plan.segment_count; i++) add_segment(text, &plan.segments[i], i + 1);
        if (plan.measures) gi_buffer_printf(text, "   report   histogram of %s\n", gi_channels_name(plan.out.channels));
        add_work(text, &plan, &rule);
        if (!fits) gi_buffer_puts(text, "            a band of one row takes more than --max-memory allows\n");
    }
    gi_plan_free(&plan);
    return status;
}

static gi_status header_of(const gi_session *session, const gi_item *item, gi_shape *shape, gi_error *err) {
    gi_batch_options batch = gi_session_batch_options(session);
    gi_read_options reading = {.regular_only = item->from_directory, .cancel = batch.cancel};
    gi_file_data file;
    gi_decoder *decoder;
    batch.decode.jpeg_luma = batch.jpeg_luma && gi_pipeline_takes_luma(session->pipeline);
    batch.decode.file = item->in;
    gi_status status = gi_image_open(item->in, &reading, &batch.decode, &file, &decoder, err);
    if (status != GI_OK) return status;
    *shape = gi_decoder_header(decoder)->shape;
    gi_decoder_close(decoder);
    gi_file_data_free(&file);
    return GI_OK;
}

static gi_status explain_items(const gi_session *session, gi_buffer *text) {
    gi_status failed = session->list.failed ? GI_ERR_IO : GI_OK;
    gi_error err = {0};
    for (size_t i = 0; i < session->list.count; i++) {
        const gi_item *item = &session->list.items[i];
        gi_shape shape;
        gi_status status = header_of(session, item, &shape, &err);
        if (status == GI_OK && text->size) gi_buffer_puts(text, "\n");
        if (status == GI_OK) status = add_plan(text, session, shape, gi_path_input(item->in), &err);
        if (status == GI_OK) continue;
        gi_say(&session->messages, GI_FAILURE, gi_path_input(item->in), "%s", err.text);
        failed = GI_ERR_IO;
    }
    return failed;
}

// The inputs of a command line of which only the last name may be an output's: one that is not there yet. A report has
// none.
static gi_operands without_output(const gi_pipeline *pipeline, gi_operands names) {
    struct stat st;
    if (pipeline->calls[pipeline->count - 1].stage->kind == GI_STAGE_MEASURE) return names;
    const bool last_is_new = names.count > 1 && stat(names.names[names.count - 1], &st) != 0 && errno == ENOENT;
    return (gi_operands){names.names, names.count - last_is_new};
}

int gi_explain(const char *user, const gi_pipeline *pipeline, const gi_options *options, gi_operands inputs) {
    gi_session session = {.user = user, .options = options, .pipeline = pipeline};
    gi_buffer text = {0};
    gi_error err = {0};
    inputs = without_output(pipeline, inputs);
    session.inputs = inputs.names;
    session.input_count = inputs.count;
    if (inputs.count == 0 && !options->files_from) session.nominal_pixels = (uint64_t)nominal.width * nominal.height;
    gi_status status = gi_session_open(&session);
    if (status) goto out;
    if (session.nominal_pixels) {
        gi_shape shape = nominal;
        if (gi_options_depth(options) == 16) shape.sample = GI_U16;
        status = add_plan(&text, &session, shape, "none given, so a nominal one", &err);
        if (status) gi_complain_error(&err, NULL);
    } else {
        status = explain_items(&session, &text);
    }
    if (text.failed) {
        gi_complain("out of memory");
        status = GI_ERR_MEMORY;
    } else if (text.size) {
        fwrite(text.data, 1, text.size, stdout);
    }
out:
    gi_buffer_free(&text);
    gi_session_close(&session);
    return gi_exit_status(status);
}
