#include "codec/png_form.h"

#include <string.h>

#include "codec/bytes.h"

static int samples_of(const gi_png_form *form) {
    static const int samples[] = {
        [GI_PNG_GRAY] = 1, [GI_PNG_RGB] = 3, [GI_PNG_PALETTE] = 1, [GI_PNG_GRAY_ALPHA] = 2, [GI_PNG_RGBA] = 4};
    return samples[form->colour];
}

gi_png_form gi_png_form_plain(gi_shape shape) {
    static const int colours[] = {0, GI_PNG_GRAY, GI_PNG_GRAY_ALPHA, GI_PNG_RGB, GI_PNG_RGBA};
    return (gi_png_form){.colour = colours[shape.channels], .depth = shape.sample == GI_U16 ? 16 : 8};
}

int gi_png_form_bits(const gi_png_form *form) { return form->depth * samples_of(form); }

size_t gi_png_form_row_bytes(const gi_png_form *form, uint32_t width) {
    return (size_t)(((uint64_t)width * (uint64_t)gi_png_form_bits(form) + 7) / 8);
}

// 16-bit samples are big-endian in the file.
static void store_words(const void *row, size_t samples, uint8_t *out) {
    const uint16_t *words = row;
    for (size_t i = 0; i < samples; i++) {
        uint16_t value;
        memcpy(&value, words + i, sizeof value);
        gi_put_be16(out + 2 * i, value);
    }
}

// Eight samples of 0 or 255 to a byte, the first in its highest bit: the product moves bit 8i to bit 63 - i.
static void store_bits(const uint8_t *row, uint32_t width, uint8_t *out) {
    uint32_t x = 0;
    for (; width - x >= 8; x += 8) {
        uint64_t eight = (uint64_t)gi_le32(row + x + 4) << 32 | gi_le32(row + x);
        *out++ = (uint8_t)((eight >> 7 & 0x0101010101010101U) * 0x8040201008040201U >> 56);
    }
    if (x == width) return;
    unsigned bits = 0;
    for (unsigned shift = 7; x < width; x++, shift--) bits |= (unsigned)(row[x] >> 7) << shift;
    *out = (uint8_t)bits;
}

// The index of the eight colours of 0 and 255, from dark to bright: green counts most, then red. Two pixels to a byte:
// the product moves bits 0, 8, 16, 24, 32, 40 to 45, 46, 44, 41, 42, 40, and no two others to one place below.
static void store_binary_rgb(const uint8_t *row, uint32_t width, uint8_t *out) {
    uint32_t x = 0;
    for (; width - x >= 2; x += 2, row += 6) {
        uint64_t two = (uint64_t)gi_le16(row + 4) << 32 | gi_le32(row);
        *out++ = (uint8_t)((two & 0x010101010101U) * 0x204010020401U >> 40 & 0x77);
    }
    if (x < width) *out = (uint8_t)((row[1] & 4) << 4 | (row[0] & 2) << 4 | (row[2] & 1) << 4);
}

// Any other form of fewer bits: a palette's index, or a gray's upper bits. `channels` is a constant where this is
// inlined.
static inline void store_packed(const gi_png_form *form, const uint8_t *row, uint32_t width, int channels,
                                uint8_t *out) {
    int filled = 0, value = 0;
    unsigned bits = 0;
    uint32_t before = 0;
    bool palette = form->colour == GI_PNG_PALETTE;
    for (uint32_t x = 0; x < width; x++, row += channels) {
        uint32_t colour = gi_png_colour(row, channels);
        if (x == 0 || colour != before) // else as the pixel to the left, as most are
            value = palette ? gi_png_colours_find(&form->colours, colour) : row[0] >> (8 - form->depth);
        before = colour;
        bits = bits << form->depth | (unsigned)value;
        filled += form->depth;
        if (filled == 8) {
            *out++ = (uint8_t)bits;
            filled = 0;
        }
    }
    if (filled) *out = (uint8_t)(bits << (8 - filled));
}

static void store_any(const gi_png_form *form, gi_shape shape, const uint8_t *row, uint8_t *out) {
    switch (shape.channels) {
    case 1: store_packed(form, row, shape.width, 1, out); break;
    case 2: store_packed(form, row, shape.width, 2, out); break;
    case 3: store_packed(form, row, shape.width, 3, out); break;
    default: store_packed(form, row, shape.width, 4, out); break;
    }
}

void gi_png_store_row(const gi_png_form *form, gi_shape shape, const void *row, uint8_t *out) {
    size_t samples = (size_t)shape.width * (size_t)shape.channels;
    bool plain = form->colour != GI_PNG_PALETTE && samples_of(form) == shape.channels;
    if (form->depth == 16)
        store_words(row, samples, out);
    else if (plain && form->depth == 8)
        memcpy(out, row, samples);
    else if (plain && form->depth == 1)
        store_bits(row, shape.width, out);
    else if (form->binary)
        store_binary_rgb(row, shape.width, out);
    else
        store_any(form, shape, row, out);
}
