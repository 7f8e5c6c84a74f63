// One block of a deflate stream (RFC 1951) at a time, where the 32 KiB before it are known, and where they are not.
#ifndef GI_CODEC_INFLATE_BLOCK_H
#define GI_CODEC_INFLATE_BLOCK_H

#include "codec/inflate_codes.h"

enum { GI_WINDOW_BYTES = 32768 };

typedef enum gi_block_state {
    GI_BLOCK_SYMBOLS, // those of a block are still to come
    GI_BLOCK_OVER,
    GI_BLOCK_BAD, // see gi_block_begin; `bit` and `out` mean nothing then
} gi_block_state;

// What is written is bytes; or, `wide`, 16-bit symbols: one below 256 is a byte, 256 + i is what byte i of the unknown
// window is.
typedef struct gi_block_io {
    gi_packed in;
    uint64_t bit;         // the next one
    const uint8_t *begin; // of what distances may lead back to, the window among it
    uint8_t *out;         // behind that: where to write
    const uint8_t *end;   // of the memory at `out`
    gi_codes *codes;      // scratch
    bool wide;
    bool final; // the block is the stream's last
    gi_block_state state;
} gi_block_io;

// Reads a block's header; all of the block where it is stored. BAD, here and in the following: it is cut, not by the
// strict rules of inflate_codes.h, leads back too far, or needs all of the memory but for some hundred bytes.
void gi_block_begin(gi_block_io *io);

// Moves bit and out behind the block whose symbols are to come.
void gi_block_finish(gi_block_io *io);

// Goes on with two such blocks at once, neither of them wide, until one is over or bad. It takes much less time than
// one after the other: each look-up waits for the one before, but not for the other block's.
void gi_block_pair(gi_block_io *one, gi_block_io *other);

#endif
