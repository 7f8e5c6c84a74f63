// The codec's format look-ups, for tests that do without the codec.
#ifndef GI_TESTS_FAKE_FORMAT_H
#define GI_TESTS_FAKE_FORMAT_H

#include <string.h>
#include <strings.h>

#include "codec/codec.h"

static const char png_signature[8] = {'\x89', 'P', 'N', 'G', '\r', '\n', '\x1a', '\n'};
static const char jpeg_signature[4] = {'\xff', '\xd8', '\xff', '\xe0'};

gi_format gi_format_sniff(gi_bytes bytes) {
    if (bytes.size >= 8 && memcmp(bytes.data, png_signature, 8) == 0) return GI_FORMAT_PNG;
    return bytes.size >= 3 && memcmp(bytes.data, jpeg_signature, 3) == 0 ? GI_FORMAT_JPEG : GI_FORMAT_UNKNOWN;
}

gi_format gi_format_of_name(const char *name) {
    const char *dot = strrchr(name, '.');
    if (!dot) return GI_FORMAT_UNKNOWN;
    if (strcasecmp(dot, ".png") == 0) return GI_FORMAT_PNG;
    return strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0 ? GI_FORMAT_JPEG : GI_FORMAT_UNKNOWN;
}

bool gi_format_is_other(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, ".tif") == 0;
}

const char *gi_format_name(gi_format format) { return format == GI_FORMAT_PNG ? "PNG" : "JPEG"; }
const char *gi_format_extension(gi_format format) { return format == GI_FORMAT_PNG ? "png" : "jpg"; }

#endif
