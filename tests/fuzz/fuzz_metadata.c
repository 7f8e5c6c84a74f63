// Metadata from any file into files of both formats: nothing is read or written out of bounds, what was fitted is
// fitted, and what was written is read again, to the byte. The first byte of the input chooses how:
//   bits 0 and 1: what the rest is. 0 a file; 1 a file whose CRCs are put right first; 2 a PNG's chunks without their
//                 CRCs, between IHDR and IDAT; 3 bytes that a profile or XMP's text inflates to (bit 2: which)
//   bit 3 the pixels are turned, bits 4 and 5 channels less one, bit 6 zlib's inflate, bit 7 an orientation is kept
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/exif.h"
#include "codec/icc.h"
#include "codec/memory_sink.h"
#include "codec/metadata.h"
#include "tests/fuzz/png_parts.h"
#include "tests/fuzz/require.h"

enum { MOST = 1 << 20 };

static gi_metadata *read_from(gi_bytes file, bool turned, gi_codec_choice codec) {
    gi_decode_options options = {.max_pixels = 1 << 20, .metadata = true, .auto_orient = turned, .codec = codec};
    gi_decoder *decoder = NULL;
    if (gi_decoder_open(file, &options, &decoder, NULL) != GI_OK) return NULL;
    gi_metadata *m = gi_decoder_take_metadata(decoder);
    REQUIRE(m);
    REQUIRE(m->icc.size <= GI_BLOB_MOST && m->xmp.size <= GI_BLOB_MOST);
    REQUIRE(m->xmp_more.size <= GI_XMP_GUID + GI_BLOB_MOST && m->iptc.size <= GI_BLOB_MOST);
    REQUIRE(!m->icc.size || gi_icc_check(gi_blob_bytes(&m->icc)));
    gi_decoder_close(decoder);
    return m;
}

static gi_memory_file written(gi_metadata *metadata, gi_format format, int channels, int orientation) {
    static const uint8_t pixels[32];
    gi_shape shape = {2, 3, channels, GI_U8};
    gi_encode_options options = {
        .format = format, .quality = 90, .png_level = 1, .metadata = metadata, .orientation = orientation};
    gi_memory_file file = {NULL, 0, 0};
    gi_sink sink = gi_memory_sink(&file);
    gi_encoder *encoder = NULL;
    gi_view view = gi_view_packed((void *)(uintptr_t)pixels, shape, GI_HOST);
    REQUIRE(gi_encoder_open(shape, &options, &sink, &encoder, NULL) == GI_OK);
    REQUIRE(gi_encoder_rows(encoder, &view, NULL) == GI_OK && gi_encoder_finish(encoder, NULL) == GI_OK);
    gi_encoder_close(encoder);
    return file;
}

static bool same(const gi_blob *a, const gi_blob *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void pass_on(gi_metadata *m, gi_format format, int channels, int orientation) {
    gi_memory_file file = written(m, format, channels, orientation); // fits m
    int told = gi_exif_orientation(gi_blob_bytes(&m->exif));
    REQUIRE(told == orientation || (told == 1 && !orientation));
    gi_metadata *again = read_from((gi_bytes){file.data, file.size}, false, GI_CODEC_AUTO);
    REQUIRE(again && same(&again->icc, &m->icc) && same(&again->exif, &m->exif) && same(&again->xmp, &m->xmp));
    REQUIRE(same(&again->xmp_more, &m->xmp_more) && same(&again->iptc, &m->iptc)); // of a PNG: both have none
    if (format == GI_FORMAT_PNG) {
        REQUIRE(!m->iptc.size && memcmp(&again->gamma, &m->gamma, 1 + (size_t)m->gamma.size) == 0);
        REQUIRE(memcmp(&again->primaries, &m->primaries, 1 + (size_t)m->primaries.size) == 0);
    }
    gi_metadata_free(again);
    free(file.data);
}

// Chunks of a length, a name and data, all within the input.
static void add_chunks(gi_bytes in, uint8_t *png, size_t *at) {
    while (in.size >= 6) {
        size_t size = gi_be16(in.data);
        if (size > in.size - 6) size = in.size - 6;
        put_chunk(png, at, (const char *)in.data + 2, (gi_bytes){in.data + 6, size});
        in = (gi_bytes){in.data + 6 + size, in.size - 6 - size};
    }
}

// One chunk with a stream of stored bytes.
static void add_stream(gi_bytes in, bool profile, uint8_t *png, size_t *at) {
    static const char icc[] = "x\0", xmp[] = "XML:com.adobe.xmp\0\1\0\0";
    static uint8_t body[MAX_STORED + 64];
    size_t head = profile ? sizeof icc : sizeof xmp, size = in.size < MAX_STORED ? in.size : MAX_STORED;
    memcpy(body, profile ? icc : xmp, head);
    const uint8_t begin[7] = {0x78, 1, 1, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size, (uint8_t)(~size >> 8)};
    memcpy(body + head, begin, 7);
    if (size) memcpy(body + head + 7, in.data, size);
    gi_put_be32(body + head + 7 + size, gi_adler32(1, in.data, size));
    put_chunk(png, at, profile ? "iCCP" : "iTXt", (gi_bytes){body, head + 7 + size + 4});
}

static gi_bytes make_file(int bits, gi_bytes in, uint8_t *png) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    static const uint8_t ihdr[13] = {0, 0, 0, 1, 0, 0, 0, 1, 8, 2};
    static const uint8_t idat[15] = {0x78, 1, 1, 4, 0, 0xFB, 0xFF, 0, 0, 0, 0, 0, 4, 0, 1};
    size_t at = sizeof signature;
    memcpy(png, signature, sizeof signature);
    put_chunk(png, &at, "IHDR", (gi_bytes){ihdr, sizeof ihdr});
    if (bits & 1)
        add_stream(in, bits & 4, png, &at);
    else
        add_chunks(in, png, &at);
    put_chunk(png, &at, "IDAT", (gi_bytes){idat, sizeof idat});
    put_chunk(png, &at, "IEND", (gi_bytes){NULL, 0});
    return (gi_bytes){png, at};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > MOST) return 0;
    int bits = data[0];
    gi_bytes in = {data + 1, size - 1};
    uint8_t *copy = malloc(3 * in.size + MADE_ROOM); // chunks take twelve bytes for six at the most
    gi_bytes file = {copy, in.size};
    if (bits & 2) {
        file = make_file(bits, in, copy);
    } else {
        if (in.size) memcpy(copy, in.data, in.size);
        if (bits & 1) repair_crcs(copy, in.size);
    }
    uint8_t *exact = malloc(file.size ? file.size : 1);
    if (file.size) memcpy(exact, file.data, file.size);
    for (int format = GI_FORMAT_PNG; format <= GI_FORMAT_JPEG; format++) {
        gi_metadata *m = read_from((gi_bytes){exact, file.size}, bits & 8, bits & 64 ? GI_CODEC_ZLIB : GI_CODEC_AUTO);
        char name[GI_ICC_NAME];
        if (m && m->icc.size) gi_icc_name(gi_blob_bytes(&m->icc), name);
        if (m && m->exif.size) REQUIRE(gi_exif_check(gi_blob_bytes(&m->exif)) != GI_EXIF_NONE);
        if (m) pass_on(m, (gi_format)format, 1 + (bits >> 4 & 3), bits & 128 ? 5 : 0);
        gi_metadata_free(m);
    }
    free(exact);
    free(copy);
    return 0;
}
