#include "codec/png_check.h"

#include <ctype.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/checksum.h"
#include "codec/exif.h"
#include "core/checked.h"
#include "core/text.h"

enum {
    SIGNATURE_BYTES = 8,
    CHUNK_OVERHEAD = GI_PNG_CHUNK_HEAD + GI_PNG_CHUNK_TAIL,
    IHDR_BYTES = 13,
    MAX_DIMENSION = 0x7FFFFFFF,
    WINDOW_BYTES = 4096, // of the file that are read at once: small chunks may be many
    HELD_BYTES = 65536,  // of a chunk's data: all of those that are understood, but for a long eXIf
};

typedef struct chunk {
    size_t offset;       // of its length field
    const uint8_t *data; // its first HELD_BYTES
    size_t held;         // how many there are
    size_t size;
    char name[5]; // printable for messages
    uint32_t type;
} chunk;

typedef struct walker {
    const gi_input *input;
    size_t at; // the next chunk's offset
    gi_png_info *info;
    bool idat_over; // a chunk of another kind has followed the IDAT chunks
    gi_error *err;
    size_t window_at, window_size; // the bytes of the file in `window`
    uint8_t window[WINDOW_BYTES];
    uint8_t held[HELD_BYTES];
} walker;

#define TYPE(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static gi_status damaged(const walker *walk, const chunk *at, const char *reason) {
    return gi_fail(walk->err, GI_ERR_FORMAT, "damaged PNG: chunk %s at byte %zu: %s", at->name, at->offset, reason);
}

// Of which all must lie in the file.
static gi_status read_bytes(walker *walk, size_t at, void *to, size_t size) {
    const gi_input *input = walk->input;
    bool there = at >= walk->window_at && at - walk->window_at <= walk->window_size &&
                 size <= walk->window_size - (at - walk->window_at);
    if (!there) {
        if (size > WINDOW_BYTES / 2) return input->read(input->context, at, to, size, walk->err);
        size_t more = input->size - at < WINDOW_BYTES ? input->size - at : WINDOW_BYTES;
        walk->window_at = at;
        walk->window_size = 0;
        gi_status status = input->read(input->context, at, walk->window, more, walk->err);
        if (status != GI_OK) return status;
        walk->window_size = more;
    }
    memcpy(to, walk->window + (at - walk->window_at), size);
    return GI_OK;
}

// Length and name of the chunk at walk->at.
static gi_status read_head(walker *walk, chunk *out) {
    uint8_t head[GI_PNG_CHUNK_HEAD];
    size_t left = walk->input->size - walk->at;
    if (left == 0)
        return gi_fail(walk->err, GI_ERR_FORMAT, "damaged PNG: the file ends at byte %zu without an IEND chunk",
                       walk->at);
    if (left < GI_PNG_CHUNK_HEAD)
        return gi_fail(walk->err, GI_ERR_FORMAT, "damaged PNG: the file ends within the chunk header at byte %zu",
                       walk->at);
    gi_status status = read_bytes(walk, walk->at, head, sizeof head);
    if (status != GI_OK) return status;
    *out = (chunk){.offset = walk->at, .size = gi_be32(head), .type = gi_be32(head + 4)};
    bool letters = true;
    for (int i = 0; i < 4; i++) {
        letters = letters && isascii(head[4 + i]) && isalpha(head[4 + i]);
        out->name[i] = isascii(head[4 + i]) && isprint(head[4 + i]) ? (char)head[4 + i] : '?';
    }
    if (!letters) return damaged(walk, out, "no valid chunk name");
    if (left < CHUNK_OVERHEAD || out->size > left - CHUNK_OVERHEAD)
        return damaged(walk, out, "the file ends within this chunk");
    return GI_OK;
}

