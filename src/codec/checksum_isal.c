// Checksums by ISA-L, which chooses the instruction set itself.
#include "codec/checksum.h"

#ifdef GPUIMG_HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

uint32_t gi_crc32_isal(uint32_t crc, const void *data, size_t size) { return crc32_gzip_refl(crc, data, size); }

uint32_t gi_adler32_isal(uint32_t adler, const void *data, size_t size) { return isal_adler32(adler, data, size); }
#endif
