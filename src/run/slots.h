// The slots of a batch, lent to its workers image by image. An image has one from the first row that is decoded into it
// to the last that is encoded: what lies page-locked or on a device is bounded by their number, however many workers
// wait with a file in hand. Over several devices they are spread evenly.
#ifndef GI_RUN_SLOTS_H
#define GI_RUN_SLOTS_H

#include <stdbool.h>

#include "core/backend.h"
#include "core/status.h"
#include "run/stop.h"

typedef struct gi_slots gi_slots;

typedef struct gi_slots_request {
    gi_backend *const *backends; // devices of a kind, 1 or more, which must stay open
    int count;
    int most;    // slots lent at once, 1 or more
    int threads; // that a slot may be told to use (gi_backend_ops.slot_open)
} gi_slots_request;

// A slot on loan: all zero is none.
typedef struct gi_loan {
    gi_slot *slot;
    gi_backend *backend;
    int device; // the backend's place in the request
    int number; // of the slot among those of the device, from 0
} gi_loan;

// Opens a first slot, so that a device that has none to give shows before any work. GI_ERR_MEMORY, GI_ERR_DEVICE.
gi_status gi_slots_open(const gi_slots_request *request, gi_slots **slots, gi_error *err);

// Every slot must have been given back. NULL is fine.
void gi_slots_close(gi_slots *slots);

// Waits for a slot of the device that has lent the fewest; one that is lost lends none while another works. Where no
// further one can be opened, those that there are go round. GI_ERR_CANCELLED once the stop is set. Thread-safe.
gi_status gi_slots_take(gi_slots *slots, const gi_stop *stop, gi_loan *loan, gi_error *err);

// A loan of zero is fine. Thread-safe.
void gi_slots_give(gi_slots *slots, gi_loan *loan);

// True when no device works any more. Thread-safe.
bool gi_slots_lost(const gi_slots *slots);

#endif