// The data and whether they are those that were written: name and data have the CRC that follows them.
static gi_status read_data(walker *walk, chunk *c) {
    uint8_t name[4], tail[GI_PNG_CHUNK_TAIL], piece[4096];
    size_t at = c->offset + GI_PNG_CHUNK_HEAD, end = at + c->size;
    c->data = walk->held;
    c->held = c->size < HELD_BYTES ? c->size : HELD_BYTES;
    gi_status status = read_bytes(walk, at, walk->held, c->held);
    gi_put_be32(name, c->type);
    uint32_t crc = gi_crc32(gi_crc32(0, name, sizeof name), walk->held, status == GI_OK ? c->held : 0);
    for (at += c->held; at < end && status == GI_OK; at += sizeof piece) {
        size_t size = end - at < sizeof piece ? end - at : sizeof piece;
        status = read_bytes(walk, at, piece, size);
        if (status == GI_OK) crc = gi_crc32(crc, piece, size);
    }
    if (status == GI_OK) status = read_bytes(walk, end, tail, sizeof tail);
    if (status == GI_OK && crc != gi_be32(tail)) status = damaged(walk, c, "its CRC does not match");
    return status;
}

// Reads the chunk at walk->at and steps past it.
static gi_status next_chunk(walker *walk, chunk *out) {
    gi_status status = read_head(walk, out);
    if (status == GI_OK && out->type != GI_PNG_IDAT) status = read_data(walk, out);
    if (status == GI_OK) walk->at += CHUNK_OVERHEAD + out->size;
    return status;
}

static bool depth_is_legal(int colour, int depth) {
    switch (colour) {
    case GI_PNG_GRAY: return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case GI_PNG_PALETTE: return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case GI_PNG_RGB:
    case GI_PNG_GRAY_ALPHA:
    case GI_PNG_RGBA: return depth == 8 || depth == 16;
    default: return false;
    }
}

static gi_status read_ihdr(walker *walk, const chunk *c) {
    gi_png_info *info = walk->info;
    if (c->type != TYPE('I', 'H', 'D', 'R')) return damaged(walk, c, "the first chunk is not IHDR");
    if (c->size != IHDR_BYTES) return damaged(walk, c, "its length is not 13");
    info->width = gi_be32(c->data);
    info->height = gi_be32(c->data + 4);
    info->depth = c->data[8];
    info->colour = c->data[9];
    info->interlaced = c->data[12] == 1;
    if (info->width == 0 || info->height == 0) return damaged(walk, c, "width or height is 0");
    if (info->width > MAX_DIMENSION || info->height > MAX_DIMENSION)
        return damaged(walk, c, "width or height is over 2^31-1");
    if (!depth_is_legal(info->colour, info->depth))
        return gi_fail(walk->err, GI_ERR_FORMAT, "damaged PNG: chunk IHDR at byte %zu: no colour type %d with %d bits",
                       c->offset, info->colour, info->depth);
    if (c->data[10] != 0) return damaged(walk, c, "unknown compression method");
    if (c->data[11] != 0) return damaged(walk, c, "unknown filter method");
    if (c->data[12] > 1) return damaged(walk, c, "unknown interlace method");
    return GI_OK;
}

gi_status gi_png_check_head(gi_bytes head, gi_png_info *info, gi_error *err) {
    const gi_input input = gi_bytes_input(&head);
    walker walk = {.input = &input, .at = SIGNATURE_BYTES, .info = info, .err = err};
    chunk c;
    memset(info, 0, sizeof *info);
    gi_status status = next_chunk(&walk, &c);
    return status == GI_OK ? read_ihdr(&walk, &c) : status;
}

static gi_status read_plte(walker *walk, const chunk *c) {
    gi_png_info *info = walk->info;
    if (info->palette_size) return damaged(walk, c, "a second palette");
    if (info->idat_chunks) return damaged(walk, c, "a palette after the image data");
    if (info->transparency_size) return damaged(walk, c, "a palette after tRNS");
    if (c->size == 0 || c->size % 3 != 0 || c->size > 768)
        return damaged(walk, c, "its length is not 3 bytes for 1 to 256 colours");
    if (info->colour == GI_PNG_GRAY || info->colour == GI_PNG_GRAY_ALPHA)
        return damaged(walk, c, "a palette in a gray image");
    memcpy(info->palette, c->data, c->size);
    info->palette_size = (int)(c->size / 3);
    return GI_OK;
}

