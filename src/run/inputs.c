#include "run/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/checked.h"
#include "run/item_list.h"
#include "run/path.h"

// A name from the command line or from a list.
typedef struct name {
    const char *text;
    bool literal; // from a list: "-" is a file's name there
} name;

typedef enum target { TARGET_NONE, TARGET_STDOUT, TARGET_FILE, TARGET_DIRECTORY } target;

typedef struct collection {
    const gi_inputs_request *request;
    gi_item_list *list;
    gi_name_list listed;
    size_t count; // of names: those of the request, and then those listed
    target target;
} collection;

static bool is_stdin(name n) { return !n.literal && strcmp(n.text, "-") == 0; }

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool ends_in_slash(const char *path) {
    size_t length = strlen(path);
    return length > 0 && path[length - 1] == '/';
}

// True when the path without its trailing slashes is there and is no directory.
static bool is_file(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    char *bare = strndup(path, length);
    struct stat st;
    bool file = bare && stat(bare, &st) == 0 && !S_ISDIR(st.st_mode);
    free(bare);
    return file;
}

static name name_at(const collection *c, size_t i) {
    const size_t own = c->request->input_count;
    return i < own ? (name){c->request->inputs[i], false} : (name){c->listed.names[i - own], true};
}

static gi_status gather_names(collection *c, gi_error *err) {
    const gi_inputs_request *request = c->request;
    if (request->list) {
        gi_status status = gi_name_list_read(request->list, request->list_nul, &c->listed, err);
        if (status != GI_OK) return status;
    }
    if (!gi_add(request->input_count, c->listed.count, &c->count))
        return gi_fail(err, GI_ERR_MEMORY, "out of memory for names");
    if (c->count == 0 && !request->list) return gi_fail(err, GI_ERR_USAGE, "no input is named");
    for (size_t i = 0; i < c->count; i++)
        if (name_at(c, i).text[0] == '\0') return gi_fail(err, GI_ERR_USAGE, "the name of input %zu is empty", i + 1);
    return GI_OK;
}

static gi_status check_stdin(const collection *c, gi_error *err) {
    size_t uses = c->request->list && strcmp(c->request->list, "-") == 0;
    for (size_t i = 0; i < c->count; i++) uses += is_stdin(name_at(c, i));
    if (uses > 1) return gi_fail(err, GI_ERR_USAGE, "standard input (-) is named more than once");
    return GI_OK;
}

// What OUT is, for one file or for what `many` names (several inputs, a directory, or NULL).
static gi_status classify_output(collection *c, const char *many, gi_error *err) {
    const char *out = c->request->output;
    char shown[GI_PATH_SHOWN];
    if (out[0] == '\0') return gi_fail(err, GI_ERR_USAGE, "the output's name is empty");
    if (strcmp(out, "-") == 0) {
        if (many) return gi_fail(err, GI_ERR_USAGE, "%s cannot go to standard output: name a directory", many);
        c->target = TARGET_STDOUT;
        return GI_OK;
    }
    bool slash = ends_in_slash(out);
    gi_path_show(out, shown);
    if (is_directory(out)) {
        c->target = TARGET_DIRECTORY;
    } else if (is_file(out)) {
        if (many)
            return gi_fail(err, GI_ERR_USAGE, "%s: the output must be a directory, and %s is a file", many, shown);
        if (slash) return gi_fail(err, GI_ERR_USAGE, "%s is a file, not a directory", shown);
        c->target = TARGET_FILE;
    } else if (many && !slash && gi_format_of_name(out) != GI_FORMAT_UNKNOWN) {
        return gi_fail(err, GI_ERR_USAGE, "%s: the output must be a directory, and %s is named as a file (%s/ is not)",
                       many, shown, shown);
    } else {
        c->target = many || slash ? TARGET_DIRECTORY : TARGET_FILE;
    }
    return GI_OK;
}

static gi_status choose_target(collection *c, gi_error *err) {
    const char *out = c->request->output;
    char text[GI_PATH_SHOWN + 32];
    const char *many = NULL;
    if (!out) return GI_OK;
    bool as_file = c->request->list && c->count == 1 && gi_format_of_name(out) != GI_FORMAT_UNKNOWN;
    const char *first = c->count > 0 ? name_at(c, 0).text : "";
    char shown[GI_PATH_SHOWN];
    if (c->count > 1 || (c->request->list && !as_file)) {
        snprintf(text, sizeof text, "several inputs (the first is %s)", gi_path_show(first, shown));
        many = text;
    } else if (!is_stdin(name_at(c, 0)) && is_directory(first)) {
        snprintf(text, sizeof text, "the directory %s", gi_path_show(first, shown));
        many = text;
    }
    gi_status status = classify_output(c, many, err);
    if (status != GI_OK || c->target != TARGET_DIRECTORY) return status;
    c->list->out_directory = strdup(out);
    return c->list->out_directory ? GI_OK : gi_fail(err, GI_ERR_MEMORY, "out of memory");
}

// The output of a single file. NULL for standard output or none; false when memory is exhausted.
static bool output_of(const collection *c, const char *in, char **out) {
    *out = NULL;
    if (c->target == TARGET_FILE) return (*out = strdup(c->request->output)) != NULL;
    if (c->target != TARGET_DIRECTORY) return true;
    size_t length = 0;
    const char *last = gi_path_last(in, &length);
    char *renamed = gi_output_name(last, length, c->request->format);
    if (renamed) *out = gi_path_join(c->request->output, renamed);
    free(renamed);
    return *out != NULL;
}

static gi_status add_name(collection *c, name n, gi_error *err) {
    gi_item item = {.in = NULL};
    if (is_stdin(n)) {
        if (c->target == TARGET_DIRECTORY)
            return gi_fail(err, GI_ERR_USAGE, "standard input has no name to take in a directory: name an output file");
        if (c->target == TARGET_FILE && !(item.out = strdup(c->request->output)))
            return gi_fail(err, GI_ERR_MEMORY, "out of memory");
        return gi_item_list_add(c->list, &item, err);
    }
    if (is_directory(n.text)) return gi_walk(n.text, c->request, c->list, err);
    item.in = strdup(n.text);
    if (item.in && output_of(c, item.in, &item.out)) return gi_item_list_add(c->list, &item, err);
    free(item.in);
    return gi_fail(err, GI_ERR_MEMORY, "out of memory");
}

gi_status gi_inputs_collect(const gi_inputs_request *request, gi_item_list *list, gi_error *err) {
    *list = (gi_item_list){0};
    collection c = {.request = request, .list = list};
    gi_status status = gather_names(&c, err);
    if (status == GI_OK) status = check_stdin(&c, err);
    if (status == GI_OK) status = choose_target(&c, err);
    for (size_t i = 0; i < c.count && status == GI_OK; i++) status = add_name(&c, name_at(&c, i), err);
    gi_name_list_free(&c.listed);
    if (status == GI_OK) status = gi_collisions_check(list, err);
    if (status != GI_OK) gi_item_list_free(list);
    return status;
}
