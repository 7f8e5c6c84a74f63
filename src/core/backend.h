// What a backend offers the executor: slots, and operations on the image a slot holds.
//
// The executor drives every backend the same way:
//     slot_open ... { host_buffer -> (decode into it) -> upload -> point/window/measure... -> download } ... slot_close
// A backend that works beside the host has several lanes in a slot, each with an image of its own: then
//     use_lane 0 -> upload -> point... -> send, use_lane 1 -> upload -> point... -> send, use_lane 0 -> download, ...
// keeps a band in work on each.
// A slot is used by one thread at a time; different slots of one backend may be used by different threads.
#ifndef GI_CORE_BACKEND_H
#define GI_CORE_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "core/histogram.h"
#include "core/pipeline.h"
#include "core/point.h"
#include "core/primitives.h"
#include "core/status.h"
#include "core/view.h"
#include "core/window.h"

enum { GI_MAX_RESOLVED = 16 }; // barriers of one plan
enum { GI_MAX_LANES = 4 };     // of one slot

typedef struct gi_backend gi_backend;
typedef struct gi_slot gi_slot;

// What a device does by itself, and when, in gi_clock_ms's milliseconds.
typedef enum gi_device_work { GI_DEVICE_UPLOAD, GI_DEVICE_KERNELS, GI_DEVICE_DOWNLOAD, GI_DEVICE_WORKS } gi_device_work;

typedef struct gi_device_span {
    gi_device_work work;
    int lane; // of the slot
    double begin_ms, end_ms;
} gi_device_span;

typedef struct gi_watch {
    void (*on_work)(void *context, const gi_device_span *span);
    void *context;
} gi_watch;

// A JPEG file for a backend's own decoder, and what it is to make of it: its luma (one channel) or RGB (three), of 8
// bits. The bytes must stay until the slot's next release, download, counts or jpeg_encode.
typedef struct gi_jpeg_source {
    const uint8_t *data;
    size_t size;
    gi_shape shape;
} gi_jpeg_source;

// How a backend's own encoder is to write a JPEG.
typedef struct gi_jpeg_form {
    int quality;                    // 1..100
    int chroma_across, chroma_down; // samples of luma for one of chroma, each way: 1 or 2, of three channels
    bool optimize;                  // Huffman tables made for the image
} gi_jpeg_form;

