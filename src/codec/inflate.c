// zlib's frame around a library's deflate: header, checksum, spans, the end.
#include "codec/inflate.h"

#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/checksum.h"
#include "codec/inflate_engine.h"
#include "codec/inflate_parallel.h"
#include "core/checked.h"

struct gi_inflate {
    gi_inflate_source source;
    const gi_inflate_engine *engine;
    void *self;
    size_t need;
    gi_inflate_io io;
    gi_inflate_state state;
    uint32_t adler;
    bool begun;     // the header was read
    bool exhausted; // all spans were given
    uint8_t *whole; // all spans together, for engines that want them so
};

static const gi_inflate_engine *engine_of(gi_codec_choice codec) {
#ifdef GPUIMG_HAVE_ISAL
    if (codec == GI_CODEC_AUTO) return &gi_inflate_isal;
#endif
#ifdef GPUIMG_HAVE_ZLIB
    if (codec != GI_CODEC_STB) return &gi_inflate_zlib;
#endif
    (void)codec;
    return &gi_inflate_stb;
}

bool gi_inflate_is_streamed(gi_codec_choice codec) { return !engine_of(codec)->whole; }

gi_status gi_inflate_open(const gi_inflate_source *source, gi_codec_choice codec, size_t need, gi_inflate **inflate,
                          gi_error *err) {
    gi_inflate *made = calloc(1, sizeof *made);
    if (!made) return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    made->source = *source;
    made->engine = engine_of(codec);
    made->need = need;
    made->adler = 1;
    made->io.in.data = (const uint8_t *)""; // no NULL for engines to add to
    gi_status status = made->engine->open(need, &made->self, err);
    if (status == GI_OK)
        *inflate = made;
    else
        free(made);
    return status;
}

bool gi_inflate_in_segments(gi_inflate *inflate, int threads, size_t segment_bytes, size_t overlap_bytes) {
    void *parallel;
    gi_parallel_job job = {inflate->engine, inflate->self, threads, segment_bytes, overlap_bytes};
    if (threads < 2 || !inflate->engine->resume || gi_parallel_open(&job, &parallel, NULL) != GI_OK) return false;
    inflate->engine = &gi_inflate_parallel;
    inflate->self = parallel;
    return true;
}

void gi_inflate_use_threads(gi_inflate *inflate, int threads) {
    enum {
        MOST_THREADS = 16, // keep the one that takes the bytes busy
        // Memory to begin with and threads cost as much as they save in fewer bytes; the less, the more threads there
        // are.
        LEAST_BYTES = 8 << 20,
        LEAST_TIMES_THREADS = 48 << 20,
        LEAST_SEGMENT = 256 << 10,
        MOST_SEGMENT = 1 << 20,
        OVERLAP = 256 << 10, // the blocks of some compressors are nearly as long
        MOST_RATIO = 8,      // runs are inflated as fast as they are written
    };
    size_t bytes = inflate->source.bytes;
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    if (threads < 2 || bytes < LEAST_BYTES || bytes < LEAST_TIMES_THREADS / (size_t)threads) return;
    if (inflate->need / MOST_RATIO >= bytes) return;
    if (bytes > inflate->need - inflate->need / 16) return; // mostly stored: copied faster than blocks are found
    size_t segment = bytes / ((size_t)threads * 16);
    segment = segment < LEAST_SEGMENT ? LEAST_SEGMENT : segment > MOST_SEGMENT ? MOST_SEGMENT : segment;
    gi_inflate_in_segments(inflate, threads, segment, OVERLAP);
}

void gi_inflate_close(gi_inflate *inflate) {
    if (!inflate) return;
    inflate->engine->close(inflate->self);
    free(inflate->whole);
    free(inflate);
}

// Makes the next span the input where the last is used up.
static void refill(gi_inflate *z) {
    if (z->io.in.size || z->exhausted) return;
    gi_bytes span = z->source.next(z->source.context);
    if (span.size)
        z->io.in = span;
    else
        z->exhausted = true;
}

// The next byte past what the engine has used, or -1 at the end of the input.
static int next_byte(gi_inflate *z) {
    gi_inflate_io *io = &z->io;
    if (io->rest_size) {
        int byte = io->rest[0];
        memmove(io->rest, io->rest + 1, --io->rest_size);
        return byte;
    }
    refill(z);
    if (!io->in.size) return -1;
    io->in.size--;
    return *io->in.data++;
}

