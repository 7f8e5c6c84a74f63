// Images of any shape through the PNG encoder, back through our decoder and, where it was found, libpng: the same
// pixels, and no complaint. The first bytes choose:
//   0  bits 0-1 channels, 2 16-bit samples, 3-4 reduction, 5 samples 0 or largest (the encoder is told), 6 stb's codec,
//      7 pixels repeat exactly
//   1  the level; its tenths: the number of threads; its fifties: how small bands are
//   2  rows given at a time    3-4 width: a byte shifted left by another, modulo 9    5-6 height, likewise
// The rest are the samples, over and over again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#ifdef GPUIMG_HAVE_LIBPNG
#include <png.h>
#endif

// Level 6 takes 10 ms for MAX_BYTES, and the last two ten times as long: with more, few inputs a second would be tried.
// As bands may be small, what is between them comes in less, too; each costs its Huffman codes.
enum { HEAD = 7, MAX_BYTES = 1 << 16, MAX_SLOW_BYTES = 1 << 14, SLOW_LEVEL = 8, MAX_BANDS = 32, CHUNK = 1 << 16 };

typedef struct file {
    uint8_t *data;
    size_t size, room, read;
} file;

static void expect(bool truth, const char *what) {
    if (truth) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static gi_status write_file(void *context, const void *data, size_t size, gi_error *err) {
    file *f = context;
    (void)err;
    if (size > f->room - f->size) {
        f->room = f->size + size + CHUNK;
        f->data = realloc(f->data, f->room);
        expect(f->data, "out of memory");
    }
    memcpy(f->data + f->size, data, size);
    f->size += size;
    return GI_OK;
}

// Samples of 0 and the largest, with alpha as it is.
static void make_binary(uint8_t *pixels, size_t size, gi_shape shape) {
    size_t bytes = gi_sample_bytes(shape.sample), channels = (size_t)shape.channels;
    for (size_t i = 0; i < size / bytes; i++) {
        if (gi_has_alpha(shape.channels) && i % channels == channels - 1) continue;
        memset(pixels + i * bytes, pixels[i * bytes] & 1 ? 255 : 0, bytes);
    }
}

static uint8_t *make_pixels(const uint8_t *data, size_t size, gi_shape shape) {
    size_t bytes = gi_row_bytes(shape.width, shape.channels, shape.sample) * shape.height;
    uint8_t *pixels = malloc(bytes);
    expect(pixels, "out of memory");
    const uint8_t *samples = data + HEAD;
    size_t period = size - HEAD;
    for (size_t i = 0; i < bytes; i++)
        pixels[i] = (uint8_t)(period ? samples[i % period] + (data[0] & 128 ? 0 : i / period * 7) : i);
    if (data[0] & 32) make_binary(pixels, bytes, shape);
    return pixels;
}

static void encode(const gi_view *all, uint32_t split, const gi_encode_options *options, file *f) {
    gi_sink sink = {write_file, f};
    gi_encoder *encoder = NULL;
    gi_status status = gi_encoder_open(gi_view_shape(all), options, &sink, &encoder, NULL);
    for (uint32_t y = 0; y < all->height && status == GI_OK; y += split) {
        gi_view part = gi_view_rows(all, y, all->height - y < split ? all->height - y : split);
        status = gi_encoder_rows(encoder, &part, NULL);
    }
    if (status == GI_OK) status = gi_encoder_finish(encoder, NULL);
    gi_encoder_close(encoder);
    expect(status == GI_OK, "the encoder fails");
}

// The colour of a pixel of any number of channels, as four samples.
static void colour_of(const uint8_t *pixel, int channels, gi_sample sample, uint16_t colour[4]) {
    uint16_t s[4] = {0};
    for (int c = 0; c < channels; c++) {
        s[c] = pixel[c];
        if (sample == GI_U16) memcpy(&s[c], pixel + 2 * c, 2);
    }
    for (int c = 0; c < 3; c++) colour[c] = channels < 3 ? s[0] : s[c];
    colour[3] = gi_has_alpha(channels) ? s[channels - 1] : (uint16_t)gi_sample_max(sample);
}

// `rounded`: words were made bytes.
static void compare(const gi_view *given, const gi_view *read, bool rounded, const char *who) {
    expect(given->width == read->width && given->height == read->height, who);
    size_t pixels = (size_t)given->width * given->height;
    for (size_t i = 0; i < pixels; i++) {
        uint16_t a[4], b[4];
        colour_of((const uint8_t *)given->data + i * gi_row_bytes(1, given->channels, given->sample), given->channels,
                  given->sample, a);
        colour_of((const uint8_t *)read->data + i * gi_row_bytes(1, read->channels, read->sample), read->channels,
                  read->sample, b);
        for (int c = 0; c < 4; c++) expect(b[c] == (rounded ? (a[c] * 255U + 32767U) / 65535U : a[c]), who);
    }
}

static void check_ours(const file *f, const gi_view *all) {
    gi_decode_options options = {.strict = true};
    gi_decoder *decoder = NULL;
    expect(gi_decoder_open((gi_bytes){f->data, f->size}, &options, &decoder, NULL) == GI_OK, "our decoder refuses");
    gi_shape shape = gi_decoder_header(decoder)->shape;
    size_t bytes = 0;
    expect(gi_shape_bytes(shape, &bytes, NULL) == GI_OK, "too large");
    gi_view read = gi_view_packed(malloc(bytes), shape, GI_HOST);
    expect(gi_decoder_rows(decoder, &read, NULL) == GI_OK, "our decoder fails");
    gi_decoder_close(decoder);
    compare(all, &read, all->sample == GI_U16 && shape.sample == GI_U8, "our decoder differs");
    free(read.data);
}

#ifdef GPUIMG_HAVE_LIBPNG
static void png_read_file(png_structp png, png_bytep out, size_t size) {
    file *f = png_get_io_ptr(png);
    expect(size <= f->size - f->read, "libpng reads past the end");
    memcpy(out, f->data + f->read, size);
    f->read += size;
}

static void png_complain(png_structp png, const char *text) {
    (void)png;
    fprintf(stderr, "libpng: %s\n", text);
    abort();
}

static void check_libpng(file *f, const gi_view *all) {
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, png_complain, png_complain);
    png_infop info = png_create_info_struct(png);
    expect(png && info, "out of memory");
    png_set_read_fn(png, f, png_read_file);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_swap(png);
    png_read_update_info(png, info);
    gi_shape shape = {png_get_image_width(png, info), png_get_image_height(png, info), png_get_channels(png, info),
                      png_get_bit_depth(png, info) == 16 ? GI_U16 : GI_U8};
    gi_view read = gi_view_packed(malloc(png_get_rowbytes(png, info) * shape.height), shape, GI_HOST);
    expect(read.data && read.pitch_bytes == png_get_rowbytes(png, info), "libpng makes other rows");
    for (uint32_t y = 0; y < shape.height; y++) png_read_row(png, gi_view_row(&read, y), NULL);
    png_read_end(png, NULL);
    expect(f->read == f->size, "libpng leaves bytes unread");
    png_destroy_read_struct(&png, &info, NULL);
    expect(shape.sample == all->sample, "libpng sees another depth");
    compare(all, &read, false, "libpng differs");
    free(read.data);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const size_t bands[] = {0, 50, 600, 3000, 9000, 30000};
    if (size < HEAD) return 0;
    gi_shape shape = {1U + ((unsigned)data[3] << data[4] % 9), 1U + ((unsigned)data[5] << data[6] % 9),
                      1 + (data[0] & 3), data[0] & 4 ? GI_U16 : GI_U8};
    size_t bytes = gi_row_bytes(shape.width, shape.channels, shape.sample) * shape.height;
    if (bytes > (data[1] % 10 < SLOW_LEVEL ? MAX_BYTES : MAX_SLOW_BYTES)) return 0;
    size_t band = bands[data[1] / 50];
    if (band && band < bytes / MAX_BANDS) band = bytes / MAX_BANDS;
    gi_encode_options options = {.format = GI_FORMAT_PNG,
                                 .codec = data[0] & 64 ? GI_CODEC_STB : GI_CODEC_AUTO,
                                 .threads = data[1] / 10 % 5,
                                 .png_level = data[1] % 10,
                                 .png_reduce = (gi_png_reduce)((data[0] >> 3 & 3) % 3),
                                 .png_band = band,
                                 .binary = data[0] & 32};
    uint8_t *pixels = make_pixels(data, size, shape);
    gi_view all = gi_view_packed(pixels, shape, GI_HOST);
    file f = {NULL, 0, 0, 0};
    encode(&all, 1U + data[2], &options, &f);
    check_ours(&f, &all);
#ifdef GPUIMG_HAVE_LIBPNG
    check_libpng(&f, &all);
#endif
    free(f.data);
    free(pixels);
    return 0;
}