typedef struct gi_backend_ops {
    // Frees the backend; all its slots must be closed.
    void (*close)(gi_backend *backend);

    // True once the backend cannot be used any more, with the reason; while it is still starting, false, or `wait` for
    // the end of that. NULL: it never is.
    bool (*lost)(gi_backend *backend, bool wait, gi_error *err);

    // A slot that uses up to `threads` CPU threads (the CPU backend; others ignore it).
    gi_status (*slot_open)(gi_backend *backend, int threads, gi_slot **slot, gi_error *err);
    void (*slot_close)(gi_slot *slot);

    // From now on the slot uses up to so many CPU threads, at least 1. NULL: this backend uses none.
    void (*use_threads)(gi_slot *slot, int threads);

    // From now on tells the watch, in the slot's thread, each piece of the device's work once it is known to be over;
    // NULL: none any more. The watch must stay. NULL: what this backend does takes the thread's own time.
    void (*watch)(gi_slot *slot, const gi_watch *watch);

    // False while the backend is still starting: what needs it would wait. NULL: true.
    bool (*ready)(gi_slot *slot);

    // *data = at least `bytes` of host memory that uploads fast (pinned where that helps), 64-byte aligned. Owned by
    // the slot, kept and reused; the previous buffer's content is lost.
    gi_status (*host_buffer)(gi_slot *slot, size_t bytes, void **data, gi_error *err);

    // Lanes of a slot, at most GI_MAX_LANES, and the one that the calls below are for: at first 0. The counts and the
    // operations made of them are the slot's, whichever lane they come from. 0 and NULL: there is one.
    int lanes;
    void (*use_lane)(gi_slot *slot, int lane);

    // Makes host pixels the lane's current image. The pixels must stay unchanged until the next release, or download
    // from this lane, or counts returns. May be asynchronous.
    gi_status (*upload)(gi_slot *slot, const gi_view *host, gi_error *err);

    // Waits until no uploaded pixels are needed any more. NULL: they stay needed until download or counts returns.
    gi_status (*release)(gi_slot *slot, gi_error *err);

    // Replaces the current image by point(current). May be asynchronous; the tables are copied before return.
    gi_status (*point)(gi_slot *slot, const gi_point *point, gi_error *err);

    // Replaces the current image, which holds rows from place->in_y0 of the whole, by `rows` rows of the WINDOW stage's
    // result from place->out_y0. May be asynchronous.
    gi_status (*window)(gi_slot *slot, const gi_stage_call *call, const gi_window_place *place, uint32_t rows,
                        gi_error *err);

    // Lets the next point, point_resolved or window, or the download after it, put the result into *host rather than
    // into memory of the slot's, where it can: *host has the result's shape and shares no memory with the current
    // image. It must be there until download returns, which tells where the result lies. NULL: this backend never does.
    void (*aim)(gi_slot *slot, const gi_view *host);

    // Adds to the slot's own counts those of the current image, seen through `through` where that is not NULL (the luma
    // of a colour image, say); the current image stays. `first` starts from zero, for the channels and levels of what
    // is counted; the following bands must agree with them. May be asynchronous.
    gi_status (*measure)(gi_slot *slot, const gi_point *through, bool first, gi_error *err);

    // Adds the slot's counts to *histogram (of the same channels and sample). Waits.
    gi_status (*counts)(gi_slot *slot, gi_histogram *histogram, gi_error *err);

    // Makes, from the slot's counts, the operation of a POINT stage that asks for a histogram, followed by `rest`, and
    // keeps it as number `index` (0 .. GI_MAX_RESOLVED - 1) of the slot. No round trip to the host: may be
    // asynchronous.
    gi_status (*resolve)(gi_slot *slot, int index, const gi_stage_call *call, const gi_point *rest, gi_error *err);

    // As `point`, with the operation kept under `index`.
    gi_status (*point_resolved)(gi_slot *slot, int index, gi_error *err);

    // The level that operation `index` thresholds at (otsu). Valid after the next download or counts returned.
    uint32_t (*resolved_level)(gi_slot *slot, int index);

    // Begins to bring the lane's current image to host memory, for download to wait for. NULL: download does it all.
    gi_status (*send)(gi_slot *slot, gi_error *err);

    // *host = the lane's current image in host memory, valid until the next call for this lane. Waits.
    gi_status (*download)(gi_slot *slot, gi_view *host, gi_error *err);

    // A backend's own JPEG codec, whose pixels differ by a few levels from those of gpuimg's codecs; NULL, all four:
    // it has none. GI_ERR_DEVICE, with the reason, where it cannot be had here; needs no device started. Thread-safe.
    gi_status (*jpeg_check)(gi_backend *backend, gi_error *err);

    // Why jpeg_decode would wait now: the codec has not started yet, which the first call begins beside other work, or
    // others use it. NULL: it would not. After jpeg_check. Thread-safe.
    const char *(*jpeg_busy)(gi_backend *backend);

    // Makes the file's image the lane's current one. Any failure leaves the slot usable: GI_ERR_FORMAT and
    // GI_ERR_UNSUPPORTED are this file's. May be asynchronous.
    gi_status (*jpeg_decode)(gi_slot *slot, const gi_jpeg_source *source, gi_error *err);

    // *data, *size = the lane's current image, of one or three 8-bit channels, as a JPEG file; it stays the current
    // one. Valid until the next call for this slot. GI_ERR_UNSUPPORTED: the codec does not write it. Waits.
    gi_status (*jpeg_encode)(gi_slot *slot, const gi_jpeg_form *form, const uint8_t **data, size_t *size,
                             gi_error *err);
} gi_backend_ops;

// First member of every backend's own struct.
struct gi_backend {
    const gi_backend_ops *ops;
    char name[16];                   // "cpu", "cuda:0": what --device would be given
    char detail[128];                // "AVX2, 8 threads"; "NVIDIA H200, sm_90"
    const gi_primitives *primitives; // on arrays; NULL: it has none
};

// First member of every backend's own slot struct.
struct gi_slot {
    const gi_backend_ops *ops;
};

#endif
