#include "cli/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/signals.h"
#include "run/output.h"
#include "run/path.h"
#include "run/path_key.h"

// A file by its name, by its place however that is written, and by what it is where it exists and is a regular one.
typedef struct identity {
    const char *path;
    int descriptor; // of ours that it stands for; -1: none
    char *key;      // NULL: it has no place of its own, like descriptors and devices
    gi_path_parents parents;
    bool exists;
    struct stat is;
} identity;

// The name of what is written, as the command line has it ("-").
static int descriptor_of_output(const char *path) {
    return strcmp(path, "-") == 0 ? STDOUT_FILENO : gi_path_descriptor(path);
}

static identity identify(const char *path) {
    identity file = {.path = path, .descriptor = descriptor_of_output(path)};
    const bool ours = file.descriptor >= 0;
    const bool there = (ours ? fstat(file.descriptor, &file.is) : stat(path, &file.is)) == 0;
    file.exists = there && S_ISREG(file.is.st_mode);
    if (!ours && (!there || file.exists)) file.key = gi_path_key(path, &file.parents);
    return file;
}

static void forget(identity *file) {
    gi_path_parents_free(&file->parents);
    free(file->key);
}

// `name` may be NULL, which stands for the descriptor `standard`, or is that of a file. What is written to one
// descriptor mixes, whatever is behind it; a regular file is one behind any.
static bool is_same(identity *file, const char *name, int standard) {
    struct stat st;
    const int descriptor = name ? gi_path_descriptor(name) : standard;
    if (descriptor >= 0 && descriptor == file->descriptor) return true;
    if (name && file->descriptor < 0 && strcmp(name, file->path) == 0) return true;
    if (file->exists && (name ? stat(name, &st) : fstat(standard, &st)) == 0 && st.st_dev == file->is.st_dev &&
        st.st_ino == file->is.st_ino)
        return true;
    if (!name || !file->key) return false;
    char *key = gi_path_key(name, &file->parents);
    const bool same = key && strcmp(key, file->key) == 0;
    free(key);
    return same;
}

// `name` is that of an output, "-" standard output; NULL: there is none.
static bool is_output(identity *file, const char *name) {
    return name && is_same(file, strcmp(name, "-") == 0 ? NULL : name, STDOUT_FILENO);
}

bool gi_records_are_one(const char *a, const char *b) {
    identity file = identify(a);
    const bool same = is_output(&file, b);
    forget(&file);
    return same;
}

// Where the item's result goes, "-" for standard output; NULL: it has none.
static const char *output_of(const gi_session *session, const gi_item *item) {
    return item->out || session->sink || !session->output ? item->out : "-";
}

// Two that would be written to one descriptor or file.
static gi_status refuse_both(const char *a, const char *b, const char *path, gi_error *err) {
    char shown[GI_PATH_SHOWN];
    const int descriptor = descriptor_of_output(path);
    if (descriptor < 0) return gi_fail(err, GI_ERR_USAGE, "%s and %s would be one file", a, b);
    return gi_fail(err, GI_ERR_USAGE, "%s and %s would be one file: both go to %s", a, b,
                   gi_path_show(gi_path_output(descriptor == STDOUT_FILENO ? NULL : path), shown));
}

// `path`, which is the `what`, must be neither an image that is read nor one that is written.
static gi_status check_path(const gi_session *session, const char *what, const char *path, gi_error *err) {
    char shown[GI_PATH_SHOWN];
    gi_status status = GI_OK;
    identity file = identify(path);
    for (size_t i = 0; i < session->list.count && status == GI_OK; i++) {
        const gi_item *item = &session->list.items[i];
        const char *in = item->in, *out = output_of(session, item);
        if (is_same(&file, in, STDIN_FILENO))
            status = gi_fail(err, GI_ERR_USAGE, "the %s would replace the input %s", what,
                             gi_path_show(gi_path_input(in), shown));
        else if (is_output(&file, out))
            status = file.descriptor >= 0 ? refuse_both("image", what, path, err)
                                          : gi_fail(err, GI_ERR_USAGE, "the %s would replace the output %s", what,
                                                    gi_path_show(out, shown));
    }
    forget(&file);
    return status;
}

