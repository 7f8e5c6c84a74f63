#include "codec/deflate_zlib.h"

#if defined(GPUIMG_HAVE_ZLIB)
#include <stdlib.h>
#include <zlib.h>

struct gi_zlib {
    z_stream stream;
    int level;
};

bool gi_zlib_available(void) { return true; }

gi_status gi_zlib_open(int level, gi_zlib **zlib, gi_error *err) {
    enum { RAW = -15, MEMORY = 8 };
    gi_zlib *z = calloc(1, sizeof *z);
    if (!z) return gi_fail(err, GI_ERR_MEMORY, "no memory for a compressor");
    z->level = level;
    if (deflateInit2(&z->stream, level, Z_DEFLATED, RAW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(z);
        return gi_fail(err, GI_ERR_MEMORY, "no memory for a compressor of zlib's");
    }
    *zlib = z;
    return GI_OK;
}

void gi_zlib_close(gi_zlib *zlib) {
    if (!zlib) return;
    deflateEnd(&zlib->stream);
    free(zlib);
}

// zlib's own bound for those settings (deflateBound), and the empty block.
size_t gi_zlib_bound(size_t size) { return size + (size >> 12) + (size >> 14) + (size >> 25) + 13 + 5; }

gi_status gi_zlib_deflate(gi_zlib *zlib, gi_bytes data, uint8_t *out, size_t *size, gi_error *err) {
    z_stream *z = &zlib->stream;
    deflateReset(z);
    z->next_in = (z_const Bytef *)data.data;
    z->avail_in = (uInt)data.size;
    z->next_out = out;
    z->avail_out = (uInt)*size;
    int result = deflate(z, Z_SYNC_FLUSH);
    if (result != Z_OK || z->avail_in || !z->avail_out)
        return gi_fail(err, GI_ERR_IO, "zlib failed (%d: %s)", result, z->msg ? z->msg : "no message");
    *size -= z->avail_out;
    return GI_OK;
}
#else
bool gi_zlib_available(void) { return false; }

gi_status gi_zlib_open(int level, gi_zlib **zlib, gi_error *err) {
    (void)level, (void)zlib;
    return gi_fail(err, GI_ERR_UNSUPPORTED, "this build has no zlib");
}

void gi_zlib_close(gi_zlib *zlib) { (void)zlib; }

size_t gi_zlib_bound(size_t size) { return size; }

gi_status gi_zlib_deflate(gi_zlib *zlib, gi_bytes data, uint8_t *out, size_t *size, gi_error *err) {
    (void)zlib, (void)data, (void)out, (void)size;
    return gi_fail(err, GI_ERR_UNSUPPORTED, "this build has no zlib");
}
#endif
