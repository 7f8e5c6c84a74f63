// PNG to rows: filtered rows come from png_stream, are unfiltered and expanded as they are asked for, or all at once
// where they are interlaced.
#include <stdlib.h>
#include <string.h>

#include "codec/inflate.h"
#include "codec/png_check.h"
#include "codec/png_expand.h"
#include "codec/png_stream.h"
#include "codec/png_unfilter.h"
#include "codec/reader.h"
#include "core/checked.h"
#include "core/text.h"

enum { SCRATCH_ROWS = GI_PNG_RUN_ROWS }; // unfiltered at once before they are expanded

typedef struct png_reader {
    gi_reader reader;
    gi_input input;
    const gi_decode_options *options;
    gi_png_info info;
    gi_png_expander expander;
    gi_png_stream *stream; // opened with the first row
    size_t pixel;          // bytes of one as stored, for unfiltering
    uint8_t *above;        // the last unfiltered row of the pass, zeros before its first
    uint8_t *scratch;      // unfiltered rows that are not delivered as they are
    uint8_t *image;        // interlaced: all pixels
    uint32_t y;            // the next row to deliver of `image`
    bool palette_told;
} png_reader;

// A palette index past PLTE decodes as black; it is told once.
static gi_status palette_damage(png_reader *png, int index, gi_error *err) {
    const gi_decode_options *options = png->options;
    if (options->strict)
        return gi_fail(err, GI_ERR_FORMAT, "damaged PNG: palette index %d, but PLTE has %d colour%s", index,
                       png->info.palette_size, gi_plural((unsigned)png->info.palette_size));
    if (!png->palette_told)
        gi_say(options->messages, GI_WARNING, options->file,
               "palette index %d, but PLTE has %d colour%s: such pixels become black", index, png->info.palette_size,
               gi_plural((unsigned)png->info.palette_size));
    png->palette_told = true;
    return GI_OK;
}

static gi_status begin(png_reader *png, gi_error *err) {
    size_t size = gi_png_row_bytes(&png->info, png->info.width), bytes;
    png->above = calloc(1, size);
    if (!png->expander.plain && gi_mul(size, SCRATCH_ROWS, &bytes)) png->scratch = malloc(bytes);
    if (!png->above || (!png->expander.plain && !png->scratch))
        return gi_fail(err, GI_ERR_MEMORY, "no memory for rows of %u pixels", png->info.width);
    return gi_png_stream_open(&png->input, &png->info, png->options, &png->stream, err);
}

static gi_status expand_rows(png_reader *png, uint32_t width, const gi_view *out, gi_error *err) {
    size_t size = gi_png_row_bytes(&png->info, width);
    gi_status status = GI_OK;
    for (uint32_t y = 0; y < out->height && status == GI_OK; y++) {
        int past = gi_png_expand(&png->expander, png->scratch + y * size, width, gi_view_row(out, y));
        if (past >= 0) status = palette_damage(png, past, err);
    }
    return status;
}

// The next out->height rows of a pass.
static gi_status next_rows(png_reader *png, const gi_view *out, gi_error *err) {
    size_t size = gi_png_row_bytes(&png->info, out->width);
    bool plain = png->expander.plain;
    uint32_t count = 0;
    for (uint32_t y = 0; y < out->height; y += count) {
        const uint8_t *filtered;
        uint32_t most = out->height - y;
        if (!plain && most > SCRATCH_ROWS) most = SCRATCH_ROWS;
        gi_status status = gi_png_stream_rows(png->stream, most, &filtered, &count, err);
        if (status != GI_OK) return status;
        gi_view part = gi_view_rows(out, y, count);
        gi_png_run run = {filtered, png->above, part.data, part.pitch_bytes, size, png->pixel, count};
        if (!plain) {
            run.out = png->scratch;
            run.pitch_bytes = size;
        }
        int unknown = gi_png_unfilter_run(&run);
        if (unknown >= 0) return gi_fail(err, GI_ERR_FORMAT, "damaged PNG: no row filter %d", unknown);
        memcpy(png->above, run.out + (count - 1) * run.pitch_bytes, size); // the caller may use its rows for others
        if (!plain) status = expand_rows(png, out->width, &part, err);
        if (status != GI_OK) return status;
    }
    return GI_OK;
}

// Puts the pixels of a pass's row, of so many bytes each, to their places, `step` pixels apart.
static void scatter(const uint8_t *line, uint32_t width, size_t pixel, size_t step, uint8_t *to) {
    for (uint32_t x = 0; x < width; x++, line += pixel, to += step * pixel)
        for (size_t i = 0; i < pixel; i++) to[i] = line[i];
}

static gi_status deinterlace(png_reader *png, gi_error *err) {
    const gi_png_info *info = &png->info;
    gi_shape row = {info->width, 1, png->expander.channels, png->expander.sample};
    gi_view line = gi_view_packed(NULL, row, GI_HOST);
    size_t pixel = gi_row_bytes(1, row.channels, row.sample), row_bytes = line.pitch_bytes, size;
    gi_status status = GI_OK;
    line.data = malloc(row_bytes);
    if (gi_mul(row_bytes, info->height, &size)) png->image = malloc(size);
    if (!line.data || !png->image) {
        status = gi_fail(err, GI_ERR_MEMORY, "no memory for %ux%u pixels", info->width, info->height);
        goto out;
    }
    for (int i = 0; i < 7; i++) {
        gi_png_pass pass = gi_png_pass_of(info, i);
        if (pass.width == 0) continue;
        memset(png->above, 0, gi_png_row_bytes(info, pass.width));
        line.width = pass.width;
        for (uint32_t y = 0; y < pass.height; y++) {
            status = next_rows(png, &line, err);
            if (status != GI_OK) goto out;
            uint8_t *to = png->image + ((size_t)pass.y0 + (size_t)y * pass.dy) * row_bytes + pass.x0 * pixel;
            scatter(line.data, pass.width, pixel, pass.dx, to);
        }
    }
out:
    free(line.data);
    return status;
}

