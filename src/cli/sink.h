// What a pipeline ends in: images or a report.
#ifndef GI_CLI_SINK_H
#define GI_CLI_SINK_H

#include <stddef.h>

#include "cli/options.h"
#include "core/pipeline.h"

// Names on the command line, without the command's own words.
typedef struct gi_operands {
    const char *const *names;
    size_t count;
} gi_operands;

// Runs a pipeline that writes images; the operands are IN... OUT. Returns the exit status. `user` is the command for
// messages.
int gi_run_image(const char *user, const gi_pipeline *pipeline, const gi_options *options, gi_operands operands);

// Runs a pipeline that ends in hist and reports; returns the exit status. `user` is the command for messages.
int gi_run_hist(const char *user, const gi_pipeline *pipeline, const gi_options *options, gi_operands operands);

#endif
