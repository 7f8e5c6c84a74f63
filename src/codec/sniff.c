#include <string.h>

#include "codec/codec.h"
#include "core/text.h"

gi_format gi_format_sniff(gi_bytes bytes) {
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    static const uint8_t jpeg[3] = {0xFF, 0xD8, 0xFF};
    if (bytes.size >= sizeof png && memcmp(bytes.data, png, sizeof png) == 0) return GI_FORMAT_PNG;
    if (bytes.size >= sizeof jpeg && memcmp(bytes.data, jpeg, sizeof jpeg) == 0) return GI_FORMAT_JPEG;
    return GI_FORMAT_UNKNOWN;
}

gi_format gi_format_of_name(const char *name) {
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    if (!dot) return GI_FORMAT_UNKNOWN;
    if (gi_same_word(dot, ".png")) return GI_FORMAT_PNG;
    if (gi_same_word(dot, ".jpg") || gi_same_word(dot, ".jpeg")) return GI_FORMAT_JPEG;
    return GI_FORMAT_UNKNOWN;
}

const char *gi_format_name(gi_format format) {
    return format == GI_FORMAT_PNG ? "PNG" : format == GI_FORMAT_JPEG ? "JPEG" : "unknown format";
}

const char *gi_format_extension(gi_format format) {
    return format == GI_FORMAT_PNG ? "png" : format == GI_FORMAT_JPEG ? "jpg" : "";
}
