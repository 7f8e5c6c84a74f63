// The two checksums of PNG: CRC-32 of chunks (ISO 3309, polynomial 0xEDB88320 reflected), Adler-32 of zlib (RFC 1950).
#ifndef GI_CODEC_CHECKSUM_H
#define GI_CODEC_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

// Continues a CRC; begin with 0. gi_crc32(gi_crc32(0, a), b) is the CRC of a followed by b.
uint32_t gi_crc32(uint32_t crc, const void *data, size_t size);

// Continues an Adler-32; begin with 1.
uint32_t gi_adler32(uint32_t adler, const void *data, size_t size);

// The Adler-32 of two strings one after the other from those of each, and the length of the second.
uint32_t gi_adler32_combine(uint32_t first, uint32_t second, uint64_t second_size);

// What the first two are made of: our own C, and ISA-L's, which is taken where it is built in.
uint32_t gi_crc32_portable(uint32_t crc, const void *data, size_t size);
uint32_t gi_adler32_portable(uint32_t adler, const void *data, size_t size);
#ifdef GPUIMG_HAVE_ISAL
uint32_t gi_crc32_isal(uint32_t crc, const void *data, size_t size);
uint32_t gi_adler32_isal(uint32_t adler, const void *data, size_t size);
#endif

#endif
