// PNG files by our reader and by libpng: whom one refuses the other does, too, but for what png_differences.h lists
// and explains; whom both accept has the same pixels. The first byte of the input chooses how, the rest is the file:
//   bit 0 the CRCs are put right first, 1 the rest is no file but what one is made of (png_parts.h), 2 samples of 16
//   bits are reduced to 8.
// With GPUIMG_TELL in the environment both verdicts are printed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "tests/fuzz/png_parts.h"
#include "tests/fuzz/require.h"
#ifdef GPUIMG_HAVE_LIBPNG
#include "tests/fuzz/libpng_reader.h"
#include "tests/fuzz/png_differences.h"

enum { MAX_PIXELS = 1 << 20 };

typedef struct ours {
    gi_status status;
    gi_error err;
    gi_shape shape;
    uint8_t *pixels;
    size_t size;
} ours;

static void read_ours(gi_bytes file, int depth, ours *r) {
    gi_decode_options options = {.max_pixels = MAX_PIXELS, .depth = depth, .codec = GI_CODEC_ZLIB};
    gi_decoder *decoder = NULL;
    *r = (ours){.err = {.text = ""}};
    r->status = gi_decoder_open(file, &options, &decoder, &r->err);
    if (r->status != GI_OK) return;
    r->shape = gi_decoder_header(decoder)->shape;
    REQUIRE(gi_shape_bytes(r->shape, &r->size, NULL) == GI_OK);
    r->pixels = malloc(r->size);
    gi_view all = gi_view_packed(r->pixels, r->shape, GI_HOST);
    r->status = gi_decoder_rows(decoder, &all, &r->err);
    gi_decoder_close(decoder);
}

static bool has(const char *text, const char *part) { return *part == '\0' || strstr(text, part); }

static bool is_explained(const ours *o, const libpng_read *l) {
    for (size_t i = 0; i < sizeof png_differences / sizeof *png_differences; i++) {
        const png_difference *d = &png_differences[i];
        bool ours_says = d->ours ? o->status != GI_OK && has(o->err.text, d->ours) : o->status == GI_OK;
        bool libpng_says = d->libpng ? l->refused && has(l->error, d->libpng) : !l->refused;
        if (ours_says && libpng_says && (!d->warning || has(l->warnings, d->warning))) return true;
    }
    return false;
}

static void check(gi_bytes file, int depth) {
    static libpng_read l;
    ours o;
    if (gi_format_sniff(file) != GI_FORMAT_PNG) return;
    read_ours(file, depth, &o);
    libpng_read_file(file, depth, MAX_PIXELS, &l);
    bool refused = o.status != GI_OK;
    bool explained = refused == l.refused || is_explained(&o, &l);
    if (!explained || getenv("GPUIMG_TELL"))
        fprintf(stderr, "ours: %s\nlibpng: %s\n%s", refused ? o.err.text : "accepted", l.refused ? l.error : "accepted",
                l.warnings);
    REQUIRE(explained); // else by a line in png_differences.h, if it is right
    REQUIRE(l.refused || l.whole);
    bool both = !refused && l.whole;
    // A tRNS that libpng leaves out, with a warning, has no alpha there.
    if (both && o.shape.channels != l.shape.channels) REQUIRE(strstr(l.warnings, "tRNS"));
    if (both && o.shape.channels == l.shape.channels) {
        REQUIRE(memcmp(&o.shape, &l.shape, sizeof o.shape) == 0);
        REQUIRE(o.size == l.size && memcmp(o.pixels, l.pixels, o.size) == 0);
    }
    free(o.pixels);
    free(l.pixels);
}
#else
static void check(gi_bytes file, int depth) { (void)file, (void)depth; }
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    int bits = data[0];
    gi_bytes in = {data + 1, size - 1};
    if (bits & 2 && in.size < MADE_HEADER) return 0;
    uint8_t *copy = malloc(in.size + MADE_ROOM);
    gi_bytes file = {copy, in.size};
    if (bits & 2) {
        file = make_png(in, copy);
    } else {
        if (in.size) memcpy(copy, in.data, in.size);
        if (bits & 1) repair_crcs(copy, in.size);
    }
    check(file, bits & 4 ? 8 : 0);
    free(copy);
    return 0;
}
