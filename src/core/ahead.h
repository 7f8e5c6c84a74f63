// Blocks of bytes made in order by a thread of their own, ahead of the thread that uses them: a bounded ring of blocks
// between the two, in which a side that has nothing to do sleeps.
#ifndef GI_CORE_AHEAD_H
#define GI_CORE_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct gi_ahead gi_ahead;

typedef struct gi_ahead_job {
    // Makes the next block, of block_bytes at `block` (64-byte aligned). Called for block 0, 1, ... in order, by one
    // thread at a time: what `context` points at belongs to that thread until gi_ahead_close has returned.
    gi_status (*make)(void *context, void *block, gi_error *err);
    void *context;
    uint64_t blocks; // how many there are
    size_t block_bytes;
    int depth;     // at most so many blocks wait to be used; at least 1
    bool threaded; // false: each block is made in gi_ahead_next, as it also is where no thread can be started
} gi_ahead_job;

// GI_ERR_MEMORY: depth + 1 blocks (one when not threaded) do not fit.
gi_status gi_ahead_open(const gi_ahead_job *job, gi_ahead **ahead, gi_error *err);

// *block = the next block, which may be written to, and stays valid until the next call. A failure of `make` is returned
// once the blocks before it were, and from then on. Asking for more than there are is GI_ERR_USAGE.
gi_status gi_ahead_next(gi_ahead *ahead, void **block, gi_error *err);

// Also before the last block; waits for the one in work. NULL is fine.
void gi_ahead_close(gi_ahead *ahead);

#endif
