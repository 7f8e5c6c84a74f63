// What a walk over a PNG's chunks keeps of those that are not needed for pixels: small ones as they are, of large ones
// where they lie.
#ifndef GI_CODEC_PNG_NOTES_H
#define GI_CODEC_PNG_NOTES_H

#include "codec/metadata.h"

// Data of a chunk in the file; size 0: there is none.
typedef struct gi_png_spot {
    size_t offset, size;
} gi_png_spot;

enum {
    GI_PNG_NAMES = 8,
    GI_PNG_MOST_NUMBER = 0x7FFFFFFF // of four bytes
};

// The keyword of an iTXt chunk that holds XMP.
#define GI_PNG_XMP_KEYWORD "XML:com.adobe.xmp"

// Names of chunks, each once, and no more than the first of them.
typedef struct gi_png_names {
    char name[GI_PNG_NAMES][5];
    int count;
} gi_png_names;

typedef struct gi_png_notes {
    gi_png_spot icc, exif, xmp; // the first of each
    gi_small gamma, srgb, primaries, code_points;
    gi_density density;
    gi_png_names malformed, others; // what is not to be read; kinds that are not known here
} gi_png_notes;

// A chunk whose CRC is right.
typedef struct gi_png_noted {
    uint32_t type; // its name, big endian
    size_t offset, size;
    const uint8_t *data; // the first `held` bytes
    size_t held;
    bool behind; // it follows image data
} gi_png_noted;

// Notes an ancillary chunk other than eXIf and tRNS. What is malformed, or late, is but named.
void gi_png_note(gi_png_notes *notes, const gi_png_noted *chunk);

// The bag of what was noted, read from the file. What it cannot take is said as notes. GI_ERR_MEMORY, and failures of
// the input.
gi_status gi_png_metadata_read(const gi_input *input, const gi_png_notes *notes, const gi_decode_options *options,
                               gi_metadata **metadata, gi_error *err);

// The chunks that stand before the palette, and those that follow it. `metadata` may be NULL.
gi_status gi_png_put_colour(const gi_sink *sink, const gi_metadata *metadata, gi_error *err);
gi_status gi_png_put_about(const gi_sink *sink, const gi_metadata *metadata, gi_error *err);

#endif
