#include "codec/png_expand.h"

#include <string.h>

#include "codec/bytes.h"

void gi_png_expander_init(gi_png_expander *expander, const gi_png_info *info) {
    memset(expander, 0, sizeof *expander);
    expander->info = info;
    bool keyed = info->transparency != NULL;
    switch (info->colour) {
    case GI_PNG_GRAY: expander->channels = keyed ? 2 : 1; break;
    case GI_PNG_GRAY_ALPHA: expander->channels = 2; break;
    case GI_PNG_RGBA: expander->channels = 4; break;
    default: expander->channels = keyed ? 4 : 3; break;
    }
    if (info->colour != GI_PNG_PALETTE) return;
    for (int i = 0; i < 256; i++) {
        uint8_t *colour = expander->colours[i];
        if (i < info->palette_size) memcpy(colour, info->palette + 3 * i, 3);
        colour[3] = keyed && (size_t)i < info->transparency_size ? info->transparency[i] : 255;
    }
}

// 16 bits to 8, rounded half up.
static inline uint8_t reduce(const uint8_t *sample) { return (uint8_t)((gi_be16(sample) * 255U + 32767U) / 65535U); }

// Sample x of a row of `depth` < 8 bits each, the leftmost in the highest bits.
static inline int packed(const uint8_t *row, size_t x, int depth) {
    size_t bit = x * (size_t)depth;
    return row[bit / 8] >> (8 - depth - (int)(bit % 8)) & ((1 << depth) - 1);
}

static int expand_palette(const gi_png_expander *expander, const uint8_t *row, uint32_t width, uint8_t *out) {
    const gi_png_info *info = expander->info;
    size_t channels = (size_t)expander->channels;
    int greatest = -1;
    for (size_t x = 0; x < width; x++, out += channels) {
        int index = info->depth == 8 ? row[x] : packed(row, x, info->depth);
        if (index > greatest) greatest = index;
        memcpy(out, expander->colours[index], channels);
    }
    return greatest >= info->palette_size ? greatest : -1;
}

static void expand_low_gray(const gi_png_expander *expander, const uint8_t *row, uint32_t width, uint8_t *out) {
    const gi_png_info *info = expander->info;
    int top = (1 << info->depth) - 1, scale = 255 / top;
    int key = info->transparency ? gi_be16(info->transparency) & top : -1;
    for (size_t x = 0; x < width; x++) {
        int value = packed(row, x, info->depth);
        *out++ = (uint8_t)(value * scale);
        if (key >= 0) *out++ = value == key ? 0 : 255;
    }
}

// The key compares all bits of a sample, before 16 are reduced to 8.
static void expand_keyed(const gi_png_info *info, const uint8_t *row, uint32_t width, uint8_t *out) {
    size_t samples = (size_t)gi_png_samples(info), bytes = (size_t)info->depth / 8;
    uint8_t key[8] = {0}; // of 1 or 3 samples, each 2 bytes in tRNS
    for (size_t i = 0; i < samples * bytes; i++) key[i] = info->transparency[bytes == 2 ? i : 2 * i + 1];
    for (size_t x = 0; x < width; x++, row += samples * bytes) {
        for (size_t s = 0; s < samples; s++) *out++ = bytes == 2 ? reduce(row + 2 * s) : row[s];
        *out++ = memcmp(row, key, samples * bytes) == 0 ? 0 : 255;
    }
}

int gi_png_expand(const gi_png_expander *expander, const uint8_t *row, uint32_t width, uint8_t *out) {
    const gi_png_info *info = expander->info;
    if (info->colour == GI_PNG_PALETTE) return expand_palette(expander, row, width, out);
    size_t samples = (size_t)width * (size_t)gi_png_samples(info);
    if (info->depth < 8)
        expand_low_gray(expander, row, width, out);
    else if (info->transparency)
        expand_keyed(info, row, width, out);
    else if (info->depth == 8)
        memcpy(out, row, samples);
    else
        for (size_t i = 0; i < samples; i++) out[i] = reduce(row + 2 * i);
    return -1;
}