// A file that is replaced may be an input, since it stays until its result is whole. One behind a descriptor is written
// over as it is.
static gi_status check_descriptors(const gi_session *session, gi_error *err) {
    const gi_item_list *list = &session->list;
    char shown[GI_PATH_SHOWN], input[GI_PATH_SHOWN];
    gi_status status = GI_OK;
    for (size_t i = 0; i < list->count && status == GI_OK; i++) {
        const char *out = output_of(session, &list->items[i]);
        if (!out || descriptor_of_output(out) < 0) continue;
        identity file = identify(out);
        for (size_t j = 0; j < list->count && file.exists && status == GI_OK; j++) {
            const char *in = list->items[j].in;
            if (is_same(&file, in, STDIN_FILENO))
                status = gi_fail(err, GI_ERR_USAGE, "the output %.200s would replace the input %.200s",
                                 gi_path_show(gi_path_output(gi_path_of_argument(out)), shown),
                                 gi_path_show(gi_path_input(in), input));
        }
        forget(&file);
    }
    return status;
}

// A file of the run's own.
typedef struct record {
    const char *what, *path;
} record;

enum { MANIFEST, STATISTICS, TRACE, REPORT, RECORDS };

// `path`, which is the `what` and was read for what is to be done, must not be written. A retry may go on in the
// manifest that it reads.
static gi_status check_control(const gi_session *session, const record records[RECORDS], record control,
                               gi_error *err) {
    char shown[GI_PATH_SHOWN];
    if (!control.path || strcmp(control.path, "-") == 0) return GI_OK;
    gi_status status = GI_OK;
    identity file = identify(control.path);
    gi_path_show(control.path, shown);
    for (int i = 0; i < RECORDS && status == GI_OK; i++)
        if (is_output(&file, records[i].path) && (i != MANIFEST || control.path != session->options->retry_failed))
            status = gi_fail(err, GI_ERR_USAGE, "the %s would replace the %s %s", records[i].what, control.what, shown);
    for (size_t i = 0; i < session->list.count && status == GI_OK; i++)
        if (is_output(&file, output_of(session, &session->list.items[i])))
            status = gi_fail(err, GI_ERR_USAGE, "an output would replace the %s %s", control.what, shown);
    forget(&file);
    return status;
}

gi_status gi_records_check(const gi_session *session, gi_error *err) {
    const gi_options *options = session->options;
    const char *report = options->output ? options->output : "-";
    const record files[RECORDS] = {{"manifest", options->manifest},
                                   {"file of statistics", options->stats_json},
                                   {"trace", options->trace},
                                   {"report", session->sink ? report : NULL}};
    const record controls[] = {{"pipeline file", options->pipeline_file},
                               {"list of names", options->files_from},
                               {"manifest that is retried", options->retry_failed}};
    gi_status status = check_descriptors(session, err);
    for (int i = 0; i < RECORDS && status == GI_OK; i++) {
        if (files[i].path) status = check_path(session, files[i].what, files[i].path, err);
        if (status != GI_OK) return status;
        for (int j = 0; j < i; j++)
            if (files[i].path && files[j].path && gi_records_are_one(files[i].path, files[j].path))
                return refuse_both(files[j].what, files[i].what, files[i].path, err);
    }
    for (size_t i = 0; i < sizeof controls / sizeof controls[0] && status == GI_OK; i++)
        status = check_control(session, files, controls[i], err);
    return status;
}

// A key of what lies in the directory, up to its name there.
static char *key_in(const char *directory, gi_path_parents *parents) {
    char *child = gi_path_join(directory, "x");
    char *key = child ? gi_path_key(child, parents) : NULL;
    if (key) key[strlen(key) - 1] = '\0';
    free(child);
    return key;
}

// True when the keys are of one directory, or of one that lies in the other: to make one makes what is above it.
static bool is_on_the_way(const char *a, const char *b) {
    size_t length = strlen(a), other = strlen(b);
    return strncmp(a, b, length < other ? length : other) == 0;
}

