// JPEG files by libjpeg-turbo as it comes, on all bytes of the file: what it says, and its pixels.
#ifndef GI_TESTS_FUZZ_LIBJPEG_READER_H
#define GI_TESTS_FUZZ_LIBJPEG_READER_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "codec/codec.h"

typedef struct libjpeg_read {
    gi_shape shape; // of the pixels: inks where there are four channels
    uint8_t *pixels;
    size_t size;
    bool refused;
    long warnings;
    char error[JMSG_LENGTH_MAX];   // why it was refused
    char warning[JMSG_LENGTH_MAX]; // the first
    struct jpeg_decompress_struct library;
    struct jpeg_error_mgr manager;
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    int most_scans;
} libjpeg_read;

static inline void libjpeg_fails(j_common_ptr library) {
    libjpeg_read *r = library->client_data;
    r->refused = true;
    library->err->format_message(library, r->error);
    longjmp(r->jump, 1);
}

static inline void libjpeg_says(j_common_ptr library, int level) {
    libjpeg_read *r = library->client_data;
    if (level < 0 && r->warnings++ == 0) library->err->format_message(library, r->warning);
}

// Each scan costs a pass over the image.
static inline void libjpeg_goes_on(j_common_ptr library) {
    libjpeg_read *r = library->client_data;
    if (r->library.input_scan_number <= r->most_scans) return;
    snprintf(r->error, sizeof r->error, "too many scans");
    r->refused = true;
    longjmp(r->jump, 1);
}

// What may jump out of it.
static inline void libjpeg_decode(libjpeg_read *r, gi_bytes file, uint64_t max_pixels) {
    j_decompress_ptr library = &r->library;
    jpeg_create_decompress(library);
    library->progress = &r->progress;
    r->progress.progress_monitor = libjpeg_goes_on;
    jpeg_mem_src(library, file.data, file.size);
    jpeg_read_header(library, TRUE);
    if ((uint64_t)library->image_width * library->image_height > max_pixels) {
        snprintf(r->error, sizeof r->error, "too many pixels");
        r->refused = true;
        longjmp(r->jump, 1);
    }
    library->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(library);
    r->shape = (gi_shape){library->output_width, library->output_height, library->output_components, GI_U8};
    size_t row_bytes = (size_t)library->output_width * (size_t)library->output_components;
    r->size = row_bytes * library->output_height;
    r->pixels = calloc(1, r->size);
    while (library->output_scanline < library->output_height) {
        JSAMPROW row = r->pixels + library->output_scanline * row_bytes;
        jpeg_read_scanlines(library, &row, 1);
    }
    jpeg_finish_decompress(library);
}

static inline void libjpeg_read_file(gi_bytes file, uint64_t max_pixels, int most_scans, libjpeg_read *r) {
    memset(r, 0, sizeof *r);
    r->most_scans = most_scans;
    r->library.err = jpeg_std_error(&r->manager);
    r->library.client_data = r;
    r->manager.error_exit = libjpeg_fails;
    r->manager.emit_message = libjpeg_says;
    if (setjmp(r->jump) == 0) libjpeg_decode(r, file, max_pixels);
    jpeg_destroy_decompress(&r->library);
}

#endif
