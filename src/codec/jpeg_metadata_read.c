// From a JPEG's segments to the bag of metadata.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/icc.h"
#include "codec/jpeg_check.h"
#include "codec/jpeg_metadata.h"
#include "codec/xmp.h"

enum { MOST_PARTS = 255, PART_HEAD = 14, OTHERS = 8 };

static const char exif_name[] = GI_JPEG_EXIF_NAME, xmp_name[] = GI_JPEG_XMP_NAME, icc_name[] = GI_JPEG_ICC_NAME,
                  more_name[] = GI_JPEG_XMP_MORE_NAME, photoshop_name[] = GI_JPEG_PHOTOSHOP_NAME;

// What is found before it is copied: of each kind the first, and every part of the profile. All of it lies in the file.
typedef struct finds {
    gi_bytes exif, xmp, part[MOST_PARTS];
    gi_jpeg_resources photoshop; // owned
    bool more_xmp;
    int parts, total; // those found, and as many as the first one says
    bool broken;      // the parts do not make one profile
    gi_density density;
    bool jfif;
    uint8_t other[OTHERS]; // codes of other kinds
    int others;
} finds;

// True when the body begins with that text and its NUL.
static bool begins(gi_bytes body, const char *name, size_t size) {
    return body.size >= size && memcmp(body.data, name, size) == 0;
}

static void take_density(finds *f, gi_bytes body) {
    static const gi_density_unit units[3] = {GI_DENSITY_RATIO, GI_DENSITY_INCH, GI_DENSITY_CENTIMETRE};
    if (f->jfif || body.size < GI_JFIF_LEAST) return;
    f->jfif = true;
    uint32_t x = gi_be16(body.data + 8), y = gi_be16(body.data + 10);
    bool told = body.data[7] <= 2 && x && y && (body.data[7] || x != y);
    if (told) f->density = (gi_density){units[body.data[7]], x, y};
}

static void take_part(finds *f, gi_bytes body) {
    if (body.size < PART_HEAD) {
        f->broken = true;
        return;
    }
    int number = body.data[12], total = body.data[13];
    if (!f->parts) f->total = total;
    if (number < 1 || number > total || total != f->total || f->part[number - 1].data) {
        f->broken = true;
        return;
    }
    f->part[number - 1] = (gi_bytes){body.data + PART_HEAD, body.size - PART_HEAD};
    f->parts++;
}

static void take_other(finds *f, int code) {
    for (int i = 0; i < f->others; i++)
        if (f->other[i] == code) return;
    if (f->others < OTHERS) f->other[f->others++] = (uint8_t)code;
}

static gi_status take_photoshop(finds *f, gi_bytes body, gi_error *err) {
    gi_bytes resources = {body.data + sizeof photoshop_name, body.size - sizeof photoshop_name};
    gi_status status = gi_jpeg_resources_take(&f->photoshop, resources, err);
    if (f->photoshop.others || !f->photoshop.found) take_other(f, GI_JPEG_APP13);
    return status;
}

static gi_status take(finds *f, int code, gi_bytes body, gi_error *err) {
    if (code == GI_JPEG_APP0 && begins(body, "JFIF", 5)) {
        take_density(f, body);
    } else if (code == GI_JPEG_APP1 && begins(body, exif_name, sizeof exif_name)) {
        if (!f->exif.data) f->exif = (gi_bytes){body.data + sizeof exif_name, body.size - sizeof exif_name};
    } else if (code == GI_JPEG_APP1 && begins(body, xmp_name, sizeof xmp_name)) {
        if (!f->xmp.data) f->xmp = (gi_bytes){body.data + sizeof xmp_name, body.size - sizeof xmp_name};
    } else if (code == GI_JPEG_APP1 && begins(body, more_name, sizeof more_name)) {
        f->more_xmp = true;
    } else if (code == GI_JPEG_APP13 && begins(body, photoshop_name, sizeof photoshop_name)) {
        return take_photoshop(f, body, err);
    } else if (code == GI_JPEG_APP0 + 2 && begins(body, icc_name, sizeof icc_name)) {
        take_part(f, body);
    } else if ((code > GI_JPEG_APP0 && code <= GI_JPEG_APP15 && code != GI_JPEG_APP14) || code == GI_JPEG_COM) {
        take_other(f, code); // JFXX is a thumbnail, and Adobe's APP14 tells how the samples are stored
    }
    return GI_OK;
}

