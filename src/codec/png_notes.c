// Ancillary chunks on their way from a PNG (PNG specification, third edition, section 11.3).
#include "codec/png_notes.h"

#include <string.h>

#include "codec/bytes.h"

#define TYPE(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static const char xmp_keyword[] = GI_PNG_XMP_KEYWORD;

static void note_small(gi_small *small, const gi_png_noted *chunk, size_t size) {
    if (small->size || chunk->behind || chunk->size != size) return;
    small->size = (uint8_t)size;
    memcpy(small->data, chunk->data, size);
}

static void note_gamma(gi_png_notes *notes, const gi_png_noted *chunk) {
    if (chunk->size == 4 && gi_be32(chunk->data) > 0 && gi_be32(chunk->data) <= GI_PNG_MOST_NUMBER)
        note_small(&notes->gamma, chunk, 4);
}

static void note_density(gi_png_notes *notes, const gi_png_noted *chunk) {
    if (chunk->size != 9 || chunk->behind || notes->density.unit) return;
    uint32_t x = gi_be32(chunk->data), y = gi_be32(chunk->data + 4);
    if (x == 0 || x > GI_PNG_MOST_NUMBER || y == 0 || y > GI_PNG_MOST_NUMBER || chunk->data[8] > 1) return;
    notes->density = (gi_density){chunk->data[8] ? GI_DENSITY_METRE : GI_DENSITY_RATIO, x, y};
}

static void note_spot(gi_png_spot *spot, const gi_png_noted *chunk) {
    if (!spot->size) *spot = (gi_png_spot){chunk->offset, chunk->size};
}

static void note_other(gi_png_notes *notes, uint32_t type) {
    char name[5] = {0};
    gi_put_be32((uint8_t *)name, type);
    for (int i = 0; i < notes->others; i++)
        if (strcmp(notes->other[i], name) == 0) return;
    if (notes->others < GI_PNG_OTHERS) memcpy(notes->other[notes->others++], name, sizeof name);
}

void gi_png_note(gi_png_notes *notes, const gi_png_noted *chunk) {
    switch (chunk->type) {
    case TYPE('g', 'A', 'M', 'A'): note_gamma(notes, chunk); return;
    case TYPE('s', 'R', 'G', 'B'):
        if (chunk->size == 1 && chunk->data[0] <= 3) note_small(&notes->srgb, chunk, 1);
        return;
    case TYPE('c', 'H', 'R', 'M'): note_small(&notes->primaries, chunk, 32); return;
    case TYPE('c', 'I', 'C', 'P'): note_small(&notes->code_points, chunk, 4); return;
    case TYPE('p', 'H', 'Y', 's'): note_density(notes, chunk); return;
    case TYPE('i', 'C', 'C', 'P'):
        if (!chunk->behind) note_spot(&notes->icc, chunk);
        return;
    case TYPE('i', 'T', 'X', 't'):
        if (chunk->held < sizeof xmp_keyword || memcmp(chunk->data, xmp_keyword, sizeof xmp_keyword) != 0) break;
        note_spot(&notes->xmp, chunk);
        return;
    default: break;
    }
    note_other(notes, chunk->type);
}