static gi_status png_rows(gi_reader *reader, const gi_view *out, gi_error *err) {
    png_reader *png = (png_reader *)reader;
    bool interlaced = png->info.interlaced;
    gi_status status = GI_OK;
    if (!png->stream) {
        status = begin(png, err);
        if (status == GI_OK && interlaced) status = deinterlace(png, err);
    }
    if (status != GI_OK) return status;
    if (!interlaced) return next_rows(png, out, err);
    size_t row_bytes = gi_row_bytes(out->width, out->channels, out->sample);
    for (uint32_t y = 0; y < out->height; y++, png->y++)
        memcpy(gi_view_row(out, y), png->image + png->y * row_bytes, row_bytes);
    return GI_OK;
}

static void png_close(gi_reader *reader) {
    png_reader *png = (png_reader *)reader;
    gi_png_stream_close(png->stream);
    free(png->above);
    free(png->scratch);
    free(png->image);
    free(png);
}

static const char *const colour_names[] = {[GI_PNG_GRAY] = "gray",
                                           [GI_PNG_RGB] = "RGB",
                                           [GI_PNG_PALETTE] = "palette",
                                           [GI_PNG_GRAY_ALPHA] = "gray+alpha",
                                           [GI_PNG_RGBA] = "RGBA"};

// Everything that can be refused from the header alone.
static gi_status check_size(const gi_png_info *info, gi_shape shape, const gi_decode_options *options, gi_error *err) {
    size_t bytes;
    gi_status status = gi_codec_check_pixels(shape, options->max_pixels, err);
    if (status == GI_OK && info->interlaced) status = gi_shape_bytes(shape, &bytes, err);
    if (status == GI_OK) status = gi_png_filtered_bytes(info, &bytes, err);
    if (status == GI_OK && !gi_inflate_is_streamed(options->codec) &&
        (bytes > GI_CODEC_BUFFER_LIMIT || info->idat_bytes > GI_CODEC_BUFFER_LIMIT))
        status = gi_fail(err, GI_ERR_LIMIT, "%ux%u pixels of %d bits need more than the codec's limit of 2^30 bytes",
                         info->width, info->height, info->depth * gi_png_samples(info));
    if (status == GI_OK) status = gi_png_check_plausible(info, err);
    return status;
}

static void fill_header(gi_header *header, const gi_png_info *info, const gi_png_expander *expander) {
    header->shape = (gi_shape){info->width, info->height, expander->channels, expander->sample};
    header->format = GI_FORMAT_PNG;
    header->bits = info->depth;
    header->orientation = info->orientation;
    header->stored = (gi_stored){.colour = colour_names[info->colour], .interlaced = info->interlaced};
}

gi_status gi_header_of_damaged(const gi_input *input, gi_header *header, gi_error *err) {
    gi_png_info info;
    gi_png_expander expander;
    gi_error damage = {0};
    memset(header, 0, sizeof *header);
    (void)gi_png_check(input, &info, &damage);
    if (info.width == 0) return gi_fail(err, GI_ERR_FORMAT, "no PNG header");
    gi_png_expander_init(&expander, &info, 0);
    fill_header(header, &info, &expander);
    return GI_OK;
}

gi_status gi_png_reader_open(const gi_input *input, const gi_decode_options *options, gi_reader **reader,
                             gi_error *err) {
    gi_status status = GI_OK;
    png_reader *png = calloc(1, sizeof *png);
    if (!png) return gi_fail(err, GI_ERR_MEMORY, "no memory for a decoder");
    gi_png_info *info = &png->info;
    gi_header *header = &png->reader.header;
    status = gi_png_check(input, info, err);
    if (status != GI_OK) goto out;
    gi_png_expander_init(&png->expander, info, options->depth);
    fill_header(header, info, &png->expander);
    status = check_size(info, header->shape, options, err);
    if (status != GI_OK) goto out;
    png->reader.rows = png_rows;
    png->reader.close = png_close;
    png->input = *input;
    png->options = options;
    png->pixel = (size_t)(gi_png_samples(info) * info->depth + 7) / 8;
    if (info->depth == 16 && options->depth == 8)
        gi_say(options->messages, GI_NOTE, options->file, "16-bit samples are reduced to 8 bits");
    if (info->trailing_bytes)
        gi_say(options->messages, GI_FLAW, options->file, "%zu byte%s after the end of the PNG %s ignored",
               info->trailing_bytes, gi_plural(info->trailing_bytes), info->trailing_bytes == 1 ? "is" : "are");
    if (options->metadata) status = gi_png_metadata_read(input, &info->notes, options, &png->reader.metadata, err);
    if (status != GI_OK) goto out;
    *reader = &png->reader;
    png = NULL;
out:
    free(png);
    return status;
}
