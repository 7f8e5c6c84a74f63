// PNG files walked chunk by chunk, with every rule checked that a decoder relies on.
#ifndef GI_CODEC_PNG_CHECK_H
#define GI_CODEC_PNG_CHECK_H

#include "codec/codec.h"
#include "codec/png_notes.h"

enum { GI_PNG_GRAY = 0, GI_PNG_RGB = 2, GI_PNG_PALETTE = 3, GI_PNG_GRAY_ALPHA = 4, GI_PNG_RGBA = 6 };

typedef struct gi_png_info {
    uint32_t width, height;
    int depth;  // bits per sample
    int colour; // GI_PNG_*
    bool interlaced;
    uint8_t palette[768];      // RGB triples
    int palette_size;          // entries; 0 without PLTE
    uint8_t transparency[256]; // tRNS as stored
    size_t transparency_size;  // bytes; 0 without
    size_t idat;               // offset of the first IDAT chunk
    size_t idat_chunks;        // consecutive ones
    size_t idat_bytes;         // of all of them together
    int orientation;           // from eXIf, else 1
    gi_png_notes notes;        // of the other ancillary chunks
    size_t trailing_bytes;     // after IEND
} gi_png_info;

// Samples of one pixel as stored: 1 for gray and palette, 2, 3 or 4.
int gi_png_samples(const gi_png_info *info);

// *bytes = size of the filtered rows of all passes, each with its filter byte; GI_ERR_LIMIT when it does not fit.
gi_status gi_png_filtered_bytes(const gi_png_info *info, size_t *bytes, gi_error *err);

// Pass 0..6 of an interlaced image: its size in pixels, first pixel and steps.
typedef struct gi_png_pass {
    uint32_t width, height, x0, y0, dx, dy;
} gi_png_pass;
gi_png_pass gi_png_pass_of(const gi_png_info *info, int pass);

// Bytes of one row of `width` pixels as stored, without the filter byte.
size_t gi_png_row_bytes(const gi_png_info *info, uint32_t width);

// Bytes around a chunk's data: length and name in front, CRC behind.
enum { GI_PNG_CHUNK_HEAD = 8, GI_PNG_CHUNK_TAIL = 4 };

#define GI_PNG_IDAT 0x49444154U // an IDAT chunk's name, big endian

// Walks the file. GI_ERR_FORMAT with the chunk's name and offset for whatever is wrong: cut, CRC, order, sizes, illegal
// colour types, unknown critical chunks, no IEND. Of IDAT chunks only the heads are read: png_spans.h checks the rest.
// What stands before the damage is in *info also then; the width is 0 where IHDR is not.
gi_status gi_png_check(const gi_input *input, gi_png_info *info, gi_error *err);

// Bytes of the signature and IHDR.
enum { GI_PNG_HEAD = 8 + GI_PNG_CHUNK_HEAD + 13 + GI_PNG_CHUNK_TAIL };

// The same of IHDR alone, from the first bytes of a file: at least GI_PNG_HEAD, and those of the signature.
gi_status gi_png_check_head(gi_bytes head, gi_png_info *info, gi_error *err);

// GI_ERR_FORMAT when there are fewer compressed bytes than could ever make an image of that size.
gi_status gi_png_check_plausible(const gi_png_info *info, gi_error *err);

#endif
