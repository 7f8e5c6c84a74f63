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

// Fills with spaces what pictures a packet holds in base64: they show what the image was before.
void gi_xmp_blank_pictures(uint8_t *packet, size_t size);

// The image that XMP is to describe.
typedef struct gi_xmp_now {
    int orientation; // 1..8
    bool transposed; // its rows are the columns of what the packet was made for
} gi_xmp_now;

// All three. An empty packet stays so. GI_ERR_MEMORY.
gi_status gi_xmp_fit(gi_blob *packet, const gi_xmp_now *now, gi_error *err);

// The same for what `packet` names in `more`; where that changes, both get another GUID. GI_ERR_MEMORY.
gi_status gi_xmp_fit_more(const gi_blob *packet, gi_blob *more, const gi_xmp_now *now, gi_error *err);

// For a JPEG, whose first segment is too short for the packet: all of it goes to `more`, and a packet that names it
// takes its place. GI_ERR_MEMORY: both are as they were, or more has the packet, too.
gi_status gi_xmp_split(gi_blob *packet, gi_blob *more, gi_error *err);

// The other way round, for what gi_xmp_split made; anything else stays as it is. GI_ERR_MEMORY.
gi_status gi_xmp_join(gi_blob *packet, gi_blob *more, gi_error *err);

#endif