static gi_status read_trns(walker *walk, const chunk *c) {
    gi_png_info *info = walk->info;
    if (info->transparency_size) return damaged(walk, c, "a second tRNS");
    if (info->idat_chunks) return damaged(walk, c, "transparency after the image data");
    switch (info->colour) {
    case GI_PNG_GRAY:
        if (c->size != 2) return damaged(walk, c, "its length is not 2");
        break;
    case GI_PNG_RGB:
        if (c->size != 6) return damaged(walk, c, "its length is not 6");
        break;
    case GI_PNG_PALETTE:
        if (!info->palette_size) return damaged(walk, c, "transparency before the palette");
        if (c->size == 0 || c->size > (size_t)info->palette_size)
            return damaged(walk, c, "its length is not 1 to the number of colours");
        break;
    default: return damaged(walk, c, "transparency in an image with alpha");
    }
    memcpy(info->transparency, c->data, c->size);
    info->transparency_size = c->size;
    return GI_OK;
}

static gi_status read_idat(walker *walk, const chunk *c) {
    gi_png_info *info = walk->info;
    if (walk->idat_over) return damaged(walk, c, "image data is not consecutive");
    if (info->colour == GI_PNG_PALETTE && !info->palette_size) return damaged(walk, c, "no PLTE before the image data");
    if (info->idat_chunks == 0) info->idat = c->offset;
    info->idat_chunks++;
    info->idat_bytes += c->size;
    return GI_OK;
}

// Where an eXIf is longer than what is held of it, its first directory may lie behind that: then it is read to follow
// the header at once.
static gi_status read_exif(walker *walk, const chunk *c) {
    enum { HEADER = 8 };
    if (walk->info->notes.exif.size) return GI_OK; // the first counts
    gi_bytes held = {c->data, c->held};
    size_t at = c->size > c->held ? gi_exif_directory(held) : 0;
    if (at > HELD_BYTES / 2 && at < c->size) {
        size_t size = c->size - at < HELD_BYTES - HEADER ? c->size - at : HELD_BYTES - HEADER;
        gi_status status = read_bytes(walk, c->offset + GI_PNG_CHUNK_HEAD + at, walk->held + HEADER, size);
        if (status != GI_OK) return status;
        gi_exif_place_directory(walk->held, HEADER);
        held.size = HEADER + size;
    }
    walk->info->orientation = gi_exif_orientation(held);
    walk->info->notes.exif = (gi_png_spot){c->offset + GI_PNG_CHUNK_HEAD, c->size};
    return GI_OK;
}

// Any chunk between IHDR and IEND.
static gi_status read_chunk(walker *walk, const chunk *c) {
    gi_png_info *info = walk->info;
    if (c->type == GI_PNG_IDAT) return read_idat(walk, c);
    walk->idat_over = info->idat_chunks > 0;
    switch (c->type) {
    case TYPE('I', 'H', 'D', 'R'): return damaged(walk, c, "a second IHDR");
    case TYPE('P', 'L', 'T', 'E'): return read_plte(walk, c);
    case TYPE('t', 'R', 'N', 'S'): return read_trns(walk, c);
    case TYPE('e', 'X', 'I', 'f'): return info->notes.exif.size ? GI_OK : read_exif(walk, c); // the first counts
    default: break;
    }
    bool critical = !(c->type & 0x20000000U); // the first letter is upper case
    if (!critical)
        gi_png_note(&info->notes, &(gi_png_noted){c->type, c->offset + GI_PNG_CHUNK_HEAD, c->size, c->data, c->held,
                                                  info->idat_chunks > 0});
    return critical ? damaged(walk, c, "an unknown critical chunk") : GI_OK;
}

