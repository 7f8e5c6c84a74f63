// WINDOW stages: operations on a neighbourhood, done on a band of rows with halo.
//
// A band's input holds rows [in_y0, in_y0 + in.height) of the whole image and its output rows [out_y0, out_y0 +
// out.height). The input reaches `halo` rows past the output on either side, or to the image's edge where that is
// nearer; there the stage's border rule takes over. Any split into bands gives the same bytes.
#ifndef GI_CORE_WINDOW_H
#define GI_CORE_WINDOW_H

#include <stdint.h>

#include "core/status.h"
#include "core/view.h"

typedef struct gi_window_place {
    uint32_t image_height; // rows of the whole image
    uint32_t in_y0;        // first row that the input holds
    uint32_t out_y0;       // first row to make
} gi_window_place;

// What gi_cpu_NAME is given. in and out have the same width, channels and sample, and do not overlap.
typedef struct gi_window_job {
    gi_view in;
    gi_view out;
    gi_window_place place;
    const void *args; // the stage's argument struct
    int threads;      // CPU threads to use
} gi_window_job;

// Rows that the stage looks up and down from a row: UINT32_MAX stands for the whole image.
typedef uint32_t (*gi_halo_fn)(const void *args);

// Bytes that gi_cpu_NAME takes for itself for each sample of its input; 0 where that is little
// (taps, tables, a few rows a thread).
typedef uint32_t (*gi_scratch_fn)(const void *args);

// Roughly what a stage takes for each sample, for the choice of the device and of threads. Measured with AVX2 on 8K
// images.
typedef struct gi_cost {
    double core_seconds;   // on one core; more cores share them
    double memory_seconds; // to bring the samples through memory, however many cores wait for them
} gi_cost;

typedef gi_cost (*gi_cost_fn)(const void *args);

// Checks the arguments against each other and against the sample's depth: GI_ERR_USAGE.
typedef gi_status (*gi_window_check_fn)(const void *args, gi_sample sample, gi_error *err);

#endif
