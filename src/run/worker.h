// A thread that processes images: what it has of its own, and the slots that it works on.
#ifndef GI_RUN_WORKER_H
#define GI_RUN_WORKER_H

#include "run/batch.h"
#include "run/pass.h"
#include "run/slots.h"

// What a thread that processes images has of its own, and what it shares. The options' fields of the whole batch
// (workers, fail_fast, on_progress, ...) are not looked at.
typedef struct gi_worker {
    const gi_batch_options *options;
    const gi_stop *stop;
    gi_gate *gate;              // device phase
    pthread_mutex_t *callbacks; // held while on_measured runs; may be NULL
    int threads;                // CPU threads that work on its image at once: those of its codecs and its slot
    gi_lap lap;                 // what its spans are told to; its item is the one in work
    size_t memory;              // its share of the options' max_memory; 0: no limit
    gi_slots *slots;            // lends a slot for each image; NULL: the worker has its own
    gi_loan loan;               // none between images
    gi_watch watch;             // of the slot on loan
    bool no_slot;               // there was none to be had for the last image
    gi_slot *slot;
    gi_backend *backend; // of the slot
    gi_slot *fallback;   // opened when first needed
    void *plain;         // host memory of the worker's own, plain_bytes of it
    size_t plain_bytes;
} gi_worker;

// Opens a slot of the worker's own on worker->backend (options, threads set). GI_ERR_MEMORY, GI_ERR_DEVICE.
gi_status gi_worker_open(gi_worker *worker, gi_error *err);
void gi_worker_close(gi_worker *worker);

// A slot for the image in work, where the worker has none of its own, and its return. GI_ERR_CANCELLED, and those of
// gi_slots_take.
gi_status gi_worker_borrow(gi_worker *worker, gi_error *err);
void gi_worker_return(gi_worker *worker);

// *slot = the worker's slot of the options' fallback, as gi_pass.fallback wants it; the context is the worker.
gi_status gi_worker_fallback(void *worker, gi_slot **slot, gi_error *err);

// *data = memory of the worker's own, kept and reused. GI_ERR_MEMORY.
gi_status gi_worker_plain(gi_worker *worker, size_t bytes, void **data, gi_error *err);

// Where the slot uses the CPU, how many of its threads.
void gi_slot_use_threads(gi_slot *slot, int threads);

#endif