static void read_header(gi_inflate *z) {
    int cmf = next_byte(z), flags = next_byte(z);
    if (flags < 0) {
        z->state = GI_INFLATE_CUT;
        return;
    }
    const char *reason = NULL;
    if ((cmf * 256 + flags) % 31 != 0)
        reason = "bad zlib header";
    else if (flags & 32)
        reason = "no preset dict";
    else if ((cmf & 15) != 8)
        reason = "bad compression";
    else if (cmf >> 4 > 7) // a window of more than 32 KiB; smaller ones are not held against the stream
        reason = "bad window size";
    if (reason) z->state = GI_INFLATE_CORRUPT;
    z->io.reason = reason;
}

static void gather(gi_inflate *z) {
    size_t size, used = 0;
    if (gi_add(z->source.bytes, GI_INFLATE_PADDING, &size)) z->whole = calloc(1, size);
    if (!z->whole) {
        z->state = GI_INFLATE_NO_MEMORY;
        return;
    }
    for (refill(z); z->io.in.size; refill(z)) {
        memcpy(z->whole + used, z->io.in.data, z->io.in.size);
        used += z->io.in.size;
        z->io.in.size = 0;
    }
    z->io.in = (gi_bytes){z->whole, used};
}

// Writes the next bytes, and returns how many: fewer than `size` only where the state tells why.
static size_t produce(gi_inflate *z, uint8_t *out, size_t size) {
    gi_inflate_io *io = &z->io;
    if (!z->begun) {
        z->begun = true;
        read_header(z);
        if (z->state == GI_INFLATE_GOES_ON && z->engine->whole) gather(z);
    }
    io->out = out;
    io->room = size;
    while (io->room && z->state == GI_INFLATE_GOES_ON) {
        refill(z);
        size_t in = io->in.size, room = io->room;
        z->state = z->engine->run(z->self, io);
        if (z->state == GI_INFLATE_GOES_ON && io->in.size == in && io->room == room) z->state = GI_INFLATE_CUT;
    }
    size_t done = size - io->room;
    z->adler = gi_adler32(z->adler, out, done);
    return done;
}

// Why there are fewer bytes than were asked for.
static gi_status failure(const gi_inflate *z, gi_error *err) {
    switch (z->state) {
    case GI_INFLATE_NO_MEMORY: return gi_fail(err, GI_ERR_MEMORY, "no memory for compressed data");
    case GI_INFLATE_CORRUPT:
        return gi_fail(err, GI_ERR_FORMAT, "damaged PNG: compressed data is corrupt (%s)", z->io.reason);
    default: return gi_fail(err, GI_ERR_FORMAT, "damaged PNG: compressed data ends early");
    }
}

gi_status gi_inflate_read(gi_inflate *inflate, void *out, size_t size, gi_error *err) {
    return produce(inflate, out, size) == size ? GI_OK : failure(inflate, err);
}

gi_status gi_inflate_some(gi_inflate *inflate, void *out, size_t size, size_t *got, gi_error *err) {
    *got = produce(inflate, out, size);
    return *got == size || inflate->state == GI_INFLATE_ENDED ? GI_OK : failure(inflate, err);
}

static gi_status check_adler(gi_inflate *z, gi_error *err) {
    uint8_t stored[4];
    for (int i = 0; i < 4; i++) {
        int byte = next_byte(z);
        if (byte < 0) return gi_fail(err, GI_ERR_FORMAT, "damaged PNG: compressed data ends early");
        stored[i] = (uint8_t)byte;
    }
    if (gi_be32(stored) != z->adler)
        return gi_fail(err, GI_ERR_FORMAT,
                       "damaged PNG: the checksum of the compressed data (Adler-32) does not match");
    return GI_OK;
}

gi_status gi_inflate_finish(gi_inflate *inflate, bool *more, gi_error *err) {
    // ISA-L may work up to 64 KiB ahead of what it has written, and then tells of damage there: with room for all of
    // that, every byte before the damage is written and counts.
    enum { ROOM = GI_INFLATE_EXCESS + 65536 + 512 };
    uint8_t *scratch = malloc(ROOM);
    if (!scratch) return gi_fail(err, GI_ERR_MEMORY, "no memory for compressed data");
    size_t excess = inflate->state == GI_INFLATE_GOES_ON ? produce(inflate, scratch, ROOM) : 0;
    free(scratch);
    *more = excess > 0 || inflate->state == GI_INFLATE_BEYOND;
    if (excess > GI_INFLATE_EXCESS || inflate->state == GI_INFLATE_BEYOND) return GI_OK;
    return inflate->state == GI_INFLATE_ENDED ? check_adler(inflate, err) : failure(inflate, err);
}
