// The quality at which a JPEG was written, told by its quantization tables.
#ifndef GI_CODEC_JPEG_QUALITY_H
#define GI_CODEC_JPEG_QUALITY_H

#include "codec/jpeg_check.h"

// The 1..100 of libjpeg's scale whose tables are the nearest to those of the first component and the second; *exact:
// they are those. 0 where the first has no table.
int gi_jpeg_quality(const gi_jpeg_info *info, bool *exact);

#endif
