#include <string.h>

#include "codec/bytes.h"
#include "codec/codec.h"
#include "codec/png_check.h"
#include "codec/reader.h"

static bool has_ihdr(gi_bytes head) { return head.size >= 24 && memcmp(head.data + 8, "\0\0\0\x0dIHDR", 8) == 0; }

static uint64_t png_pixels(gi_bytes head) {
    if (!has_ihdr(head)) return 0;
    return (uint64_t)gi_be32(head.data + 16) * gi_be32(head.data + 20);
}

// A frame header: every SOF but the codes of tables (DHT, JPG, DAC) in their midst.
static bool is_frame(uint8_t code) {
    return code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC;
}

// Of its frame header, with the marker; NULL where there is none. It has all bytes up to the width.
static const uint8_t *jpeg_frame(gi_bytes head) {
    size_t at = 2;
    while (at + 9 <= head.size && head.data[at] == 0xFF) {
        const uint8_t *segment = head.data + at, code = segment[1];
        if (is_frame(code)) return segment;
        if (code == 0xFF)
            at++; // fill
        else
            at += 2 + (size_t)gi_be16(segment + 2);
    }
    return NULL;
}

static uint64_t jpeg_pixels(gi_bytes head) {
    const uint8_t *frame = jpeg_frame(head);
    return frame ? (uint64_t)gi_be16(frame + 5) * gi_be16(frame + 7) : 0;
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

static gi_status check_png(gi_bytes head, uint64_t max_pixels, gi_error *err) {
    gi_png_info info;
    if (!has_ihdr(head) || head.size < GI_PNG_HEAD) return GI_OK;
    gi_status status = gi_png_check_head(head, &info, err);
    if (status != GI_OK) return status;
    return gi_codec_check_pixels((gi_shape){.width = info.width, .height = info.height}, max_pixels, err);
}

static gi_status check_jpeg(gi_bytes head, uint64_t max_pixels, gi_error *err) {
    const uint8_t *frame = jpeg_frame(head);
    if (!frame) return GI_OK;
    gi_shape shape = {.width = gi_be16(frame + 7), .height = gi_be16(frame + 5)};
    if (!shape.width || !shape.height)
        return gi_fail(err, GI_ERR_FORMAT, "damaged JPEG: segment SOF%d at byte %zu: the %s is 0", frame[1] - 0xC0,
                       (size_t)(frame - head.data), shape.width ? "height" : "width");
    return gi_codec_check_pixels(shape, max_pixels, err);
}

gi_status gi_peek_check(gi_bytes head, uint64_t max_pixels, gi_error *err) {
    switch (gi_format_sniff(head)) {
    case GI_FORMAT_PNG: return check_png(head, max_pixels, err);
    case GI_FORMAT_JPEG: return check_jpeg(head, max_pixels, err);
    default: return GI_OK;
    }
}
