// PNG files that fail or change while they are read in pieces: no more than an error, and nothing out of bounds; and
// what the header of one tells that was refused. The first bytes of the input choose how, the rest is the file:
//   0  bits 0 and 1 the codec, 2 the CRCs are put right, before the change and after it, 3 reads fail in its place
//   1  after how many reads
//   2  how many changes there are; each is a place of two bytes, and what is there then
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "tests/fuzz/png_parts.h"
#include "tests/fuzz/require.h"

enum { MAX_PIXELS = 1 << 18, HEAD = 3, CHANGE = 3 };

typedef struct changing {
    uint8_t *before, *after;
    size_t size;
    int left; // reads before the change
    bool fails;
} changing;

static gi_status read_piece(void *context, size_t at, void *to, size_t size, gi_error *err) {
    changing *file = context;
    REQUIRE(at <= file->size && size <= file->size - at);
    bool changed = file->left == 0;
    if (!changed) file->left--;
    if (changed && file->fails) return gi_fail(err, GI_ERR_IO, "the reads were too many");
    if (size) memcpy(to, (changed ? file->after : file->before) + at, size);
    return GI_OK;
}

static void check_header(const gi_input *input) {
    gi_error err = {.text = ""};
    gi_header header;
    if (gi_header_of_damaged(input, &header, &err) == GI_OK)
        REQUIRE(header.format == GI_FORMAT_PNG && header.shape.width && header.shape.height && header.bits);
    else
        REQUIRE(err.text[0]);
}

static void decode(changing *file, gi_codec_choice codec) {
    gi_error err = {.text = ""};
    gi_decoder *decoder = NULL;
    const gi_input input = {file->size, read_piece, file};
    gi_decode_options options = {.max_pixels = MAX_PIXELS, .codec = codec, .auto_orient = true, .metadata = true};
    gi_status status = gi_decoder_open_png(&input, &options, &decoder, &err);
    if (status == GI_OK) {
        gi_shape shape = gi_decoder_header(decoder)->shape;
        size_t size;
        REQUIRE(gi_shape_bytes(shape, &size, &err) == GI_OK);
        gi_view all = gi_view_packed(malloc(size), shape, GI_HOST);
        status = gi_decoder_rows(decoder, &all, &err);
        free(all.data);
        gi_decoder_close(decoder);
    }
    REQUIRE(status == GI_OK || status == GI_ERR_IO || status == GI_ERR_FORMAT || status == GI_ERR_LIMIT ||
            status == GI_ERR_UNSUPPORTED);
    REQUIRE(status == GI_OK || err.text[0]);
    if (status != GI_OK) check_header(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD || size - HEAD < (size_t)CHANGE * data[2]) return 0;
    const uint8_t *change = data + HEAD, *begin = change + (size_t)CHANGE * data[2];
    changing file = {.size = size - (size_t)(begin - data), .left = data[1], .fails = data[0] & 8};
    if (!file.size) return 0;
    file.before = malloc(file.size);
    file.after = malloc(file.size);
    memcpy(file.before, begin, file.size);
    memcpy(file.after, begin, file.size);
    for (; change < begin; change += CHANGE) file.after[((size_t)change[0] << 8 | change[1]) % file.size] = change[2];
    if (data[0] & 4) {
        repair_crcs(file.before, file.size);
        repair_crcs(file.after, file.size);
    }
    decode(&file, (gi_codec_choice)((data[0] & 3) % 3));
    free(file.before);
    free(file.after);
    return 0;
}
