// One image in work, and what becomes of it once its first rows are there: run/process.c gets it that far, and
// run/process_result.c makes the report, the file or the pixels of it.
#ifndef GI_RUN_PROCESS_IMAGE_H
#define GI_RUN_PROCESS_IMAGE_H

#include <stdatomic.h>

#include "run/device_codec.h"
#include "run/plan.h"
#include "run/process.h"
#include "run/thumbnail.h"

typedef struct gi_process_image {
    gi_worker *worker;
    const gi_process_request *request;
    const char *name; // of the input, for messages; NULL where it is none
    gi_header header;
    gi_metadata *metadata; // of the file, for the output; NULL: none is wanted
    gi_plan plan;
    gi_histogram histogram;
    gi_thumbnail thumbnail;  // made while decoding, when a report asks for it
    gi_pass pass;            // its source owns decoder and file
    gi_device_codecs device; // what the slot does in their place
    gi_outcome *outcome;
    gi_messages heard;   // the decoder's, on their way to the caller
    atomic_bool damaged; // the outcome has the first of its warnings
} gi_process_image;

// How its output is encoded.
gi_encode_options gi_process_encoding(const gi_process_image *im);

// Measures and reports, or works on the rows and encodes or stores them.
gi_status gi_process_result(gi_process_image *im, gi_error *err);

#endif
