#include "run/slots.h"

#include <pthread.h>
#include <stdlib.h>

// A slot that is not lent.
typedef struct idle {
    struct idle *next;
    gi_slot *slot;
    int number;
} idle;

typedef struct device {
    gi_backend *backend;
    int lent, opened;
    bool full; // it has no further slot to give
    idle *idle;
} device;

struct gi_slots {
    gi_slots_request request;
    pthread_mutex_t mutex; // of all below
    pthread_cond_t given;
    int lent; // of all devices
    device devices[];
};

static bool is_lost(gi_backend *backend) { return backend->ops->lost && backend->ops->lost(backend, false, NULL); }

bool gi_slots_lost(const gi_slots *slots) {
    for (int i = 0; i < slots->request.count; i++)
        if (!is_lost(slots->devices[i].backend)) return false;
    return true;
}

// True while fewer slots are open than may be lent, those of lost devices not counted: their memory is bounded, too.
static bool may_open(const gi_slots *slots) {
    int opened = 0;
    for (int i = 0; i < slots->request.count; i++)
        if (!is_lost(slots->devices[i].backend)) opened += slots->devices[i].opened;
    return opened < slots->request.most;
}

// The device to lend from, of those that are not lost if there are any; -1: none can.
static int least_loaded(const gi_slots *slots) {
    const bool more = may_open(slots);
    int best = -1;
    bool best_lost = false;
    for (int i = 0; i < slots->request.count; i++) {
        const device *d = &slots->devices[i];
        if (!d->idle && (d->full || !more)) continue;
        bool lost = is_lost(d->backend);
        bool better = best < 0 || (best_lost && !lost) || (best_lost == lost && d->lent < slots->devices[best].lent);
        if (!better) continue;
        best = i;
        best_lost = lost;
    }
    return best;
}

// With the mutex held.
static gi_status lend(gi_slots *slots, int i, gi_loan *loan, gi_error *err) {
    device *d = &slots->devices[i];
    idle *kept = d->idle;
    gi_slot *slot = kept ? kept->slot : NULL;
    if (!kept) {
        gi_status status = d->backend->ops->slot_open(d->backend, slots->request.threads, &slot, err);
        d->full = status != GI_OK;
        if (d->full) return status;
    }
    *loan = (gi_loan){slot, d->backend, i, kept ? kept->number : d->opened++};
    if (kept) d->idle = kept->next;
    free(kept);
    d->lent++;
    slots->lent++;
    return GI_OK;
}

// Likewise.
static gi_status wait_and_lend(gi_slots *slots, const gi_stop *stop, gi_loan *loan, gi_error *err) {
    gi_status status = gi_fail(err, GI_ERR_MEMORY, "out of memory for a slot");
    for (;;) {
        if (stop && gi_stopped(stop)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
        int i = slots->lent < slots->request.most ? least_loaded(slots) : -1;
        if (i >= 0)
            status = lend(slots, i, loan, err);
        else if (slots->lent > 0)
            pthread_cond_wait(&slots->given, &slots->mutex);
        else
            return status;
        if (loan->slot) return GI_OK;
    }
}

gi_status gi_slots_take(gi_slots *slots, const gi_stop *stop, gi_loan *loan, gi_error *err) {
    *loan = (gi_loan){.slot = NULL};
    pthread_mutex_lock(&slots->mutex);
    gi_status status = wait_and_lend(slots, stop, loan, err);
    pthread_mutex_unlock(&slots->mutex);
    return status;
}

void gi_slots_give(gi_slots *slots, gi_loan *loan) {
    if (!loan->slot) return;
    idle *kept = malloc(sizeof *kept);
    if (!kept) loan->slot->ops->slot_close(loan->slot); // another is opened in its place
    pthread_mutex_lock(&slots->mutex);
    device *d = &slots->devices[loan->device];
    if (!kept) d->opened--;
    if (kept) *kept = (idle){d->idle, loan->slot, loan->number};
    if (kept) d->idle = kept;
    d->lent--;
    slots->lent--;
    pthread_cond_broadcast(&slots->given); // those who wait look at the stop too
    pthread_mutex_unlock(&slots->mutex);
    *loan = (gi_loan){.slot = NULL};
}

gi_status gi_slots_open(const gi_slots_request *request, gi_slots **out, gi_error *err) {
    gi_slots *slots = calloc(1, sizeof *slots + sizeof *slots->devices * (size_t)request->count);
    gi_loan first;
    *out = slots;
    if (!slots) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    slots->request = *request;
    for (int i = 0; i < request->count; i++) slots->devices[i].backend = request->backends[i];
    pthread_mutex_init(&slots->mutex, NULL);
    pthread_cond_init(&slots->given, NULL);
    gi_status status = gi_slots_take(slots, NULL, &first, err);
    gi_slots_give(slots, &first);
    return status;
}

void gi_slots_close(gi_slots *slots) {
    if (!slots) return;
    for (int i = 0; i < slots->request.count; i++)
        for (idle *kept = slots->devices[i].idle, *next; kept; kept = next) {
            next = kept->next;
            kept->slot->ops->slot_close(kept->slot);
            free(kept);
        }
    pthread_cond_destroy(&slots->given);
    pthread_mutex_destroy(&slots->mutex);
    free(slots);
}