// True when the directory, which is missing, is one that the run makes for its outputs, is above one or in one.
static bool is_made(const gi_item_list *list, const char *directory) {
    gi_path_parents parents = {NULL, NULL}, outputs = {NULL, NULL};
    char *key = key_in(directory, &parents);
    bool made = false;
    if (list->out_directory) {
        char *out = key_in(list->out_directory, &outputs);
        made = key && out && is_on_the_way(key, out);
        free(out);
    }
    for (size_t i = 0; i < list->count && list->makes_directories && key && !made; i++) {
        char *parent = list->items[i].out ? gi_path_parent(list->items[i].out) : NULL;
        char *out = parent ? key_in(parent, &outputs) : NULL;
        made = out && is_on_the_way(key, out);
        free(out);
        free(parent);
    }
    free(key);
    gi_path_parents_free(&parents);
    gi_path_parents_free(&outputs);
    return made;
}

// Without leaving anything there. A manifest is written in place, other files beside it and then renamed.
static gi_status try_to_open(const gi_session *session, const char *path, gi_error *err) {
    const bool manifest = path == session->options->manifest;
    struct stat st;
    const bool exists = stat(path, &st) == 0;
    gi_output *output = NULL;
    if (gi_path_descriptor(path) >= 0 || (exists && !S_ISREG(st.st_mode))) return GI_OK;
    if (exists && session->options->no_clobber) return gi_path_fail_existing(err, NULL);
    if (exists && manifest)
        return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? GI_OK : gi_fail_errno(err, "cannot write", errno);
    gi_status status = gi_output_open(path, &output, err);
    gi_output_close(output);
    if (status == GI_OK || err->system != ENOENT) return status;
    char *directory = gi_path_target_parent(path);
    if (directory && is_made(&session->list, directory)) status = GI_OK;
    free(directory);
    return status;
}

enum { FILES = 3 };

// Of the manifest, the statistics and the trace, the path of number i; NULL: it is not asked for, or goes to standard
// output.
static const char *file_at(const gi_session *session, int i) {
    const gi_options *options = session->options;
    const char *const paths[FILES] = {options->manifest, options->stats_json, options->trace};
    return paths[i] && strcmp(paths[i], "-") != 0 ? paths[i] : NULL;
}

// The first of them that is not going to open, and why; NULL: all do.
static const char *find_closed(const gi_session *session, gi_error *err) {
    for (int i = 0; i < FILES; i++) {
        const char *path = file_at(session, i);
        if (path && try_to_open(session, path, err) != GI_OK) return path;
    }
    return NULL;
}

bool gi_records_can_open(const gi_session *session) {
    gi_error err = {0};
    return !find_closed(session, &err);
}

static const char *shown_record(const char *path) { return gi_path_output(path ? gi_path_of_argument(path) : NULL); }

static gi_status fail_manifest(const gi_session *session, const gi_error *err) {
    if (err->status != GI_ERR_CANCELLED)
        gi_say(&session->messages, GI_FAILURE, shown_record(session->options->manifest), "%s", err->text);
    return err->status;
}

// After the usage is checked, and before any work.
static gi_status open_manifest(gi_session *session) {
    const gi_options *options = session->options;
    gi_error err = {0};
    gi_manifest_request request = {options->manifest, false, options->no_clobber, options->sha256,
                                   session->pipeline_text};
    struct stat manifest, retried;
    if (options->retry_failed && stat(options->retry_failed, &retried) == 0 && stat(options->manifest, &manifest) == 0)
        request.append = manifest.st_dev == retried.st_dev && manifest.st_ino == retried.st_ino;
    gi_status status = gi_manifest_open(&request, &session->list, &session->manifest, &err);
    return status == GI_OK ? GI_OK : fail_manifest(session, &err);
}

static gi_status finish_manifest(gi_session *session, gi_status status) {
    gi_error err = {0};
    if (!session->manifest || gi_manifest_finish(session->manifest, &err) == GI_OK) return status;
    gi_status failed = fail_manifest(session, &err);
    return status == GI_OK || gi_interrupt < 0 ? failed : status;
}

// True where what goes to standard output would mix with the bar.
static bool shares_terminal(const gi_session *session) {
    const char *output = session->sink ? session->options->output : session->output;
    bool used = (session->sink && !output) || (output && strcmp(output, "-") == 0) ||
                (session->options->manifest && strcmp(session->options->manifest, "-") == 0);
    return used && isatty(STDOUT_FILENO);
}

