// IPTC's records in a JPEG: one of Photoshop's image resources, each a signature, number, name and data.
#include <string.h>

#include "codec/bytes.h"
#include "codec/jpeg_metadata.h"

enum { IPTC = 0x0404, SIGNATURE = 4, NUMBER = 2, SIZE = 4 };

gi_bytes gi_jpeg_iptc(gi_bytes body, bool *others, bool *cut) {
    gi_bytes found = {NULL, 0};
    size_t at = sizeof GI_JPEG_PHOTOSHOP_NAME;
    // The name has its length in front; both it and the data are padded to even sizes.
    while (body.size > at && body.size - at > SIGNATURE + NUMBER && memcmp(body.data + at, "8BIM", SIGNATURE) == 0) {
        int number = gi_be16(body.data + at + SIGNATURE);
        size_t name = (body.data[at + SIGNATURE + NUMBER] + 2U) / 2 * 2, head = SIGNATURE + NUMBER + name + SIZE;
        bool whole = body.size - at >= head;
        size_t size = whole ? gi_be32(body.data + at + head - SIZE) : 0;
        whole = whole && size <= body.size - at - head;
        *others = *others || number != IPTC;
        *cut = *cut || (number == IPTC && !whole);
        if (!whole) break;
        if (number == IPTC && !found.size) found = (gi_bytes){body.data + at + head, size};
        at += head + size + size % 2;
    }
    return found;
}
