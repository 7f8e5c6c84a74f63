// Pipelines as text: 'gray 709 | threshold level=otsu | hist'.
#ifndef GI_CORE_PIPELINE_H
#define GI_CORE_PIPELINE_H

#include "core/stage_table.h"
#include "core/status.h"

enum { GI_MAX_STAGES = 64 };

// One stage with its arguments.
typedef struct gi_stage_call {
    const gi_stage *stage;
    gi_stage_args args;
} gi_stage_call;

typedef struct gi_pipeline {
    gi_stage_call calls[GI_MAX_STAGES];
    int count;
} gi_pipeline;

// Parses `text`. Failures are GI_ERR_USAGE with err->place_* at the offending word: empty pipeline or stage, unknown
// stage or key (with the nearest known name), bad value (with the accepted range), a key given twice, a second bare
// word, hist elsewhere than last, options that exclude each other, more than GI_MAX_STAGES stages. White space
// separates words; '|' separates stages and needs no space around it; '=' takes none.
gi_status gi_pipeline_parse(const char *text, gi_pipeline *pipeline, gi_error *err);

// Appends one stage with default arguments and returns its call, or NULL when the pipeline is full.
gi_stage_call *gi_pipeline_append(gi_pipeline *pipeline, const gi_stage *stage);

// Checks what can be checked without an image: non-empty, MEASURE only last, arguments of WINDOW stages against each
// other. gi_pipeline_parse has done so already.
gi_status gi_pipeline_check(const gi_pipeline *pipeline, gi_error *err);

// Writes the pipeline in canonical text, all options spelt out but those at a default that has no words
// (GI_LEVEL_HALF); truncates.
void gi_pipeline_text(const gi_pipeline *pipeline, char *text, size_t size);

#endif
