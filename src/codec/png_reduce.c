#include "codec/png_reduce.h"

gi_png_form gi_png_form_binary(gi_shape shape) {
    // Measured with zlib on masks of photos, screens, text, line art, dithers, noise and flat areas, 1-bit gray takes
    // 0.10 to 0.82 of 8-bit gray, and this palette 0.37 to 0.81 of RGB.
    enum { PALETTE_CHUNK = 12 + 3 * 8, DEFLATE_BEST = 1032 }; // bytes; bytes that one byte can stand for
    gi_png_form form = gi_png_form_plain(shape);
    if (shape.sample != GI_U8 || gi_has_alpha(shape.channels)) return form;
    if (shape.channels == 1) {
        form.depth = 1;
        return form;
    }
    uint64_t saved = ((uint64_t)shape.width * 3 - ((uint64_t)shape.width + 1) / 2) * shape.height;
    if (saved < (uint64_t)PALETTE_CHUNK * DEFLATE_BEST) return form;
    form.colour = GI_PNG_PALETTE;
    form.depth = 4;
    form.binary = true;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t red = i >> 1 & 1, green = i >> 2, blue = i & 1;
        gi_png_colours_add(&form.colours, red * 0xFF000000U | green * 0xFF0000U | blue * 0xFF00U | 0xFFU);
    }
    return form;
}

// Adds the colours of a row. `channels` is a constant where this is inlined.
static inline bool collect_row(gi_png_colours *colours, const uint8_t *pixel, uint32_t width, int channels) {
    uint32_t before = ~gi_png_colour(pixel, channels);
    for (uint32_t x = 0; x < width; x++, pixel += channels) {
        uint32_t colour = gi_png_colour(pixel, channels);
        if (colour != before && !gi_png_colours_add(colours, colour)) return false;
        before = colour;
    }
    return true;
}

// Levels of gray are never too many.
static void collect_levels(gi_png_colours *colours, const gi_view *pixels) {
    bool seen[GI_PNG_COLOURS] = {false};
    for (uint32_t y = 0; y < pixels->height; y++) {
        const uint8_t *row = gi_view_row(pixels, y);
        for (uint32_t x = 0; x < pixels->width; x++) seen[row[x]] = true;
    }
    for (int i = 0; i < GI_PNG_COLOURS; i++) {
        uint8_t level = (uint8_t)i;
        if (seen[i]) gi_png_colours_add(colours, gi_png_colour(&level, 1));
    }
}

// False when there are more than a palette holds.
static bool collect(gi_png_colours *colours, const gi_view *pixels) {
    bool few = true;
    if (pixels->channels == 1) {
        collect_levels(colours, pixels);
        return true;
    }
    for (uint32_t y = 0; y < pixels->height && few; y++) {
        const uint8_t *row = gi_view_row(pixels, y);
        switch (pixels->channels) {
        case 2: few = collect_row(colours, row, pixels->width, 2); break;
        case 3: few = collect_row(colours, row, pixels->width, 3); break;
        default: few = collect_row(colours, row, pixels->width, 4); break;
        }
    }
    return few;
}

// The fewest bits in which a number below `count` fits, of those that a PNG can have.
static int bits_of_index(int count) { return count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8; }

// The fewest bits of gray that has all of these levels, 0 when they are not gray. The levels of n bits are the
// multiples of 255 / (2^n - 1).
static int bits_of_gray(const gi_png_colours *colours) {
    int bits = 1;
    for (int i = 0; i < colours->count; i++) {
        uint32_t colour = colours->colour[i], level = colour >> 24;
        if (colour != (level * 0x01010100U | 0xFFU)) return 0;
        while (bits < 8 && level % (255U / ((1U << bits) - 1U)) != 0) bits *= 2;
    }
    return bits;
}

gi_png_form gi_png_form_fewest(const gi_view *pixels, bool profiled) {
    gi_shape shape = gi_view_shape(pixels);
    gi_png_form plain = gi_png_form_plain(shape), form = plain;
    if (shape.sample != GI_U8 || !collect(&form.colours, pixels)) return plain;
    int gray = bits_of_gray(&form.colours), index = bits_of_index(form.colours.count);
    bool colour = gi_colour_channels(shape.channels) == 3;
    if (profiled && !colour && shape.channels == 2) return plain;
    if (profiled && !colour) index = 8;
    if (gray && gray <= index && !(profiled && colour)) {
        plain.colour = GI_PNG_GRAY;
        plain.depth = gray;
        return plain;
    }
    form.colour = GI_PNG_PALETTE;
    form.depth = index;
    gi_png_colours_sort(&form.colours);
    return form;
}
