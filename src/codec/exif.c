#include "codec/exif.h"

#include <string.h>

#include "codec/bytes.h"

enum {
    WIDTH_TAG = 0x0100,
    HEIGHT_TAG = 0x0101,
    STRIPS_TAG = 0x0111,
    ORIENTATION_TAG = 0x0112,
    STRIP_SIZES_TAG = 0x0117,
    X_RESOLUTION_TAG = 0x011A,
    Y_RESOLUTION_TAG = 0x011B,
    THUMBNAIL_TAG = 0x0201,
    THUMBNAIL_SIZE_TAG = 0x0202,
    EXIF_TAG = 0x8769,
    PIXEL_WIDTH_TAG = 0xA002,
    PIXEL_HEIGHT_TAG = 0xA003,
    FOCAL_X_RESOLUTION_TAG = 0xA20E,
    FOCAL_Y_RESOLUTION_TAG = 0xA20F,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    ENTRY_BYTES = 12
};

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

// A directory within a block: its entries, as far as they lie inside, and whether a link to the next follows them.
typedef struct directory {
    uint8_t *entries;
    size_t count;
    uint8_t *link;
    bool big;
    bool cut; // more entries were announced
} directory;

// False where there is none at that offset.
static bool find_directory(uint8_t *tiff, size_t size, size_t at, directory *out) {
    if (at < 8 || at > size || size - at < 2) return false;
    *out = (directory){.big = is_big(tiff)};
    size_t announced = get16(tiff + at, out->big), room = (size - at - 2) / ENTRY_BYTES;
    out->entries = tiff + at + 2;
    out->count = announced < room ? announced : room;
    out->cut = announced > room;
    uint8_t *end = out->entries + out->count * ENTRY_BYTES;
    if (announced == out->count && (size_t)(tiff + size - end) >= 4) out->link = end;
    return true;
}

static uint8_t *find_entry(const directory *d, int tag) {
    for (size_t i = 0; i < d->count; i++)
        if (get16(d->entries + i * ENTRY_BYTES, d->big) == tag) return d->entries + i * ENTRY_BYTES;
    return NULL;
}

// An entry's number in its place of four bytes; 0 where it has another form.
static uint32_t entry_number(const uint8_t *entry, bool big) {
    if (get32(entry + 4, big) != 1) return 0;
    int type = get16(entry + 2, big);
    return type == TYPE_SHORT ? get16(entry + 8, big) : type == TYPE_LONG ? get32(entry + 8, big) : 0;
}

// The i-th of an entry's numbers, there or where it says; 0 where there is none within the block.
static uint32_t number_at(gi_bytes tiff, const uint8_t *entry, bool big, uint32_t i) {
    const int type = get16(entry + 2, big);
    const uint32_t count = get32(entry + 4, big);
    const size_t step = type == TYPE_SHORT ? 2 : 4;
    if ((type != TYPE_SHORT && type != TYPE_LONG) || i >= count) return 0;
    const size_t at = count <= 4 / step ? (size_t)(entry + 8 - tiff.data) : get32(entry + 8, big);
    if (at > tiff.size || i >= (tiff.size - at) / step) return 0;
    const uint8_t *number = tiff.data + at + i * step;
    return step == 2 ? get16(number, big) : get32(number, big);
}

// Whether all entries lie within the block, and the values that have a place elsewhere in it.
static bool is_inside(const directory *d, size_t size) {
    static const uint8_t type_bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8}; // TIFF 6.0, section 2
    for (size_t i = 0; i < d->count; i++) {
        const uint8_t *entry = d->entries + i * ENTRY_BYTES;
        size_t type = get16(entry + 2, d->big), at = get32(entry + 8, d->big);
        uint64_t bytes = type < sizeof type_bytes ? (uint64_t)get32(entry + 4, d->big) * type_bytes[type] : 0;
        if (bytes > 4 && (at > size || bytes > size - at)) return false;
    }
    return !d->cut;
}

gi_exif_state gi_exif_check(gi_bytes tiff) {
    uint8_t *data = (uint8_t *)(uintptr_t)tiff.data; // which is only read
    directory first, own;
    if (!find_directory(data, tiff.size, gi_exif_directory(tiff), &first)) return GI_EXIF_NONE;
    const uint8_t *entry = find_entry(&first, EXIF_TAG);
    bool found = !entry || find_directory(data, tiff.size, entry_number(entry, first.big), &own);
    return is_inside(&first, tiff.size) && found && (!entry || is_inside(&own, tiff.size)) ? GI_EXIF_SOUND
                                                                                           : GI_EXIF_CUT;
}

static void put_tag(uint8_t *entry, bool big, int tag) {
    entry[big ? 0 : 1] = (uint8_t)(tag >> 8);
    entry[big ? 1 : 0] = (uint8_t)tag;
}

