// ICC profiles (ICC.1:2010) as far as gpuimg needs them: whether one is whole, what it is for, and its name.
#ifndef GI_CODEC_ICC_H
#define GI_CODEC_ICC_H

#include "codec/codec.h"

enum { GI_ICC_LEAST = 132, GI_ICC_NAME = 80 };

// The size that a profile's first GI_ICC_LEAST bytes announce; 0 where they are none of a profile's, or it is more than
// `most`.
size_t gi_icc_size(const uint8_t *head, size_t most);

// Whether these bytes are one profile, as long as it says. Its tags are not looked at.
bool gi_icc_check(gi_bytes profile);

// Whether a whole profile's tags lie within it.
bool gi_icc_tags_inside(gi_bytes profile);

// The space of the samples that it describes: "RGB", "GRAY", "CMYK", ...; what cannot be printed as '?'.
void gi_icc_space(gi_bytes profile, char space[5]);

// Its description in printable ASCII, cut to fit, anything else as '?'; "" where there is none. Of texts in several
// languages the first.
void gi_icc_name(gi_bytes profile, char name[GI_ICC_NAME]);

#endif
