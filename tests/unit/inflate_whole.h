// A zlib stream in memory inflated by the witness.
#ifndef TESTS_UNIT_INFLATE_WHOLE_H
#define TESTS_UNIT_INFLATE_WHOLE_H

#include <stdbool.h>

#include "codec/inflate.h"

// The stream in one span.
static inline gi_bytes whole_stream(void *context) {
    gi_bytes *stream = context, whole = *stream;
    stream->size = 0;
    return whole;
}

// Inflates exactly `size` bytes of a stream that holds no more.
static inline bool inflate_whole(gi_bytes stream, uint8_t *out, size_t size) {
    gi_inflate_source source = {whole_stream, &stream, stream.size};
    gi_inflate *inflate = NULL;
    bool more = true;
    bool good = gi_inflate_open(&source, GI_CODEC_STB, size, &inflate, NULL) == GI_OK &&
                gi_inflate_read(inflate, out, size, NULL) == GI_OK &&
                gi_inflate_finish(inflate, &more, NULL) == GI_OK && !more;
    gi_inflate_close(inflate);
    return good;
}

#endif
