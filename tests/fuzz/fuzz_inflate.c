// zlib streams through every library's inflater, against one that reads single bits. The first four bytes of the input
// choose how; the rest is the stream:
//   0, 1  bytes that are needed
//   2     bit 0 the header is put right first, 1 so is the checksum of a stream that is whole
//   3     bytes of a span, 0: all at once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/checksum.h"
#include "codec/inflate.h"
#include "tests/fuzz/require.h"
#include "tests/unit/inflate_reference.h"
#include "tests/unit/inflate_spans.h"

static bool inflate_by(gi_codec_choice codec, gi_bytes stream, size_t step, uint8_t *out, size_t need, bool *more,
                       gi_error *err) {
    spans s = {stream, step, NULL};
    gi_inflate_source source = {next_span, &s, stream.size};
    gi_inflate *inflate = NULL;
    REQUIRE(gi_inflate_open(&source, codec, need, &inflate, err) == GI_OK);
    gi_status status = gi_inflate_read(inflate, out, need / 2, err);
    if (status == GI_OK) status = gi_inflate_read(inflate, out + need / 2, need - need / 2, err);
    if (status == GI_OK) status = gi_inflate_finish(inflate, more, err);
    REQUIRE(status == GI_OK || status == GI_ERR_FORMAT);
    gi_inflate_close(inflate);
    free(s.copy);
    return status == GI_OK;
}

static void check(gi_bytes stream, size_t step, size_t need, reference_verdict verdict, const uint8_t *expected) {
    uint8_t *out = malloc(need + 1); // exactly so much: a byte more is found by the sanitizer
    static const gi_codec_choice choices[] = {GI_CODEC_AUTO, GI_CODEC_ZLIB, GI_CODEC_STB};
    for (int i = 0; i < 3; i++) {
        gi_codec_choice codec = choices[i];
        bool more = false, streamed = gi_inflate_is_streamed(codec), good = verdict.good;
        gi_error err = {.text = ""};
#if defined(GPUIMG_HAVE_ISAL)
        bool zlib = streamed && codec == GI_CODEC_ZLIB;
#else
        bool zlib = streamed;
#endif
        if (zlib && verdict.incomplete) good = false;
        bool accepted = inflate_by(codec, stream, step, out, need, &more, &err);
        if (!streamed && accepted && !good) continue; // stb takes reserved symbols
        if (accepted != good) fprintf(stderr, "codec %d: %s\n", codec, err.text);
        REQUIRE(accepted == good);
        REQUIRE(!good || (more == verdict.more && memcmp(out, expected, need) == 0));
    }
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 6) return 0;
    size_t need = (size_t)data[0] << 8 | data[1], step = data[3];
    int bits = data[2];
    gi_bytes stream = {data + 4, size - 4};
    uint8_t *copy = malloc(stream.size), *expected = malloc(need + GI_INFLATE_EXCESS + 1);
    memcpy(copy, stream.data, stream.size);
    stream.data = copy;
    if (bits & 1) memcpy(copy, "\x78\x9C", 2);
    reference_verdict verdict = reference_zlib(copy, stream.size, expected, need, GI_INFLATE_EXCESS);
    if (bits & 2 && verdict.trailer && !verdict.good) {
        gi_put_be32(copy + verdict.trailer, verdict.adler);
        verdict.good = true;
    }
    check(stream, step, need, verdict, expected);
    free(copy);
    free(expected);
    return 0;
}
