// From the bag of metadata into the first bytes of a JPEG.
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/jpeg_check.h"
#include "codec/jpeg_metadata.h"

enum { UNIT = 13, MARKER = 4 }; // where JFIF's unit stands in the file; bytes of a marker with its length

static const char exif_name[] = GI_JPEG_EXIF_NAME, xmp_name[] = GI_JPEG_XMP_NAME, icc_name[] = GI_JPEG_ICC_NAME;

// Appends a segment of two parts; the blob has room.
static void add_segment(gi_blob *to, int code, gi_bytes name, gi_bytes body) {
    uint8_t *p = to->data + to->size;
    p[0] = 0xFF;
    p[1] = (uint8_t)code;
    gi_put_be16(p + 2, (uint32_t)(2 + name.size + body.size));
    memcpy(p + MARKER, name.data, name.size);
    memcpy(p + MARKER + name.size, body.data, body.size);
    to->size += MARKER + name.size + body.size;
}

static void add_profile(gi_blob *to, gi_bytes profile) {
    size_t parts = (profile.size + GI_JPEG_ICC_MOST - 1) / GI_JPEG_ICC_MOST;
    for (size_t i = 0; i < parts; i++) {
        uint8_t name[sizeof icc_name + 2];
        size_t at = i * GI_JPEG_ICC_MOST, left = profile.size - at;
        memcpy(name, icc_name, sizeof icc_name);
        name[sizeof icc_name] = (uint8_t)(i + 1);
        name[sizeof icc_name + 1] = (uint8_t)parts;
        gi_bytes part = {profile.data + at, left < GI_JPEG_ICC_MOST ? left : GI_JPEG_ICC_MOST};
        add_segment(to, GI_JPEG_APP0 + 2, (gi_bytes){name, sizeof name}, part);
    }
}

// Of each part: GUID, size of the whole, offset.
static void add_more_xmp(gi_blob *to, gi_bytes guid_and_text) {
    uint8_t name[sizeof GI_JPEG_XMP_MORE_NAME + GI_XMP_GUID + 8], *own = name + sizeof GI_JPEG_XMP_MORE_NAME;
    size_t size = guid_and_text.size - GI_XMP_GUID;
    memcpy(name, GI_JPEG_XMP_MORE_NAME, sizeof GI_JPEG_XMP_MORE_NAME);
    memcpy(own, guid_and_text.data, GI_XMP_GUID);
    gi_put_be32(own + GI_XMP_GUID, (uint32_t)size);
    for (size_t at = 0; at < size; at += GI_JPEG_XMP_MORE_MOST) {
        size_t part = size - at < GI_JPEG_XMP_MORE_MOST ? size - at : GI_JPEG_XMP_MORE_MOST;
        gi_put_be32(own + GI_XMP_GUID + 4, (uint32_t)at);
        add_segment(to, GI_JPEG_APP1, (gi_bytes){name, sizeof name},
                    (gi_bytes){guid_and_text.data + GI_XMP_GUID + at, part});
    }
}

// One resource, without a name, that goes on in further segments; data of odd size are padded, where there is room.
static void add_iptc(gi_blob *to, gi_bytes records) {
    static const char head[] = GI_JPEG_PHOTOSHOP_NAME "\0"
                                                      "8BIM\4\4\0"; // and the literal's own NUL
    uint8_t name[sizeof head + 4];
    memcpy(name, head, sizeof head);
    gi_put_be32(name + sizeof head, (uint32_t)records.size);
    size_t before = to->size, named = sizeof name, size = records.size;
    for (size_t at = 0, part = 0; at < size; at += part, named = sizeof GI_JPEG_PHOTOSHOP_NAME) {
        size_t most = GI_JPEG_PHOTOSHOP_MOST + sizeof GI_JPEG_PHOTOSHOP_NAME - named;
        part = size - at < most ? size - at : most;
        before = to->size;
        add_segment(to, GI_JPEG_APP13, (gi_bytes){name, named}, (gi_bytes){records.data + at, part});
    }
    if (records.size % 2 == 0 || to->size - before - 2 == 65535) return;
    to->data[to->size++] = 0;
    gi_put_be16(to->data + before + 2, (uint32_t)(to->size - before - 2));
}

