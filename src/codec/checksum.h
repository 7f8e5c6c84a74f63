// The two checksums of PNG: CRC-32 of chunks (ISO 3309, polynomial 0xEDB88320 reflected), Adler-32 of zlib (RFC 1950).
#ifndef GI_CODEC_CHECKSUM_H
#define GI_CODEC_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

// Continues a CRC; begin with 0. gi_crc32(gi_crc32(0, a), b) is the CRC of a followed by b.
uint32_t gi_crc32(uint32_t crc, const void *data, size_t size);

// Continues an Adler-32; begin with 1.
uint32_t gi_adler32(uint32_t adler, const void *data, size_t size);

#endif