static gi_progress *open_progress(const gi_session *session) {
    const char *how = session->options->progress, *terminal = getenv("TERM");
    size_t total = session->list.count;
    if (strcmp(how, "json") == 0) return gi_progress_open(GI_PROGRESS_JSON, total);
    bool bar = strcmp(how, "auto") == 0 && !session->console.quiet && total > 1 && isatty(STDERR_FILENO) && terminal &&
               *terminal && strcmp(terminal, "dumb") != 0 && !shares_terminal(session);
    return bar ? gi_progress_open(GI_PROGRESS_BAR, total) : NULL;
}

static gi_status fail_record(const gi_session *session, const char *at, const gi_error *err) {
    if (err->status == GI_ERR_CANCELLED) return err->status;
    gi_say(&session->messages, GI_FAILURE, shown_record(at), "%s", err->text);
    return err->status;
}

static gi_status open_stats(gi_session *session, gi_batch_options *batch) {
    const gi_options *options = session->options;
    const gi_choice *choice = &session->choice;
    gi_error err = {0};
    const char *at = NULL;
    gi_stats_request request = {.print = options->stats,
                                .json_path = options->stats_json,
                                .trace_path = options->trace,
                                .list = &session->list,
                                .devices = {choice->backend},
                                .device_count = 1 + choice->more_count,
                                .workers = gi_batch_workers(batch, session->list.count),
                                .slots = gi_batch_slots(batch, session->list.count),
                                .no_clobber = options->no_clobber};
    for (int i = 0; i < choice->more_count; i++) request.devices[i + 1] = choice->more[i];
    if (!request.print && !request.json_path && !request.trace_path) return GI_OK;
    if (gi_stats_open(&request, &session->stats, &at, &err)) return fail_record(session, at, &err);
    batch->timeline = gi_stats_timeline(session->stats);
    return GI_OK;
}

// Where records are to lie in what the batch would make a little later. The walls of a sandbox stand already, and leave
// room for it.
static gi_status make_directories(const gi_session *session) {
    gi_error err = {0};
    const char *closed = find_closed(session, &err);
    // What is wrong with a manifest it says itself, as it is the first to be opened.
    if (closed && closed != session->options->manifest) return fail_record(session, closed, &err);
    for (int i = 0; i < FILES && !closed; i++) {
        const char *path = file_at(session, i);
        if (!path || gi_path_descriptor(path) >= 0) continue;
        char *directory = gi_path_target_parent(path);
        struct stat st;
        gi_status status = GI_OK;
        if (directory && stat(directory, &st) != 0 && is_made(&session->list, directory))
            status = gi_path_make_directories(directory, &err);
        free(directory);
        if (status != GI_OK) return fail_record(session, path, &err);
    }
    return GI_OK;
}

gi_status gi_records_open(gi_session *session, gi_batch_options *batch) {
    gi_status status = make_directories(session);
    if (status == GI_OK && session->options->manifest) status = open_manifest(session);
    if (status == GI_OK) status = open_stats(session, batch);
    if (status == GI_OK) session->progress = open_progress(session);
    return status;
}

void gi_records_add(gi_session *session, size_t index, const gi_outcome *outcome) {
    gi_manifest *manifest = session->manifest;
    // The end of the run says why it stopped.
    if (manifest && gi_manifest_add(manifest, index, outcome, NULL) != GI_OK && gi_interrupt == 0) gi_interrupt = -1;
    gi_progress_add(session->progress, outcome);
    if (session->stats) gi_stats_add(session->stats, outcome);
}

gi_status gi_records_finish(gi_session *session, const gi_batch_result *result, gi_status status) {
    gi_error err = {0};
    const char *at = NULL;
    status = finish_manifest(session, status);
    if (session->stats && gi_stats_finish(session->stats, result, &at, &err)) {
        gi_status failed = fail_record(session, at, &err);
        if (status == GI_OK) status = failed;
    }
    return status;
}

void gi_records_close(gi_session *session) {
    gi_manifest_close(session->manifest);
    gi_stats_close(session->stats);
}
