#include "codec/xmp.h"

#include <stdlib.h>
#include <string.h>

static size_t skip_space(const uint8_t *packet, size_t at, size_t size) {
    while (at < size && (packet[at] == ' ' || packet[at] == '\t' || packet[at] == '\n' || packet[at] == '\r')) at++;
    return at;
}

void gi_xmp_settle(uint8_t *packet, size_t size, int orientation) {
    static const char name[] = "tiff:Orientation";
    const size_t length = sizeof name - 1;
    for (size_t at = 0; at < size;) {
        const uint8_t *found = memchr(packet + at, 't', size - at);
        if (!found) return;
        at = (size_t)(found - packet) + 1;
        if (size - (at - 1) < length || memcmp(found, name, length) != 0) continue;
        // ="6", ='6' or >6, with white space between.
        size_t value = skip_space(packet, at - 1 + length, size);
        if (value < size && packet[value] == '=') {
            value = skip_space(packet, value + 1, size);
            if (value == size || (packet[value] != '"' && packet[value] != '\'')) continue;
        } else if (value == size || packet[value] != '>') {
            continue;
        }
        value = skip_space(packet, value + 1, size);
        if (value < size && packet[value] >= '1' && packet[value] <= '8') packet[value] = (uint8_t)('0' + orientation);
    }
}

// Each stands beside its counterpart.
static const char *const names[] = {
    "tiff:ImageWidth",      "tiff:ImageLength",     "tiff:XResolution",           "tiff:YResolution",
    "exif:PixelXDimension", "exif:PixelYDimension", "exif:FocalPlaneXResolution", "exif:FocalPlaneYResolution"};
enum { NAMES = sizeof names / sizeof names[0] };

static bool is_letter(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// Which of the names stands there as a whole; NAMES: none.
static int name_at(gi_bytes packet, size_t at) {
    int i = 0;
    for (; i < NAMES; i++) {
        size_t length = strlen(names[i]);
        if (packet.size - at < length || memcmp(packet.data + at, names[i], length) != 0) continue;
        if (packet.size - at == length || !is_letter(packet.data[at + length])) break;
    }
    return i;
}

gi_status gi_xmp_transpose(gi_blob *packet, gi_error *err) {
    const gi_bytes in = gi_blob_bytes(packet);
    // A name becomes longer by one letter at the most, and the shortest has 15.
    gi_blob made = {in.size ? malloc(in.size + in.size / 15) : NULL, 0};
    if (!in.size) return GI_OK;
    if (!made.data) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of XMP", in.size);
    for (size_t at = 0; at < in.size;) {
        int found = in.data[at] == 't' || in.data[at] == 'e' ? name_at(in, at) : NAMES;
        const char *other = found < NAMES ? names[found ^ 1] : (const char *)in.data + at;
        size_t length = found < NAMES ? strlen(other) : 1;
        memcpy(made.data + made.size, other, length);
        made.size += length;
        at += found < NAMES ? strlen(names[found]) : 1;
    }
    gi_blob_free(packet);
    *packet = made;
    return GI_OK;
}
