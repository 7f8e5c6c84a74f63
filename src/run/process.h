// One image from its file, or from memory, to its result: read, decode, plan, slot, encode, output.
#ifndef GI_RUN_PROCESS_H
#define GI_RUN_PROCESS_H

#include "run/batch.h"
#include "run/inputs.h"
#include "run/pass.h"
#include "run/worker.h"

// What is to be done with an item apart from its names.
typedef struct gi_process_request {
    const gi_item *item;
    // Images in memory, in place of the item's files; any pitch and alignment, and they may overlap. NULL: the files.
    const gi_view *pixels; // what is processed; not written to
    const gi_view *result; // where the rows go; of the shape that gi_plan_make finds, else GI_ERR_USAGE
    size_t index;          // for on_measured
    bool make_directories; // those above the output that are missing
    bool sweep;            // the first item of its output directory: removes what killed runs left there
} gi_process_request;

// What the bands of an image have to do with, apart from its plan.
typedef struct gi_band_setting {
    size_t memory; // to work in; 0: no limit
    bool device;   // the slot is a device's
    bool streams;  // the rows come from a decoder
    bool whole;    // one band of all rows, if it fits: for codecs of the device's own
} gi_band_setting;

// How an image of that plan is cut into bands. *fits: false when the memory is too little even for a band of one row.
gi_band_rule gi_process_bands(const gi_batch_options *options, const gi_plan *plan, const gi_band_setting *setting,
                              bool *fits);

// Does one item. Of *outcome, zero before, it sets `skipped` and the bytes. GI_ERR_CANCELLED once the stop is set:
// nothing was written.
gi_status gi_process(gi_worker *worker, const gi_process_request *request, gi_outcome *outcome, gi_error *err);

#endif
