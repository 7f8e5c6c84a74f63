// `run`: a pipeline from the command line or a file.
#include <string.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/explain.h"
#include "cli/pipeline_file.h"
#include "cli/sink.h"

// *operands: what is left of the command line.
static gi_status take_pipeline(const gi_options *options, gi_pipeline *pipeline, gi_operands *operands) {
    gi_error err = {0};
    *operands = (gi_operands){options->operands, options->operand_count};
    if (options->pipeline_file) return gi_pipeline_file_parse(options->pipeline_file, pipeline);
    if (operands->count == 0) {
        gi_complain("no pipeline");
        return GI_ERR_USAGE;
    }
    operands->names++;
    operands->count--;
    gi_status status = gi_pipeline_parse(options->operands[0], pipeline, &err);
    if (status) gi_complain_error(&err, options->operands[0]);
    return status;
}

int gi_run_command(const gi_command *command, const gi_options *options) {
    gi_pipeline pipeline = {0};
    gi_operands operands;
    gi_status status = take_pipeline(options, &pipeline, &operands);
    if (status) {
        if (status == GI_ERR_USAGE) gi_suggest_help(command->name);
        return gi_exit_status(status);
    }
    if (options->explain) return gi_explain(command->name, &pipeline, options, operands);
    bool measures = pipeline.calls[pipeline.count - 1].stage->kind == GI_STAGE_MEASURE;
    return measures ? gi_run_hist(command->name, &pipeline, options, operands)
                    : gi_run_image(command->name, &pipeline, options, operands);
}
