// The interface of rows with each library: however the rows are asked for, they are those of the whole image, the
// verdict is the same, and none comes after a failure. The first three bytes of the input choose how, the rest is the
// file:
//   0  bits 0 and 1 the codec, 2 auto_orient, 3 jpeg_luma, 4 and 5 the depth, 6 strict, 7 several threads
//   1  how many rows at once, 0: another number each time
//   2  bit 0 the CRCs of a PNG are put right first, 1 metadata is read, 2 a PNG is read in pieces
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "tests/fuzz/png_parts.h"
#include "tests/fuzz/require.h"

// Only what several threads do wants large images, which take a thousand times as long as most inputs.
enum { MAX_PIXELS = 1 << 20, MAX_PIXELS_ALONE = 1 << 16, HEAD = 3 };

typedef struct way {
    gi_decode_options options;
    uint32_t step; // rows at once; 0: another number each time
    bool pieces;
} way;

typedef struct outcome {
    gi_status status;
    gi_shape shape;
    uint8_t *pixels;
    size_t size, done; // bytes, and those of rows before a failure
} outcome;

static gi_status read_piece(void *context, size_t at, void *to, size_t size, gi_error *err) {
    const gi_bytes *file = context;
    (void)err;
    REQUIRE(at <= file->size && size <= file->size - at);
    if (size) memcpy(to, file->data + at, size);
    return GI_OK;
}

static uint32_t next_step(const way *how, uint32_t *state, uint32_t left) {
    *state = *state * 1664525U + 1013904223U;
    uint32_t step = how->step ? how->step : 1 + (*state >> 16) % 37;
    return step < left ? step : left;
}

static outcome decode(gi_bytes file, const way *how) {
    gi_error err;
    gi_decoder *decoder = NULL;
    outcome o = {.status = GI_OK};
    const gi_input input = {file.size, read_piece, &file};
    o.status = how->pieces ? gi_decoder_open_png(&input, &how->options, &decoder, &err)
                           : gi_decoder_open(file, &how->options, &decoder, &err);
    if (o.status != GI_OK) return o;
    o.shape = gi_decoder_header(decoder)->shape;
    REQUIRE((uint64_t)o.shape.width * o.shape.height <= MAX_PIXELS);
    REQUIRE(gi_shape_bytes(o.shape, &o.size, &err) == GI_OK);
    o.pixels = malloc(o.size); // exactly so much: a byte more is found by the sanitizer
    gi_view all = gi_view_packed(o.pixels, o.shape, GI_HOST);
    uint32_t state = o.shape.width;
    for (uint32_t y = 0, rows = 0; y < o.shape.height && o.status == GI_OK; y += rows) {
        rows = next_step(how, &state, o.shape.height - y);
        gi_view part = gi_view_rows(&all, y, rows);
        o.status = gi_decoder_rows(decoder, &part, &err);
        if (o.status == GI_OK) o.done += rows * all.pitch_bytes;
    }
    uint8_t *row = malloc(all.pitch_bytes);
    gi_view more = all;
    more.data = row, more.height = 1;
    REQUIRE(gi_decoder_rows(decoder, &more, &err) == GI_ERR_USAGE);
    free(row);
    if (how->options.metadata) gi_metadata_free(gi_decoder_take_metadata(decoder));
    gi_decoder_close(decoder);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int depths[] = {0, 8, 16, 0};
    if (size < HEAD) return 0;
    int bits = data[0];
    way how = {.options = {.max_pixels = bits & 128 ? MAX_PIXELS : MAX_PIXELS_ALONE,
                           .codec = (gi_codec_choice)((bits & 3) % 3),
                           .auto_orient = bits & 4,
                           .jpeg_luma = bits & 8,
                           .depth = depths[bits >> 4 & 3],
                           .strict = bits & 64,
                           .metadata = data[2] & 2,
                           .threads = bits & 128 ? 3 : 1},
               .step = data[1]};
    // Exactly as large as the file, so that reading past its end is found.
    gi_bytes file = {malloc(size > HEAD ? size - HEAD : 1), size - HEAD};
    memcpy((uint8_t *)(uintptr_t)file.data, data + HEAD, file.size);
    gi_format format = gi_format_sniff(file);
    if (format == GI_FORMAT_PNG && data[2] & 1) repair_crcs((uint8_t *)(uintptr_t)file.data, file.size);
    how.pieces = format == GI_FORMAT_PNG && data[2] & 4;
    way whole = how;
    whole.step = UINT32_MAX, whole.pieces = false, whole.options.threads = 1, whole.options.metadata = false;
    outcome a = decode(file, &whole), b = decode(file, &how);
    REQUIRE(a.status == b.status);
    REQUIRE(memcmp(&a.shape, &b.shape, sizeof a.shape) == 0);
    if (a.status == GI_OK && a.size) REQUIRE(memcmp(a.pixels, b.pixels, a.size) == 0);
    free(a.pixels);
    free(b.pixels);
    free((uint8_t *)(uintptr_t)file.data);
    return 0;
}
