// Ancillary chunks on their way from a PNG (PNG specification, third edition, section 11.3).
#include "codec/png_notes.h"

#include <string.h>

#include "codec/bytes.h"

#define TYPE(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static const char xmp_keyword[] = GI_PNG_XMP_KEYWORD;

// All of these: false where it is malformed. The first that is not counts.
static bool note_small(gi_small *small, const gi_png_noted *chunk, size_t size) {
    if (chunk->size != size) return false;
    if (small->size) return true;
    small->size = (uint8_t)size;
    memcpy(small->data, chunk->data, size);
    return true;
}

static bool note_gamma(gi_png_notes *notes, const gi_png_noted *chunk) {
    return chunk->size == 4 && gi_be32(chunk->data) > 0 && gi_be32(chunk->data) <= GI_PNG_MOST_NUMBER &&
           note_small(&notes->gamma, chunk, 4);
}

static bool note_density(gi_png_notes *notes, const gi_png_noted *chunk) {
    if (chunk->size != 9) return false;
    uint32_t x = gi_be32(chunk->data), y = gi_be32(chunk->data + 4);
    if (x == 0 || x > GI_PNG_MOST_NUMBER || y == 0 || y > GI_PNG_MOST_NUMBER || chunk->data[8] > 1) return false;
    if (!notes->density.unit) notes->density = (gi_density){chunk->data[8] ? GI_DENSITY_METRE : GI_DENSITY_RATIO, x, y};
    return true;
}

static void note_spot(gi_png_spot *spot, const gi_png_noted *chunk) {
    if (!spot->size) *spot = (gi_png_spot){chunk->offset, chunk->size};
}

static void add_name(gi_png_names *names, uint32_t type) {
    char name[5] = {0};
    gi_put_be32((uint8_t *)name, type);
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0) return;
    if (names->count < GI_PNG_NAMES) memcpy(names->name[names->count++], name, sizeof name);
}

// A chunk that stands before the image, and of a kind that does; *known: it is.
static bool note_before(gi_png_notes *notes, const gi_png_noted *chunk, bool *known) {
    switch (chunk->type) {
    case TYPE('g', 'A', 'M', 'A'): return note_gamma(notes, chunk);
    case TYPE('s', 'R', 'G', 'B'): return chunk->size == 1 && chunk->data[0] <= 3 && note_small(&notes->srgb, chunk, 1);
    case TYPE('c', 'H', 'R', 'M'): return note_small(&notes->primaries, chunk, 32);
    case TYPE('c', 'I', 'C', 'P'): return note_small(&notes->code_points, chunk, 4);
    case TYPE('p', 'H', 'Y', 's'): return note_density(notes, chunk);
    case TYPE('i', 'C', 'C', 'P'): note_spot(&notes->icc, chunk); return chunk->size > 0;
    default: *known = false; return true;
    }
}

void gi_png_note(gi_png_notes *notes, const gi_png_noted *chunk) {
    gi_png_notes unused = {0};
    bool known = true, sound = note_before(chunk->behind ? &unused : notes, chunk, &known);
    if (known && sound && !chunk->behind) return;
    if (known)
        add_name(&notes->malformed, chunk->type);
    else if (chunk->type == TYPE('i', 'T', 'X', 't') && chunk->held >= sizeof xmp_keyword &&
             memcmp(chunk->data, xmp_keyword, sizeof xmp_keyword) == 0)
        note_spot(&notes->xmp, chunk);
    else
        add_name(&notes->others, chunk->type);
}
