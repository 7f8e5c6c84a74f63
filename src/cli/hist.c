// Commands that report: `hist`, and pipelines that end in it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/merge.h"
#include "cli/records.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/sink.h"
#include "run/output.h"
#include "run/path.h"

static gi_status refuse_name(const char *name, gi_error *err) {
    gi_buffer words = {0};
    gi_report_add_words(&words, ".");
    gi_status status = gi_fail(err, GI_ERR_USAGE, "no report format has the extension of '%.200s': known are %s", name,
                               words.failed ? "" : words.data);
    gi_buffer_free(&words);
    return status;
}

static gi_status choose_style(const gi_options *options, const gi_report_style **style, gi_error *err) {
    bool to_stdout = !options->output || !gi_path_of_argument(options->output);
    *style = &gi_report_text;
    if (options->report_format)
        *style = gi_report_style_of_word(options->report_format);
    else if (!to_stdout)
        *style = gi_report_style_of_name(options->output);
    if (!*style) return refuse_name(options->output, err);
    if ((*style)->binary && to_stdout && isatty(STDOUT_FILENO))
        return gi_fail(err, GI_ERR_USAGE, "standard output is a terminal: send the %s to a file or a pipe",
                       (*style)->word);
    return GI_OK;
}

static gi_status check_usage(const char *user, const gi_options *options, gi_operands operands, gi_error *err) {
    gi_status status = gi_options_check(options, user, GI_FOR_HIST, err);
    if (status) return status;
    if (options->null && !options->files_from) return gi_fail(err, GI_ERR_USAGE, "-0 needs --files-from");
    if (operands.count == 0 && !options->files_from && !options->retry_failed)
        return gi_fail(err, GI_ERR_USAGE, "no input");
    return GI_OK;
}

// Whoever is used to an OUT gives the report's file as one: that name is no image, and nothing is there.
static gi_status refuse_output(gi_operands operands, gi_error *err) {
    const char *last = operands.count > 1 ? operands.names[operands.count - 1] : NULL;
    const gi_report_style *style = last ? gi_report_style_of_name(last) : NULL;
    if (!style || gi_format_of_name(last) != GI_FORMAT_UNKNOWN || access(last, F_OK) == 0) return GI_OK;
    return gi_fail(err, GI_ERR_USAGE,
                   "'%.200s' does not exist: hist takes images alone, and -o names the report's file", last);
}

static gi_status refuse_existing(const gi_options *options, const char *path) {
    if (!options->no_clobber || !path || !gi_output_replaces(path)) return GI_OK;
    gi_console console = {0};
    gi_messages messages = {gi_console_say, &console};
    gi_error err;
    gi_status status = gi_path_fail_existing(&err, NULL);
    gi_say(&messages, GI_FAILURE, path, "%s", err.text);
    return status;
}

// A report that cannot be written makes the rest of the work pointless.
static void stop_when_failed(gi_report *report) {
    if (gi_report_state(report, NULL) && gi_interrupt == 0) gi_interrupt = -1;
}

// What the callbacks need.
typedef struct reporter {
    gi_report *report;
    const gi_item_list *list;
} reporter;

static void on_measured(void *context, size_t index, gi_measured *measured) {
    const reporter *r = context;
    gi_report_add(r->report, index, measured);
    stop_when_failed(r->report);
}

static void on_progress(void *context, size_t index, const gi_outcome *outcome) {
    const reporter *r = context;
    const char *file = r->list->items[index].in;
    if (outcome->status)
        gi_report_pass(r->report, index, file, outcome->reason);
    else if (*outcome->damage)
        gi_report_damaged(r->report, index, file, outcome->damage);
    stop_when_failed(r->report);
}

// True for a report for people whose reader went away, as `| head` does.
static bool is_unread(const gi_report_request *request, const gi_error *err) {
    return err->system == EPIPE && !request->path && !request->style->binary;
}

