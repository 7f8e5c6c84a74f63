// JPEG to rows: the checks that do not depend on the library, and stb's way. There all scans are decoded at the first
// call, colour is converted as rows are asked for.
#include <stdio.h>
#include <stdlib.h>

#include "codec/jpeg_check.h"
#include "codec/jpeg_metadata.h"
#include "codec/jpeg_quality.h"
#include "codec/jpeg_turbo.h"
#include "codec/reader.h"
#include "codec/stb.h"
#include "core/text.h"

typedef struct stb_reader {
    gi_reader reader;
    gi_bytes bytes;
    const gi_decode_options *options;
    gi_jpeg_info info;
    gi_stb_jpeg *jpeg;
} stb_reader;

static gi_status stb_rows(gi_reader *reader, const gi_view *out, gi_error *err) {
    stb_reader *jpeg = (stb_reader *)reader;
    if (!jpeg->jpeg) {
        char damage[GI_JPEG_DAMAGE_BYTES];
        gi_status status = gi_stb_jpeg_decode(jpeg->bytes, &jpeg->info, &jpeg->jpeg, damage, err);
        // What the walk has found was told when the file was opened.
        if (status == GI_OK && !jpeg->info.damage[0]) status = gi_jpeg_tell_damage(jpeg->options, damage, err);
        if (status != GI_OK) return status;
    }
    bool gray = reader->header.shape.channels == 1;
    for (uint32_t y = 0; y < out->height; y++) gi_stb_jpeg_row(jpeg->jpeg, gray, gi_view_row(out, y));
    return GI_OK;
}

static void stb_close(gi_reader *reader) {
    stb_reader *jpeg = (stb_reader *)reader;
    gi_stb_jpeg_free(jpeg->jpeg);
    free(jpeg);
}

static gi_status stb_reader_open(gi_bytes bytes, const gi_decode_options *options, const gi_jpeg_info *info,
                                 gi_reader **reader, gi_error *err) {
    stb_reader *jpeg = calloc(1, sizeof *jpeg);
    if (!jpeg) return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    jpeg->reader.rows = stb_rows;
    jpeg->reader.close = stb_close;
    jpeg->bytes = bytes;
    jpeg->options = options;
    jpeg->info = *info;
    *reader = &jpeg->reader;
    return GI_OK;
}

// Everything that can be refused from the headers alone.
static gi_status check_size(const gi_jpeg_info *info, bool turbo, const gi_decode_options *options, gi_error *err) {
    gi_shape shape = {info->width, info->height, info->components, GI_U8};
    bool rows = turbo && gi_turbo_reads_rows(info);
    gi_status status = rows ? gi_codec_check_pixels(shape, options->max_pixels, err)
                            : gi_codec_check_size(shape, options->max_pixels, err);
    // Otherwise the coefficients of a whole component are needed, 16 bits each.
    bool coefficients = turbo ? !rows : info->progressive;
    if (status == GI_OK && coefficients && (uint64_t)info->width * info->height > GI_CODEC_BUFFER_LIMIT / 2)
        status = gi_fail(err, GI_ERR_LIMIT,
                         "%ux%u pixels of a %s JPEG need more than the codec's limit of 2^30 bytes for a buffer",
                         info->width, info->height, info->progressive ? "progressive" : "many-scan");
    if (status == GI_OK) status = gi_jpeg_check_plausible(info, err);
    if (status == GI_OK) status = gi_jpeg_tell_damage(options, info->damage, err);
    return status;
}

