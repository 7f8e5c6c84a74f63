#include "cli/retry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "core/checked.h"
#include "core/text.h"
#include "run/item_list.h"
#include "run/path.h"
#include "run/read.h"

// ---- a line -------------------------------------------------------------------------------------------------------

// A name as the line has it.
typedef struct name {
    gi_buffer text, hex;
    bool null;
} name;

typedef struct line {
    name path, output;
    gi_buffer status, pipeline;
    bool directory;
} line;

static void line_free(line *l) {
    gi_buffer_free(&l->path.text);
    gi_buffer_free(&l->path.hex);
    gi_buffer_free(&l->output.text);
    gi_buffer_free(&l->output.hex);
    gi_buffer_free(&l->status);
    gi_buffer_free(&l->pipeline);
}

static gi_status read_name(gi_json *json, name *n, gi_error *err) {
    n->null = gi_json_null(json);
    return n->null ? GI_OK : gi_json_string(json, &n->text, err);
}

static gi_status read_member(void *context, gi_json *json, const char *key, gi_error *err) {
    line *l = context;
    if (strcmp(key, "path") == 0) return read_name(json, &l->path, err);
    if (strcmp(key, "path_hex") == 0) return gi_json_string(json, &l->path.hex, err);
    if (strcmp(key, "output") == 0) return read_name(json, &l->output, err);
    if (strcmp(key, "output_hex") == 0) return gi_json_string(json, &l->output.hex, err);
    if (strcmp(key, "status") == 0) return gi_json_string(json, &l->status, err);
    if (strcmp(key, "pipeline") == 0) return gi_json_string(json, &l->pipeline, err);
    if (strcmp(key, "directory") == 0 && gi_json_true(json)) {
        l->directory = true;
        return GI_OK;
    }
    return gi_json_skip(json, err);
}

static int digit_value(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

// The bytes that the hex says, owned; NULL where it is none, or holds NUL.
static char *bytes_of_hex(const gi_buffer *hex) {
    char *bytes = malloc(hex->size / 2 + 1);
    bool good = bytes && hex->size % 2 == 0;
    for (size_t i = 0; i < hex->size / 2 && good; i++) {
        int high = digit_value(hex->data[2 * i]), low = digit_value(hex->data[2 * i + 1]);
        good = high >= 0 && low >= 0 && high + low > 0;
        bytes[i] = (char)(high * 16 + low);
    }
    if (!good) {
        free(bytes);
        return NULL;
    }
    bytes[hex->size / 2] = '\0';
    return bytes;
}

// True when the name is shown by that text in JSON.
static bool is_shown_as(const char *bytes, const gi_buffer *shown) {
    gi_buffer written = {0}, back = {0};
    gi_json_add_string(&written, bytes);
    bool same = false;
    if (!written.failed) {
        gi_json json = gi_json_over(written.data, written.size);
        same = gi_json_string(&json, &back, NULL) == GI_OK && strcmp(back.data, shown->data) == 0;
    }
    gi_buffer_free(&written);
    gi_buffer_free(&back);
    return same;
}

// *bytes = the name, owned; NULL where the line has null.
static gi_status take_name(const name *n, const char *key, char **bytes, gi_error *err) {
    *bytes = NULL;
    if (n->null) return GI_OK;
    if (!n->text.data) return gi_fail(err, GI_ERR_FORMAT, "it has no %s", key);
    *bytes = n->hex.data ? bytes_of_hex(&n->hex) : strdup(n->text.data);
    if (!*bytes) return gi_fail(err, GI_ERR_FORMAT, "%s_hex holds no name", key);
    if (**bytes == '\0') return gi_fail(err, GI_ERR_FORMAT, "%s is empty", key);
    if (n->hex.data && !is_shown_as(*bytes, &n->text))
        return gi_fail(err, GI_ERR_FORMAT, "%s and %s_hex are different names", key, key);
    return GI_OK;
}

static gi_status take_status(const line *l, bool *failed, gi_error *err) {
    static const char *const known[] = {"done", "skipped", "failed", "not started"};
    char quoted[GI_QUOTE_BYTES];
    if (!l->status.data) return gi_fail(err, GI_ERR_FORMAT, "it has no status");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(l->status.data, known[i]) != 0) continue;
        *failed = i >= 2;
        return GI_OK;
    }
    return gi_fail(err, GI_ERR_FORMAT, "the status '%s' is none of done, skipped, failed and not started",
                   gi_quote(quoted, l->status.data, l->status.size));
}

