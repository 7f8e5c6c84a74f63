// PNG files by libpng: what it says of a file, and its pixels in the layout of ours.
#ifndef GI_TESTS_FUZZ_LIBPNG_READER_H
#define GI_TESTS_FUZZ_LIBPNG_READER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "codec/codec.h"

enum { LIBPNG_TEXT = 1024 };

typedef struct libpng_read {
    gi_bytes left;              // of the file
    gi_shape shape;             // of the pixels; all zero: refused before
    uint8_t *pixels;            // NULL: none
    size_t size;                // of them
    bool refused;               // whatever was decoded before
    char error[128];            // why it was refused
    char warnings[LIBPNG_TEXT]; // each ends with a newline
} libpng_read;

static inline void libpng_take(png_structp png, png_bytep out, size_t size) {
    gi_bytes *left = &((libpng_read *)png_get_io_ptr(png))->left;
    if (size > left->size) png_error(png, "end of file");
    memcpy(out, left->data, size);
    *left = (gi_bytes){left->data + size, left->size - size};
}

static inline void libpng_fails(png_structp png, png_const_charp text) {
    libpng_read *r = png_get_error_ptr(png);
    r->refused = true;
    snprintf(r->error, sizeof r->error, "%s", text);
    png_longjmp(png, 1);
}

static inline void libpng_warns(png_structp png, png_const_charp text) {
    libpng_read *r = png_get_error_ptr(png);
    size_t used = strlen(r->warnings);
    snprintf(r->warnings + used, sizeof r->warnings - used, "%s\n", text);
}

static inline bool is_little_endian(void) {
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 1;
}

// What may jump out of it. `depth` 8: samples of 16 bits are reduced; else they stay.
static inline void libpng_decode(png_structp png, png_infop info, libpng_read *r, int depth, uint64_t max_pixels) {
    png_read_info(png, info);
    uint32_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    if ((uint64_t)width * height > max_pixels) png_error(png, "too many pixels");
    png_set_expand(png);
    if (depth == 8)
        png_set_scale_16(png);
    else if (is_little_endian())
        png_set_swap(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    gi_shape shape = {width, height, png_get_channels(png, info), png_get_bit_depth(png, info) == 16 ? GI_U16 : GI_U8};
    size_t row_bytes = png_get_rowbytes(png, info);
    r->size = row_bytes * height;
    r->pixels = calloc(1, r->size);
    r->shape = shape;
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++) png_read_row(png, r->pixels + y * row_bytes, NULL);
    png_read_end(png, info);
}

static inline void libpng_read_file(gi_bytes file, int depth, uint64_t max_pixels, libpng_read *r) {
    memset(r, 0, sizeof *r);
    r->left = file;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, libpng_fails, libpng_warns);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
        png_set_chunk_cache_max(png, 0);
        png_set_chunk_malloc_max(png, 1 << 20); // it would clear as much as a chunk announces
        png_set_read_fn(png, r, libpng_take);
        libpng_decode(png, info, r, depth, max_pixels);
    }
    png_destroy_read_struct(&png, &info, NULL);
}

#endif
