#include "codec/icc.h"

#include <string.h>

#include "codec/bytes.h"

enum { SPACE = 16, SIGNATURE = 36, TAGS = 128, TAG_BYTES = 12, MOST_TAGS = 200 };

static bool is(const uint8_t *at, const char *name) { return memcmp(at, name, 4) == 0; }

static char printable(unsigned code) { return code >= 0x20 && code < 0x7F ? (char)code : '?'; }

size_t gi_icc_size(const uint8_t *head, size_t most) {
    size_t size = gi_be32(head);
    return size >= GI_ICC_LEAST && size <= most && is(head + SIGNATURE, "acsp") ? size : 0;
}

bool gi_icc_check(gi_bytes profile) {
    return profile.size >= GI_ICC_LEAST && gi_icc_size(profile.data, profile.size) == profile.size;
}

bool gi_icc_tags_inside(gi_bytes profile) {
    size_t count = gi_be32(profile.data + TAGS), room = (profile.size - GI_ICC_LEAST) / TAG_BYTES;
    for (size_t i = 0; i < count && i < room; i++) {
        const uint8_t *tag = profile.data + GI_ICC_LEAST + i * TAG_BYTES;
        size_t at = gi_be32(tag + 4), size = gi_be32(tag + 8);
        if (at > profile.size || size > profile.size - at) return false;
    }
    return count <= room;
}

void gi_icc_space(gi_bytes profile, char space[5]) {
    for (int i = 0; i < 4; i++) space[i] = printable(profile.data[SPACE + i]);
    space[4] = '\0';
    for (int i = 3; i > 0 && space[i] == ' '; i--) space[i] = '\0';
}

// The data of the description's tag; empty where it is not within the profile.
static gi_bytes description(gi_bytes profile) {
    size_t count = gi_be32(profile.data + TAGS), room = (profile.size - GI_ICC_LEAST) / TAG_BYTES;
    if (count > room) count = room;
    if (count > MOST_TAGS) count = MOST_TAGS;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *tag = profile.data + GI_ICC_LEAST + i * TAG_BYTES;
        size_t at = gi_be32(tag + 4), size = gi_be32(tag + 8);
        if (!is(tag, "desc")) continue;
        if (at > profile.size || size > profile.size - at) break;
        return (gi_bytes){profile.data + at, size};
    }
    return (gi_bytes){NULL, 0};
}

void gi_icc_name(gi_bytes profile, char name[GI_ICC_NAME]) {
    gi_bytes tag = description(profile);
    size_t at = 0, size = 0, step = 1, used = 0;
    if (tag.size >= 12 && is(tag.data, "desc")) { // version 2: ASCII, with its NUL
        at = 12;
        size = gi_be32(tag.data + 8);
    } else if (tag.size >= 28 && is(tag.data, "mluc") && gi_be32(tag.data + 8) > 0) { // version 4: UTF-16, big endian
        size = gi_be32(tag.data + 20);
        at = gi_be32(tag.data + 24);
        step = 2;
    }
    if (at > tag.size) at = tag.size;
    if (size > tag.size - at) size = tag.size - at;
    for (; size >= step && used + 1 < GI_ICC_NAME; at += step, size -= step) {
        unsigned code = step == 2 ? gi_be16(tag.data + at) : tag.data[at];
        if (code == 0) break;
        name[used++] = printable(code);
    }
    name[used] = '\0';
}
