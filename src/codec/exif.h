// EXIF blocks: the orientation, and what else must change with the pixels.
#ifndef GI_CODEC_EXIF_H
#define GI_CODEC_EXIF_H

#include "codec/codec.h"

// The orientation 1..8 of a TIFF block (what follows "Exif\0\0" in a JPEG APP1 segment, or a PNG eXIf chunk). 1 when
// it is absent, out of range, or the block is in any way malformed; never reads outside it.
int gi_exif_orientation(gi_bytes tiff);

typedef enum gi_exif_state {
    GI_EXIF_SOUND,
    GI_EXIF_CUT, // entries of the first directory or of EXIF's own, or values of theirs, lie outside the block
    GI_EXIF_NONE // no such block, or its first directory is outside
} gi_exif_state;

gi_exif_state gi_exif_check(gi_bytes tiff);

// Where a TIFF block says that its first directory lies, in bytes from its beginning; 0 when it is no such block. 8
// bytes are enough.
size_t gi_exif_directory(gi_bytes tiff);

// Makes the header of such a block say that it lies there.
void gi_exif_place_directory(uint8_t *tiff, uint8_t at);

// The image that a block is to describe.
typedef struct gi_exif_now {
    int orientation; // 1..8
    uint32_t width, height;
    bool transposed; // its rows are the columns of what the block was made for
} gi_exif_now;

// Brings a block in line with its image: every orientation and size of pixels in the first directory and in EXIF's own
// becomes that of `now` (none is added), resolutions across and down are exchanged where it is transposed, and the
// thumbnail, which shows what the image was before, goes, so that *size may become less. False where it is no such
// block: then it is as it was. Never writes outside it.
bool gi_exif_settle(uint8_t *tiff, size_t *size, const gi_exif_now *now);

enum { GI_EXIF_BYTES = 26 };

// A minimal TIFF block that holds the orientation alone.
void gi_exif_write(int orientation, uint8_t tiff[GI_EXIF_BYTES]);

#endif
