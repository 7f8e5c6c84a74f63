// A band of PNG rows filtered and compressed: raw deflate blocks that join with those of other bands into one stream.
//
// No threads here: any number of compressors may work at once, each on bands of its own. What comes out depends on the
// band's bytes, the level and the codec alone: not on what a compressor did before, nor on the instruction set.
#ifndef GI_CODEC_PNG_BAND_H
#define GI_CODEC_PNG_BAND_H

#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"
#include "codec/png_filter.h"
#include "core/status.h"

// Consecutive rows of an image, as the file stores them (16-bit samples big-endian, packed bits). Not owned.
typedef struct gi_png_band {
    const uint8_t *rows;  // `height` rows, pitch_bytes apart, each with GI_PNG_MARGIN zero bytes in front of it
    const uint8_t *above; // the row above the first, likewise with its margin; NULL at the top of the image
    size_t pitch_bytes, row_bytes;
    size_t pixel; // bytes of a whole pixel: 1, 2, 3, 4, 6 or 8; 1 where several pixels share a byte
    int bits;     // per sample: below 8, rows hold packed pixels or indices
    uint32_t height;
} gi_png_band;

// A row less a band's most: the filtered bytes of a band (each row and its filter byte) stay within this.
#define GI_PNG_BAND_LIMIT ((size_t)1 << 30)

// The scratch of one thread, used for one band after another.
typedef struct gi_png_compressor gi_png_compressor;

typedef struct gi_png_compressor_options {
    int level;             // 0..9, from stored to smallest
    gi_codec_choice codec; // GI_CODEC_ZLIB: zlib finds the matches at every level
    size_t row_bytes;      // of every band to come
    uint32_t height_max;   // of the highest
} gi_png_compressor_options;

// GI_ERR_LIMIT: a band of that shape would be over GI_PNG_BAND_LIMIT.
gi_status gi_png_compressor_open(const gi_png_compressor_options *options, gi_png_compressor **compressor,
                                 gi_error *err);

// NULL is fine.
void gi_png_compressor_close(gi_png_compressor *compressor);

// The most bytes that gi_png_band_compress writes for so many filtered bytes.
size_t gi_png_band_bound(size_t filtered_bytes);

// Filters the rows, height * (1 + row_bytes) bytes in all, and writes them to `out` as raw deflate blocks (RFC 1951):
// none is final, no match reaches before the band, and the last is an empty stored block, after which the stream stands
// at a byte's border. *size: the bytes written; *adler: the Adler-32 of the filtered bytes, begun with 1.
gi_status gi_png_band_compress(gi_png_compressor *compressor, const gi_png_band *band, uint8_t *out, size_t *size,
                               uint32_t *adler, gi_error *err);

#endif
