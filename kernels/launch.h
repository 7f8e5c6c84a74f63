// The boundary between host code and kernels: C types only, so that C and CUDA C++ both include it.
//
// A launcher enqueues its work on job->stream and returns. It never allocates, frees, copies to the host, synchronises
// or uses the default stream. Its scratch function is pure and says how many bytes of device memory it needs.
#ifndef GI_KERNELS_LAUNCH_H
#define GI_KERNELS_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "core/point.h"
#include "core/stage_table.h"
#include "core/status.h"
#include "core/view.h"
#include "core/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gi_job {
    gi_view in;            // device
    gi_view out;           // device; unused by MEASURE
    gi_window_place place; // WINDOW: where the band lies in the image
    const void *args;      // the stage's argument struct; gi_cuda_point: a gi_device_point
    uint64_t *counts;      // MEASURE: device, channels * levels counts (levels = max + 1) to add to
    void *scratch;         // device, at least what the scratch function said, 256-byte aligned
    void *stream;          // cudaStream_t
} gi_job;

// A point operation whose tables lie on the device.
typedef struct gi_device_point {
    gi_point point;          // curves of kind TABLE have device pointers
    gi_linear_tables linear; // device pointers, for GI_MIX_LINEAR
} gi_device_point;

// GI_OK when the current device can run this build's kernels; GI_ERR_DEVICE, naming its architecture, when not. Creates
// the device's context.
gi_status gi_cuda_probe(gi_error *err);

size_t gi_cuda_point_scratch(const gi_job *job);
gi_status gi_cuda_point(const gi_job *job, gi_error *err);

// Makes curves from counts on the device: the tables of a POINT stage that asks for a histogram, each followed by one
// more curve.
typedef struct gi_table_job {
    const uint64_t *counts; // device: max + 1 counts for each channel
    gi_sample sample;
    int channels;         // tables to make, of the first so many channels: 1..3
    const gi_curve *then; // host, one for each table: what follows; a table of its own lies on the device
    uint16_t *tables;     // device: max + 1 entries for each table
    uint32_t *level;      // device, gi_cuda_otsu alone: the level
    void *scratch;        // as gi_job's
    void *stream;
} gi_table_job;

// threshold at Otsu's level (core/otsu_rules.h); one channel.
size_t gi_cuda_otsu_scratch(const gi_table_job *job);
gi_status gi_cuda_otsu(const gi_table_job *job, gi_error *err);

// equalize (core/equalize.h).
size_t gi_cuda_equalize_scratch(const gi_table_job *job);
gi_status gi_cuda_equalize(const gi_table_job *job, gi_error *err);

// From the table: size_t gi_cuda_hist_scratch(const gi_job *); gi_status gi_cuda_hist(const gi_job *, gi_error *); ...
#define GI_LAUNCHER(name)                                                                                              \
    size_t gi_cuda_##name##_scratch(const gi_job *job);                                                                \
    gi_status gi_cuda_##name(const gi_job *job, gi_error *err);
#define GI_LAUNCHER_POINT(name)
#define GI_LAUNCHER_WINDOW(name) GI_LAUNCHER(name)
#define GI_LAUNCHER_MEASURE(name) GI_LAUNCHER(name)
#define GI_LAUNCHER_ROW(kind, name, summary, detail, example1, example2) GI_LAUNCHER_##kind(name)
GI_STAGES(GI_LAUNCHER_ROW)
#undef GI_LAUNCHER_ROW
#undef GI_LAUNCHER_POINT
#undef GI_LAUNCHER_WINDOW
#undef GI_LAUNCHER_MEASURE
#undef GI_LAUNCHER

#ifdef __cplusplus
}
#endif
#endif
