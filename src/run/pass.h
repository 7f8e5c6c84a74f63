// Passes of one image over a backend's slot, whole or in bands of rows.
#ifndef GI_RUN_PASS_H
#define GI_RUN_PASS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "codec/codec.h"
#include "core/backend.h"
#include "core/histogram.h"
#include "core/message.h"
#include "core/point.h"
#include "core/status.h"

// Lets at most so many threads through at once.
typedef struct gi_gate {
    pthread_mutex_t mutex;
    pthread_cond_t free;
    int places; // left
    bool limited;
} gi_gate;

// What ends a run early.
typedef struct gi_stop {
    volatile sig_atomic_t *cancel; // of the caller; may be NULL
    atomic_bool drop;              // set by --fail-fast after a failure
} gi_stop;

static inline bool gi_stopped(const gi_stop *stop) {
    return (stop->cancel && *stop->cancel) || atomic_load(&stop->drop);
}

enum { GI_BAND_ROWS_MIN = 16 };

// The image's work on a slot. Bands are rows of the input: the points work on each pixel alone.
typedef struct gi_pass {
    gi_slot *slot;
    gi_gate *gate;
    const gi_stop *stop;
    gi_view in;             // the whole decoded image, in host memory, unchanged throughout
    const gi_point *points; // applied in order
    int point_count;        // known so far: those behind a barrier follow once it is measured
    uint32_t band_rows;     // at most so many rows at once; a run out of device memory halves it
    uint32_t emitted;       // rows given to the encoder so far
    // The rows that the slot holds, and how many points were applied to them; held_rows 0: nothing.
    uint32_t held_y, held_rows;
    int held_points;
    // Another slot for when bands do not help; NULL or a failure: GI_ERR_DEVICE_MEMORY stays. May be NULL.
    gi_status (*fallback)(void *context, gi_slot **slot, gi_error *err);
    void *fallback_context;
    const gi_messages *messages;
    const char *file; // for messages
} gi_pass;

// *histogram = the counts of the image after the points known so far. It must be zero and of the right kind.
gi_status gi_pass_measure(gi_pass *pass, gi_histogram *histogram, gi_error *err);

// Gives every row of the image after all points to the encoder.
gi_status gi_pass_emit(gi_pass *pass, gi_encoder *encoder, gi_error *err);

// A gate of so many places, 0: no limit.
void gi_gate_init(gi_gate *gate, int places);
void gi_gate_destroy(gi_gate *gate);

#endif
