// Commands that write images: every POINT and WINDOW stage under its own name.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/session.h"
#include "cli/sha256.h"
#include "cli/sink.h"

enum { HINT_BYTES = 160 };

static gi_status refuse_usage(const char *user, const char *reason) {
    gi_complain("%s", reason);
    gi_suggest_help(user);
    return GI_ERR_USAGE;
}

// Of a word of --format, or NULL.
static gi_format image_format(const char *word) {
    if (!word) return GI_FORMAT_UNKNOWN;
    return strcmp(word, "png") == 0 ? GI_FORMAT_PNG : GI_FORMAT_JPEG;
}

// Checks and splits the operands IN... OUT.
static gi_status take_operands(gi_session *session, gi_operands operands) {
    const gi_options *options = session->options;
    gi_error err = {0};
    if (gi_options_check(options, session->user, GI_FOR_IMAGE, &err)) return refuse_usage(session->user, err.text);
    if (options->skip_existing && options->no_clobber)
        return refuse_usage(session->user, "--skip-existing and --no-clobber exclude each other");
    if (options->null && !options->files_from) return refuse_usage(session->user, "-0 needs --files-from");
    if (options->sha256 && !options->manifest) return refuse_usage(session->user, "--sha256 needs --manifest");
    if (options->sha256 && !gi_sha256())
        return refuse_usage(session->user,
                            "--sha256: this build has no library for it: install nettle-dev, and build again");
    session->format = image_format(options->format);
    session->recorded = options->retry_failed && !options->files_from && operands.count <= 1;
    if (session->recorded && operands.count == 0) return GI_OK;
    if (operands.count == 0)
        return refuse_usage(session->user, options->files_from ? "no output: name OUT last" : "no input and no output");
    if (operands.count == 1 && !options->files_from && !session->recorded)
        return refuse_usage(session->user, "an input alone, no output: name OUT last");
    session->inputs = operands.names;
    session->input_count = operands.count - 1;
    session->output = operands.names[operands.count - 1];
    bool to_stdout = strcmp(session->output, "-") == 0;
    if (to_stdout && session->recorded)
        return refuse_usage(session->user, "--retry-failed writes where its manifest says, not to standard output");
    if (to_stdout && isatty(STDOUT_FILENO))
        return refuse_usage(session->user, "standard output is a terminal: send the image to a file or a pipe");
    return GI_OK;
}

// As in a pipeline, a bare word for the stage's first option: `threshold otsu in.png out.png`. It was taken for an
// input.
static void hint_at_option(const gi_session *session, char hint[HINT_BYTES]) {
    const gi_stage *stage = session->pipeline->count == 1 ? session->pipeline->calls[0].stage : NULL;
    gi_stage_args args;
    gi_error err;
    if (!stage || stage->option_count == 0 || session->input_count < 2 || strcmp(session->user, stage->name) != 0)
        return;
    const gi_stage_option *option = &stage->options[0];
    const char *word = session->inputs[0];
    gi_stage_defaults(stage, &args);
    if (access(word, F_OK) == 0 || gi_stage_option_parse(option, word, strlen(word), &args, &err) != GI_OK) return;
    snprintf(hint, HINT_BYTES, "there is no file %s: did you mean --%s %s?", word, option->name, word);
}

int gi_run_image(const char *user, const gi_pipeline *pipeline, const gi_options *options, gi_operands operands) {
    gi_session session = {0};
    char hint[HINT_BYTES] = "";
    gi_batch_result result;
    session.user = user;
    session.options = options;
    session.pipeline = pipeline;
    gi_status status = take_operands(&session, operands);
    if (status) goto out;
    hint_at_option(&session, hint);
    session.hint = *hint ? hint : NULL;
    status = gi_session_open(&session);
    if (status) goto out;
    gi_batch_options batch = gi_session_batch_options(&session);
    if (session.output && strcmp(session.output, "-") == 0 && batch.encode.format == GI_FORMAT_UNKNOWN)
        batch.encode.format = GI_FORMAT_PNG;
    status = gi_session_run(&session, &batch, &result);
out:
    gi_session_close(&session);
    return gi_exit_status(status);
}

int gi_image_command(const gi_command *command, const gi_options *options) {
    gi_pipeline pipeline = {0};
    gi_operands operands = {options->operands, options->operand_count};
    gi_error err = {0};
    gi_pipeline_append(&pipeline, command->stage)->args = options->stage;
    if (gi_pipeline_check(&pipeline, &err)) return gi_exit_status(refuse_usage(command->name, err.text));
    return gi_run_image(command->name, &pipeline, options, operands);
}
