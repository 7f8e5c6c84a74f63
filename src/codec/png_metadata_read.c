// From what was noted of a PNG's chunks to the bag of metadata.
#include <stdlib.h>
#include <string.h>

#include "codec/icc.h"
#include "codec/inflate.h"
#include "codec/png_notes.h"

enum {
    MOST_KEYWORD = 79,
    MOST_STORED = GI_BLOB_MOST + 4096,      // bytes of a chunk's data
    XMP_KEYWORD = sizeof GI_PNG_XMP_KEYWORD // bytes, with the NUL
};

typedef struct bag {
    const gi_input *input;
    const gi_decode_options *options;
    gi_metadata *metadata;
    gi_error *err;
} bag;

static const char too_large[] = "has more than 8 MB"; // which is no damage

static void say_lost(const bag *b, const char *what, const char *why) {
    gi_severity severity = why == too_large ? GI_NOTE : GI_FLAW;
    gi_say(b->options->messages, severity, b->options->file, "%s %s: not kept", what, why);
}

// The chunk's data; an empty blob, and said, where they are too many.
static gi_status load(const bag *b, gi_png_spot spot, const char *what, gi_blob *blob) {
    if (!spot.size) return GI_OK;
    if (spot.size > MOST_STORED) {
        say_lost(b, what, too_large);
        return GI_OK;
    }
    blob->data = malloc(spot.size);
    if (!blob->data) return gi_fail(b->err, GI_ERR_MEMORY, "no memory for %zu bytes of metadata", spot.size);
    blob->size = spot.size;
    gi_status status = b->input->read(b->input->context, spot.offset, blob->data, spot.size, b->err);
    if (status != GI_OK) gi_blob_free(blob);
    return status;
}

static gi_bytes next_span(void *context) {
    gi_bytes *span = context, given = *span;
    span->size = 0;
    return given;
}

// Inflates a stream into a blob of at most `need` bytes, which is only as large as the stream is. `why`: why it did
// not; static. Where `need` is 0, it is what an ICC profile in it announces.
static gi_status expand(const bag *b, gi_bytes stream, size_t need, gi_blob *blob, const char **why) {
    enum { FIRST = 4096 };
    gi_inflate_source source = {next_span, &stream, stream.size};
    gi_inflate *inflate = NULL;
    bool profile = need == 0, more = false;
    size_t room = profile ? GI_ICC_LEAST : FIRST, got = 0;
    gi_status status = gi_inflate_open(&source, b->options->codec, GI_BLOB_MOST + 1, &inflate, b->err);
    if (status != GI_OK) return status;
    for (bool ended = false; !ended && !*why;) {
        uint8_t *grown = realloc(blob->data, room);
        if (!grown) {
            status = gi_fail(b->err, GI_ERR_MEMORY, "no memory for %zu bytes of metadata", room);
            break;
        }
        blob->data = grown;
        if (gi_inflate_some(inflate, grown + blob->size, room - blob->size, &got, NULL) != GI_OK) *why = "is damaged";
        blob->size += got;
        ended = blob->size < room || room == need;
        if (ended) break;
        if (profile && !need) {
            need = gi_icc_size(grown, GI_BLOB_MOST);
            if (!need) *why = gi_icc_size(grown, UINT32_MAX) ? too_large : "is damaged";
            room = need;
        } else {
            room = room < need / 2 ? 2 * room : need;
        }
    }
    if (status == GI_OK && !*why && gi_inflate_finish(inflate, &more, NULL) != GI_OK) *why = "is damaged";
    if (!*why && more) *why = profile ? "is longer than it says" : too_large;
    gi_inflate_close(inflate);
    if (status != GI_OK || *why) gi_blob_free(blob);
    return status;
}

