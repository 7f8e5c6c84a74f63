#include "codec/exif.h"

#include <string.h>

#include "codec/bytes.h"

enum { ORIENTATION_TAG = 0x0112, TYPE_SHORT = 3, ENTRY_BYTES = 12 };

static uint16_t get16(const uint8_t *p, bool big) { return big ? gi_be16(p) : gi_le16(p); }
static uint32_t get32(const uint8_t *p, bool big) { return big ? gi_be32(p) : gi_le32(p); }

static bool is_big(const uint8_t *tiff) { return memcmp(tiff, "MM", 2) == 0; }

size_t gi_exif_directory(gi_bytes tiff) {
    if (tiff.size < 8) return 0;
    bool big = is_big(tiff.data);
    if (!big && memcmp(tiff.data, "II", 2) != 0) return 0;
    return get16(tiff.data + 2, big) == 42 ? get32(tiff.data + 4, big) : 0;
}

void gi_exif_place_directory(uint8_t *tiff, uint8_t at) {
    memset(tiff + 4, 0, 4);
    tiff[is_big(tiff) ? 7 : 4] = at;
}

int gi_exif_orientation(gi_bytes tiff) {
    // Only the first directory counts, and no link to another is followed: a loop cannot hurt.
    size_t at = gi_exif_directory(tiff);
    if (at == 0 || at > tiff.size || tiff.size - at < 2) return 1;
    bool big = is_big(tiff.data);
    size_t entries = get16(tiff.data + at, big);
    at += 2;
    for (; entries > 0 && tiff.size - at >= ENTRY_BYTES; entries--, at += ENTRY_BYTES) {
        const uint8_t *entry = tiff.data + at;
        if (get16(entry, big) != ORIENTATION_TAG) continue;
        if (get16(entry + 2, big) != TYPE_SHORT || get32(entry + 4, big) != 1) return 1;
        int value = get16(entry + 8, big);
        return value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
}

void gi_exif_write(int orientation, uint8_t tiff[GI_EXIF_BYTES]) {
    static const uint8_t block[GI_EXIF_BYTES] = {
        'M',  'M',  0, 42,         0, 0, 0, 8,             // header: big endian, the directory follows
        0,    1,                                           // one entry
        0x01, 0x12, 0, TYPE_SHORT, 0, 0, 0, 1, 0, 1, 0, 0, // tag, type, count, value left-justified in four bytes
        0,    0,    0, 0,                                  // no further directory
    };
    memcpy(tiff, block, sizeof block);
    tiff[19] = (uint8_t)orientation;
}
