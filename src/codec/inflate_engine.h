// What a library offers to inflate.c: deflate streams (RFC 1951), without zlib's header and checksum.
#ifndef GI_CODEC_INFLATE_ENGINE_H
#define GI_CODEC_INFLATE_ENGINE_H

#include "codec/codec.h"

typedef enum gi_inflate_state {
    GI_INFLATE_GOES_ON,
    GI_INFLATE_ENDED,   // the final block is over and all of its bytes were written
    GI_INFLATE_BEYOND,  // GI_INFLATE_EXCESS bytes past `need` are not all; no more are written
    GI_INFLATE_CUT,     // the input ends before the final block does
    GI_INFLATE_CORRUPT, // bytes before the damage may not all be written
    GI_INFLATE_NO_MEMORY
} gi_inflate_state;

typedef struct gi_inflate_io {
    gi_bytes in;     // what is left of a span
    uint8_t *out;    // the next byte to write
    size_t room;     // bytes that may be written
    uint8_t rest[8]; // bytes of earlier spans that were taken and not used, once the stream has ended
    size_t rest_size;
    const char *reason; // of corruption, static
} gi_inflate_io;

typedef struct gi_inflate_engine {
    bool whole; // the first `in` must be all of the input, with GI_INFLATE_PADDING bytes that may be read after it
    gi_status (*open)(size_t need, void **self, gi_error *err);
    // Advances in and out until the input is used up, the room is full, or the state is another than GOES_ON. With the
    // input used up it may still have bytes to write.
    gi_inflate_state (*run)(void *self, gi_inflate_io *io);
    // Before the first run: the input is that of a stream from a block's beginning on, before which are `bits` bits, 0
    // to 7, in the low ones of `first`. Inflated from the stream's beginning were bytes of which `window` are the last,
    // 32 KiB or all. GOES_ON or NO_MEMORY. NULL: it cannot.
    gi_inflate_state (*resume)(void *self, uint8_t first, int bits, gi_bytes window);
    void (*close)(void *self);
} gi_inflate_engine;

enum { GI_INFLATE_PADDING = 8 };

extern const gi_inflate_engine gi_inflate_stb;
#ifdef GPUIMG_HAVE_ISAL
extern const gi_inflate_engine gi_inflate_isal;
#endif
#ifdef GPUIMG_HAVE_ZLIB
extern const gi_inflate_engine gi_inflate_zlib;
#endif

#endif
