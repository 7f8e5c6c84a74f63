// Where the time of a batch goes: spans of work by phase, as the workers' clocks have them.
//
// A span is the time in which a worker is in a phase. Threads that a codec or a stage has beside it are not seen apart:
// what they do while the worker waits for them is the worker's span. A device works on its own, so that the host's
// spans of upload and kernels are the time it takes to ask for them, and download that of waiting for all; what the
// device did meanwhile, by its own clock, are spans of their own.
#ifndef GI_RUN_TIMELINE_H
#define GI_RUN_TIMELINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/backend.h"
#include "core/status.h"

typedef enum gi_phase {
    GI_PHASE_DECODE, // reading included
    GI_PHASE_UPLOAD, // to a device
    GI_PHASE_KERNELS,
    GI_PHASE_DOWNLOAD,
    GI_PHASE_ENCODE, // writing included, up to the rename
    GI_PHASE_IMAGE,  // all of an image, waits for a device included
    GI_PHASE_START,  // of these, that for a device which is still starting: no work, and in traces alone
    GI_PHASE_COUNT
} gi_phase;

const char *gi_phase_name(gi_phase phase);            // "decode", ...
const char *gi_device_work_name(gi_device_work work); // of the phase it is a part of

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

// A piece of a device's own work.
typedef struct gi_device_event {
    gi_device_span span;
    int device; // of the batch's, from 0
    int slot;   // of the device's, from 0
    size_t item;
} gi_device_event;

// The time that intervals cover, those of any order that are not much older than the newest.
enum { GI_COVER_HELD = 64 };
typedef struct gi_cover {
    double sum_ms;    // of what lies before behind_ms
    double behind_ms; // nothing earlier counts any more
    struct {
        double begin_ms, end_ms;
    } held[GI_COVER_HELD]; // in order, apart from each other
    int count;
} gi_cover;

void gi_cover_add(gi_cover *cover, double begin_ms, double end_ms);
double gi_cover_ms(const gi_cover *cover);

// Of a device's work, or of all its work together.
typedef struct gi_device_time {
    uint64_t spans;
    double busy_ms; // their sum
    gi_cover wall;  // time in which there was at least one
} gi_device_time;

typedef struct gi_device_record {
    gi_device_time works[GI_DEVICE_WORKS];
    gi_device_time all;
    double first_ms; // when its first work began
} gi_device_record;

typedef struct gi_timeline {
    pthread_mutex_t mutex;
    gi_phase_time phases[GI_PHASE_COUNT];
    gi_device_record *devices; // owned, device_count of them
    int device_count;
    void (*on_span)(void *context, const gi_span *span);            // as it ends, one call at a time; may be NULL
    void (*on_device)(void *context, const gi_device_event *event); // once it is known, likewise
    void *context;
} gi_timeline;

void gi_timeline_init(gi_timeline *timeline);
void gi_timeline_destroy(gi_timeline *timeline);

// Room for the own times of so many devices. GI_ERR_MEMORY.
gi_status gi_timeline_add_devices(gi_timeline *timeline, int count, gi_error *err);

// Takes a piece of a device's work; one of a device that there is no room for is left out. Thread-safe.
void gi_timeline_device(gi_timeline *timeline, const gi_device_event *event);

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
