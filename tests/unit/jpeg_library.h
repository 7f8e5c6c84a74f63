// libjpeg-turbo used directly, in the plainest way: what the codec's tests compare with.
#ifndef JPEG_LIBRARY_H
#define JPEG_LIBRARY_H

#include <stdio.h>

#include <jpeglib.h>

#include "codec_files.h"

// A file as the library writes it at quality 90. Channels 1, 3, or 4 (CMYK as it is stored).
typedef struct library_job {
    int h, v; // sampling factors of the first component, 0: 1
    bool progressive, arithmetic, optimize, ycck;
    unsigned restart; // MCUs
} library_job;

static inline made_file library_encode(gi_shape shape, const uint8_t *pixels, library_job job) {
    static const J_COLOR_SPACE spaces[5] = {[1] = JCS_GRAYSCALE, [3] = JCS_RGB, [4] = JCS_CMYK};
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *data = NULL;
    unsigned long size = 0;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &data, &size);
    c.image_width = shape.width;
    c.image_height = shape.height;
    c.input_components = shape.channels;
    c.in_color_space = spaces[shape.channels];
    jpeg_set_defaults(&c);
    if (job.ycck) jpeg_set_colorspace(&c, JCS_YCCK);
    jpeg_set_quality(&c, 90, TRUE);
    c.comp_info[0].h_samp_factor = job.h ? job.h : 1;
    c.comp_info[0].v_samp_factor = job.v ? job.v : 1;
    if (job.ycck) c.comp_info[3].h_samp_factor = c.comp_info[0].h_samp_factor;
    if (job.ycck) c.comp_info[3].v_samp_factor = c.comp_info[0].v_samp_factor;
    c.restart_interval = job.restart;
    c.optimize_coding = job.optimize;
    c.arith_code = job.arithmetic;
    if (job.progressive) jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    size_t row = gi_row_bytes(shape.width, shape.channels, GI_U8);
    while (c.next_scanline < c.image_height) {
        JSAMPROW line = (JSAMPROW)(uintptr_t)(pixels + c.next_scanline * row);
        jpeg_write_scanlines(&c, &line, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    made_file file = {NULL, 0};
    made_put(&file, data, size);
    free(data);
    return file;
}

// Gray, luma of YCbCr, or RGB pixels; free them.
static inline uint8_t *library_decode(gi_bytes bytes, bool luma) {
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    c.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, (unsigned char *)(uintptr_t)bytes.data, bytes.size);
    jpeg_read_header(&c, TRUE);
    if (luma) c.out_color_space = JCS_GRAYSCALE;
    jpeg_start_decompress(&c);
    size_t row = (size_t)c.output_width * (size_t)c.output_components;
    uint8_t *pixels = malloc(row * c.output_height);
    assert_non_null(pixels);
    while (c.output_scanline < c.output_height) {
        JSAMPROW line = pixels + c.output_scanline * row;
        jpeg_read_scanlines(&c, &line, 1);
    }
    jpeg_finish_decompress(&c);
    jpeg_destroy_decompress(&c);
    return pixels;
}

// A smooth picture with some noise.
static inline uint8_t *library_picture(gi_shape shape) {
    size_t row = gi_row_bytes(shape.width, shape.channels, GI_U8), size = row * shape.height;
    uint8_t *pixels = malloc(size);
    assert_non_null(pixels);
    uint32_t noise = 4711;
    for (size_t i = 0; i < size; i++) {
        noise = noise * 1664525U + 1013904223U;
        pixels[i] = (uint8_t)(i % row * 200 / row + i / row * (1 + i % 3) / 4 + (noise >> 28));
    }
    return pixels;
}

#endif
