// The digest (RFC 1321) by which a JPEG's XMP names what it has in further segments. It secures nothing.
#ifndef GI_CODEC_MD5_H
#define GI_CODEC_MD5_H

#include "codec/codec.h"

enum { GI_MD5_HEX = 32 };

// In capital hexadecimal digits, without a NUL.
void gi_md5(gi_bytes bytes, uint8_t hex[GI_MD5_HEX]);

#endif
