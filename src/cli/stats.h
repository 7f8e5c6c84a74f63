// What a run took: --stats in words, --stats-json for programs, --trace span by span.
//
// Statistics as JSON: {"schema":1,"device","workers","slots","images","skipped","failed","not_started","bytes_in",
// "bytes_out","wall_ms","cpu_ms","busy_ms","overlap","images_per_second","mb_in_per_second","mb_out_per_second",
// "peak_memory_bytes","phases":{"decode":{"spans","busy_ms","wall_ms","parallel"},...}}. `images` are done; busy_ms of
// a phase is the sum over workers, wall_ms the time in which one of them at least was in it, `parallel` the first over
// the second; overlap is the busy time of all phases over the run's wall time. Where GPUs were in use, each has its own
// times, by its own clock: "devices":[{"name","detail","upload":{"spans","busy_ms","wall_ms"},"kernels":{...},
// "download":{...},"first_ms","wall_ms","overlap"},...]: busy_ms is the sum over the streams, wall_ms the time in which
// one of them at least was at it, first_ms when the first of it began, as its context is made while first images are
// decoded, and `overlap` the sum of the three wall times over that in which there was any work.
//
// A trace is Chrome's and Perfetto's format of JSON: a complete event ("ph":"X") for each phase of each image, and one
// around them for the image, in microseconds; process 1 is the host, with a thread for each worker, and each GPU is a
// process of its own with a thread for each stream, whose events are what it did when.
#ifndef GI_CLI_STATS_H
#define GI_CLI_STATS_H

#include "run/batch.h"
#include "run/device.h"

typedef struct gi_stats gi_stats;

typedef struct gi_stats_request {
    bool print;                         // --stats, on standard error
    const char *json_path, *trace_path; // NULL: none; "-": standard output
    const gi_item_list *list;
    const gi_backend *devices[GI_DEVICES_MAX]; // `device_count` of them, 1 or more
    int device_count;
    int workers, slots;
    bool no_clobber;
} gi_stats_request;

// Opens the files, so that what cannot be written shows before the work, and begins to count time. On failure *at is
// the file that failed.
gi_status gi_stats_open(const gi_stats_request *request, gi_stats **stats, const char **at, gi_error *err);

// For the batch.
gi_timeline *gi_stats_timeline(gi_stats *stats);

// An item has ended; one call at a time.
void gi_stats_add(gi_stats *stats, const gi_outcome *outcome);

// Prints, and makes the files appear.
gi_status gi_stats_finish(gi_stats *stats, const gi_batch_result *result, const char **at, gi_error *err);

// NULL is fine.
void gi_stats_close(gi_stats *stats);

#endif