gi_status gi_jpeg_head_init(gi_jpeg_head *head, const gi_sink *sink, const gi_metadata *metadata, gi_error *err) {
    memset(head, 0, sizeof *head);
    head->sink = sink;
    if (!metadata) return GI_OK;
    const gi_blob *exif = &metadata->exif, *xmp = &metadata->xmp, *icc = &metadata->icc;
    const gi_blob *more = &metadata->xmp_more, *iptc = &metadata->iptc;
    size_t parts =
        icc->size / GI_JPEG_ICC_MOST + more->size / GI_JPEG_XMP_MORE_MOST + iptc->size / GI_JPEG_PHOTOSHOP_MOST + 6;
    size_t most = exif->size + xmp->size + icc->size + more->size + iptc->size + parts * 80;
    head->density = metadata->density;
    head->segments.data = malloc(most);
    if (!head->segments.data) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of metadata", most);
    if (exif->size)
        add_segment(&head->segments, GI_JPEG_APP1, (gi_bytes){(const uint8_t *)exif_name, sizeof exif_name},
                    gi_blob_bytes(exif));
    if (xmp->size)
        add_segment(&head->segments, GI_JPEG_APP1, (gi_bytes){(const uint8_t *)xmp_name, sizeof xmp_name},
                    gi_blob_bytes(xmp));
    if (more->size) add_more_xmp(&head->segments, gi_blob_bytes(more));
    if (iptc->size) add_iptc(&head->segments, gi_blob_bytes(iptc));
    if (icc->size) add_profile(&head->segments, gi_blob_bytes(icc));
    return GI_OK;
}

void gi_jpeg_head_free(gi_jpeg_head *head) { gi_blob_free(&head->segments); }

// Of a number per metre that per inch or centimetre, rounded.
static uint64_t per_inch(uint32_t metre) { return ((uint64_t)metre * 254 + 5000) / 10000; }

// In JFIF's 16 bits and units: exact where centimetres allow it, else to the nearest number an inch. What does not fit
// is left out.
static void put_density(uint8_t *jfif, gi_density density) {
    uint64_t x = density.x, y = density.y;
    int unit = density.unit == GI_DENSITY_INCH ? 1 : density.unit == GI_DENSITY_CENTIMETRE ? 2 : 0;
    if (density.unit == GI_DENSITY_NONE) return;
    if (density.unit == GI_DENSITY_METRE) {
        bool centimetres = x % 100 == 0 && y % 100 == 0;
        unit = centimetres ? 2 : 1;
        x = centimetres ? x / 100 : per_inch(density.x);
        y = centimetres ? y / 100 : per_inch(density.y);
    }
    if (x < 1 || x > 65535 || y < 1 || y > 65535) return;
    jfif[0] = (uint8_t)unit;
    gi_put_be16(jfif + 1, (uint32_t)x);
    gi_put_be16(jfif + 3, (uint32_t)y);
}

static gi_status pass(void *context, const void *data, size_t size, gi_error *err) {
    gi_jpeg_head *head = context;
    const gi_sink *sink = head->sink;
    const uint8_t *bytes = data;
    if (head->used < sizeof head->first) {
        size_t room = sizeof head->first - head->used, part = size < room ? size : room;
        memcpy(head->first + head->used, bytes, part);
        head->used += part;
        bytes += part;
        size -= part;
        if (head->used < sizeof head->first) return GI_OK;
        put_density(head->first + UNIT, head->density);
        gi_status status = sink->write(sink->context, head->first, sizeof head->first, err);
        if (status == GI_OK && head->segments.size)
            status = sink->write(sink->context, head->segments.data, head->segments.size, err);
        if (status != GI_OK) return status;
    }
    return size ? sink->write(sink->context, bytes, size, err) : GI_OK;
}

gi_sink gi_jpeg_head_sink(gi_jpeg_head *head) { return (gi_sink){pass, head}; }
