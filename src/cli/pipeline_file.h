// Pipelines that lie in a file (--pipeline-file).
#ifndef GI_CLI_PIPELINE_FILE_H
#define GI_CLI_PIPELINE_FILE_H

#include "core/pipeline.h"
#include "core/status.h"

// Reads and parses the file; "-" is standard input. # begins a comment that ends with its line; newlines are spaces.
// Complaints are printed, those about the pipeline as FILE:LINE:COLUMN with the line and a caret.
gi_status gi_pipeline_file_parse(const char *path, gi_pipeline *pipeline);

#endif
