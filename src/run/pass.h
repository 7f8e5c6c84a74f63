// Passes of one image over a backend's slot, whole or in bands of rows.
#ifndef GI_RUN_PASS_H
#define GI_RUN_PASS_H

#include <pthread.h>
#include <stdbool.h>

#include "codec/codec.h"
#include "core/backend.h"
#include "core/histogram.h"
#include "core/message.h"
#include "core/status.h"
#include "run/bands.h"
#include "run/plan.h"
#include "run/source.h"
#include "run/stop.h"
#include "run/timeline.h"

// Lets at most so many threads through at once.
typedef struct gi_gate {
    pthread_mutex_t mutex;
    pthread_cond_t free;
    int places; // left
    bool limited;
} gi_gate;

enum { GI_BAND_ROWS_MIN = 16 };

// The image's work on a slot: the plan's segments over the whole image, or leg by leg in bands (run/bands.h), for which
// the source is asked for rows from its first to its last.
//
// Where the source slides, it has room for gi_window_rows of the plan and the bands' rule, and its first leg needs none
// of its rows again.
typedef struct gi_pass {
    gi_slot *slot;
    gi_gate *gate;
    const gi_stop *stop;
    const gi_plan *plan;
    gi_source source;   // owned: the image before segment `from`, at first the image itself
    gi_band_rule bands; // a run out of device memory halves the rows
    // Another slot for when bands do not help; NULL or a failure: GI_ERR_DEVICE_MEMORY stays. May be NULL.
    gi_status (*fallback)(void *context, gi_slot **slot, gi_error *err);
    void *fallback_context;
    // Memory for the source's rows, and bands for the slot, where the source has a decoder and no memory yet, as the
    // slot has decoded the image itself: asked for when it is lost there. May be NULL.
    gi_status (*provide)(void *context, gi_error *err);
    void *provide_context;
    gi_lap *lap; // what spans are told to; may be NULL
    const gi_messages *messages;
    const char *file; // for messages
    // How far the work is; zero at first.
    int from;           // segments that the source has behind it
    int resolved;       // barriers whose operations the slot keeps
    int told;           // ... and whose levels were said
    uint32_t delivered; // rows of the plan's result that need nothing more
    uint32_t rows_most; // of a band before any was halved
    // The leg in work.
    bool begun;
    gi_leg leg;
    uint32_t done;    // rows of its result, where that is not the plan's
    bool counts_lost; // the slot's counts lack rows that were counted before, or have some twice
    gi_view target;   // where it is stored; owned
    void *stored;     // owned: the source's pixels, once a leg has made them
    // What the slot holds: these rows (count 0: nothing) of the image before segment held_at.
    gi_rows held;
    int held_at;
} gi_pass;

// *histogram = the counts of the plan's result. It must be zero and of the right kind.
gi_status gi_pass_measure(gi_pass *pass, gi_histogram *histogram, gi_error *err);

// Gives every row of the plan's result to the encoder.
gi_status gi_pass_emit(gi_pass *pass, gi_encoder *encoder, gi_error *err);

// Copies every row of the plan's result to its place in *image, which has the result's shape and shares no memory with
// the source.
gi_status gi_pass_store(gi_pass *pass, const gi_view *image, gi_error *err);

// The slot decodes the image itself, whole: then it holds what the first leg is made of. The bands must be of all rows,
// and the bytes stay until the pass is freed. On failure nothing has changed.
gi_status gi_pass_decode(gi_pass *pass, const gi_jpeg_source *file, gi_error *err);

// *made = the plan's result as a JPEG that the slot encodes, valid until the slot is used again. On failure nothing was
// delivered, and gi_pass_emit goes on from where the work is.
gi_status gi_pass_encode(gi_pass *pass, const gi_jpeg_form *form, gi_bytes *made, gi_error *err);

// Frees what it owns, the source's decoder and file too.
void gi_pass_free(gi_pass *pass);

// A gate of so many places, 0: no limit.
void gi_gate_init(gi_gate *gate, int places);
void gi_gate_destroy(gi_gate *gate);

#endif
