// JPEG files walked marker by marker (ITU-T T.81, annex B), with every rule checked that a decoder relies on.
#ifndef GI_CODEC_JPEG_CHECK_H
#define GI_CODEC_JPEG_CHECK_H

#include "codec/codec.h"

typedef enum gi_jpeg_colour { GI_JPEG_GRAY, GI_JPEG_YCC, GI_JPEG_RGB, GI_JPEG_CMYK, GI_JPEG_YCCK } gi_jpeg_colour;

enum {
    GI_JPEG_SOF0 = 0xC0,
    GI_JPEG_SOF1 = 0xC1,
    GI_JPEG_SOF2 = 0xC2,
    GI_JPEG_DHT = 0xC4,
    GI_JPEG_SOF9 = 0xC9,
    GI_JPEG_SOF10 = 0xCA,
    GI_JPEG_DAC = 0xCC,
    GI_JPEG_RST0 = 0xD0,
    GI_JPEG_RST7 = 0xD7,
    GI_JPEG_SOI = 0xD8,
    GI_JPEG_EOI = 0xD9,
    GI_JPEG_SOS = 0xDA,
    GI_JPEG_DQT = 0xDB,
    GI_JPEG_DNL = 0xDC,
    GI_JPEG_DRI = 0xDD,
    GI_JPEG_APP0 = 0xE0,
    GI_JPEG_APP1 = 0xE1,
    GI_JPEG_APP13 = 0xED,
    GI_JPEG_APP14 = 0xEE,
    GI_JPEG_APP15 = 0xEF,
    GI_JPEG_COM = 0xFE
};

// The bytes of a JFIF segment without a thumbnail: decoders take a shorter one for somebody else's.
enum { GI_JFIF_LEAST = 14 };

// More scans than any encoder writes; each costs a pass over the whole image.
enum { GI_JPEG_MAX_SCANS = 100, GI_JPEG_DAMAGE_BYTES = 160 };

typedef struct gi_jpeg_component {
    int id, h, v, quantization; // sampling factors 1..4, table 0..3
    bool scanned;               // some scan holds it
} gi_jpeg_component;

typedef struct gi_jpeg_info {
    uint32_t width, height;
    int precision;  // bits of a sample: 8
    int components; // 1, 3 or 4
    gi_jpeg_component component[4];
    int h_max, v_max;
    bool progressive, arithmetic, jfif;
    bool full_code; // some Huffman table has a code of ones alone, which the standard forbids and libjpeg refuses
    int adobe;      // colour transform of the Adobe segment, -1 without one
    gi_jpeg_colour colour;
    int orientation;        // from EXIF, else 1
    uint16_t tables[4][64]; // quantization, in the file's order, as they are before the first scan; zeros: none
    int scans;
    uint64_t entropy_bytes;            // of all scans
    size_t end;                        // what is past this offset is not to be decoded
    size_t trailing_bytes;             // after EOI
    char damage[GI_JPEG_DAMAGE_BYTES]; // what is wrong with a file that still decodes; empty when sound
} gi_jpeg_info;

// The offset of the marker that ends the entropy-coded data at `from` (restart markers belong to the data), or the
// file's size.
size_t gi_jpeg_scan_end(gi_bytes bytes, size_t from);

// One marker: its code, the offset of its length field, and its segment's size with that field (0 when it has none).
typedef struct gi_jpeg_segment {
    int code;
    size_t offset;
    size_t size;
} gi_jpeg_segment;

// The next marker at or after *at, which is moved past the segment. False when the file ends before one is complete.
// *skipped counts bytes that belong to no segment.
bool gi_jpeg_next_segment(gi_bytes bytes, size_t *at, gi_jpeg_segment *segment, size_t *skipped);

// Walks the file; `arithmetic` tells that whoever decodes it can do arithmetic coding. GI_ERR_FORMAT with the segment's
// name and offset for what no image can come of (table, component and range errors before the first scan, a cut before
// it); the first of all other damage goes to info->damage, and info->end is put before a segment that must not be
// decoded. GI_ERR_UNSUPPORTED: arithmetic where it cannot be done, lossless, hierarchical, 12-bit, CMYK without an
// Adobe marker. GI_ERR_LIMIT: too many scans. After a failure, too, *info has what was read until then: of a frame
// header at least the first six bytes, or width 0.
gi_status gi_jpeg_check(gi_bytes bytes, bool arithmetic, gi_jpeg_info *info, gi_error *err);

// Blocks of 8x8 samples across and down that component i has in a scan of its own.
uint64_t gi_jpeg_blocks(const gi_jpeg_info *info, int i);

// GI_ERR_FORMAT when the scans are far too short to hold an image of that size.
gi_status gi_jpeg_check_plausible(const gi_jpeg_info *info, gi_error *err);

// Why a device's decoder is not to have the file; NULL: it may. Such decoders do baseline files of one scan, and few
// of the ways to arrange colour.
const char *gi_jpeg_device_reason(const gi_jpeg_info *info);

// What is wrong with a file that still decodes, as a warning, or as GI_ERR_FORMAT under options->strict. Nothing when
// `damage` is empty.
gi_status gi_jpeg_tell_damage(const gi_decode_options *options, const char *damage, gi_error *err);

#endif
