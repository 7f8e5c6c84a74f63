// JPEG files by our reader, which checks every segment and gives libjpeg-turbo only those that decode, and by the
// library as it comes: the verdicts agree, but for what jpeg_differences.h lists and explains, and sound files have the
// same pixels. The input is the file. With GPUIMG_TELL in the environment both verdicts are printed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/jpeg_check.h"
#include "codec/jpeg_turbo.h"
#include "tests/fuzz/require.h"
#ifdef GPUIMG_HAVE_JPEG
#include "tests/fuzz/jpeg_differences.h"
#include "tests/fuzz/libjpeg_reader.h"

enum { MAX_PIXELS = 1 << 20 };

typedef struct ours {
    jpeg_verdict verdict;
    gi_error err; // why it is not sound
    gi_shape shape;
    uint8_t *pixels;
    size_t size;
} ours;

static gi_status decode(gi_bytes file, bool strict, ours *r) {
    gi_decode_options options = {.max_pixels = MAX_PIXELS, .strict = strict};
    gi_decoder *decoder = NULL;
    gi_status status = gi_decoder_open(file, &options, &decoder, &r->err);
    if (status != GI_OK) return status;
    r->shape = gi_decoder_header(decoder)->shape;
    REQUIRE(gi_shape_bytes(r->shape, &r->size, NULL) == GI_OK);
    uint8_t *pixels = malloc(r->size);
    gi_view all = gi_view_packed(pixels, r->shape, GI_HOST);
    status = gi_decoder_rows(decoder, &all, &r->err);
    gi_decoder_close(decoder);
    free(r->pixels);
    r->pixels = pixels;
    return status;
}

static void read_ours(gi_bytes file, ours *r) {
    *r = (ours){.err = {.text = ""}};
    if (decode(file, true, r) == GI_OK) return;
    gi_error strict = r->err;
    r->verdict = decode(file, false, r) == GI_OK ? JPEG_DAMAGED : JPEG_REFUSED;
    if (r->verdict == JPEG_DAMAGED) r->err = strict;
}

static bool is_explained(const ours *o, jpeg_verdict by_libjpeg, const char *said) {
    for (size_t i = 0; i < sizeof jpeg_differences / sizeof *jpeg_differences; i++) {
        const jpeg_difference *d = &jpeg_differences[i];
        bool so = d->libjpeg == by_libjpeg || (d->libjpeg == JPEG_DECODED && by_libjpeg != JPEG_REFUSED);
        if (d->ours == o->verdict && so && strstr(o->err.text, d->our_words) && strstr(said, d->its_words)) return true;
    }
    return false;
}

static void check(gi_bytes file) {
    static const char *const names[] = {"sound", "damaged", "refused"};
    static libjpeg_read l;
    ours o;
    if (gi_format_sniff(file) != GI_FORMAT_JPEG) return;
    read_ours(file, &o);
    libjpeg_read_file(file, MAX_PIXELS, GI_JPEG_MAX_SCANS, &l);
    jpeg_verdict verdict = l.refused ? JPEG_REFUSED : l.warnings ? JPEG_DAMAGED : JPEG_SOUND;
    const char *said = l.refused ? l.error : l.warning;
    bool explained = o.verdict == verdict || is_explained(&o, verdict, said);
    if (!explained || getenv("GPUIMG_TELL"))
        fprintf(stderr, "ours: %s: %s\nlibjpeg: %s: %s\n", names[o.verdict], o.err.text, names[verdict], said);
    REQUIRE(explained); // else by a line in jpeg_differences.h, if it is right
    if (o.verdict == JPEG_SOUND && verdict == JPEG_SOUND && l.shape.channels != 4) {
        REQUIRE(memcmp(&o.shape, &l.shape, sizeof o.shape) == 0);
        REQUIRE(o.size == l.size && memcmp(o.pixels, l.pixels, o.size) == 0);
    }
    free(o.pixels);
    free(l.pixels);
}
#else
static void check(gi_bytes file) { (void)file; }
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size ? size : 1); // so that reading past the file's end is found
    if (size) memcpy(exact, data, size);
    check((gi_bytes){exact, size});
    free(exact);
    return 0;
}
