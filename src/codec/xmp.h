// XMP packets, in which gpuimg changes one digit.
#ifndef GI_CODEC_XMP_H
#define GI_CODEC_XMP_H

#include <stddef.h>
#include <stdint.h>

// Makes every tiff:Orientation of the packet, an attribute or an element, this one of 1..8. Its length stays.
void gi_xmp_settle(uint8_t *packet, size_t size, int orientation);

#endif
