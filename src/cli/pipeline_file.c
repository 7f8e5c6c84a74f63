#include "cli/pipeline_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/buffer.h"
#include "cli/console.h"
#include "cli/signals.h"
#include "run/path.h"
#include "run/read.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

enum { LIMIT_BYTES = 1 << 20 }; // with comments: far past any sensible file

// *text = the file with a NUL behind it; owned by the caller.
static gi_status read_text(const char *path, char **text, gi_error *err) {
    gi_read_options reading = {.limit = LIMIT_BYTES, .cancel = &gi_interrupt};
    gi_file_data file = {.data = NULL};
    gi_status status = gi_read_file(gi_path_of_argument(path), &reading, &file, err);
    if (status == GI_ERR_FORMAT || status == GI_ERR_LIMIT) status = GI_ERR_USAGE; // empty: a pipeline without a stage
    if (status != GI_OK) return status;
    if (memchr(file.data, '\0', file.size)) status = gi_fail(err, GI_ERR_USAGE, "holds NUL bytes: no text");
    char *copy = status == GI_OK ? realloc(file.data, file.size + 1) : NULL;
    if (status == GI_OK && !copy) status = gi_fail(err, GI_ERR_MEMORY, "out of memory");
    if (status != GI_OK) {
        free(file.data);
        return status;
    }
    copy[file.size] = '\0';
    *text = copy;
    return GI_OK;
}

// Turns comments, and the mark that some editors begin UTF-8 with, into spaces, so that every place stays where it is.
static void blank_comments(char *text) {
    if (strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) memset(text, ' ', strlen(BYTE_ORDER_MARK));
    for (bool comment = false; *text; text++) {
        if (*text == '\n') comment = false;
        if (*text == '#') comment = true;
        if (comment) *text = ' ';
    }
}

// Characters of the first `size` bytes, as an editor counts columns.
static size_t characters(const char *text, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

// `original` is the text with its comments.
static void complain_at(const char *path, const char *original, const gi_error *why) {
    gi_error err = *why;
    size_t size = strlen(original), place = (size_t)why->place_offset, line = 1, start = 0;
    if (place > size) place = size;
    for (size_t i = 0; i < place; i++)
        if (original[i] == '\n') {
            line++;
            start = i + 1;
        }
    size_t length = strcspn(original + start, "\n");
    char *source = malloc(length + 1);
    if (!source) {
        gi_complain("out of memory");
        return;
    }
    memcpy(source, original + start, length);
    source[length] = '\0';
    err.place_offset = (int)(place - start);
    snprintf(err.text, sizeof err.text, "%.200s:%zu:%zu: %.240s", path, line, characters(source, place - start) + 1,
             why->text);
    gi_complain_error(&err, source);
    free(source);
}

gi_status gi_pipeline_file_parse(const char *path, gi_pipeline *pipeline) {
    const char *shown = gi_path_input(gi_path_of_argument(path));
    char *original = NULL, *text = NULL;
    gi_error err = {.place_offset = -1};
    gi_status status = read_text(path, &original, &err);
    if (status == GI_OK && !(text = strdup(original))) status = gi_fail(&err, GI_ERR_MEMORY, "out of memory");
    if (status != GI_OK) {
        gi_console console = {0};
        gi_console_say(&console, GI_FAILURE, shown, err.text);
        goto out;
    }
    blank_comments(text);
    status = gi_pipeline_parse(text, pipeline, &err);
    if (status != GI_OK && err.place_offset >= 0)
        complain_at(shown, original, &err);
    else if (status != GI_OK)
        gi_complain("%s: %s", shown, err.text);
out:
    free(text);
    free(original);
    return status;
}
