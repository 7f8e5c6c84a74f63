// JPEG files that a device decodes or encodes: which, and what is added to those that it made.
#include <string.h>

#include "codec/jpeg_check.h"
#include "codec/jpeg_metadata.h"

enum { DEVICE_SIDE = 65500 };

static bool is_sampled(const gi_jpeg_component *c, int h, int v) { return c->h == h && c->v == v; }

// 4:4:4, 4:2:2, 4:4:0 or 4:2:0, or a single plane.
static bool has_usual_sampling(const gi_jpeg_info *info) {
    const gi_jpeg_component *c = info->component;
    if (info->components == 1) return is_sampled(&c[0], 1, 1);
    return c[0].h <= 2 && c[0].v <= 2 && is_sampled(&c[1], 1, 1) && is_sampled(&c[2], 1, 1);
}

const char *gi_jpeg_device_reason(const gi_jpeg_info *info) {
    if (info->damage[0]) return "it is damaged";
    if (info->arithmetic) return "it is arithmetic-coded";
    if (info->progressive) return "it is progressive";
    if (info->scans != 1) return "it has several scans";
    if (info->full_code) return "its Huffman codes are not the standard's";
    if (info->colour != GI_JPEG_GRAY && info->colour != GI_JPEG_YCC) return "its colours are not YCbCr";
    return has_usual_sampling(info) ? NULL : "its chroma is sampled in an unusual way";
}

const char *gi_encode_device_reason(gi_shape shape, const gi_encode_options *options) {
    if (options->format != GI_FORMAT_JPEG) return "it is no JPEG";
    if (options->progressive) return "it is to be progressive";
    if (gi_has_alpha(shape.channels)) return "its alpha is composited first";
    if (shape.sample != GI_U8) return "its samples of 16 bits are rounded first";
    return shape.width > DEVICE_SIDE || shape.height > DEVICE_SIDE ? "it is too large" : NULL;
}

// As any JFIF file begins: SOI, and the segment with a density of 1 by 1.
static const uint8_t jfif_head[20] = {
    0xFF, GI_JPEG_SOI, 0xFF, GI_JPEG_APP0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};

// What follows SOI, and a JFIF segment where there is one.
static gi_bytes body_of(gi_bytes made) {
    gi_jpeg_segment segment;
    size_t at = 2, skipped = 0;
    bool jfif = gi_jpeg_next_segment(made, &at, &segment, &skipped) && segment.code == GI_JPEG_APP0;
    if (!jfif) at = 2;
    return (gi_bytes){made.data + at, made.size - at};
}

// The file with the options' metadata, in a bag that is fitted here.
static gi_status put(gi_bytes made, gi_metadata *metadata, const gi_sink *sink, gi_error *err) {
    gi_jpeg_head head = {.sink = NULL};
    const gi_bytes body = body_of(made);
    gi_status status = gi_jpeg_head_init(&head, sink, metadata, err);
    const gi_sink through = gi_jpeg_head_sink(&head);
    if (status == GI_OK) status = through.write(through.context, jfif_head, sizeof jfif_head, err);
    if (status == GI_OK) status = through.write(through.context, body.data, body.size, err);
    gi_jpeg_head_free(&head);
    return status;
}

gi_status gi_encode_made_jpeg(gi_bytes made, gi_shape shape, const gi_encode_options *options, const gi_sink *sink,
                              gi_error *err) {
    static const uint8_t eoi[2] = {0xFF, GI_JPEG_EOI};
    if (gi_format_sniff(made) != GI_FORMAT_JPEG || made.size < 4 || memcmp(made.data + made.size - 2, eoi, 2) != 0)
        return gi_fail(err, GI_ERR_FORMAT, "what the device has encoded is no JPEG");
    const gi_metadata_use use = {GI_FORMAT_JPEG, shape, options->orientation, options->messages, options->file};
    gi_metadata *own = options->metadata ? NULL : gi_metadata_new();
    gi_metadata *metadata = options->metadata ? options->metadata : own;
    gi_status status =
        metadata ? gi_metadata_fit(metadata, &use, err) : gi_fail(err, GI_ERR_MEMORY, "no memory for metadata");
    if (status == GI_OK) status = put(made, metadata, sink, err);
    gi_metadata_free(own);
    return status;
}
