// PNG files made of a fuzzer's bytes.
#ifndef GI_TESTS_PNG_PARTS_H
#define GI_TESTS_PNG_PARTS_H

#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/checksum.h"
#include "codec/codec.h"

enum { MAX_STORED = 65535, MADE_HEADER = 7, MADE_ROOM = 1024 };

static inline void put_chunk(uint8_t *png, size_t *at, const char *name, gi_bytes body) {
    uint8_t *p = png + *at;
    gi_put_be32(p, (uint32_t)body.size);
    memcpy(p + 4, name, 4);
    if (body.size) memcpy(p + 8, body.data, body.size);
    gi_put_be32(p + 8 + body.size, gi_crc32(0, p + 4, body.size + 4));
    *at += body.size + 12;
}

// A file of parts: width and height (1 byte each), depth, colour, interlace, sizes of PLTE and tRNS, their bytes, then
// filtered rows, which are stored, not compressed. `in` has at least MADE_HEADER bytes, `png` room for MADE_ROOM more
// than all of `in`.
static inline gi_bytes make_png(gi_bytes in, uint8_t *png) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    static const uint8_t depths[5] = {1, 2, 4, 8, 16}, colours[5] = {0, 2, 3, 4, 6};
    uint8_t ihdr[13] = {0, 0, 0, in.data[0], 0, 0, 0, in.data[1], depths[in.data[2] % 5], colours[in.data[3] % 5]};
    ihdr[12] = in.data[4] & 1;
    size_t plte = 3 * (size_t)in.data[5], trns = in.data[6], at = sizeof signature;
    in = (gi_bytes){in.data + MADE_HEADER, in.size - MADE_HEADER};
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

// Puts right the CRCs of all chunks.
static inline void repair_crcs(uint8_t *png, size_t size) {
    for (size_t at = 8; at < size && size - at >= 12;) {
        size_t length = gi_be32(png + at);
        if (length > size - at - 12) return;
        gi_put_be32(png + at + 8 + length, gi_crc32(0, png + at + 4, length + 4));
        at += length + 12;
    }
}

#endif
