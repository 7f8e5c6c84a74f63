// zlib streams inflated in segments, several at once, against the library alone: the same bytes, verdict and reason.
// The first eight bytes of the input choose how; the rest is the stream:
//   0, 1  bytes that are needed, an eighth of them if bit 7 of byte 6 is set
//   2     bit 0 the header is put right first, 1 zlib instead of what is the default, 2..3 threads; 4..7 which part of
//         the output is closed after instead, 0: none
//   3     bytes of a span, 0: all at once
//   4, 5  bytes of a segment
//   6, 7  bytes that it may use of the next (15 bits)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/inflate.h"
#include "tests/fuzz/require.h"
#include "tests/unit/inflate_reference.h"
#include "tests/unit/inflate_spans.h"

enum { HEAD = 8, MOST_SEGMENTS = 300 };

// How a stream is inflated; threads 0: by the library alone.
typedef struct way {
    gi_codec_choice codec;
    int threads;
    size_t segment, overlap, step, parts; // parts of the output after which it is closed, 0: at the end
} way;

typedef struct outcome {
    gi_status status;
    gi_error err;
    bool more;
    size_t done;
    uint8_t *out;
} outcome;

static outcome inflate_by(way how, gi_bytes stream, size_t need) {
    spans s = {stream, how.step, NULL};
    gi_inflate_source source = {next_span, &s, stream.size};
    gi_inflate *inflate = NULL;
    outcome o = {.err = {.text = ""}, .out = malloc(need + 1)};
    REQUIRE(gi_inflate_open(&source, how.codec, need, &inflate, &o.err) == GI_OK);
    if (how.threads) REQUIRE(gi_inflate_in_segments(inflate, how.threads, how.segment, how.overlap));
    size_t part = need / 15 + 1, end = how.parts && how.parts * part < need ? how.parts * part : need;
    while (o.done < end && o.status == GI_OK) {
        size_t size = part < end - o.done ? part : end - o.done;
        o.status = gi_inflate_read(inflate, o.out + o.done, size, &o.err);
        if (o.status == GI_OK) o.done += size;
    }
    if (o.status == GI_OK && !how.parts) o.status = gi_inflate_finish(inflate, &o.more, &o.err);
    gi_inflate_close(inflate);
    free(s.copy);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD + 2) return 0;
    size_t need = ((size_t)data[0] << 8 | data[1]) << (data[6] & 128 ? 3 : 0);
    int bits = data[2];
    gi_bytes stream = {data + HEAD, size - HEAD};
    way how = {.codec = bits & 2 ? GI_CODEC_ZLIB : GI_CODEC_AUTO,
               .threads = 2 + (bits >> 2 & 3),
               .step = data[3],
               .segment = 1 + ((size_t)data[4] << 8 | data[5]),
               .overlap = ((size_t)data[6] & 127) << 8 | data[7],
               .parts = (size_t)bits >> 4};
    if (!gi_inflate_is_streamed(how.codec)) return 0;
    if (how.segment < stream.size / MOST_SEGMENTS) how.segment = stream.size / MOST_SEGMENTS;
    uint8_t *copy = malloc(stream.size);
    memcpy(copy, stream.data, stream.size);
    stream.data = copy;
    if (bits & 1) memcpy(copy, "\x78\x9C", 2);
    way alone = how;
    alone.threads = 0;
    outcome a = inflate_by(alone, stream, need), b = inflate_by(how, stream, need);
    if (!how.parts) { // else one may come to the damage before it is closed, and the other not
        REQUIRE(a.status == b.status);
        REQUIRE(strcmp(a.err.text, b.err.text) == 0);
        REQUIRE(a.status != GI_OK || a.more == b.more);
    }
    // What follows damage, and is given before it is told, is anything.
    uint8_t *expected = malloc(need + GI_INFLATE_EXCESS + 1);
    size_t sound = reference_zlib(copy, stream.size, expected, need, GI_INFLATE_EXCESS).size;
    REQUIRE(memcmp(a.out, expected, a.done < sound ? a.done : sound) == 0);
    REQUIRE(memcmp(b.out, expected, b.done < sound ? b.done : sound) == 0);
    free(expected);
    free(a.out);
    free(b.out);
    free(copy);
    return 0;
}
