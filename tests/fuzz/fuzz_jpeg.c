// JPEG by libjpeg-turbo, where it is built in, beside stb. The first byte of the input chooses options, the rest is the
// file: bit 0 strict, 1 jpeg_luma, 2 rows one by one, 3 two threads (large images only), 4 the pixels are encoded
// again, in bands as bits 5 and 6 have it (4:2:0, 4:2:2, 4:4:4), and must decode without damage.
//
// What one of the two opens, the other does, with the same header, but for arithmetic coding. What they say about
// damage within scans differs: of leftover bytes, the library misses up to 8; and so do the pixels of such files.
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/jpeg_turbo.h"

// Only what several threads do wants large images, which take a thousand times as long as most inputs.
enum { MAX_PIXELS = 1 << 20, MAX_PIXELS_ALONE = 1 << 16 };

// The packed pixels, or NULL. `opened` tells how far it went.
static uint8_t *decode(gi_bytes file, const gi_decode_options *options, bool one_by_one, gi_header *header,
                       bool *opened) {
    gi_error err;
    gi_decoder *decoder = NULL;
    *opened = gi_decoder_open(file, options, &decoder, &err) == GI_OK;
    if (!*opened) return NULL;
    *header = *gi_decoder_header(decoder);
    gi_shape shape = header->shape;
    size_t row = gi_row_bytes(shape.width, shape.channels, shape.sample);
    uint8_t *pixels = malloc(row * shape.height); // exactly so much: a byte more is found by the sanitizer
    gi_view all = gi_view_packed(pixels, shape, GI_HOST);
    gi_status status = GI_OK;
    for (uint32_t y = 0, step = one_by_one ? 1 : shape.height; y < shape.height && status == GI_OK; y += step) {
        gi_view part = gi_view_rows(&all, y, step);
        status = gi_decoder_rows(decoder, &part, &err);
    }
    gi_decoder_close(decoder);
    if (status == GI_OK) return pixels;
    free(pixels);
    return NULL;
}

// Field by field: what is between fields is anything.
static bool same_header(const gi_header *a, const gi_header *b) {
    const gi_stored *s = &a->stored, *t = &b->stored;
    return memcmp(&a->shape, &b->shape, sizeof a->shape) == 0 && a->format == b->format && a->bits == b->bits &&
           a->orientation == b->orientation && strcmp(s->colour, t->colour) == 0 &&
           strcmp(s->sampling, t->sampling) == 0 && s->interlaced == t->interlaced &&
           s->progressive == t->progressive && s->arithmetic == t->arithmetic && s->quality == t->quality &&
           s->exact == t->exact;
}

#ifdef GPUIMG_HAVE_JPEG
typedef struct buffer {
    uint8_t *data;
    size_t size;
} buffer;

static gi_status keep(void *context, const void *data, size_t size, gi_error *err) {
    buffer *to = context;
    uint8_t *grown = realloc(to->data, to->size + size);
    if (!grown) return gi_fail(err, GI_ERR_MEMORY, "no memory");
    memcpy(grown + to->size, data, size);
    *to = (buffer){grown, to->size + size};
    return GI_OK;
}

static void encode_in_bands(const uint8_t *pixels, gi_shape shape, int bits) {
    gi_encode_options options = {.format = GI_FORMAT_JPEG,
                                 .quality = 1 + pixels[0] % 100,
                                 .subsampling = (gi_subsampling)(bits >> 5 & 3) % 3,
                                 .threads = bits & 8 ? 3 : 1};
    gi_turbo_job job = {.shape = shape, .options = &options};
    buffer file = {NULL, 0};
    gi_sink sink = {keep, &file};
    gi_writer *writer = NULL;
    gi_error err;
    gi_view all = gi_view_packed((void *)(uintptr_t)pixels, shape, GI_HOST);
    if (!gi_turbo_writes(shape)) return;
    if (gi_turbo_bands_open(&job, &sink, &writer, &err) != GI_OK) abort();
    if (writer->rows(writer, &all, &err) != GI_OK || writer->finish(writer, &err) != GI_OK) abort();
    writer->close(writer);
    gi_decode_options strict = {.strict = true};
    gi_header header;
    bool opened;
    uint8_t *again = decode((gi_bytes){file.data, file.size}, &strict, false, &header, &opened);
    if (!again || memcmp(&header.shape, &shape, sizeof shape) != 0) abort();
    free(again);
    free(file.data);
}
#else
static void encode_in_bands(const uint8_t *pixels, gi_shape shape, int bits) { (void)pixels, (void)shape, (void)bits; }
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4 || gi_format_sniff((gi_bytes){data + 1, size - 1}) != GI_FORMAT_JPEG) return 0;
    int bits = data[0];
    uint8_t *exact = malloc(size - 1); // so that reading past the file's end is found
    memcpy(exact, data + 1, size - 1);
    gi_bytes file = {exact, size - 1};
    gi_decode_options options = {.max_pixels = bits & 8 ? MAX_PIXELS : MAX_PIXELS_ALONE,
                                 .strict = bits & 1,
                                 .jpeg_luma = bits & 2,
                                 .threads = bits & 8 ? 2 : 1};
    gi_jpeg_info info;
    bool arithmetic = gi_jpeg_check(file, false, &info, NULL) == GI_ERR_UNSUPPORTED;
    gi_header turbo, stb;
    bool opened[2];
    uint8_t *pixels = decode(file, &options, bits & 4, &turbo, &opened[0]);
    options.codec = GI_CODEC_STB;
    uint8_t *by_stb = decode(file, &options, bits & 4, &stb, &opened[1]);
    if (opened[0] != opened[1] && !arithmetic) abort();
    if (opened[0] && opened[1] && !same_header(&turbo, &stb)) abort();
    // Without strict, no damage within scans is a failure.
    if (opened[0] && !options.strict && !arithmetic && !pixels != !by_stb) abort();
    if (pixels && bits & 16) encode_in_bands(pixels, turbo.shape, bits);
    free(pixels);
    free(by_stb);
    free(exact);
    return 0;
}
