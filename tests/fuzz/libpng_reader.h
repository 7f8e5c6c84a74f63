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
    uint64_t rows;              // that it has still to decode, those of all passes
    bool whole;                 // there are none left, whatever it says of what follows
    bool refused;               // whatever was decoded before
    char error[128];            // why it was refused; where that is when it is whole: "behind the image: " and why
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
    snprintf(r->error, sizeof r->error, "%s%s", r->whole ? "behind the image: " : "", text);
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

// Called between a row's decoding and its delivery: the call that delivers the last one also looks at what follows.
static inline void libpng_has_row(png_structp png, png_row_infop info, png_bytep row) {
    libpng_read *r = png_get_error_ptr(png);
    (void)info, (void)row;
    r->whole = --r->rows == 0;
}

static inline uint64_t libpng_rows(uint32_t width, uint32_t height, bool interlaced) {
    static const uint32_t x0[7] = {0, 4, 0, 2, 0, 1, 0}, y0[7] = {0, 0, 4, 0, 2, 0, 1}, dy[7] = {8, 8, 8, 4, 4, 2, 2};
    uint64_t rows = 0;
    for (int pass = 0; pass < 7; pass++)
        if (width > x0[pass] && height > y0[pass]) rows += (height - y0[pass] + dy[pass] - 1) / dy[pass];
    return interlaced ? rows : height;
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
    png_set_read_user_transform_fn(png, libpng_has_row);
    int passes = png_set_interlace_handling(png);
    r->rows = libpng_rows(width, height, passes > 1);
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