// Keyword, method, stream.
static gi_status read_profile(const bag *b, gi_bytes stored) {
    const char *why = NULL;
    const uint8_t *nul = memchr(stored.data, 0, stored.size < MOST_KEYWORD + 1 ? stored.size : MOST_KEYWORD + 1);
    gi_status status = GI_OK;
    size_t head = nul ? (size_t)(nul - stored.data) + 2 : 0;
    gi_blob *icc = &b->metadata->icc;
    if (!nul || head > stored.size || nul[1] != 0)
        why = "is damaged";
    else
        status = expand(b, (gi_bytes){stored.data + head, stored.size - head}, 0, icc, &why);
    if (status == GI_OK && !why && !gi_icc_check(gi_blob_bytes(icc))) {
        why = "is damaged";
        gi_blob_free(icc);
    }
    if (why) say_lost(b, "the ICC profile", why);
    return status;
}

// Keyword, flag and method of compression, language, translated keyword, text.
static gi_status read_xmp(const bag *b, gi_bytes stored) {
    const char *why = NULL;
    gi_status status = GI_OK;
    gi_blob *xmp = &b->metadata->xmp;
    size_t at = XMP_KEYWORD + 2;
    const uint8_t *language = at < stored.size ? memchr(stored.data + at, 0, stored.size - at) : NULL;
    if (language) at = (size_t)(language - stored.data) + 1;
    const uint8_t *translated = language && at < stored.size ? memchr(stored.data + at, 0, stored.size - at) : NULL;
    if (translated) at = (size_t)(translated - stored.data) + 1;
    gi_bytes text = {stored.data + at, translated ? stored.size - at : 0};
    int packed = stored.size > XMP_KEYWORD ? stored.data[XMP_KEYWORD] : 2;
    if (!translated || packed > 1 || (packed == 1 && stored.data[XMP_KEYWORD + 1] != 0))
        why = "is damaged";
    else if (packed)
        status = expand(b, text, GI_BLOB_MOST, xmp, &why);
    else if (text.size > GI_BLOB_MOST)
        why = too_large;
    else
        status = gi_blob_set(xmp, text, b->err);
    if (why) say_lost(b, "XMP", why);
    return status;
}

static void say_names(const bag *b, const gi_png_names *names, gi_severity severity, const char *begin) {
    char text[GI_PNG_NAMES * 6 + 1] = "";
    for (int i = 0; i < names->count; i++) {
        strcat(text, i ? ", " : "");
        strcat(text, names->name[i]);
    }
    if (names->count) gi_say(b->options->messages, severity, b->options->file, "%s: %s", begin, text);
}

gi_status gi_png_metadata_read(const gi_input *input, const gi_png_notes *notes, const gi_decode_options *options,
                               gi_metadata **metadata, gi_error *err) {
    bag b = {input, options, gi_metadata_new(), err};
    gi_blob icc = {NULL, 0}, xmp = {NULL, 0};
    if (!b.metadata) return gi_fail(err, GI_ERR_MEMORY, "no memory for metadata");
    b.metadata->gamma = notes->gamma;
    b.metadata->srgb = notes->srgb;
    b.metadata->primaries = notes->primaries;
    b.metadata->code_points = notes->code_points;
    b.metadata->density = notes->density;
    gi_status status = load(&b, notes->exif, "EXIF", &b.metadata->exif);
    gi_metadata_check_exif(b.metadata, options);
    if (status == GI_OK) status = load(&b, notes->icc, "the ICC profile", &icc);
    if (status == GI_OK && icc.size) status = read_profile(&b, gi_blob_bytes(&icc));
    gi_metadata_check_icc(b.metadata, options);
    if (status == GI_OK) status = load(&b, notes->xmp, "XMP", &xmp);
    if (status == GI_OK && xmp.size) status = read_xmp(&b, gi_blob_bytes(&xmp));
    say_names(&b, &notes->malformed, GI_FLAW, "malformed or out of place, and not kept");
    say_names(&b, &notes->others, GI_NOTE, "not kept");
    gi_blob_free(&icc);
    gi_blob_free(&xmp);
    if (status == GI_OK)
        *metadata = b.metadata;
    else
        gi_metadata_free(b.metadata);
    return status;
}
