// XMP packets, of which gpuimg keeps true what they tell of the pixels.
#ifndef GI_CODEC_XMP_H
#define GI_CODEC_XMP_H

#include "codec/metadata.h"

// Makes every tiff:Orientation of the packet, an attribute or an element, this one of 1..8. Its length stays.
void gi_xmp_settle(uint8_t *packet, size_t size, int orientation);

// The GI_XMP_GUID characters by which the packet names what a JPEG has of it in further segments
// (xmpNote:HasExtendedXMP); NULL: there is no more.
const uint8_t *gi_xmp_guid(gi_bytes packet);

// Exchanges the names of sizes and resolutions across and down, of pixels whose rows have become columns: EXIF's and
// TIFF's, with their usual prefixes. GI_ERR_MEMORY: the packet is as it was.
gi_status gi_xmp_transpose(gi_blob *packet, gi_error *err);

#endif
