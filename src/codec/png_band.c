#include "codec/png_band.h"

#include <stdlib.h>
#include <string.h>

#include "codec/checksum.h"
#include "codec/deflate_huffman.h"
#include "codec/deflate_match.h"
#include "codec/deflate_zlib.h"
#include "core/checked.h"

enum { ADAPTIVE = GI_PNG_FILTERS, STRATEGIES, EMPTY_BLOCK_BYTES = 6, PUT_BYTES = 8 };

// How the bytes become blocks.
typedef enum method { STORED, LITERALS, MATCHES, ZLIB } method;

// What is done with a band.
typedef struct plan {
    int filter; // one for all rows, or ADAPTIVE
    method method;
    gi_match_options matches;
} plan;

struct gi_png_compressor {
    gi_png_compressor_options options;
    size_t capacity;   // of `filtered`, less the slack
    uint8_t *filtered; // the band's rows, each behind its filter byte
    uint8_t *zeros;    // the row above the image, with its margin
    gi_matcher *matcher;
    gi_zlib *zlib;
};

gi_status gi_png_compressor_open(const gi_png_compressor_options *options, gi_png_compressor **compressor,
                                 gi_error *err) {
    size_t capacity;
    if (!gi_add(options->row_bytes, 1, &capacity) || !gi_mul(capacity, options->height_max, &capacity) ||
        capacity > GI_PNG_BAND_LIMIT)
        return gi_fail(err, GI_ERR_LIMIT, "a band of %u rows of %zu bytes is too large to compress",
                       options->height_max, options->row_bytes);
    gi_png_compressor *c = calloc(1, sizeof *c);
    if (!c) return gi_fail(err, GI_ERR_MEMORY, "no memory for a compressor");
    c->options = *options;
    c->capacity = capacity;
    c->filtered = calloc(1, capacity + GI_MATCH_SLACK);
    c->zeros = calloc(1, GI_PNG_MARGIN + options->row_bytes);
    c->matcher = gi_matcher_open();
    gi_status status = GI_OK;
    if (!c->filtered || !c->zeros || !c->matcher)
        status = gi_fail(err, GI_ERR_MEMORY, "no memory for a compressor of %zu bytes", capacity);
    else if (options->codec == GI_CODEC_ZLIB && gi_zlib_available() && options->level > 0)
        status = gi_zlib_open(options->level, &c->zlib, err);
    if (status != GI_OK) {
        gi_png_compressor_close(c);
        return status;
    }
    *compressor = c;
    return GI_OK;
}

void gi_png_compressor_close(gi_png_compressor *compressor) {
    if (!compressor) return;
    gi_zlib_close(compressor->zlib);
    gi_matcher_close(compressor->matcher);
    free(compressor->zeros);
    free(compressor->filtered);
    free(compressor);
}

size_t gi_png_band_bound(size_t filtered_bytes) {
    size_t own = gi_literals_bound(filtered_bytes) + EMPTY_BLOCK_BYTES + PUT_BYTES,
           zlib = gi_zlib_bound(filtered_bytes);
    return own > zlib ? own : zlib;
}

// Rows `from` to `to` as the file holds them, filtered by `filter`.
static size_t filter_rows(const gi_png_compressor *c, const gi_png_band *band, uint32_t from, uint32_t to, int filter) {
    uint8_t *out = c->filtered;
    for (uint32_t y = from; y < to; y++) {
        const uint8_t *row = band->rows + y * band->pitch_bytes;
        const uint8_t *above = y ? row - band->pitch_bytes : band->above;
        gi_png_row in = {row, above ? above : c->zeros + GI_PNG_MARGIN, band->row_bytes, band->pixel};
        int type = filter == ADAPTIVE ? (int)gi_png_filter_choose(&in) : filter;
        gi_png_filter_row((gi_png_filter_type)type, &in, out);
        out += 1 + band->row_bytes;
    }
    return (size_t)(out - c->filtered);
}

static plan plan_of(const gi_png_compressor *c, const gi_png_band *band) {
    gi_match_options matches = {(uint32_t)band->pixel, (uint32_t)band->row_bytes + 1, 16, 64, true};
    if (c->options.level == 0) return (plan){GI_PNG_NONE, STORED, matches};
    if (c->zlib) return (plan){band->bits < 8 ? GI_PNG_NONE : ADAPTIVE, ZLIB, matches};
    return (plan){ADAPTIVE, MATCHES, matches};
}

gi_status gi_png_band_compress(gi_png_compressor *c, const gi_png_band *band, uint8_t *out, size_t *size,
                               uint32_t *adler, gi_error *err) {
    plan chosen = plan_of(c, band);
    size_t filtered = filter_rows(c, band, 0, band->height, chosen.filter);
    gi_bytes bytes = {c->filtered, filtered};
    *adler = gi_adler32(1, c->filtered, filtered);
    if (chosen.method == ZLIB) {
        *size = gi_png_band_bound(filtered);
        return gi_zlib_deflate(c->zlib, bytes, out, size, err);
    }
    gi_bits bits = {out, 0, 0};
    if (chosen.method == STORED) gi_bits_put_stored(&bits, bytes.data, bytes.size);
    if (chosen.method == LITERALS) gi_deflate_literals(&bits, bytes.data, bytes.size);
    if (chosen.method == MATCHES) gi_matcher_deflate(c->matcher, bytes, &chosen.matches, &bits);
    gi_bits_put_stored(&bits, NULL, 0);
    *size = (size_t)(bits.at - out);
    return GI_OK;
}