static void put_number(uint8_t *entry, bool big, int type, uint32_t value) {
    uint8_t bytes[10] = {0}; // type, count, value, as a big-endian block has them
    gi_put_be16(bytes, (uint32_t)type);
    gi_put_be32(bytes + 2, 1);
    if (type == TYPE_SHORT)
        gi_put_be16(bytes + 6, value);
    else
        gi_put_be32(bytes + 6, value);
    memcpy(entry + 2, bytes, sizeof bytes);
    if (big) return;
    for (int i = 0; i < 2; i++) entry[2 + i] = bytes[1 - i];
    for (int i = 0; i < 4; i++) entry[4 + i] = bytes[5 - i];
    for (int i = 0; i < 4; i++) entry[8 + i] = type == TYPE_SHORT ? 0 : bytes[9 - i];
    for (int i = 0; i < 2 && type == TYPE_SHORT; i++) entry[8 + i] = bytes[7 - i];
}

// What was told of the width is told of the height, and the other way round. Tags keep their order.
static void swap_entries(const directory *d, int across_tag, int down_tag) {
    uint8_t *across = find_entry(d, across_tag), *down = find_entry(d, down_tag), kept[ENTRY_BYTES - 2];
    if (across && down) {
        memcpy(kept, across + 2, sizeof kept);
        memcpy(across + 2, down + 2, sizeof kept);
        memcpy(down + 2, kept, sizeof kept);
    } else if (across) {
        put_tag(across, d->big, down_tag);
    } else if (down) {
        put_tag(down, d->big, across_tag);
    }
}

static void settle_entries(const directory *d, const gi_exif_now *now) {
    if (now->transposed) swap_entries(d, X_RESOLUTION_TAG, Y_RESOLUTION_TAG);
    if (now->transposed) swap_entries(d, FOCAL_X_RESOLUTION_TAG, FOCAL_Y_RESOLUTION_TAG);
    for (size_t i = 0; i < d->count; i++) {
        uint8_t *entry = d->entries + i * ENTRY_BYTES;
        switch (get16(entry, d->big)) {
        case ORIENTATION_TAG: put_number(entry, d->big, TYPE_SHORT, (uint32_t)now->orientation); break;
        case WIDTH_TAG:
        case PIXEL_WIDTH_TAG: put_number(entry, d->big, TYPE_LONG, now->width); break;
        case HEIGHT_TAG:
        case PIXEL_HEIGHT_TAG: put_number(entry, d->big, TYPE_LONG, now->height); break;
        default: break;
        }
    }
}

typedef struct span {
    size_t from, bytes;
} span;

// From the end of the block, or by zeros. Nothing before `kept`.
static void remove_bytes(uint8_t *tiff, size_t *size, size_t kept, span gone) {
    if (gone.from < kept || gone.from > *size || gone.bytes > *size - gone.from) return;
    if (*size - gone.from - gone.bytes < 4)
        *size = gone.from;
    else
        memset(tiff + gone.from, 0, gone.bytes);
}

// Unlinks the second directory, which is the thumbnail's, and removes its bytes: a JPEG, or strips of samples.
static void remove_thumbnail(uint8_t *tiff, size_t *size, const directory *first) {
    const gi_bytes all = {tiff, *size};
    const bool big = first->big;
    directory second;
    size_t at = first->link ? get32(first->link, big) : 0, left = *size;
    if (first->link) memset(first->link, 0, 4);
    if (!find_directory(tiff, *size, at, &second)) return;
    // Not what is needed of the first directory, whatever the second one says.
    const size_t kept = (size_t)(first->link + 4 - tiff);
    const uint8_t *from = find_entry(&second, THUMBNAIL_TAG), *bytes = find_entry(&second, THUMBNAIL_SIZE_TAG);
    if (from && bytes) remove_bytes(tiff, size, kept, (span){entry_number(from, big), entry_number(bytes, big)});
    from = find_entry(&second, STRIPS_TAG);
    bytes = find_entry(&second, STRIP_SIZES_TAG);
    for (uint32_t i = 0; from && bytes; i++) {
        const span strip = {number_at(all, from, big, i), number_at(all, bytes, big, i)};
        if (!strip.from || !strip.bytes || strip.bytes > left) break;
        left -= strip.bytes; // so that strips which overlap cost no more than the block
        remove_bytes(tiff, size, kept, strip);
    }
}

bool gi_exif_settle(uint8_t *tiff, size_t *size, const gi_exif_now *now) {
    directory first, own;
    if (!find_directory(tiff, *size, gi_exif_directory((gi_bytes){tiff, *size}), &first)) return false;
    remove_thumbnail(tiff, size, &first);
    const uint8_t *entry = find_entry(&first, EXIF_TAG);
    if (entry && find_directory(tiff, *size, entry_number(entry, first.big), &own)) settle_entries(&own, now);
    settle_entries(&first, now); // the last word, where directories overlap
    return true;
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
