#include "codec/png_spans.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/checksum.h"

enum {
    PIECE_BYTES = 128 << 10, // read at once: it stays in a core's cache until it is inflated
    OVERHEAD = GI_PNG_CHUNK_HEAD + GI_PNG_CHUNK_TAIL
};

struct gi_png_spans {
    gi_input input;
    size_t at;            // in the file: the next byte to read
    size_t unread;        // bytes from there to the end of the last chunk
    const uint8_t *begin; // what was read and not yet given
    size_t ready;         // bytes from there
    size_t chunks;        // of which the head is still to come
    size_t chunk;         // offset of the one in work
    size_t left;          // bytes of its data that are still to come
    bool open;            // its CRC is still to come
    uint32_t crc;         // of its name and of the data given
    gi_status status;
    gi_error failure;
    uint8_t piece[PIECE_BYTES];
};

gi_status gi_png_spans_open(const gi_input *input, const gi_png_info *info, gi_png_spans **spans, gi_error *err) {
    gi_png_spans *made = malloc(sizeof *made);
    if (!made) return gi_fail(err, GI_ERR_MEMORY, "no memory for compressed data");
    memset(made, 0, offsetof(gi_png_spans, piece));
    made->input = *input;
    made->at = info->idat;
    made->unread = info->idat_bytes + info->idat_chunks * OVERHEAD;
    made->begin = made->piece;
    made->chunks = info->idat_chunks;
    *spans = made;
    return GI_OK;
}

void gi_png_spans_close(gi_png_spans *spans) { free(spans); }

// Offset in the file of the first byte that is ready.
static size_t place(const gi_png_spans *s) { return s->at - s->ready; }

static bool fail_changed(gi_png_spans *s) {
    s->status =
        gi_fail(&s->failure, GI_ERR_FORMAT, "damaged PNG: it was changed at byte %zu while it was read", place(s));
    return false;
}

// Makes `size` bytes ready, a few that lie together. False after a failure.
static bool want(gi_png_spans *s, size_t size) {
    if (s->ready >= size) return true;
    if (s->unread < size - s->ready) return fail_changed(s);
    memmove(s->piece, s->begin, s->ready);
    s->begin = s->piece;
    size_t more = PIECE_BYTES - s->ready < s->unread ? PIECE_BYTES - s->ready : s->unread;
    s->status = s->input.read(s->input.context, s->at, s->piece + s->ready, more, &s->failure);
    if (s->status != GI_OK) return false;
    s->at += more;
    s->unread -= more;
    s->ready += more;
    return true;
}

static const uint8_t *take(gi_png_spans *s, size_t size) {
    const uint8_t *bytes = s->begin;
    s->begin += size;
    s->ready -= size;
    return bytes;
}

static bool end_chunk(gi_png_spans *s) {
    s->open = false;
    if (!want(s, GI_PNG_CHUNK_TAIL)) return false;
    if (gi_be32(take(s, GI_PNG_CHUNK_TAIL)) == s->crc) return true;
    s->status =
        gi_fail(&s->failure, GI_ERR_FORMAT, "damaged PNG: chunk IDAT at byte %zu: its CRC does not match", s->chunk);
    return false;
}

static bool begin_chunk(gi_png_spans *s) {
    if (!want(s, GI_PNG_CHUNK_HEAD)) return false;
    s->chunk = place(s);
    s->left = gi_be32(s->begin);
    s->chunks--;
    // All spans together are never more than info->idat_bytes, whatever has become of the file.
    if (gi_be32(s->begin + 4) != GI_PNG_IDAT || s->left + (s->chunks + 1) * OVERHEAD > s->ready + s->unread)
        return fail_changed(s);
    s->crc = gi_crc32(0, take(s, GI_PNG_CHUNK_HEAD) + 4, 4);
    s->open = true;
    return true;
}

gi_bytes gi_png_spans_next(void *spans) {
    static const gi_bytes none = {NULL, 0};
    gi_png_spans *s = spans;
    while (s->left == 0) {
        if (s->status != GI_OK) return none;
        if (s->open && !end_chunk(s)) return none;
        if (s->chunks == 0 || !begin_chunk(s)) return none;
    }
    if (s->status != GI_OK || !want(s, 1)) return none;
    gi_bytes span = {s->begin, s->ready < s->left ? s->ready : s->left};
    s->crc = gi_crc32(s->crc, take(s, span.size), span.size);
    s->left -= span.size;
    return span;
}

gi_status gi_png_spans_finish(gi_png_spans *spans, gi_error *err) {
    while (gi_png_spans_next(spans).size) continue;
    if (spans->status != GI_OK && err) *err = spans->failure;
    return spans->status;
}