static gi_status measure(gi_session *session, const gi_report_request *request) {
    gi_report *report = NULL;
    gi_error err = {0};
    gi_batch_result result = {0};
    gi_status run = GI_OK, status = gi_report_open(request, &report, &err);
    if (status) goto out;
    reporter r = {report, &session->list};
    gi_batch_options batch = gi_session_batch_options(session);
    batch.on_measured = on_measured;
    batch.on_progress = on_progress;
    batch.context = &r;
    if (!request->total) batch.thumbnail_side = request->style->thumbnail_side;
    // Every share has found all directories: the first tells of those that could not be read.
    for (size_t i = 0; i < session->list.failed && session->shard.index <= 1; i++)
        gi_report_unread(report, session->list.unread[i].in, session->list.unread[i].reason);
    run = gi_session_run(session, &batch, &result);
    status = gi_report_state(report, &err);
    // Nothing measured, stopped half way: a report would look like a result. But a share of nothing is one: without it
    // the shares' reports could not be added up.
    bool nothing = result.done == 0 && session->shard.count == 0;
    bool worthless = run && (nothing || result.not_started || gi_interrupt > 0);
    if (status == GI_OK && !worthless) status = gi_report_finish(report, &err);
out:
    if (status && status != GI_ERR_CANCELLED && !is_unread(request, &err)) {
        const gi_messages messages = {gi_console_say, &session->console};
        gi_say(&messages, GI_FAILURE, gi_path_output(request->path), "%s", err.text);
    }
    gi_report_close(report);
    return status == GI_ERR_CANCELLED ? status : status ? GI_ERR_IO : run;
}

// ---- reports added up ---------------------------------------------------------------------------------------------

static gi_status check_merge(const gi_pipeline *pipeline, const gi_options *options, gi_error *err) {
    if (pipeline->count > 1) return gi_fail(err, GI_ERR_USAGE, "--merge adds up reports: no pipeline runs then");
    const struct {
        bool given;
        const char *name;
    } of_images[] = {
        {options->manifest, "--manifest"},     {options->retry_failed, "--retry-failed"},
        {options->shard, "--shard"},           {options->stats || options->stats_json || options->trace, "--stats"},
        {options->files_from, "--files-from"}, {options->recursive, "--recursive"}};
    for (size_t i = 0; i < sizeof of_images / sizeof of_images[0]; i++)
        if (of_images[i].given)
            return gi_fail(err, GI_ERR_USAGE, "%s is for images, --merge for reports of them", of_images[i].name);
    return GI_OK;
}

