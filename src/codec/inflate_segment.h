// A segment of a deflate stream: its blocks from the first one that begins in or behind it to the first one that begins
// in or behind the next. Where that is need not be known, nor what comes before.
//
// Only blocks with codes of their own that are not the last are looked for, and only before such a block does a segment
// end: two segments meet where the second is told the same place as the first has come to. That the place is right is
// known from there: what has led to it began at the stream's beginning.
#ifndef GI_CODEC_INFLATE_SEGMENT_H
#define GI_CODEC_INFLATE_SEGMENT_H

#include <stdatomic.h>

#include "codec/inflate_block.h"

typedef struct gi_segment {
    gi_packed in;      // from the segment's first byte on, some of the next segment's behind it
    uint64_t next;     // in bits, where the next segment begins; UINT64_MAX: there is none
    uint8_t *memory;   // for what is inflated
    size_t room;       // GI_SEGMENT_ROOM(0) at least
    atomic_bool *stop; // set: give up, after a block at the latest
    gi_codes codes;    // scratch
    gi_block_io io;    // as far as it has come
    bool going;        // `io` is amid a block

    // What came of it. In bits of `in`, where the first block begins and the last has ended.
    uint64_t begin, end;
    bool found;             // a first block, as is always so where the beginning was given; false: all else is not set
    bool complete;          // false: what begins at `end` was too much for the room, is cut, or corrupt
    bool final;             // complete, and the stream's end
    const uint8_t *symbols; // symbol_count of 16 bits (gi_block_io), those of an unknown window before them
    size_t symbol_count;
    const uint8_t *bytes; // byte_count, after the symbols; before them the window, as far as it is known. NULL: none
    size_t byte_count;
} gi_segment;

static inline uint16_t gi_segment_symbol(const uint8_t *symbols, size_t i) {
    uint16_t symbol;
    memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
    return symbol;
}

// Memory in which at least `bytes` fit, though not if they are written as symbols for long.
#define GI_SEGMENT_ROOM(bytes) ((size_t)(bytes) + 4 * GI_WINDOW_BYTES)

// Inflates from the first place that looks like a block's beginning and behind which that block is sound, until nothing
// of the window is of use any more, or the end.
void gi_segment_search(gi_segment *segment);

// Goes to `begin`, where a block begins, with all that distances may lead back to; then there are no symbols.
void gi_segment_continue(gi_segment *segment, uint64_t begin, const uint8_t *window, size_t window_size);

// After one of these: inflates to the segment's end; two at once, or, other = NULL, one.
void gi_segment_finish(gi_segment *segment, gi_segment *other);

#endif
