// Deflate streams inflated in segments, several at once; where that fails, or does not pay, the library goes on.
#ifndef GI_CODEC_INFLATE_PARALLEL_H
#define GI_CODEC_INFLATE_PARALLEL_H

#include "codec/inflate_engine.h"

typedef struct gi_parallel_job {
    const gi_inflate_engine *engine; // the library's; it has `resume`
    void *self;                      // what its `open` made
    int threads;                     // at least 2
    size_t segment_bytes;            // of compressed data, at least 1
    size_t overlap_bytes;            // of the next one that a segment may use: its last block mostly ends there
} gi_parallel_job;

// Whatever the stream, it is inflated to the same bytes and ends in the same state and for the same reason as by the
// library alone. `self` is the inflater's from then on. GI_ERR_MEMORY.
gi_status gi_parallel_open(const gi_parallel_job *job, void **parallel, gi_error *err);

// Its `open` is NULL.
extern const gi_inflate_engine gi_inflate_parallel;

#endif
