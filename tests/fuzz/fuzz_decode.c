// Everything through the decoder's interface. The first byte of the input chooses options, the rest is the file:
//   bit 0 strict, 1 auto_orient, 2 jpeg_luma, 3 rows one by one,
//   bit 4 the CRCs of a PNG are put right first, so that mutated chunks pass that gate,
//   bit 5 the rest is no file but what a PNG is made of: IHDR fields, a palette, filtered rows (stored, not
//   compressed).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/checksum.h"
#include "codec/codec.h"

enum { MAX_PIXELS = 1 << 20, MAX_STORED = 65535 };

static void put_chunk(uint8_t *png, size_t *at, const char *name, gi_bytes body) {
    uint8_t *p = png + *at;
    gi_put_be32(p, (uint32_t)body.size);
    memcpy(p + 4, name, 4);
    if (body.size) memcpy(p + 8, body.data, body.size);
    gi_put_be32(p + 8 + body.size, gi_crc32(0, p + 4, body.size + 4));
    *at += body.size + 12;
}

// Bit 5: width and height (1 byte each), depth, colour, interlace, sizes of PLTE and tRNS, their bytes, then rows.
static gi_bytes make_png(gi_bytes in, uint8_t *png) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    static const uint8_t depths[5] = {1, 2, 4, 8, 16}, colours[5] = {0, 2, 3, 4, 6};
    uint8_t ihdr[13] = {0, 0, 0, in.data[0], 0, 0, 0, in.data[1], depths[in.data[2] % 5], colours[in.data[3] % 5]};
    ihdr[12] = in.data[4] & 1;
    size_t plte = 3 * (size_t)in.data[5], trns = in.data[6], at = sizeof signature;
    in = (gi_bytes){in.data + 7, in.size - 7};
    memcpy(png, signature, sizeof signature);
    put_chunk(png, &at, "IHDR", (gi_bytes){ihdr, sizeof ihdr});
    if (plte && plte <= in.size) {
        put_chunk(png, &at, "PLTE", (gi_bytes){in.data, plte});
        in = (gi_bytes){in.data + plte, in.size - plte};
    }
    if (trns && trns <= in.size) {
        put_chunk(png, &at, "tRNS", (gi_bytes){in.data, trns});
        in = (gi_bytes){in.data + trns, in.size - trns};
    }
    size_t length = in.size < MAX_STORED ? in.size : MAX_STORED;
    static uint8_t stream[MAX_STORED + 11];
    memcpy(stream,
           (uint8_t[]){0x78, 1, 1, (uint8_t)length, (uint8_t)(length >> 8), (uint8_t)~length, (uint8_t)(~length >> 8)},
           7);
    memcpy(stream + 7, in.data, length);
    gi_put_be32(stream + 7 + length, gi_adler32(1, in.data, length));
    put_chunk(png, &at, "IDAT", (gi_bytes){stream, length / 2});
    put_chunk(png, &at, "IDAT", (gi_bytes){stream + length / 2, length + 11 - length / 2});
    put_chunk(png, &at, "IEND", (gi_bytes){NULL, 0});
    return (gi_bytes){png, at};
}

// Bit 4.
static void repair_crcs(uint8_t *png, size_t size) {
    for (size_t at = 8; at < size && size - at >= 12;) {
        size_t length = gi_be32(png + at);
        if (length > size - at - 12) return;
        gi_put_be32(png + at + 8 + length, gi_crc32(0, png + at + 4, length + 4));
        at += length + 12;
    }
}

static void decode(gi_bytes file, int bits) {
    gi_decode_options options = {
        .max_pixels = MAX_PIXELS, .strict = bits & 1, .auto_orient = bits & 2, .jpeg_luma = bits & 4};
    gi_error err;
    gi_decoder *decoder = NULL;
    if (gi_decoder_open(file, &options, &decoder, &err) != GI_OK) return;
    gi_shape shape = gi_decoder_header(decoder)->shape;
    if ((uint64_t)shape.width * shape.height > MAX_PIXELS) abort();
    gi_shape part = shape;
    if (bits & 8) part.height = 1;
    size_t size;
    if (gi_shape_bytes(part, &size, &err) != GI_OK) abort();
    uint8_t *pixels = malloc(size); // exactly so much: a byte more is found by the sanitizer
    gi_view view = gi_view_packed(pixels, part, GI_HOST);
    unsigned sum = 0;
    for (uint32_t y = 0; y < shape.height; y += part.height) {
        if (gi_decoder_rows(decoder, &view, &err) != GI_OK) break;
        for (size_t i = 0; i < size; i++) sum += pixels[i]; // undefined pixels are found by MemorySanitizer
    }
    if (sum == 1) fputs("", stderr);
    free(pixels);
    gi_decoder_close(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    int bits = data[0];
    gi_bytes in = {data + 1, size - 1};
    if (bits & 32 && in.size < 7) return 0;
    uint8_t *copy = malloc(in.size + 1024); // room for the parts that make_png adds
    gi_bytes file = {copy, in.size};
    if (bits & 32) {
        file = make_png(in, copy);
    } else {
        memcpy(copy, in.data, in.size);
        if (bits & 16) repair_crcs(copy, in.size);
    }
    // Exactly as large as the file, so that reading past its end is found.
    uint8_t *exact = malloc(file.size ? file.size : 1);
    memcpy(exact, file.data, file.size);
    decode((gi_bytes){exact, file.size}, bits);
    free(exact);
    free(copy);
    return 0;
}
