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

// The extension with its dot; "" where there is none.
static const char *extension_of(const char *name) {
    const char *slash = strrchr(name, '/');
    const char *dot = strrchr(slash ? slash + 1 : name, '.');
    return dot ? dot : "";
}

gi_format gi_format_of_name(const char *name) {
    const char *dot = extension_of(name);
    if (gi_same_word(dot, ".png")) return GI_FORMAT_PNG;
    if (gi_same_word(dot, ".jpg") || gi_same_word(dot, ".jpeg")) return GI_FORMAT_JPEG;
    return GI_FORMAT_UNKNOWN;
}

bool gi_format_is_other(const char *name) {
    static const char *const others[] = {".tif",  ".tiff", ".gif", ".webp", ".bmp", ".dib", ".avif", ".heic",
                                         ".heif", ".jxl",  ".jp2", ".j2k",  ".ppm", ".pgm", ".pbm",  ".pnm",
                                         ".pam",  ".pfm",  ".tga", ".ico",  ".svg", ".exr", ".hdr",  ".qoi",
                                         ".psd",  ".pcx",  ".dng", ".pdf",  ".eps", ".npy"};
    const char *dot = extension_of(name);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (gi_same_word(dot, others[i])) return true;
    return false;
}

const char *gi_format_name(gi_format format) {
    return format == GI_FORMAT_PNG ? "PNG" : format == GI_FORMAT_JPEG ? "JPEG" : "unknown format";
}

const char *gi_format_extension(gi_format format) {
    return format == GI_FORMAT_PNG ? "png" : format == GI_FORMAT_JPEG ? "jpg" : "";
}
