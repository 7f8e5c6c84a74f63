// From the bag of metadata to a PNG's chunks.
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/png_chunks.h"
#include "codec/png_notes.h"
#include "codec/stb.h"

static const char xmp_keyword[] = GI_PNG_XMP_KEYWORD;

static gi_status put_small(const gi_sink *sink, const char *name, const gi_small *small, gi_error *err) {
    return small->size ? gi_png_put_chunk(sink, name, (gi_bytes){small->data, small->size}, err) : GI_OK;
}

static gi_status put_profile(const gi_sink *sink, gi_bytes profile, gi_error *err) {
    enum { LEVEL = 8 };                         // of a few kilobytes, mostly
    static const char head[] = "ICC profile\0"; // and method 0, deflate, by the literal's own end
    gi_stb_stream stream = {NULL, 0};
    gi_blob body = {NULL, 0};
    if (!profile.size) return GI_OK;
    gi_status status = gi_stb_deflate(profile, LEVEL, &stream, err);
    if (status == GI_OK) body.data = malloc(sizeof head + stream.size);
    if (status == GI_OK && !body.data) status = gi_fail(err, GI_ERR_MEMORY, "no memory for an ICC profile");
    if (status == GI_OK) {
        body.size = sizeof head + stream.size;
        memcpy(body.data, head, sizeof head);
        memcpy(body.data + sizeof head, stream.data, stream.size);
        status = gi_png_put_chunk(sink, "iCCP", gi_blob_bytes(&body), err);
    }
    gi_blob_free(&body);
    gi_stb_stream_free(&stream);
    return status;
}

gi_status gi_png_put_colour(const gi_sink *sink, const gi_metadata *metadata, gi_error *err) {
    if (!metadata) return GI_OK;
    gi_status status = put_small(sink, "cICP", &metadata->code_points, err);
    if (status == GI_OK) status = put_profile(sink, gi_blob_bytes(&metadata->icc), err);
    if (status == GI_OK) status = put_small(sink, "sRGB", &metadata->srgb, err);
    if (status == GI_OK) status = put_small(sink, "gAMA", &metadata->gamma, err);
    if (status == GI_OK) status = put_small(sink, "cHRM", &metadata->primaries, err);
    return status;
}

// PNG counts in metres.
static gi_status put_density(const gi_sink *sink, gi_density density, gi_error *err) {
    uint64_t x = density.x, y = density.y;
    if (density.unit == GI_DENSITY_NONE) return GI_OK;
    if (density.unit == GI_DENSITY_INCH) {
        x = (x * 10000 + 127) / 254;
        y = (y * 10000 + 127) / 254;
    } else if (density.unit == GI_DENSITY_CENTIMETRE) {
        x *= 100;
        y *= 100;
    }
    uint8_t body[9];
    gi_put_be32(body, (uint32_t)x);
    gi_put_be32(body + 4, (uint32_t)y);
    body[8] = density.unit != GI_DENSITY_RATIO;
    return x <= GI_PNG_MOST_NUMBER && y <= GI_PNG_MOST_NUMBER
               ? gi_png_put_chunk(sink, "pHYs", (gi_bytes){body, sizeof body}, err)
               : GI_OK;
}

static gi_status put_xmp(const gi_sink *sink, gi_bytes packet, gi_error *err) {
    enum { HEAD = sizeof xmp_keyword + 4 }; // not compressed, method 0, no language, no translated keyword
    gi_blob body = {NULL, 0};
    if (!packet.size) return GI_OK;
    body.data = calloc(1, HEAD + packet.size);
    if (!body.data) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of XMP", packet.size);
    body.size = HEAD + packet.size;
    memcpy(body.data, xmp_keyword, sizeof xmp_keyword);
    memcpy(body.data + HEAD, packet.data, packet.size);
    gi_status status = gi_png_put_chunk(sink, "iTXt", gi_blob_bytes(&body), err);
    gi_blob_free(&body);
    return status;
}

gi_status gi_png_put_about(const gi_sink *sink, const gi_metadata *metadata, gi_error *err) {
    if (!metadata) return GI_OK;
    gi_status status = put_density(sink, metadata->density, err);
    if (status == GI_OK && metadata->exif.size)
        status = gi_png_put_chunk(sink, "eXIf", gi_blob_bytes(&metadata->exif), err);
    if (status == GI_OK) status = put_xmp(sink, gi_blob_bytes(&metadata->xmp), err);
    return status;
}