static gi_status take_all(finds *f, gi_bytes file, gi_error *err) {
    gi_jpeg_segment segment = {0};
    size_t at = 2, skipped = 0;
    gi_status status = GI_OK;
    while (status == GI_OK && gi_jpeg_next_segment(file, &at, &segment, &skipped) && segment.code != GI_JPEG_SOS) {
        if (segment.size < 2) continue;
        status = take(f, segment.code, (gi_bytes){file.data + segment.offset + 2, segment.size - 2}, err);
    }
    return status;
}

static gi_status take_iptc(finds *f, const gi_decode_options *options, gi_blob *iptc, gi_error *err) {
    const gi_jpeg_resources *p = &f->photoshop;
    bool cut = p->cut || gi_jpeg_iptc_is_cut(gi_blob_bytes(&p->rest));
    if (cut) take_other(f, GI_JPEG_APP13);
    if (p->large && !p->iptc.size)
        gi_say(options->messages, GI_NOTE, options->file, "IPTC has more than 8 MB: not kept");
    else if (cut && !p->iptc.size)
        gi_say(options->messages, GI_FLAW, options->file, "IPTC is damaged: not kept");
    return gi_blob_set(iptc, gi_blob_bytes(&p->iptc), err);
}

static gi_status join_parts(finds *f, const gi_decode_options *options, gi_blob *icc, gi_error *err) {
    size_t size = 0;
    if (!f->parts && !f->broken) return GI_OK;
    for (int i = 0; i < f->parts; i++) size += f->part[i].size;
    const char *why = f->broken || f->parts != f->total ? "is damaged"
                      : size > GI_BLOB_MOST             ? "has more than 8 MB"
                                                        : NULL;
    if (!why) {
        icc->data = malloc(size ? size : 1);
        if (!icc->data) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of metadata", size);
        for (int i = 0; i < f->parts; i++) {
            memcpy(icc->data + icc->size, f->part[i].data, f->part[i].size);
            icc->size += f->part[i].size;
        }
        if (!gi_icc_check(gi_blob_bytes(icc))) why = "is damaged";
    }
    if (why) {
        gi_severity severity = size > GI_BLOB_MOST ? GI_NOTE : GI_FLAW;
        gi_say(options->messages, severity, options->file, "the ICC profile %s: not kept", why);
        gi_blob_free(icc);
    }
    return GI_OK;
}

// The body of the next segment with more XMP of that GUID: full size, offset, text.
static bool next_more(gi_bytes file, size_t *at, const uint8_t *guid, gi_bytes *part) {
    gi_jpeg_segment segment = {0};
    size_t skipped = 0;
    while (gi_jpeg_next_segment(file, at, &segment, &skipped) && segment.code != GI_JPEG_SOS) {
        gi_bytes body = {file.data + segment.offset + 2, segment.size >= 2 ? segment.size - 2 : 0};
        if (segment.code != GI_JPEG_APP1 || !begins(body, more_name, sizeof more_name)) continue;
        const size_t head = sizeof more_name + GI_XMP_GUID;
        if (body.size < head + 8 || memcmp(body.data + sizeof more_name, guid, GI_XMP_GUID) != 0) continue;
        *part = (gi_bytes){body.data + head, body.size - head};
        return true;
    }
    return false;
}

