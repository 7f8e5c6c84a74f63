// Everything through the decoder's interface. The first byte of the input chooses options, the rest is the file:
//   bit 0 strict, 1 auto_orient, 2 jpeg_luma, 3 rows one by one,
//   bit 4 the CRCs of a PNG are put right first, so that mutated chunks pass that gate,
//   bit 5 the rest is no file but what a PNG is made of: IHDR fields, a palette, filtered rows (stored, not
//   compressed),
//   bits 6 and 7 the depth: 16, else 8, else as the file has it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "tests/fuzz/png_parts.h"

enum { MAX_PIXELS = 1 << 20 };

static void decode(gi_bytes file, int bits) {
    gi_decode_options options = {.max_pixels = MAX_PIXELS,
                                 .depth = bits & 64    ? 16
                                          : bits & 128 ? 8
                                                       : 0,
                                 .strict = bits & 1,
                                 .auto_orient = bits & 2,
                                 .jpeg_luma = bits & 4};
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
    if (bits & 32 && in.size < MADE_HEADER) return 0;
    uint8_t *copy = malloc(in.size + MADE_ROOM);
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
