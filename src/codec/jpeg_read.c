// JPEG to rows: all scans are decoded at the first call, colour is converted as rows are asked for.
#include <stdlib.h>

#include "codec/jpeg_check.h"
#include "codec/reader.h"
#include "codec/stb.h"

typedef struct jpeg_reader {
    gi_reader reader;
    gi_bytes bytes;
    const gi_decode_options *options;
    gi_jpeg_info info;
    gi_stb_jpeg *jpeg;
} jpeg_reader;

static gi_status tell_damage(const gi_decode_options *options, const char *damage, gi_error *err) {
    if (!damage[0]) return GI_OK;
    if (options->strict) return gi_fail(err, GI_ERR_FORMAT, "damaged JPEG: %s", damage);
    gi_say(options->messages, GI_WARNING, options->file, "damaged JPEG, decoded as far as it goes: %s", damage);
    return GI_OK;
}

static gi_status jpeg_rows(gi_reader *reader, const gi_view *out, gi_error *err) {
    jpeg_reader *jpeg = (jpeg_reader *)reader;
    if (!jpeg->jpeg) {
        char damage[GI_JPEG_DAMAGE_BYTES];
        gi_status status = gi_stb_jpeg_decode(jpeg->bytes, &jpeg->info, &jpeg->jpeg, damage, err);
        // What the walk has found was told when the file was opened.
        if (status == GI_OK && !jpeg->info.damage[0]) status = tell_damage(jpeg->options, damage, err);
        if (status != GI_OK) return status;
    }
    bool gray = reader->header.shape.channels == 1;
    for (uint32_t y = 0; y < out->height; y++) gi_stb_jpeg_row(jpeg->jpeg, gray, gi_view_row(out, y));
    return GI_OK;
}

static void jpeg_close(gi_reader *reader) {
    jpeg_reader *jpeg = (jpeg_reader *)reader;
    gi_stb_jpeg_free(jpeg->jpeg);
    free(jpeg);
}

// Everything that can be refused from the headers alone.
static gi_status check_size(const gi_jpeg_info *info, const gi_decode_options *options, gi_error *err) {
    gi_shape shape = {info->width, info->height, info->components, GI_U8};
    gi_status status = gi_codec_check_size(shape, options->max_pixels, err);
    // Progressive files need the coefficients of a whole component, 16 bits each.
    if (status == GI_OK && info->progressive && (uint64_t)info->width * info->height > GI_CODEC_BUFFER_LIMIT / 2)
        status = gi_fail(err, GI_ERR_LIMIT,
                         "%ux%u pixels of a progressive JPEG need more than the codec's limit of "
                         "2^30 bytes for a buffer",
                         info->width, info->height);
    if (status == GI_OK) status = gi_jpeg_check_plausible(info, err);
    if (status == GI_OK) status = tell_damage(options, info->damage, err);
    return status;
}

gi_status gi_jpeg_reader_open(gi_bytes bytes, const gi_decode_options *options, gi_reader **reader, gi_error *err) {
    gi_jpeg_info info;
    gi_status status = gi_jpeg_check(bytes, &info, err);
    if (status == GI_OK) status = check_size(&info, options, err);
    if (status != GI_OK) return status;
    jpeg_reader *jpeg = calloc(1, sizeof *jpeg);
    if (!jpeg) return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    jpeg->reader.rows = jpeg_rows;
    jpeg->reader.close = jpeg_close;
    jpeg->bytes = bytes;
    jpeg->options = options;
    jpeg->info = info;
    bool gray = info.colour == GI_JPEG_GRAY || (info.colour == GI_JPEG_YCC && options->jpeg_luma);
    gi_header *header = &jpeg->reader.header;
    header->shape = (gi_shape){info.width, info.height, gray ? 1 : 3, GI_U8};
    header->format = GI_FORMAT_JPEG;
    header->bits = 8;
    header->orientation = info.orientation;
    *reader = &jpeg->reader;
    return GI_OK;
}