// What the lines are read for.
typedef struct reading {
    const char *shown;    // the manifest's name
    const char *pipeline; // this run's
    gi_buffer other;      // the first pipeline that was another; empty: none was
    const gi_messages *messages;
} reading;

// Lines of older versions do not tell.
static void compare_pipeline(reading *r, const line *l, gi_retry_entry *entry) {
    entry->other = l->pipeline.data && strcmp(l->pipeline.data, r->pipeline) != 0;
    if (entry->other && !r->other.data) gi_buffer_puts(&r->other, l->pipeline.data);
}

static gi_status parse_line(reading *r, const char *text, size_t size, gi_retry_entry *entry, gi_error *err) {
    line l = {.directory = false};
    gi_json json = gi_json_over(text, size);
    gi_status status = gi_json_object(&json, read_member, &l, err);
    if (status == GI_OK) status = gi_json_end(&json, err);
    if (status == GI_OK) status = take_name(&l.path, "path", &entry->path, err);
    if (status == GI_OK) status = take_name(&l.output, "output", &entry->output, err);
    if (status == GI_OK) status = take_status(&l, &entry->failed, err);
    entry->directory = l.directory;
    if (status == GI_OK) compare_pipeline(r, &l, entry);
    line_free(&l);
    return status;
}

// ---- all lines ----------------------------------------------------------------------------------------------------

static void entry_free(gi_retry_entry *entry) {
    free(entry->path);
    free(entry->output);
}

static gi_status add_entry(gi_retry *retry, const gi_retry_entry *entry, gi_error *err) {
    if (retry->count == retry->capacity) {
        size_t capacity = retry->capacity ? retry->capacity * 2 : 64, bytes = 0;
        gi_retry_entry *entries = gi_mul(capacity, sizeof *entries, &bytes) ? realloc(retry->entries, bytes) : NULL;
        if (!entries) return gi_fail(err, GI_ERR_MEMORY, "out of memory for names");
        retry->entries = entries;
        retry->capacity = capacity;
    }
    retry->entries[retry->count++] = *entry;
    return GI_OK;
}

// Lines up to the end; the one without a newline may be torn.
static gi_status read_lines(reading *r, const gi_file_data *file, gi_retry *retry, gi_error *err) {
    const char *at = (const char *)file->data, *end = at + file->size;
    for (size_t number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((newline ? newline : end) - at);
        gi_retry_entry entry = {.line = number};
        gi_error why;
        gi_status status = parse_line(r, at, size, &entry, &why);
        if (status == GI_OK) status = add_entry(retry, &entry, &why);
        if (status != GI_OK) entry_free(&entry);
        if (status == GI_ERR_FORMAT && !newline && *at == '{')
            gi_say(r->messages, GI_WARNING, r->shown, "line %zu was cut off, and is left out", number);
        else if (status == GI_ERR_FORMAT)
            return gi_fail(err, GI_ERR_USAGE, "%s: line %zu is no line of a manifest, as --manifest writes them: %s",
                           r->shown, number, why.text);
        else if (status != GI_OK)
            return gi_fail(err, status, "%s", why.text);
        at += size + 1;
    }
    return GI_OK;
}

static int compare_paths(const char *a, const char *b) { return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL); }

