#include "codec/png_expand.h"

#include <string.h>

#include "codec/bytes.h"
#include "codec/depth.h"
#include "core/simd.h"

// The samples of each byte of a depth below 8, the leftmost in the highest bits.
static void init_samples(gi_png_expander *expander) {
    int depth = expander->info->depth, top = (1 << depth) - 1;
    int scale = expander->info->colour == GI_PNG_GRAY ? 255 / top : 1;
    for (int byte = 0; byte < 256; byte++)
        for (int i = 0; i < 8 / depth; i++)
            expander->samples[byte][i] = (uint8_t)((byte >> (8 - depth * (i + 1)) & top) * scale);
}

void gi_png_expander_init(gi_png_expander *expander, const gi_png_info *info, int depth) {
    memset(expander, 0, sizeof *expander);
    expander->info = info;
    expander->sample = info->depth == 16 && depth != 8 ? GI_U16 : GI_U8;
    bool keyed = info->transparency_size > 0;
    expander->plain = info->depth == 8 && info->colour != GI_PNG_PALETTE && !keyed;
    switch (info->colour) {
    case GI_PNG_GRAY: expander->channels = keyed ? 2 : 1; break;
    case GI_PNG_GRAY_ALPHA: expander->channels = 2; break;
    case GI_PNG_RGBA: expander->channels = 4; break;
    default: expander->channels = keyed ? 4 : 3; break;
    }
    if (info->depth < 8) init_samples(expander);
    if (info->colour != GI_PNG_PALETTE) return;
    for (int i = 0; i < 256; i++) {
        uint8_t *colour = expander->colours[i];
        if (i < info->palette_size) memcpy(colour, info->palette + 3 * i, 3);
        colour[3] = keyed && (size_t)i < info->transparency_size ? info->transparency[i] : 255;
    }
}

// ---- depths below 8 -----------------------------------------------------------------------------------------------

GI_SIMD_BODY void unpack_bytes(const uint8_t samples[256][8], const uint8_t *row, size_t bytes, size_t each,
                               uint8_t *out) {
    for (size_t i = 0; i < bytes; i++) memcpy(out + i * each, samples[row[i]], each);
}

// One byte for each of `count` samples, of which the first begins a byte of the row.
static void unpack(const gi_png_expander *expander, const uint8_t *row, size_t count, uint8_t *out) {
    size_t each = 8 / (size_t)expander->info->depth, bytes = count / each;
    switch (each) { // so that the copies have a known size
    case 8: unpack_bytes(expander->samples, row, bytes, 8, out); break;
    case 4: unpack_bytes(expander->samples, row, bytes, 4, out); break;
    default: unpack_bytes(expander->samples, row, bytes, 2, out); break;
    }
    if (count % each) memcpy(out + bytes * each, expander->samples[row[bytes]], count % each);
}

// ---- palette ------------------------------------------------------------------------------------------------------

GI_SIMD_BODY void find_greatest_body(const uint8_t *indices, size_t count, uint8_t *greatest) {
    uint8_t most = 0;
    for (size_t i = 0; i < count; i++) most = indices[i] > most ? indices[i] : most;
    *greatest = most;
}
GI_SIMD_VARIANTS(find_greatest, find_greatest_body, (const uint8_t *indices, size_t count, uint8_t *greatest),
                 (indices, count, greatest))

// Four bytes are written for three, the last of which the next pixel overwrites.
static void look_up(const uint8_t colours[256][4], const uint8_t *indices, size_t count, size_t channels,
                    uint8_t *out) {
    if (channels == 4) {
        for (size_t i = 0; i < count; i++) memcpy(out + 4 * i, colours[indices[i]], 4);
        return;
    }
    for (size_t i = 0; i + 1 < count; i++) memcpy(out + 3 * i, colours[indices[i]], 4);
    memcpy(out + 3 * (count - 1), colours[indices[count - 1]], 3);
}

enum { PART = 512 }; // samples that are unpacked at once; whole bytes of every depth

static int expand_palette(const gi_png_expander *expander, const uint8_t *row, uint32_t width, uint8_t *out) {
    size_t channels = (size_t)expander->channels, depth = (size_t)expander->info->depth;
    int greatest = -1;
    for (size_t x = 0; x < width; x += PART) {
        uint8_t unpacked[PART], most;
        size_t count = width - x < PART ? width - x : PART;
        const uint8_t *indices = row + x * depth / 8;
        if (depth < 8) {
            unpack(expander, indices, count, unpacked);
            indices = unpacked;
        }
        look_up(expander->colours, indices, count, channels, out + x * channels);
        find_greatest(indices, count, &most);
        if (most > greatest) greatest = most;
    }
    return greatest >= expander->info->palette_size ? greatest : -1;
}

// ---- 16 bits, and colour keys -------------------------------------------------------------------------------------

static inline uint8_t reduce(const uint8_t *sample) { return gi_depth_down(gi_be16(sample)); }

