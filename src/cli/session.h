// What image commands and hist share: inputs, device, batch, summary.
#ifndef GI_CLI_SESSION_H
#define GI_CLI_SESSION_H

#include "api_internal.h"
#include "cli/confine.h"
#include "cli/console.h"
#include "cli/manifest.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/stats.h"
#include "core/pipeline.h"
#include "gpuimg.h"
#include "run/batch.h"
#include "run/inputs.h"
#include "run/shard.h"

typedef struct gi_session {
    const char *user; // command name, for messages
    const gi_options *options;
    const gi_pipeline *pipeline;
    const char *const *inputs;
    size_t input_count;
    const char *output;                // OUT; NULL for hist
    gi_format format;                  // --format of an image command
    const char *hint;                  // said beside inputs and outputs that do not go together; NULL: nothing
    bool sink;                         // hist: there are no outputs
    bool recorded;                     // inputs and outputs are those of --retry-failed's manifest
    unsigned long long nominal_pixels; // of an input that is only imagined: none is listed; 0: there are real ones
    // What gi_session_open fills.
    char pipeline_text[2048]; // cut off where it is longer
    gi_console console;
    gi_messages messages;
    gi_shard shard; // count 0: all
    gi_item_list list;
    gi_manifest *manifest;   // NULL: none
    gi_progress *progress;   // NULL: none
    gi_stats *stats;         // NULL: none
    gpuimg_context *context; // owned
    gi_choice choice;        // of the context's backends
    gi_confinement confinement;
} gi_session;

// The device that --device names, else GPUIMG_DEVICE, else auto. GI_ERR_USAGE names the source of a bad one.
gi_status gi_device_of_options(const gi_options *options, gi_device_request *request, gi_error *err);

// Opens a context on it.
gi_status gi_context_of_options(const gi_options *options, gpuimg_context **context, gi_error *err);

// Lists the inputs, enters the sandbox and opens the device. Nothing is touched but OUT, a directory, which is made
// where it is missing and all else is well. Complaints are printed.
gi_status gi_session_open(gi_session *session);

// The batch's options as the command line has them. Callbacks are the caller's to set.
gi_batch_options gi_session_batch_options(const gi_session *session);

// Runs the batch and prints the summary. *result is filled in any case.
gi_status gi_session_run(gi_session *session, const gi_batch_options *batch, gi_batch_result *result);

void gi_session_close(gi_session *session);

#endif
