// Inflate by zlib.
#include "codec/inflate_engine.h"

#ifdef GPUIMG_HAVE_ZLIB
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

static gi_status zlib_open(size_t need, void **self, gi_error *err) {
    (void)need;
    z_stream *stream = calloc(1, sizeof *stream);
    if (!stream || inflateInit2(stream, -MAX_WBITS) != Z_OK) {
        free(stream);
        return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    }
    *self = stream;
    return GI_OK;
}

static gi_inflate_state zlib_run(void *self, gi_inflate_io *io) {
    z_stream *stream = self;
    uInt in = io->in.size < INT_MAX ? (uInt)io->in.size : INT_MAX;
    uInt room = io->room < INT_MAX ? (uInt)io->room : INT_MAX;
    stream->next_in = (Bytef *)(uintptr_t)io->in.data;
    stream->avail_in = in;
    stream->next_out = io->out;
    stream->avail_out = room;
    int result = inflate(stream, Z_NO_FLUSH);
    io->in.data += in - stream->avail_in;
    io->in.size -= in - stream->avail_in;
    io->out += room - stream->avail_out;
    io->room -= room - stream->avail_out;
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR: return GI_INFLATE_GOES_ON; // the latter: nothing could be done
    case Z_STREAM_END: return GI_INFLATE_ENDED;
    case Z_MEM_ERROR: return GI_INFLATE_NO_MEMORY;
    default: io->reason = stream->msg ? stream->msg : "invalid block"; return GI_INFLATE_CORRUPT;
    }
}

static gi_inflate_state zlib_resume(void *self, uint8_t first, int bits, gi_bytes window) {
    z_stream *stream = self;
    bool done = inflateSetDictionary(stream, window.data, (uInt)window.size) == Z_OK &&
                (bits == 0 || inflatePrime(stream, bits, first) == Z_OK);
    return done ? GI_INFLATE_GOES_ON : GI_INFLATE_NO_MEMORY;
}

static void zlib_close(void *self) {
    inflateEnd(self);
    free(self);
}

const gi_inflate_engine gi_inflate_zlib = {false, zlib_open, zlib_run, zlib_resume, zlib_close};
#endif
