// `run --explain`: the plan of a pipeline, printed instead of done.
#ifndef GI_CLI_EXPLAIN_H
#define GI_CLI_EXPLAIN_H

#include "cli/sink.h"

// Prints on standard output how the pipeline would run on each of the inputs, or on a nominal 8K image where there is
// none. Only headers are read. Returns the exit status.
int gi_explain(const char *user, const gi_pipeline *pipeline, const gi_options *options, gi_operands inputs);

#endif