// Copies the parts to where they belong. False: two of them have the same bytes, so that others are missing, as there
// are as many as there should be. `taken` has a byte, 0 yet, for each of theirs.
static bool put_parts(gi_bytes file, const uint8_t *guid, uint8_t *to, uint8_t *taken) {
    gi_bytes part;
    for (size_t at = 2; next_more(file, &at, guid, &part);) {
        size_t offset = gi_be32(part.data + 4), size = part.size - 8;
        if (memchr(taken + offset, 1, size)) return false;
        memset(taken + offset, 1, size);
        memcpy(to + offset, part.data + 8, size);
    }
    return true;
}

static void say_more(const gi_decode_options *options, bool large) {
    gi_say(options->messages, large ? GI_NOTE : GI_FLAW, options->file, "extended XMP %s: not kept",
           large ? "has more than 8 MB" : "is damaged");
}

// Joins the parts, in any order, once it is known that there are as many bytes as they all say.
static gi_status join_more(gi_bytes file, const finds *f, const gi_decode_options *options, gi_blob *more,
                           gi_error *err) {
    const uint8_t *guid = gi_xmp_guid(f->xmp);
    uint64_t sum = 0;
    uint32_t size = 0;
    gi_bytes part;
    bool broken = !guid, first = true;
    for (size_t at = 2; !broken && next_more(file, &at, guid, &part); first = false) {
        if (first) size = gi_be32(part.data);
        uint32_t offset = gi_be32(part.data + 4);
        sum += part.size - 8;
        broken = gi_be32(part.data) != size || offset > size || part.size - 8 > size - offset;
    }
    bool large = !broken && sum > GI_BLOB_MOST;
    if (broken || large || sum != size || !size) {
        say_more(options, large);
        return GI_OK;
    }
    uint8_t *taken = calloc(1, size);
    more->data = malloc(GI_XMP_GUID + sum);
    if (!taken || !more->data) {
        free(taken);
        return gi_fail(err, GI_ERR_MEMORY, "no memory for %u bytes of metadata", size);
    }
    more->size = GI_XMP_GUID + sum;
    memcpy(more->data, guid, GI_XMP_GUID);
    if (!put_parts(file, guid, more->data + GI_XMP_GUID, taken)) {
        gi_blob_free(more);
        say_more(options, false);
    }
    free(taken);
    return GI_OK;
}

static void say_others(const finds *f, const gi_decode_options *options) {
    char text[OTHERS * 8] = "";
    size_t used = 0;
    for (int i = 0; i < f->others; i++) {
        const char *comma = i ? ", " : "";
        int number = f->other[i] - GI_JPEG_APP0;
        used +=
            (size_t)(f->other[i] == GI_JPEG_COM ? snprintf(text + used, sizeof text - used, "%sCOM", comma)
                                                : snprintf(text + used, sizeof text - used, "%sAPP%d", comma, number));
    }
    if (f->others) gi_say(options->messages, GI_NOTE, options->file, "not kept: %s", text);
}

gi_status gi_jpeg_metadata_read(gi_bytes file, const gi_decode_options *options, gi_metadata **metadata,
                                gi_error *err) {
    finds f = {.parts = 0};
    gi_metadata *made = gi_metadata_new();
    if (!made) return gi_fail(err, GI_ERR_MEMORY, "no memory for metadata");
    gi_status status = take_all(&f, file, err);
    if (status == GI_OK) status = gi_blob_set(&made->exif, f.exif, err);
    if (status == GI_OK) status = gi_blob_set(&made->xmp, f.xmp, err);
    if (status == GI_OK) status = take_iptc(&f, options, &made->iptc, err);
    if (status == GI_OK && f.more_xmp) status = join_more(file, &f, options, &made->xmp_more, err);
    if (status == GI_OK) status = join_parts(&f, options, &made->icc, err);
    gi_jpeg_resources_free(&f.photoshop);
    made->density = f.density;
    gi_metadata_check_exif(made, options);
    gi_metadata_check_icc(made, options);
    say_others(&f, options);
    if (status == GI_OK)
        *metadata = made;
    else
        gi_metadata_free(made);
    return status;
}