int gi_png_samples(const gi_png_info *info) {
    static const int samples[7] = {1, 0, 3, 1, 2, 0, 4};
    return samples[info->colour];
}

size_t gi_png_row_bytes(const gi_png_info *info, uint32_t width) {
    return ((size_t)width * (size_t)(gi_png_samples(info) * info->depth) + 7) / 8;
}

gi_png_pass gi_png_pass_of(const gi_png_info *info, int pass) {
    static const uint8_t x0[7] = {0, 4, 0, 2, 0, 1, 0}, dx[7] = {8, 8, 4, 4, 2, 2, 1};
    static const uint8_t y0[7] = {0, 0, 4, 0, 2, 0, 1}, dy[7] = {8, 8, 8, 4, 4, 2, 2};
    gi_png_pass p = {0, 0, x0[pass], y0[pass], dx[pass], dy[pass]};
    if (info->width > p.x0) p.width = (info->width - p.x0 - 1) / p.dx + 1;
    if (info->height > p.y0) p.height = (info->height - p.y0 - 1) / p.dy + 1;
    return p;
}

gi_status gi_png_filtered_bytes(const gi_png_info *info, size_t *bytes, gi_error *err) {
    int passes = info->interlaced ? 7 : 1;
    size_t total = 0;
    for (int i = 0; i < passes; i++) {
        gi_png_pass p = {info->width, info->height, 0, 0, 1, 1};
        if (info->interlaced) p = gi_png_pass_of(info, i);
        size_t size;
        if (p.width == 0) continue; // no filter bytes either
        if (!gi_mul(gi_png_row_bytes(info, p.width) + 1, p.height, &size) || !gi_add(total, size, &total))
            return gi_fail(err, GI_ERR_LIMIT, "%ux%u pixels do not fit this machine's memory", info->width,
                           info->height);
    }
    *bytes = total;
    return GI_OK;
}

// Deflate makes at most 258 bytes of 2 bits: an announced size past that is a lie, and no memory is spent on it.
gi_status gi_png_check_plausible(const gi_png_info *info, gi_error *err) {
    size_t filtered;
    gi_status status = gi_png_filtered_bytes(info, &filtered, err);
    if (status == GI_OK && filtered / 1032 > info->idat_bytes)
        status =
            gi_fail(err, GI_ERR_FORMAT, "damaged PNG: compressed data ends early: %zu byte%s cannot hold %ux%u pixels",
                    info->idat_bytes, gi_plural(info->idat_bytes), info->width, info->height);
    return status;
}

gi_status gi_png_check(const gi_input *input, gi_png_info *info, gi_error *err) {
    uint8_t signature[SIGNATURE_BYTES];
    size_t begin = input->size < SIGNATURE_BYTES ? input->size : SIGNATURE_BYTES;
    memset(info, 0, sizeof *info);
    info->orientation = 1;
    gi_status status = input->read(input->context, 0, signature, begin, err);
    if (status != GI_OK) return status;
    if (gi_format_sniff((gi_bytes){signature, begin}) != GI_FORMAT_PNG)
        return gi_fail(err, GI_ERR_FORMAT, "no PNG signature");
    walker walk = {.input = input, .at = SIGNATURE_BYTES, .info = info, .err = err};
    chunk c;
    status = next_chunk(&walk, &c);
    if (status == GI_OK) status = read_ihdr(&walk, &c);
    if (status != GI_OK) info->width = 0;
    while (status == GI_OK) {
        status = next_chunk(&walk, &c);
        if (status != GI_OK || c.type == TYPE('I', 'E', 'N', 'D')) break;
        status = read_chunk(&walk, &c);
    }
    if (status != GI_OK) return status;
    if (c.size != 0) return damaged(&walk, &c, "its length is not 0");
    if (!info->idat_chunks) return damaged(&walk, &c, "no IDAT chunk before it: there is no image data");
    info->trailing_bytes = input->size - walk.at;
    return GI_OK;
}
