// PNG to rows. The stream is inflated whole at the first call; rows are then unfiltered and expanded as they are asked
// for, or all at once where they are interlaced.
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/png_check.h"
#include "codec/png_expand.h"
#include "codec/png_filter.h"
#include "codec/reader.h"
#include "codec/stb.h"
#include "core/checked.h"

typedef struct png_reader {
    gi_reader reader;
    gi_bytes bytes;
    const gi_decode_options *options;
    gi_png_info info;
    gi_png_expander expander;
    uint8_t *filtered; // the inflated stream: rows, each after its filter byte
    uint8_t *zeros;    // the row above the first
    uint8_t *image;    // interlaced: all pixels
    uint8_t *next;     // the next row in `filtered`
    const uint8_t *above;
    uint32_t y; // the next row to deliver
    bool palette_told;
} png_reader;

// The IDAT chunks' contents, one after another. A single chunk is used where it lies: its CRC and IEND follow it and
// serve as padding. Otherwise *copy owns them.
static gi_status gather_idat(const png_reader *png, gi_bytes *stream, uint8_t **copy, gi_error *err) {
    const gi_png_info *info = &png->info;
    size_t at = info->idat, done = 0;
    *stream = (gi_bytes){png->bytes.data + at + 8, info->idat_bytes};
    if (info->idat_chunks == 1) return GI_OK;
    *copy = calloc(1, info->idat_bytes + GI_INFLATE_PADDING);
    if (!*copy) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of compressed data", info->idat_bytes);
    for (int i = 0; i < info->idat_chunks; i++) {
        size_t size = gi_be32(png->bytes.data + at);
        memcpy(*copy + done, png->bytes.data + at + 8, size);
        done += size;
        at += size + 12;
    }
    stream->data = *copy;
    return GI_OK;
}

static gi_status inflate_all(png_reader *png, gi_error *err) {
    uint8_t *copy = NULL;
    gi_bytes stream;
    size_t need = 0;
    bool more = false;
    gi_status status = gi_png_filtered_bytes(&png->info, &need, err);
    if (status == GI_OK) status = gather_idat(png, &stream, &copy, err);
    if (status != GI_OK) goto out;
    png->filtered = calloc(1, need + GI_INFLATE_SLACK);
    png->zeros = calloc(1, gi_png_row_bytes(&png->info, png->info.width));
    if (!png->filtered || !png->zeros) {
        status = gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of pixels", need);
        goto out;
    }
    status = gi_stb_inflate(stream, png->filtered, need, &more, err);
    if (status == GI_OK && more)
        gi_say(png->options->messages, GI_NOTE, png->options->file, "more compressed data than the image needs");
    png->next = png->filtered;
    png->above = png->zeros;
out:
    free(copy);
    return status;
}

// A palette index past PLTE decodes as black; it is told once.
static gi_status palette_damage(png_reader *png, int index, gi_error *err) {
    const gi_decode_options *options = png->options;
    if (options->strict)
        return gi_fail(err, GI_ERR_FORMAT, "damaged PNG: palette index %d, but PLTE has %d colours", index,
                       png->info.palette_size);
    if (!png->palette_told)
        gi_say(options->messages, GI_WARNING, options->file,
               "palette index %d, but PLTE has %d colours: such pixels become black", index, png->info.palette_size);
    png->palette_told = true;
    return GI_OK;
}

// Unfilters and expands the next stored row, of `width` pixels.
static gi_status next_row(png_reader *png, uint32_t width, uint8_t *out, gi_error *err) {
    const gi_png_info *info = &png->info;
    size_t size = gi_png_row_bytes(info, width), pixel = (size_t)(gi_png_samples(info) * info->depth + 7) / 8;
    uint8_t *row = png->next + 1;
    if (!gi_png_unfilter(png->next[0], row, png->above, size, pixel))
        return gi_fail(err, GI_ERR_FORMAT, "damaged PNG: no row filter %d", png->next[0]);
    png->above = row;
    png->next = row + size;
    int past = gi_png_expand(&png->expander, row, width, out);
    return past < 0 ? GI_OK : palette_damage(png, past, err);
}