// Regular files that are one, whatever their names.
static bool is_one_file(const struct stat *a, const struct stat *b) {
    return S_ISREG(a->st_mode) && S_ISREG(b->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

// Counted twice, a report would make a wrong sum that nothing shows.
static gi_status refuse_twice(gi_operands operands, gi_error *err) {
    struct stat *files = calloc(operands.count + 1, sizeof *files);
    gi_status status = files ? GI_OK : gi_fail(err, GI_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < operands.count && status == GI_OK; i++) {
        const char *name = operands.names[i];
        if (stat(name, &files[i]) != 0) files[i].st_mode = 0; // what is wrong with it shows when it is read
        for (size_t j = 0; j < i && status == GI_OK; j++) {
            if (strcmp(operands.names[j], name) == 0)
                status = gi_fail(err, GI_ERR_USAGE, "the report %.200s is given twice",
                                 gi_path_input(gi_path_of_argument(name)));
            else if (is_one_file(&files[j], &files[i]))
                status = gi_fail(err, GI_ERR_USAGE, "%.200s and %.200s are one report", operands.names[j], name);
        }
    }
    free(files);
    return status;
}

// All of them, or no report: a part would look like a result.
static gi_status merge_reports(const gi_report_request *request, gi_operands operands) {
    const gi_console console = {0};
    const gi_messages messages = {gi_console_say, (void *)&console};
    const char *at = gi_path_output(request->path);
    gi_report *report = NULL;
    gi_error err = {0};
    gi_status status = gi_report_open(request, &report, &err);
    for (size_t i = 0; i < operands.count && status == GI_OK; i++) {
        status = gi_merge_report(operands.names[i], report, &err);
        if (status) at = gi_path_input(gi_path_of_argument(operands.names[i]));
    }
    if (status == GI_OK) status = gi_report_finish(report, &err);
    if (status && !is_unread(request, &err)) gi_say(&messages, GI_FAILURE, at, "%s", err.text);
    gi_report_close(report);
    return status ? GI_ERR_IO : GI_OK;
}

static gi_status confine_merge(const char *user, const gi_options *options) {
    gi_error err = {0};
    const gi_console console = {options->quiet, options->verbose};
    const gi_messages messages = {gi_console_say, (void *)&console};
    gi_confinement confinement = {.options = options, .device = {.kind = GI_DEVICE_CPU}, .files = {options->output}};
    gi_status status = gi_confine(&confinement, &err);
    if (status)
        gi_complain_error(&err, NULL);
    else
        gi_confine_note(&confinement, &messages);
    if (status == GI_ERR_USAGE) gi_suggest_help(user);
    return status;
}

// As gi_records_check does for images: a report is never meant to replace what it is made of.
static gi_status refuse_replaced(const char *user, const char *path, const char *part) {
    char shown[GI_PATH_SHOWN];
    if (strcmp(part, "-") == 0 || !gi_records_are_one(path, part)) return GI_OK;
    gi_complain("the report would replace the input %s", gi_path_show(part, shown));
    gi_suggest_help(user);
    return GI_ERR_USAGE;
}

static gi_status run_merge(const char *user, gi_report_request *request, const gi_options *options,
                           gi_operands operands) {
    gi_status status = GI_OK;
    request->total = true;
    for (size_t i = 0; i < operands.count && status == GI_OK; i++)
        status = refuse_replaced(user, request->path ? request->path : "-", operands.names[i]);
    if (status == GI_OK) status = refuse_existing(options, request->path);
    if (status == GI_OK) status = confine_merge(user, options);
    return status == GI_OK ? merge_reports(request, operands) : status;
}

int gi_run_hist(const char *user, const gi_pipeline *pipeline, const gi_options *options, gi_operands operands) {
    gi_session session = {0};
    gi_report_request request = {0};
    gi_error err = {0};
    session.user = user;
    session.options = options;
    session.pipeline = pipeline;
    session.inputs = operands.names;
    session.input_count = operands.count;
    session.sink = true;
    session.recorded = options->retry_failed && !options->files_from && operands.count == 0;
    gi_status status = check_usage(user, options, operands, &err);
    if (status == GI_OK) status = choose_style(options, &request.style, &err);
    if (status == GI_OK && !options->merge) status = refuse_output(operands, &err);
    if (status == GI_OK && options->merge) status = check_merge(pipeline, options, &err);
    if (status == GI_OK && options->merge) status = refuse_twice(operands, &err);
    if (status) {
        gi_complain_error(&err, NULL);
        gi_suggest_help(user);
        goto out;
    }
    if (options->output) request.path = gi_path_of_argument(options->output);
    request.no_clobber = options->no_clobber;
    if (options->merge) {
        const gi_hist_args *hist = &pipeline->calls[pipeline->count - 1].args.hist;
        request.bins = hist->bins > 0 ? (uint32_t)hist->bins : 0;
        status = run_merge(user, &request, options, operands);
        goto out;
    }
    status = gi_session_open(&session);
    if (status) goto out;
    request.count = session.list.count;
    request.total = options->total;
    request.piped = pipeline->count > 1;
    status = refuse_existing(options, request.path);
    if (status == GI_OK) status = measure(&session, &request);
out:
    gi_session_close(&session);
    return gi_exit_status(status);
}

int gi_hist_command(const gi_command *command, const gi_options *options) {
    gi_pipeline pipeline = {0};
    gi_operands operands = {options->operands, options->operand_count};
    gi_pipeline_append(&pipeline, command->stage)->args = options->stage;
    return gi_run_hist(command->name, &pipeline, options, operands);
}
