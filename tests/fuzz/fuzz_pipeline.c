// Pipelines as text: whatever parses has a canonical text that parses to the same; whatever does not has a place inside
// the text and a reason that is safe to print.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pipeline.h"
#include "tests/fuzz/require.h"

enum { CANONICAL_BYTES = 8192 }; // 64 stages with every option spelt out fit

static void check_reason(const gi_error *err, size_t length) {
    REQUIRE(err->status == GI_ERR_USAGE);
    REQUIRE(memchr(err->text, '\0', sizeof err->text) != NULL && err->text[0] != '\0');
    for (const char *c = err->text; *c; c++) REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7F);
    if (err->place_offset < 0) return;
    REQUIRE(err->place_length >= 1);
    REQUIRE((size_t)err->place_offset + (size_t)err->place_length <= (length > 0 ? length : 1));
}

static void check_canonical(const gi_pipeline *pipeline) {
    static char text[CANONICAL_BYTES], again[CANONICAL_BYTES];
    gi_pipeline reparsed;
    gi_error err;
    gi_pipeline_text(pipeline, text, sizeof text);
    REQUIRE(strlen(text) + 1 < sizeof text);
    REQUIRE(gi_pipeline_check(pipeline, &err) == GI_OK);
    REQUIRE(gi_pipeline_parse(text, &reparsed, &err) == GI_OK);
    REQUIRE(reparsed.count == pipeline->count);
    gi_pipeline_text(&reparsed, again, sizeof again);
    REQUIRE(strcmp(text, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1); // of the exact size, so that a read past the end is seen
    gi_pipeline pipeline;
    gi_error err;
    if (!text) return 0;
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    if (gi_pipeline_parse(text, &pipeline, &err) == GI_OK)
        check_canonical(&pipeline);
    else
        check_reason(&err, strlen(text));
    free(text);
    return 0;
}