static gi_status deinterlace(png_reader *png, gi_error *err) {
    const gi_png_info *info = &png->info;
    size_t channels = (size_t)png->expander.channels, row_bytes = info->width * channels;
    uint8_t *line = malloc(row_bytes);
    png->image = malloc(row_bytes * info->height);
    gi_status status = GI_OK;
    if (!line || !png->image) {
        status = gi_fail(err, GI_ERR_MEMORY, "no memory for %ux%u pixels", info->width, info->height);
        goto out;
    }
    for (int i = 0; i < 7; i++) {
        gi_png_pass pass = gi_png_pass_of(info, i);
        if (pass.width == 0) continue;
        png->above = png->zeros;
        for (uint32_t y = 0; y < pass.height; y++) {
            status = next_row(png, pass.width, line, err);
            if (status != GI_OK) goto out;
            uint8_t *to = png->image + ((size_t)pass.y0 + (size_t)y * pass.dy) * row_bytes + pass.x0 * channels;
            for (uint32_t x = 0; x < pass.width; x++)
                memcpy(to + (size_t)x * pass.dx * channels, line + x * channels, channels);
        }
    }
out:
    free(line);
    return status;
}

static gi_status png_rows(gi_reader *reader, const gi_view *out, gi_error *err) {
    png_reader *png = (png_reader *)reader;
    gi_status status = GI_OK;
    if (!png->filtered) {
        status = inflate_all(png, err);
        if (status == GI_OK && png->info.interlaced) status = deinterlace(png, err);
    }
    size_t row_bytes = png->info.width * (size_t)png->expander.channels;
    for (uint32_t y = 0; y < out->height && status == GI_OK; y++, png->y++) {
        if (png->info.interlaced)
            memcpy(gi_view_row(out, y), png->image + png->y * row_bytes, row_bytes);
        else
            status = next_row(png, png->info.width, gi_view_row(out, y), err);
    }
    return status;
}

static void png_close(gi_reader *reader) {
    png_reader *png = (png_reader *)reader;
    free(png->filtered);
    free(png->zeros);
    free(png->image);
    free(png);
}

// Everything that can be refused from the header alone.
static gi_status check_size(const gi_png_info *info, const gi_decode_options *options, gi_error *err) {
    gi_png_expander expander;
    gi_png_expander_init(&expander, info);
    gi_shape shape = {info->width, info->height, expander.channels, GI_U8};
    gi_status status = gi_codec_check_size(shape, options->max_pixels, err);
    if (status != GI_OK) return status;
    size_t filtered;
    status = gi_png_filtered_bytes(info, &filtered, err);
    if (status == GI_OK && (filtered > GI_CODEC_BUFFER_LIMIT || info->idat_bytes > GI_CODEC_BUFFER_LIMIT))
        status = gi_fail(err, GI_ERR_LIMIT, "%ux%u pixels of %d bits need more than the codec's limit of 2^30 bytes",
                         info->width, info->height, info->depth * gi_png_samples(info));
    if (status == GI_OK) status = gi_png_check_plausible(info, err);
    return status;
}

gi_status gi_png_reader_open(gi_bytes bytes, const gi_decode_options *options, gi_reader **reader, gi_error *err) {
    gi_png_info info;
    gi_status status = gi_png_check(bytes, &info, err);
    if (status == GI_OK) status = check_size(&info, options, err);
    if (status != GI_OK) return status;
    png_reader *png = calloc(1, sizeof *png);
    if (!png) return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    png->reader.rows = png_rows;
    png->reader.close = png_close;
    png->bytes = bytes;
    png->options = options;
    png->info = info;
    gi_png_expander_init(&png->expander, &png->info);
    gi_header *header = &png->reader.header;
    header->shape = (gi_shape){info.width, info.height, png->expander.channels, GI_U8};
    header->format = GI_FORMAT_PNG;
    header->bits = info.depth;
    header->orientation = info.orientation;
    if (info.depth == 16) gi_say(options->messages, GI_NOTE, options->file, "16-bit samples are reduced to 8 bits");
    if (info.trailing_bytes)
        gi_say(options->messages, GI_NOTE, options->file, "%zu bytes after the end of the PNG are ignored",
               info.trailing_bytes);
    *reader = &png->reader;
    return GI_OK;
}
