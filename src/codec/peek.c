#include "codec/bytes.h"
#include "codec/codec.h"

static uint64_t png_pixels(gi_bytes head) {
    if (head.size < 24) return 0;
    return (uint64_t)gi_be32(head.data + 16) * gi_be32(head.data + 20);
}

// A frame header: every SOF but the codes of tables (DHT, JPG, DAC) in their midst.
static bool is_frame(uint8_t code) {
    return code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC;
}

static uint64_t jpeg_pixels(gi_bytes head) {
    size_t at = 2;
    while (at + 9 <= head.size && head.data[at] == 0xFF) {
        const uint8_t *segment = head.data + at, code = segment[1];
        if (is_frame(code)) return (uint64_t)gi_be16(segment + 5) * gi_be16(segment + 7);
        if (code == 0xFF)
            at++; // fill
        else
            at += 2 + (size_t)gi_be16(segment + 2);
    }
    return 0;
}

uint64_t gi_peek_pixels(gi_bytes head) {
    switch (gi_format_sniff(head)) {
    case GI_FORMAT_PNG: return png_pixels(head);
    case GI_FORMAT_JPEG: return jpeg_pixels(head);
    default: return 0;
    }
}

uint64_t gi_peek_most_bytes(gi_bytes head) {
    // RGBA of 16 bits takes 8 bytes a pixel in a PNG that is not compressed, and a column of pixels a filter's byte
    // each; a JPEG's coefficients at most 27 bits each, in four components.
    const uint64_t beside = (uint64_t)64 << 20, a_pixel = 16;
    return beside + a_pixel * gi_peek_pixels(head);
}