static int by_path(const void *a, const void *b) {
    const gi_retry_entry *x = a, *y = b;
    int order = compare_paths(x->path, y->path);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_line(const void *a, const void *b) {
    const gi_retry_entry *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

// Leaves the last line of each input, where it has failed; sorted by path.
static void keep_failed(gi_retry *retry) {
    size_t kept = 0;
    if (retry->count > 1) qsort(retry->entries, retry->count, sizeof *retry->entries, by_path);
    for (size_t i = 0; i < retry->count; i++) {
        gi_retry_entry *entry = &retry->entries[i];
        bool last = i + 1 == retry->count || compare_paths(entry->path, entry[1].path) != 0;
        if (last && entry->failed && !entry->path) retry->lost = true;
        if (last && entry->failed && entry->path)
            retry->entries[kept++] = *entry;
        else
            entry_free(entry);
    }
    retry->count = kept;
}

static void warn_of_another(const reading *r, const gi_retry *retry) {
    bool any = false;
    for (size_t i = 0; i < retry->count; i++) any |= retry->entries[i].other;
    if (any && !r->other.failed)
        gi_say(r->messages, GI_WARNING, r->shown, "it is of a run of '%.200s', and this one is of '%.200s'",
               r->other.data, r->pipeline);
}

gi_status gi_retry_read(const char *path, const char *pipeline, const gi_messages *messages, gi_retry *retry,
                        gi_error *err) {
    *retry = (gi_retry){0};
    gi_file_data file = {.data = NULL};
    gi_error why = {.status = GI_OK};
    char shown[GI_PATH_SHOWN];
    const char *file_path = gi_path_of_argument(path);
    gi_status status = gi_read_file(file_path, &(gi_read_options){0}, &file, &why);
    gi_path_show(gi_path_input(file_path), shown);
    if (status == GI_ERR_FORMAT) return GI_OK; // no line at all
    if (status != GI_OK) return gi_fail(err, status, "the manifest %s: %s", shown, why.text);
    reading r = {.shown = shown, .pipeline = pipeline, .messages = messages};
    status = read_lines(&r, &file, retry, err);
    gi_file_data_free(&file);
    if (status == GI_OK) keep_failed(retry);
    if (status == GI_OK) warn_of_another(&r, retry);
    gi_buffer_free(&r.other);
    return status;
}

void gi_retry_free(gi_retry *retry) {
    for (size_t i = 0; i < retry->count; i++) entry_free(&retry->entries[i]);
    free(retry->entries);
    *retry = (gi_retry){0};
}

// ---- the listing --------------------------------------------------------------------------------------------------

// Of a path without the slashes at its end.
static size_t bare_length(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    return length;
}

// True when `path` is `directory` or lies in it, by their names alone.
static bool lies_in(const char *path, const char *directory) {
    const size_t length = bare_length(directory);
    if (length == 0 || strncmp(path, directory, length) != 0) return false;
    const char *rest = path + length;
    if (*rest != '\0' && *rest != '/' && directory[length - 1] != '/') return false;
    for (const char *dots = rest; (dots = strstr(dots, "..")); dots += 2)
        if (dots[-1] == '/' && (dots[2] == '/' || dots[2] == '\0')) return false;
    return true;
}

static gi_status check_output(const gi_retry_entry *entry, const char *output, gi_error *err) {
    char shown[GI_PATH_SHOWN];
    if (!entry->output)
        return gi_fail(err, GI_ERR_USAGE,
                       "line %zu of the manifest names no output: it is not of a run that wrote images", entry->line);
    if (output && !lies_in(entry->output, output))
        return gi_fail(err, GI_ERR_USAGE, "line %zu of the manifest: the output %s does not lie in OUT", entry->line,
                       gi_path_show(entry->output, shown));
    return GI_OK;
}

static gi_status collect_entry(const gi_retry_entry *entry, const gi_inputs_request *request, bool sink,
                               gi_item_list *list, gi_error *err) {
    gi_status status = sink ? GI_OK : check_output(entry, request->output, err);
    if (status != GI_OK) return status;
    if (entry->directory) {
        gi_inputs_request below = *request;
        below.output = sink ? NULL : entry->output;
        return gi_walk(entry->path, &below, list, err);
    }
    gi_item item = {.in = strdup(entry->path), .out = sink ? NULL : strdup(entry->output), .from_directory = true};
    if (item.in && (item.out || sink)) return gi_item_list_add(list, &item, err);
    free(item.in);
    free(item.out);
    return gi_fail(err, GI_ERR_MEMORY, "out of memory for names");
}

gi_status gi_retry_collect(const gi_retry *retry, const gi_inputs_request *request, bool sink, gi_item_list *list,
                           gi_error *err) {
    gi_status status = GI_OK;
    *list = (gi_item_list){.makes_directories = !sink};
    // In the order of the manifest.
    size_t bytes = 0;
    gi_retry_entry *order = gi_mul(retry->count + 1, sizeof *order, &bytes) ? malloc(bytes) : NULL;
    if (!order) return gi_fail(err, GI_ERR_MEMORY, "out of memory for names");
    if (retry->count > 0) memcpy(order, retry->entries, retry->count * sizeof *order);
    qsort(order, retry->count, sizeof *order, by_line);
    for (size_t i = 0; i < retry->count && status == GI_OK; i++)
        status = collect_entry(&order[i], request, sink, list, err);
    free(order);
    if (status == GI_OK && retry->lost) {
        char in[] = "-", reason[] = "failed, and standard input cannot be read again";
        gi_say(request->messages, GI_FAILURE, gi_path_input(NULL), "failed, and cannot be read again");
        status = gi_item_list_add_unread(list, &(gi_unread){in, NULL, reason}, err);
    }
    if (status == GI_OK) status = gi_collisions_check(list, err);
    if (status != GI_OK) gi_item_list_free(list);
    return status;
}

// The first `length` bytes of a path.
typedef struct place {
    const char *text;
    size_t length;
} place;

static int compare_places(const void *a, const void *b) {
    const place *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

// What is to be done, to be looked up.
typedef struct to_do {
    const gi_retry *retry;
    place *directories; // sorted, without the slashes at their ends
    size_t count;
} to_do;

static bool find_directory(const to_do *all, const char *path, size_t length) {
    const place key = {path, length};
    return bsearch(&key, all->directories, all->count, sizeof key, compare_places) != NULL;
}

// True when lies_in(path, one of the directories), which is asked of the path and of all that is above it.
static bool lies_in_any(const to_do *all, const char *path) {
    size_t length = strlen(path), above = length;
    if (all->count == 0) return false;
    for (; length > 0; length = above) {
        if (find_directory(all, path, length)) return true;
        while (above > 0 && path[above - 1] != '/') above--;
        if (length - above == 2 && path[above] == '.' && path[above + 1] == '.') return false;
        if (above == 1) return find_directory(all, path, 1);
        if (above > 0) above--;
    }
    return false;
}

static int find_path(const void *key, const void *entry) { return strcmp(key, ((const gi_retry_entry *)entry)->path); }

static bool is_to_do(void *context, const gi_item *item) {
    const to_do *all = context;
    const gi_retry *retry = all->retry;
    if (!item->in || retry->count == 0) return false;
    return bsearch(item->in, retry->entries, retry->count, sizeof *retry->entries, find_path) ||
           lies_in_any(all, item->in);
}

gi_status gi_retry_keep(const gi_retry *retry, gi_item_list *list, gi_error *err) {
    size_t bytes = 0;
    to_do all = {.retry = retry};
    if (gi_mul(retry->count + 1, sizeof *all.directories, &bytes)) all.directories = malloc(bytes);
    if (!all.directories) return gi_fail(err, GI_ERR_MEMORY, "out of memory for names");
    for (size_t i = 0; i < retry->count; i++) {
        const gi_retry_entry *entry = &retry->entries[i];
        if (entry->directory) all.directories[all.count++] = (place){entry->path, bare_length(entry->path)};
    }
    qsort(all.directories, all.count, sizeof *all.directories, compare_places);
    gi_item_list_keep(list, is_to_do, &all);
    free(all.directories);
    return GI_OK;
}
