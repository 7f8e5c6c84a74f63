// What the CPU backend runs on an image: the composed point operation, and one function for each MEASURE stage.
#ifndef GI_CPU_OPS_H
#define GI_CPU_OPS_H

#include <stdint.h>

#include "core/point.h"
#include "core/stage_table.h"
#include "core/status.h"
#include "core/view.h"

#ifdef __cplusplus
extern "C" {
#endif

// The number of threads never changes the result.
typedef struct gi_cpu_job {
    gi_view in;              // host
    gi_view out;             // host; unused by MEASURE. Of the size of `in`
    const void *args;        // the stage's argument struct; gi_cpu_point: a gi_point. May be NULL for hist
    uint64_t *counts;        // MEASURE: channels * levels counts to add to, of what is counted
    const gi_point *through; // MEASURE: counted is what this makes of `in`; NULL: `in` itself
    int threads;             // at most so many; below 1 counts as 1
} gi_cpu_job;

// Applies a point operation. `out` may be `in` itself (same data, same pitch) when the channels stay the same; any
// other overlap is undefined. GI_ERR_USAGE: views that do not fit the operation; GI_ERR_MEMORY: no tables for
// GI_MIX_LINEAR.
gi_status gi_cpu_point(const gi_cpu_job *job, gi_error *err);

// From the table, for MEASURE stages: gi_status gi_cpu_hist(const gi_cpu_job *job, gi_error *err); ...
// stage_table.h has those of WINDOW stages.
#define GI_CPU_POINT(name)
#define GI_CPU_WINDOW(name)
#define GI_CPU_MEASURE(name) gi_status gi_cpu_##name(const gi_cpu_job *job, gi_error *err);
#define GI_CPU_ROW(kind, name, summary, detail, example1, example2) GI_CPU_##kind(name)
GI_STAGES(GI_CPU_ROW)
#undef GI_CPU_ROW
#undef GI_CPU_MEASURE
#undef GI_CPU_WINDOW
#undef GI_CPU_POINT

#ifdef __cplusplus
}
#endif
#endif