// The usual name where both chroma components are alike and luma has the most samples; else all factors.
static void name_sampling(const gi_jpeg_info *info, char *text, size_t size) {
    static const char *const names[3][5] = {{"", "4:4:4", "4:2:2", "", "4:1:1"}, {"", "4:4:0", "4:2:0", "", "4:1:0"}};
    const gi_jpeg_component *c = info->component;
    int across = info->h_max / c[1].h, down = info->v_max / c[1].v;
    bool usual = c[1].h == c[2].h && c[1].v == c[2].v && c[0].h == info->h_max && c[0].v == info->v_max;
    bool inks = info->components == 3 || (c[3].h == c[0].h && c[3].v == c[0].v);
    const char *name = usual && inks && across <= 4 && down <= 2 ? names[down - 1][across] : "";
    snprintf(text, size, "%s", name);
    for (int i = 0, used = 0; !*name && i < info->components; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%dx%d", i ? " " : "", c[i].h, c[i].v);
}

static gi_stored stored_as(const gi_jpeg_info *info) {
    static const char *const names[] = {[GI_JPEG_GRAY] = "gray",
                                        [GI_JPEG_YCC] = "YCbCr",
                                        [GI_JPEG_RGB] = "RGB",
                                        [GI_JPEG_CMYK] = "CMYK",
                                        [GI_JPEG_YCCK] = "YCCK"};
    gi_stored stored = {
        .colour = names[info->colour], .progressive = info->progressive, .arithmetic = info->arithmetic};
    stored.quality = gi_jpeg_quality(info, &stored.exact);
    bool told = info->components >= 3; // but for a frame that was refused before its components
    for (int i = 0; told && i < info->components; i++) told = info->component[i].h > 0;
    if (told) name_sampling(info, stored.sampling, sizeof stored.sampling);
    return stored;
}

static void fill_header(gi_header *header, const gi_jpeg_info *info, bool gray) {
    *header = (gi_header){.shape = {info->width, info->height, gray ? 1 : 3, GI_U8},
                          .format = GI_FORMAT_JPEG,
                          .bits = info->precision,
                          .orientation = info->orientation,
                          .stored = stored_as(info)};
}

gi_status gi_header_of_refused_jpeg(gi_bytes bytes, gi_header *header, gi_error *err) {
    gi_jpeg_info info;
    gi_error why;
    (void)gi_jpeg_check(bytes, true, &info, &why);
    const int count = info.components;
    if (!info.width || !info.height || (count != 1 && count != 3 && count != 4) || info.precision > 16)
        return gi_fail(err, GI_ERR_FORMAT, "no JPEG header");
    fill_header(header, &info, count == 1);
    return GI_OK;
}

// Cameras write further images behind the first, each a JPEG of its own.
static void tell_trailing(gi_bytes bytes, size_t trailing, const gi_decode_options *options) {
    gi_bytes rest = {bytes.data + bytes.size - trailing, trailing};
    bool another = gi_format_sniff(rest) == GI_FORMAT_JPEG;
    if (trailing)
        gi_say(options->messages, another ? GI_NOTE : GI_FLAW, options->file,
               "%zu byte%s after the end of the JPEG %s ignored%s", trailing, gi_plural(trailing),
               trailing == 1 ? "is" : "are", another ? ": another begins there" : "");
}

gi_status gi_jpeg_reader_open(gi_bytes bytes, const gi_decode_options *options, gi_reader **reader, gi_error *err) {
    gi_jpeg_info info;
    bool asked = options->codec != GI_CODEC_STB;
    gi_status status = gi_jpeg_check(bytes, asked && gi_turbo_has_arithmetic(), &info, err);
    if (status != GI_OK) return status;
    // stb cannot do arithmetic coding at all.
    bool turbo = asked && (gi_turbo_reads(&info) || info.arithmetic);
    status = check_size(&info, turbo, options, err);
    if (status == GI_OK)
        status = turbo ? gi_turbo_reader_open(bytes, options, &info, reader, err)
                       : stb_reader_open(bytes, options, &info, reader, err);
    if (status != GI_OK) return status;
    bool gray = info.colour == GI_JPEG_GRAY || (info.colour == GI_JPEG_YCC && options->jpeg_luma);
    fill_header(&(*reader)->header, &info, gray);
    tell_trailing(bytes, info.trailing_bytes, options);
    (*reader)->device_reason = gi_jpeg_device_reason(&info);
    if (options->metadata) status = gi_jpeg_metadata_read(bytes, options, &(*reader)->metadata, err);
    if (status != GI_OK) (*reader)->close(*reader);
    return status;
}
