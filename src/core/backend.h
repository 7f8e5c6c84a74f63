// What a backend offers the executor: slots, and operations on the image a slot holds.
//
// The executor drives every backend the same way:
//     slot_open ... { host_buffer -> (decode into it) -> upload -> point/histogram... -> download } ... slot_close
// A slot is used by one thread at a time; different slots of one backend may be used by different threads.
#ifndef GI_CORE_BACKEND_H
#define GI_CORE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "core/histogram.h"
#include "core/point.h"
#include "core/status.h"
#include "core/view.h"

typedef struct gi_backend gi_backend;
typedef struct gi_slot gi_slot;

typedef struct gi_backend_ops {
    // Frees the backend; all its slots must be closed.
    void (*close)(gi_backend *backend);

    // A slot that uses up to `threads` CPU threads (the CPU backend; others ignore it).
    gi_status (*slot_open)(gi_backend *backend, int threads, gi_slot **slot, gi_error *err);
    void (*slot_close)(gi_slot *slot);

    // *data = at least `bytes` of host memory that uploads fast (pinned where that helps), 64-byte aligned. Owned by
    // the slot, kept and reused; the previous buffer's content is lost.
    gi_status (*host_buffer)(gi_slot *slot, size_t bytes, void **data, gi_error *err);

    // Makes host pixels the slot's current image. The pixels must stay unchanged until the next download or
    // histogram returns. May be asynchronous.
    gi_status (*upload)(gi_slot *slot, const gi_view *host, gi_error *err);

    // Replaces the current image by point(current). May be asynchronous; the tables are copied before return.
    gi_status (*point)(gi_slot *slot, const gi_point *point, gi_error *err);

    // Adds the current image's counts to *histogram (of the same channels and sample). Waits.
    gi_status (*histogram)(gi_slot *slot, gi_histogram *histogram, gi_error *err);

    // *host = the current image in host memory, valid until the next call on this slot. Waits.
    gi_status (*download)(gi_slot *slot, gi_view *host, gi_error *err);
} gi_backend_ops;

// First member of every backend's own struct.
struct gi_backend {
    const gi_backend_ops *ops;
    char name[16];    // "cpu", "cuda:0": what --device would be given
    char detail[128]; // "AVX2, 8 threads"; "NVIDIA H200, sm_90"
};

// First member of every backend's own slot struct.
struct gi_slot {
    const gi_backend_ops *ops;
};

#endif
