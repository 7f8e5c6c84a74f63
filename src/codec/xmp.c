#include "codec/xmp.h"

#include <stdlib.h>
#include <string.h>

static size_t skip_space(const uint8_t *packet, size_t at, size_t size) {
    while (at < size && (packet[at] == ' ' || packet[at] == '\t' || packet[at] == '\n' || packet[at] == '\r')) at++;
    return at;
}

// Where the next value of that name begins: ="6", ='6' or >6, with white space between. *at, where the search begins,
// is moved past the name. `size`: there is none.
static size_t next_value(const uint8_t *packet, size_t size, const char *name, size_t *at) {
    const size_t length = strlen(name);
    while (*at < size) {
        const uint8_t *found = memchr(packet + *at, name[0], size - *at);
        if (!found) break;
        *at = (size_t)(found - packet) + 1;
        if (size - (*at - 1) < length || memcmp(found, name, length) != 0) continue;
        size_t value = skip_space(packet, *at - 1 + length, size);
        if (value < size && packet[value] == '=') {
            value = skip_space(packet, value + 1, size);
            if (value == size || (packet[value] != '"' && packet[value] != '\'')) continue;
        } else if (value == size || packet[value] != '>') {
            continue;
        }
        return skip_space(packet, value + 1, size);
    }
    return size;
}

void gi_xmp_settle(uint8_t *packet, size_t size, int orientation) {
    size_t at = 0, value;
    while ((value = next_value(packet, size, "tiff:Orientation", &at)) < size)
        if (packet[value] >= '1' && packet[value] <= '8') packet[value] = (uint8_t)('0' + orientation);
}

void gi_xmp_blank_pictures(uint8_t *packet, size_t size) {
    // Of thumbnails (by older prefixes, too), and of what phones keep beside the photo they show.
    static const char *const pictures[] = {"xmpGImg:image", "xapGImg:image", "GImage:Data", "GDepth:Data"};
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) {
        size_t at = 0, value;
        while ((value = next_value(packet, size, pictures[i], &at)) < size)
            for (; value < size && packet[value] != '<' && packet[value] != '"' && packet[value] != '\''; value++)
                packet[value] = ' ';
    }
}

const uint8_t *gi_xmp_guid(gi_bytes packet) {
    size_t at = 0, value = next_value(packet.data, packet.size, "xmpNote:HasExtendedXMP", &at);
    return packet.size - value >= GI_XMP_GUID ? packet.data + value : NULL;
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

gi_status gi_xmp_fit(gi_blob *packet, const gi_xmp_now *now, gi_error *err) {
    gi_xmp_settle(packet->data, packet->size, now->orientation);
    gi_xmp_blank_pictures(packet->data, packet->size);
    return now->transposed ? gi_xmp_transpose(packet, err) : GI_OK;
}
