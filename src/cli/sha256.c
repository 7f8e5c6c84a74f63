#include "cli/sha256.h"

#include <stddef.h>

#ifdef GPUIMG_NETTLE_VERSION
#include <nettle/sha2.h>
#include <nettle/version.h>

static void begin(void *state) { sha256_init(state); }

static void add(void *state, const void *data, size_t size) { sha256_update(state, size, data); }

static void end(void *state, uint8_t digest[GI_DIGEST_BYTES]) {
#if NETTLE_VERSION_MAJOR >= 4
    sha256_digest(state, digest);
#else
    sha256_digest(state, GI_DIGEST_BYTES, digest);
#endif
}

const gi_digester *gi_sha256(void) {
    static const gi_digester sha256 = {sizeof(struct sha256_ctx), begin, add, end};
    return &sha256;
}

const char *gi_sha256_library(void) { return "nettle " GPUIMG_NETTLE_VERSION; }
#else
const gi_digester *gi_sha256(void) { return NULL; }

const char *gi_sha256_library(void) { return NULL; }
#endif
