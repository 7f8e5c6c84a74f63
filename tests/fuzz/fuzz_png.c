// PNG files by every library, and by libpng where it was found: whoever accepts a file sees the same pixels. The first
// two bytes of the input choose how; the rest is the file:
//   0  bit 0 the CRCs are put right first, 1 the rest is no file but what one is made of (png_parts.h),
//      2 samples of 16 bits are reduced to 8
//   1  rows that are asked for at once, 0: all
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/inflate.h"
#include "tests/fuzz/png_parts.h"
#include "tests/fuzz/require.h"
#ifdef GPUIMG_HAVE_LIBPNG
#include "tests/fuzz/libpng_reader.h"
#endif

enum { MAX_PIXELS = 1 << 20 };

typedef struct decoded {
    gi_shape shape;
    uint8_t *pixels; // NULL: refused
    size_t size;
    gi_error err;
} decoded;

static decoded decode(gi_bytes file, gi_codec_choice codec, int depth, uint32_t step) {
    gi_decode_options options = {.max_pixels = MAX_PIXELS, .depth = depth, .codec = codec};
    decoded out = {.pixels = NULL};
    gi_decoder *decoder = NULL;
    if (gi_decoder_open(file, &options, &decoder, &out.err) != GI_OK) return out;
    out.shape = gi_decoder_header(decoder)->shape;
    REQUIRE((uint64_t)out.shape.width * out.shape.height <= MAX_PIXELS);
    REQUIRE(gi_shape_bytes(out.shape, &out.size, &out.err) == GI_OK);
    out.pixels = malloc(out.size); // exactly so much: a byte more is found by the sanitizer
    gi_view all = gi_view_packed(out.pixels, out.shape, GI_HOST);
    if (!step) step = out.shape.height;
    for (uint32_t y = 0; y < out.shape.height; y += step) {
        gi_view rows = gi_view_rows(&all, y, step < out.shape.height - y ? step : out.shape.height - y);
        if (gi_decoder_rows(decoder, &rows, &out.err) == GI_OK) continue;
        free(out.pixels);
        out.pixels = NULL;
        break;
    }
    gi_decoder_close(decoder);
    return out;
}

static void require_same(const decoded *a, const decoded *b) {
    REQUIRE(a->shape.width == b->shape.width && a->shape.height == b->shape.height);
    REQUIRE(a->shape.channels == b->shape.channels && memcmp(a->pixels, b->pixels, a->size) == 0);
}

#ifdef GPUIMG_HAVE_LIBPNG
static void compare_libpng(gi_bytes file, int depth, const decoded *ours) {
    libpng_read theirs;
    libpng_read_file(file, depth, MAX_PIXELS, &theirs);
    if (!theirs.refused && theirs.shape.channels == ours->shape.channels)
        REQUIRE(theirs.size == ours->size && memcmp(theirs.pixels, ours->pixels, ours->size) == 0);
    free(theirs.pixels);
}
#endif

static void check(gi_bytes file, int depth, uint32_t step) {
    if (gi_format_sniff(file) != GI_FORMAT_PNG) return;
    decoded fast = decode(file, GI_CODEC_AUTO, depth, step), zlib = decode(file, GI_CODEC_ZLIB, depth, step);
    decoded stb = decode(file, GI_CODEC_STB, depth, 0);
    if (!fast.pixels && zlib.pixels) fprintf(stderr, "%s\n", fast.err.text);
    REQUIRE(fast.pixels || !zlib.pixels);
    // Of these zlib refuses more: a Huffman code that leaves bit patterns unused.
    if (fast.pixels && !zlib.pixels && gi_inflate_is_streamed(GI_CODEC_AUTO)) REQUIRE(strstr(zlib.err.text, " set)"));
    if (fast.pixels) {
        REQUIRE(stb.pixels);
        require_same(&fast, &stb);
        if (zlib.pixels) require_same(&fast, &zlib);
#ifdef GPUIMG_HAVE_LIBPNG
        compare_libpng(file, depth, &fast);
#endif
    }
    free(fast.pixels);
    free(zlib.pixels);
    free(stb.pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    int bits = data[0];
    uint32_t step = data[1];
    gi_bytes in = {data + 2, size - 2};
    if (bits & 2 && in.size < MADE_HEADER) return 0;
    uint8_t *copy = malloc(in.size + MADE_ROOM);
    gi_bytes file = {copy, in.size};
    if (bits & 2) {
        file = make_png(in, copy);
    } else {
        if (in.size) memcpy(copy, in.data, in.size);
        if (bits & 1) repair_crcs(copy, in.size);
    }
    // Exactly as large as the file, so that reading past its end is found.
    uint8_t *exact = malloc(file.size ? file.size : 1);
    if (file.size) memcpy(exact, file.data, file.size);
    check((gi_bytes){exact, file.size}, bits & 4 ? 8 : 0, step);
    free(exact);
    free(copy);
    return 0;
}
