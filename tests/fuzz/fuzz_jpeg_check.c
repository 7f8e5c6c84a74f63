// The walk over a JPEG's segments: never out of bounds, always forward, and what it says of a file is within the limits
// that the decoders rely on. The input is the file.
#include <stdlib.h>
#include <string.h>

#include "codec/jpeg_check.h"
#include "tests/fuzz/require.h"

static void check_segments(gi_bytes file) {
    gi_jpeg_segment segment;
    size_t at = 0, skipped = 0, before = 0;
    while (gi_jpeg_next_segment(file, &at, &segment, &skipped)) {
        REQUIRE(at > before && at <= file.size && skipped <= at);
        REQUIRE(segment.code > 0 && segment.code < 0xFF && segment.offset >= before + 2 && segment.offset <= at);
        REQUIRE(segment.size <= at - segment.offset);
        REQUIRE(file.data[segment.offset - 2] == 0xFF && file.data[segment.offset - 1] == segment.code);
        size_t end = gi_jpeg_scan_end(file, at);
        REQUIRE(end >= at && end <= file.size && (end == file.size || file.data[end] == 0xFF));
        if (segment.code == GI_JPEG_SOS) at = end;
        before = at;
    }
}

static void check_info(gi_bytes file, const gi_jpeg_info *info) {
    REQUIRE(info->width >= 1 && info->width <= 65535 && info->height >= 1 && info->height <= 65535);
    REQUIRE(info->components == 1 || info->components == 3 || info->components == 4);
    REQUIRE(info->scans >= 1 && info->scans <= GI_JPEG_MAX_SCANS);
    REQUIRE(info->entropy_bytes <= file.size && info->end <= file.size);
    REQUIRE(info->orientation >= 1 && info->orientation <= 8);
    REQUIRE(memchr(info->damage, '\0', sizeof info->damage) != NULL);
    for (int i = 0; i < info->components; i++) {
        const gi_jpeg_component *c = &info->component[i];
        REQUIRE(c->h >= 1 && c->h <= 4 && c->v >= 1 && c->v <= 4 && c->quantization >= 0 && c->quantization <= 3);
        REQUIRE(info->h_max % c->h == 0 && info->v_max % c->v == 0);
        REQUIRE(gi_jpeg_blocks(info, i) >= 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size ? size : 1); // so that reading past the file's end is found
    if (size) memcpy(exact, data, size);
    gi_bytes file = {exact, size};
    gi_peek_pixels(file);
    check_segments(file);
    for (int arithmetic = 0; arithmetic <= 1; arithmetic++) {
        gi_jpeg_info info;
        gi_error err;
        gi_status status = gi_jpeg_check(file, arithmetic, &info, &err);
        if (status == GI_OK)
            check_info(file, &info);
        else
            REQUIRE(err.text[0] && memchr(err.text, '\0', sizeof err.text) != NULL);
        if (status == GI_OK) gi_jpeg_check_plausible(&info, &err);
    }
    free(exact);
    return 0;
}
