// Where the time of a batch goes: spans of work by phase, as the workers' clocks have them.
//
// A span is the time in which a worker is in a phase. Threads that a codec or a stage has beside it are not seen apart:
// what they do while the worker waits for them is the worker's span. A device works on its own, so that the host's
// spans of upload and kernels are the time it takes to ask for them, and download that of waiting for all.
#ifndef GI_RUN_TIMELINE_H
#define GI_RUN_TIMELINE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gi_phase {
    GI_PHASE_DECODE, // reading included
    GI_PHASE_UPLOAD, // to a device
    GI_PHASE_KERNELS,
    GI_PHASE_DOWNLOAD,
    GI_PHASE_ENCODE, // writing included, up to the rename
    GI_PHASE_IMAGE,  // all of an image, waits for a device included
    GI_PHASE_COUNT
} gi_phase;

const char *gi_phase_name(gi_phase phase); // "decode", ...

typedef struct gi_span {
    gi_phase phase;
    int lane;    // the worker, from 0
    size_t item; // of the batch's list
    double begin_ms, end_ms;
} gi_span;

// Of all spans of a phase.
typedef struct gi_phase_time {
    uint64_t spans;
    double busy_ms; // their sum
    double wall_ms; // time in which there was at least one
    int active;     // now, since then
    double since_ms;
} gi_phase_time;

typedef struct gi_timeline {
    pthread_mutex_t mutex;
    gi_phase_time phases[GI_PHASE_COUNT];
    void (*on_span)(void *context, const gi_span *span); // as it ends, one call at a time; may be NULL
    void *context;
} gi_timeline;

void gi_timeline_init(gi_timeline *timeline);
void gi_timeline_destroy(gi_timeline *timeline);

// A worker's part of it: it is in one phase at a time, or in none. NULL, or a timeline of NULL: nothing is measured.
typedef struct gi_lap {
    gi_timeline *timeline;
    int lane;
    size_t item;
    int phase; // GI_PHASE_COUNT: none
    double begin_ms;
} gi_lap;

gi_lap gi_lap_of(gi_timeline *timeline, int lane);

// Ends the phase it is in, and begins that one; nothing where it is in that one already.
void gi_lap_enter(gi_lap *lap, gi_phase phase);

// Ends the phase it is in, if any.
void gi_lap_leave(gi_lap *lap);

// A whole image from the first call to the second: what the first returned goes to the second.
double gi_lap_begin_image(gi_lap *lap, size_t item);
void gi_lap_end_image(gi_lap *lap, double begin_ms);

#endif