GI_SIMD_BODY void reduce_row_body(const uint8_t *row, size_t samples, uint8_t *out) {
    for (size_t i = 0; i < samples; i++) out[i] = reduce(row + 2 * i);
}
GI_SIMD_VARIANTS(reduce_row, reduce_row_body, (const uint8_t *row, size_t samples, uint8_t *out), (row, samples, out))

// From the file's byte order into the machine's. Rows of bytes have no alignment.
GI_SIMD_BODY void load_words_body(const uint8_t *row, size_t samples, uint8_t *out) {
    for (size_t i = 0; i < samples; i++) {
        uint16_t word = gi_be16(row + 2 * i);
        memcpy(out + 2 * i, &word, sizeof word);
    }
}
GI_SIMD_VARIANTS(load_words, load_words_body, (const uint8_t *row, size_t samples, uint8_t *out), (row, samples, out))

// Gray and alpha from one byte a sample.
GI_SIMD_BODY void key_gray_body(const uint8_t *row, size_t width, uint8_t key, uint8_t *out) {
    for (size_t x = 0; x < width; x++) {
        out[2 * x] = row[x];
        out[2 * x + 1] = row[x] == key ? 0 : 255;
    }
}
GI_SIMD_VARIANTS(key_gray, key_gray_body, (const uint8_t *row, size_t width, uint8_t key, uint8_t *out),
                 (row, width, key, out))

static void expand_low_gray(const gi_png_expander *expander, const uint8_t *row, uint32_t width, uint8_t *out) {
    const gi_png_info *info = expander->info;
    if (!info->transparency_size) {
        unpack(expander, row, width, out);
        return;
    }
    int top = (1 << info->depth) - 1, key = (gi_be16(info->transparency) & top) * (255 / top);
    for (size_t x = 0; x < width; x += PART) {
        uint8_t unpacked[PART];
        size_t count = width - x < PART ? width - x : PART;
        unpack(expander, row + x * (size_t)info->depth / 8, count, unpacked);
        key_gray(unpacked, count, (uint8_t)key, out + 2 * x);
    }
}

// The key compares all bits of a sample, before 16 are reduced to 8. With constants for `samples` and `bytes` the
// comparison is of a few words.
static inline void key_pixels(const uint8_t *key, const uint8_t *row, size_t width, size_t samples, size_t bytes,
                              uint8_t *out) {
    for (size_t x = 0; x < width; x++, row += samples * bytes, out += samples + 1) {
        unsigned differs = 0;
        for (size_t i = 0; i < samples * bytes; i++) differs |= row[i] ^ key[i];
        for (size_t s = 0; s < samples; s++) out[s] = bytes == 2 ? reduce(row + 2 * s) : row[s];
        out[samples] = differs ? 255 : 0;
    }
}

// Likewise, of 16 bits that stay.
static inline void key_words(const uint8_t *key, const uint8_t *row, size_t width, size_t samples, uint8_t *out) {
    uint16_t pixel[4];
    for (size_t x = 0; x < width; x++, row += 2 * samples, out += 2 * (samples + 1)) {
        for (size_t s = 0; s < samples; s++) pixel[s] = gi_be16(row + 2 * s);
        pixel[samples] = memcmp(row, key, 2 * samples) == 0 ? 0 : 65535;
        memcpy(out, pixel, 2 * (samples + 1));
    }
}

static void expand_keyed(const gi_png_expander *expander, const uint8_t *row, uint32_t width, uint8_t *out) {
    const gi_png_info *info = expander->info;
    size_t samples = (size_t)gi_png_samples(info), bytes = (size_t)info->depth / 8;
    uint8_t key[6] = {0}; // of 1 or 3 samples, each 2 bytes in tRNS
    for (size_t i = 0; i < samples * bytes; i++) key[i] = info->transparency[bytes == 2 ? i : 2 * i + 1];
    if (expander->sample == GI_U16 && samples == 1)
        key_words(key, row, width, 1, out);
    else if (expander->sample == GI_U16)
        key_words(key, row, width, 3, out);
    else if (samples == 1 && bytes == 1)
        key_gray(row, width, key[0], out);
    else if (samples == 1)
        key_pixels(key, row, width, 1, 2, out);
    else if (bytes == 1)
        key_pixels(key, row, width, 3, 1, out);
    else
        key_pixels(key, row, width, 3, 2, out);
}

int gi_png_expand(const gi_png_expander *expander, const uint8_t *row, uint32_t width, void *out) {
    const gi_png_info *info = expander->info;
    if (info->colour == GI_PNG_PALETTE) return expand_palette(expander, row, width, out);
    size_t samples = (size_t)width * (size_t)gi_png_samples(info);
    if (info->depth < 8)
        expand_low_gray(expander, row, width, out);
    else if (info->transparency_size)
        expand_keyed(expander, row, width, out);
    else if (info->depth == 8)
        memcpy(out, row, samples);
    else if (expander->sample == GI_U16)
        load_words(row, samples, out);
    else
        reduce_row(row, samples, out);
    return -1;
}
