#include "run/worker.h"

#include <stdlib.h>

#include "core/large.h"

gi_status gi_worker_open(gi_worker *worker, gi_error *err) {
    return worker->backend->ops->slot_open(worker->backend, worker->threads, &worker->slot, err);
}

// What the device has done of the image in work.
static void on_work(void *context, const gi_device_span *span) {
    gi_worker *worker = context;
    gi_timeline_device(worker->lap.timeline,
                       &(gi_device_event){*span, worker->loan.device, worker->loan.number, worker->lap.item});
}

gi_status gi_worker_borrow(gi_worker *worker, gi_error *err) {
    if (!worker->slots) return GI_OK;
    gi_lap_leave(&worker->lap); // a wait is no work
    gi_status status = gi_slots_take(worker->slots, worker->stop, &worker->loan, err);
    worker->no_slot = status != GI_OK && status != GI_ERR_CANCELLED;
    worker->slot = worker->loan.slot;
    worker->backend = worker->loan.backend;
    worker->watch = (gi_watch){on_work, worker};
    if (status == GI_OK && worker->lap.timeline && worker->slot->ops->watch)
        worker->slot->ops->watch(worker->slot, &worker->watch);
    return status;
}

void gi_worker_return(gi_worker *worker) {
    if (!worker->slots) return;
    if (worker->slot && worker->slot->ops->watch) worker->slot->ops->watch(worker->slot, NULL);
    gi_slots_give(worker->slots, &worker->loan);
    worker->slot = NULL;
}

void gi_worker_close(gi_worker *worker) {
    if (worker->slot) worker->slot->ops->slot_close(worker->slot);
    if (worker->fallback) worker->fallback->ops->slot_close(worker->fallback);
    worker->slot = worker->fallback = NULL;
    free(worker->plain);
    worker->plain = NULL;
}

void gi_slot_use_threads(gi_slot *slot, int threads) {
    if (slot->ops->use_threads) slot->ops->use_threads(slot, threads);
}

gi_status gi_worker_plain(gi_worker *worker, size_t bytes, void **data, gi_error *err) {
    if (bytes > worker->plain_bytes || !worker->plain) {
        free(worker->plain);
        worker->plain = gi_large_alloc(bytes);
        worker->plain_bytes = worker->plain ? bytes : 0;
    }
    *data = worker->plain;
    return *data ? GI_OK : gi_fail(err, GI_ERR_MEMORY, "out of memory for an image of %zu bytes", bytes);
}

gi_status gi_worker_fallback(void *context, gi_slot **slot, gi_error *err) {
    gi_worker *worker = context;
    gi_backend *backend = worker->options->fallback;
    gi_status status = GI_OK;
    if (!worker->fallback) status = backend->ops->slot_open(backend, worker->threads, &worker->fallback, err);
    *slot = worker->fallback;
    if (status == GI_OK) gi_slot_use_threads(*slot, worker->threads);
    return status;
}
