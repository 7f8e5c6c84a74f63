// The one EXIF field that gpuimg needs: the orientation.
#ifndef GI_CODEC_EXIF_H
#define GI_CODEC_EXIF_H

#include "codec/codec.h"

// The orientation 1..8 of a TIFF block (what follows "Exif\0\0" in a JPEG APP1 segment, or a PNG eXIf chunk). 1 when
// it is absent, out of range, or the block is in any way malformed; never reads outside it.
int gi_exif_orientation(gi_bytes tiff);

// Where a TIFF block says that its first directory lies, in bytes from its beginning; 0 when it is no such block. 8 bytes
// are enough.
size_t gi_exif_directory(gi_bytes tiff);

// Makes the header of such a block say that it lies there.
void gi_exif_place_directory(uint8_t *tiff, uint8_t at);

enum { GI_EXIF_BYTES = 26 };

// A minimal TIFF block that holds the orientation alone.
void gi_exif_write(int orientation, uint8_t tiff[GI_EXIF_BYTES]);

#endif
