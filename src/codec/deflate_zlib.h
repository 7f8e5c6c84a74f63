// zlib as the match finder of a band.
#ifndef GI_CODEC_DEFLATE_ZLIB_H
#define GI_CODEC_DEFLATE_ZLIB_H

#include "codec/codec.h"

// What a thread keeps of zlib.
typedef struct gi_zlib gi_zlib;

// Whether zlib was built in.
bool gi_zlib_available(void);

// `level` 1..9. GI_ERR_UNSUPPORTED where zlib was not built in.
gi_status gi_zlib_open(int level, gi_zlib **zlib, gi_error *err);

// NULL is fine.
void gi_zlib_close(gi_zlib *zlib);

// The most bytes that gi_zlib_deflate writes.
size_t gi_zlib_bound(size_t size);

// Raw deflate of `data` (below 2^31 bytes), none of the blocks final, the last an empty stored one. `out` holds *size
// bytes, at least gi_zlib_bound; then *size is how many were written.
gi_status gi_zlib_deflate(gi_zlib *zlib, gi_bytes data, uint8_t *out, size_t *size, gi_error *err);

#endif
