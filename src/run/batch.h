// The one executor: a single image and a batch take the same path.
#ifndef GI_RUN_BATCH_H
#define GI_RUN_BATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"
#include "core/backend.h"
#include "core/histogram.h"
#include "core/message.h"
#include "core/pipeline.h"
#include "run/inputs.h"
#include "run/output.h"
#include "run/timeline.h"

// The result of a pipeline that ends in hist. Valid during the callback.
typedef struct gi_measured {
    const char *file;         // as in the item; NULL: standard input
    gi_shape shape;           // of the image that was measured
    gi_histogram *histogram;  // the callback may take it: move the struct and zero this one
    uint32_t bins;            // as asked for, 1..levels
    const gi_view *thumbnail; // of the image as decoded, before the pipeline; NULL unless asked for
} gi_measured;

enum { GI_DAMAGE_BYTES = 240 }; // of what is kept of a warning, with its NUL

// How one item ended.
typedef struct gi_outcome {
    gi_status status;
    bool skipped;                    // its output exists, and skip_existing asks to keep it (GI_OK then)
    const char *reason;              // of a failure, valid during the callback; else ""
    char damage[GI_DAMAGE_BYTES];    // what was warned of in an input that decodes all the same; "" for nothing
    uint64_t bytes_in;               // of the input's file, as far as it was opened
    uint64_t bytes_out;              // of the output; 0 unless it is there now
    uint8_t digest[GI_DIGEST_BYTES]; // of the output, where a digester was given and bytes_out are
    double time_ms;
} gi_outcome;

typedef struct gi_batch_options {
    const gi_pipeline *pipeline;
    gi_backend *backend;
    gi_backend *const *more; // devices of the same kind, `more_count` of them, over which the images are spread too
    int more_count;
    gi_backend *fallback;     // tried when the backend runs out of device memory even in bands; NULL: that file fails
    gi_decode_options decode; // file, threads, metadata and jpeg_luma are set per image
    // format GI_FORMAT_UNKNOWN: by the output's extension, else as the input, and PNG for standard output; file,
    // threads, binary, orientation and metadata are set per image.
    gi_encode_options encode;
    bool strip;     // write nothing of the input's metadata, not even an orientation
    bool jpeg_luma; // allow the luma shortcut where the pipeline takes it
    bool skip_existing, no_clobber, fail_fast;
    int workers;             // images at once; 0: as many as cores (twice, with codecs of a device), or items if fewer
    int slots;               // of these, at most so many that hold pixels; 0: as many as workers
    int streams;             // ... and at most so many on a device at once; 0: as many as slots
    int threads;             // CPU cores to share among the workers; 0: all
    uint32_t thumbnail_side; // gi_measured has a thumbnail of at most so many pixels a side; 0: none
    size_t band_bytes;       // passes over at most so many input bytes at once; 0: no limit
    // For the pixels in work beside what is decoded and whole images in host memory, shared among the slots; 0: no
    // limit.
    size_t max_memory;
    uint32_t band_rows;          // bands of at most so many rows; 0: no limit
    const gi_digester *digester; // hashes the outputs; NULL: they are not
    gi_timeline *timeline;       // takes the spans of the work; NULL: they are not measured
    const gi_messages *messages;
    // Called for each measured image, from worker threads, one call at a time, in any order.
    void (*on_measured)(void *context, size_t index, gi_measured *measured);
    // Called once an image is done, skipped or failed, likewise. May be NULL.
    void (*on_progress)(void *context, size_t index, const gi_outcome *outcome);
    void *context;
    // Non-zero: drop the images in work, start no other. A batch of one image runs in the calling thread, so that a
    // signal caught there ends a read or write that waits. May be NULL.
    volatile sig_atomic_t *cancel;
} gi_batch_options;

typedef struct gi_batch_result {
    size_t done;
    size_t skipped;     // their outputs exist (skip_existing)
    size_t failed;      // those of the list (directories that could not be read) included
    size_t not_started; // or dropped, after a cancel, with fail_fast or once the disk is full
    bool disk_full;     // an output found no room: the run was stopped
} gi_batch_result;

// CPU cores that a batch uses, at least 1.
int gi_batch_cores(const gi_batch_options *options);

// How many workers a batch of `items` has, how many slots they share, at least 1 of each, and the part of max_memory
// that a slot is given.
int gi_batch_workers(const gi_batch_options *options, size_t items);
int gi_batch_slots(const gi_batch_options *options, size_t items);
size_t gi_batch_memory_share(const gi_batch_options *options, size_t items);

// Does every item: a few that are large among many small ones first, with as many threads as let them end with the
// others (run/schedule.h), and the rest in their order. One bad file never stops the others (unless fail_fast), but a
// full disk does: it is said through messages with its reason and counted. Returns GI_OK when the batch ran, whatever
// failed in it; GI_ERR_MEMORY or GI_ERR_DEVICE when no slot could be opened; GI_ERR_DEVICE when all devices are lost
// and there is no fallback (the other files are not started; while one device works, it takes what another has lost);
// GI_ERR_IO when list->out_directory cannot be made or written to; GI_ERR_CANCELLED after a cancel. Directories below
// it are made when a first file goes there.
gi_status gi_batch_run(const gi_item_list *list, const gi_batch_options *options, gi_batch_result *result,
                       gi_error *err);

#endif
