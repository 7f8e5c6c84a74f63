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
#include "core/status.h"
#include "run/bands.h"
#include "run/plan.h"

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

// The image's work on a slot: the plan's segments over the whole image, or leg by leg in bands (run/bands.h).
typedef struct gi_pass {
    gi_slot *slot;
    gi_gate *gate;
    const gi_stop *stop;
    const gi_plan *plan;
    gi_view in;         // the whole decoded image, in host memory, unchanged throughout
    gi_band_rule bands; // a run out of device memory halves the rows
    // Another slot for when bands do not help; NULL or a failure: GI_ERR_DEVICE_MEMORY stays. May be NULL.
    gi_status (*fallback)(void *context, gi_slot **slot, gi_error *err);
    void *fallback_context;
    const gi_messages *messages;
    const char *file; // for messages
    // How far the work is; zero at first.
    gi_view source;   // the image before segment `from`, whole; `in` itself at first
    void *stored;     // owned: its pixels when it is not `in`
    int from;         // segments that the source has behind it
    int resolved;     // barriers whose operations the slot keeps
    int told;         // ... and whose levels were said
    uint32_t emitted; // rows given to the encoder
    // What the slot holds: these rows (count 0: nothing) of the image before segment held_at.
    gi_rows held;
    int held_at;
} gi_pass;

// *histogram = the counts of the plan's result. It must be zero and of the right kind.
gi_status gi_pass_measure(gi_pass *pass, gi_histogram *histogram, gi_error *err);

// Gives every row of the plan's result to the encoder.
gi_status gi_pass_emit(gi_pass *pass, gi_encoder *encoder, gi_error *err);

// Copies every row of the plan's result to its place in *image, which has the result's shape and shares no memory with
// pass->in.
gi_status gi_pass_store(gi_pass *pass, const gi_view *image, gi_error *err);

void gi_pass_free(gi_pass *pass);

// A gate of so many places, 0: no limit.
void gi_gate_init(gi_gate *gate, int places);
void gi_gate_destroy(gi_gate *gate);

#endif
