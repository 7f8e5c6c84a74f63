#include "codec/png_band.h"

#include <stdlib.h>
#include <string.h>

#include "codec/checksum.h"
#include "codec/deflate_huffman.h"
#include "codec/deflate_zlib.h"
#include "codec/png_plan.h"
#include "core/checked.h"

enum { EMPTY_BLOCK_BYTES = 6 };

struct gi_png_compressor {
    gi_png_compressor_options options;
    size_t capacity;   // of `filtered`, less the slack
    uint8_t *filtered; // the band's rows, each behind its filter byte
    uint8_t *zeros;    // the row above the image, with its margin
    uint8_t *other;    // what else is made of a band, where that is tried beside
    gi_matcher *matcher;
    gi_zlib *zlib; // opened for the first band that wants it
};

// zlib finds the matches where it was asked for, and is tried beside our own finder at the smallest level: it looks for
// the shortest ones, too, which is slow, but some images have them.
typedef enum use_of_zlib { ZLIB_NOT, ZLIB_ALONE, ZLIB_BESIDE } use_of_zlib;

static use_of_zlib zlib_for(const gi_png_compressor_options *o, const gi_png_plan *plan) {
    if (!gi_zlib_available() || o->level == 0 || plan->method != GI_PNG_MATCHES) return ZLIB_NOT;
    if (o->codec == GI_CODEC_ZLIB) return ZLIB_ALONE;
    return o->codec == GI_CODEC_AUTO && o->level == 9 ? ZLIB_BESIDE : ZLIB_NOT;
}

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
    if (!c->filtered || !c->zeros || !c->matcher) {
        gi_png_compressor_close(c);
        return gi_fail(err, GI_ERR_MEMORY, "no memory for a compressor of %zu bytes", capacity);
    }
    *compressor = c;
    return GI_OK;
}

void gi_png_compressor_close(gi_png_compressor *compressor) {
    if (!compressor) return;
    gi_zlib_close(compressor->zlib);
    gi_matcher_close(compressor->matcher);
    free(compressor->other);
    free(compressor->zeros);
    free(compressor->filtered);
    free(compressor);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

size_t gi_png_band_bound(size_t filtered_bytes) {
    size_t own = larger(gi_literals_bound(filtered_bytes), gi_matcher_bound(filtered_bytes));
    return larger(own + EMPTY_BLOCK_BYTES, gi_zlib_bound(filtered_bytes));
}

static void compress_alone(gi_png_compressor *c, const gi_png_plan *plan, gi_bytes filtered, uint8_t *out,
                           size_t *size) {
    gi_bits bits = {out, 0, 0};
    if (plan->method == GI_PNG_STORED) gi_bits_put_stored(&bits, filtered.data, filtered.size);
    if (plan->method == GI_PNG_LITERALS) gi_deflate_literals(&bits, filtered.data, filtered.size);
    if (plan->method == GI_PNG_MATCHES) gi_matcher_deflate(c->matcher, filtered, &plan->matches, &bits);
    gi_bits_put_stored(&bits, NULL, 0);
    *size = (size_t)(bits.at - out);
}

// Room beside `out`, for another try.
static gi_status need_other(gi_png_compressor *c, gi_error *err) {
    if (!c->other) c->other = malloc(gi_png_band_bound(c->capacity));
    return c->other ? GI_OK : gi_fail(err, GI_ERR_MEMORY, "no memory for a compressor of %zu bytes", c->capacity);
}

static void take_other(const gi_png_compressor *c, size_t other_size, uint8_t *out, size_t *size) {
    memcpy(out, c->other, other_size);
    *size = other_size;
}

// Replaces the *size bytes of `out` by zlib's where those are fewer.
static gi_status compress_beside(gi_png_compressor *c, gi_bytes filtered, uint8_t *out, size_t *size, gi_error *err) {
    size_t zlib_size = gi_zlib_bound(c->capacity);
    gi_status status = need_other(c, err);
    if (status == GI_OK) status = gi_zlib_deflate(c->zlib, filtered, c->other, &zlib_size, err);
    if (status == GI_OK && zlib_size < *size) take_other(c, zlib_size, out, size);
    return status;
}

static gi_status compress_by(gi_png_compressor *c, const gi_png_plan *plan, gi_bytes filtered, uint8_t *out,
                             size_t *size, gi_error *err) {
    use_of_zlib use = zlib_for(&c->options, plan);
    gi_status status = GI_OK;
    if (use != ZLIB_ALONE) compress_alone(c, plan, filtered, out, size);
    if (use != ZLIB_NOT && !c->zlib) status = gi_zlib_open(c->options.level, &c->zlib, err);
    if (status != GI_OK || use == ZLIB_NOT) return status;
    if (use == ZLIB_BESIDE) return compress_beside(c, filtered, out, size, err);
    *size = gi_zlib_bound(filtered.size);
    return gi_zlib_deflate(c->zlib, filtered, out, size, err);
}

// Replaces what matches have made by literals of rows filtered one by one, where those are fewer bytes: in photographs
// matches save so little that their estimate may be wrong.
static gi_status try_literals(gi_png_compressor *c, const gi_png_planner *planner, const gi_png_band *band,
                              uint8_t *out, size_t *size, uint32_t *adler, gi_error *err) {
    const gi_png_plan literals = {.filter = GI_PNG_ADAPTIVE, .method = GI_PNG_LITERALS};
    size_t literals_size;
    gi_status status = need_other(c, err);
    if (status != GI_OK) return status;
    gi_bytes filtered = {c->filtered, gi_png_filter_rows(planner, band, literals.filter, c->filtered)};
    compress_alone(c, &literals, filtered, c->other, &literals_size);
    if (literals_size >= *size) return GI_OK;
    take_other(c, literals_size, out, size);
    *adler = gi_adler32(1, filtered.data, filtered.size);
    return GI_OK;
}

gi_status gi_png_band_compress(gi_png_compressor *c, const gi_png_band *band, uint8_t *out, size_t *size,
                               uint32_t *adler, gi_error *err) {
    enum { LEAST_LEVEL = 8 }; // at which a band is tried in several ways
    gi_png_planner planner = {c->options.level, c->zeros, c->filtered, c->matcher};
    gi_png_plan plan = gi_png_plan_make(&planner, band);
    gi_bytes filtered = {c->filtered, gi_png_filter_rows(&planner, band, plan.filter, c->filtered)};
    *adler = gi_adler32(1, filtered.data, filtered.size);
    gi_status status = compress_by(c, &plan, filtered, out, size, err);
    bool matches = plan.method == GI_PNG_MATCHES && band->bits >= 8;
    if (status != GI_OK || c->options.level < LEAST_LEVEL || !matches) return status;
    return try_literals(c, &planner, band, out, size, adler, err);
}
