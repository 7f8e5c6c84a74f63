// zlib streams (RFC 1950) inflated piece by piece, by whichever library was chosen.
#ifndef GI_CODEC_INFLATE_H
#define GI_CODEC_INFLATE_H

#include "codec/codec.h"

// Where the compressed bytes lie: any number of spans, one after the other.
typedef struct gi_inflate_source {
    gi_bytes (*next)(void *context); // the next span, which is not empty; an empty one once all were given
    void *context;                   // must outlive the inflater
    size_t bytes;                    // of all spans together
} gi_inflate_source;

// A stream may hold more bytes than are needed; up to so many more are checked as all others are, and so is the
// checksum then. What follows those is not looked at.
enum { GI_INFLATE_EXCESS = 65536 };

// Every library gives the same bytes, and accepts and refuses the same streams, but for what RFC 1951 leaves to them:
// zlib refuses a Huffman code that leaves bit patterns unused, the others only the use of such a pattern; stb also
// takes the symbols that are reserved (it reads nothing out of bounds for them).
typedef struct gi_inflate gi_inflate;

// False where the whole output is made in one buffer: `need` is at most GI_CODEC_BUFFER_LIMIT then, and so are the
// bytes of the source.
bool gi_inflate_is_streamed(gi_codec_choice codec);

// For a stream that holds at least `need` bytes. GI_ERR_MEMORY.
gi_status gi_inflate_open(const gi_inflate_source *source, gi_codec_choice codec, size_t need, gi_inflate **inflate,
                          gi_error *err);

// Before the first read: up to `threads` may inflate at once, where that pays. The bytes, and what is accepted and
// refused for what reason, stay the same.
void gi_inflate_use_threads(gi_inflate *inflate, int threads);

// Does so whether it pays or not, if `threads` is 2 or more: in segments of so many compressed bytes, 1 or more, that
// may use so many of the next. False: the library, or the memory, does not allow it.
bool gi_inflate_in_segments(gi_inflate *inflate, int threads, size_t segment_bytes, size_t overlap_bytes);

// Fills `out` with the next `size` bytes; never more than `need` all together. GI_ERR_FORMAT: the stream ends before,
// or is corrupt.
gi_status gi_inflate_read(gi_inflate *inflate, void *out, size_t size, gi_error *err);

// Likewise, or fewer bytes where the stream ends before: *got of them.
gi_status gi_inflate_some(gi_inflate *inflate, void *out, size_t size, size_t *got, gi_error *err);

// After all that is needed was read. *more: the stream holds more. GI_ERR_FORMAT: corrupt or cut behind what was read,
// or the checksum (Adler-32) does not match.
gi_status gi_inflate_finish(gi_inflate *inflate, bool *more, gi_error *err);

// NULL is fine; also before the end.
void gi_inflate_close(gi_inflate *inflate);

#endif
