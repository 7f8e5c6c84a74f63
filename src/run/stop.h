// What ends a run early.
#ifndef GI_RUN_STOP_H
#define GI_RUN_STOP_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct gi_stop {
    volatile sig_atomic_t *cancel; // of the caller; may be NULL
    atomic_bool drop;              // set by --fail-fast after a failure
} gi_stop;

static inline bool gi_stopped(const gi_stop *stop) {
    return (stop->cancel && *stop->cancel) || atomic_load(&stop->drop);
}

#endif
