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

static int descriptor_of_record(const char *path) {
    return strcmp(path, "-") == 0 ? STDOUT_FILENO : gi_path_descriptor(path);
}

static identity identify(const char *path) {
    identity file = {.path = path, .descriptor = descriptor_of_record(path)};
    const bool there = file.descriptor >= 0 || stat(path, &file.is) == 0;
    file.exists = there && file.descriptor < 0 && S_ISREG(file.is.st_mode);
    if (!there || file.exists) file.key = gi_path_key(path, &file.parents);
    return file;
}

static void forget(identity *file) {
    gi_path_parents_free(&file->parents);
    free(file->key);
}

static bool is_same(identity *file, const char *name) {
    struct stat st;
    if (!name) return false;
    if (strcmp(name, file->path) == 0) return true;
    if (!file->key || strcmp(name, "-") == 0) return false;
    if (file->exists && stat(name, &st) == 0 && st.st_dev == file->is.st_dev && st.st_ino == file->is.st_ino)
        return true;
    char *key = gi_path_key(name, &file->parents);
    const bool same = key && strcmp(key, file->key) == 0;
    free(key);
    return same;
}

bool gi_records_are_one(const char *a, const char *b) {
    identity file = identify(a);
    const bool same = file.descriptor >= 0 ? file.descriptor == descriptor_of_record(b) : is_same(&file, b);
    forget(&file);
    return same;
}

// `path`, which is the `what`, must be neither an image that is read nor one that is written.
static gi_status check_path(const gi_session *session, const char *what, const char *path, gi_error *err) {
    char shown[GI_PATH_SHOWN];
    gi_status status = GI_OK;
    identity file = identify(path);
    for (size_t i = 0; i < session->list.count && status == GI_OK; i++) {
        const gi_item *item = &session->list.items[i];
        const char *name = is_same(&file, item->in) ? item->in : is_same(&file, item->out) ? item->out : NULL;
        if (name)
            status = gi_fail(err, GI_ERR_USAGE, "the %s would replace the %s %s", what,
                             name == item->in ? "input" : "output", gi_path_show(name, shown));
    }
    forget(&file);
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
        if (is_same(&file, records[i].path) && (i != MANIFEST || control.path != session->options->retry_failed))
            status = gi_fail(err, GI_ERR_USAGE, "the %s would replace the %s %s", records[i].what, control.what, shown);
    for (size_t i = 0; i < session->list.count && status == GI_OK; i++)
        if (is_same(&file, session->list.items[i].out))
            status = gi_fail(err, GI_ERR_USAGE, "an output would replace the %s %s", control.what, shown);
    forget(&file);
    return status;
}

gi_status gi_records_check(const gi_session *session, gi_error *err) {
    const gi_options *options = session->options;
    const record files[RECORDS] = {{"manifest", options->manifest},
                                   {"file of statistics", options->stats_json},
                                   {"trace", options->trace},
                                   {"report", session->sink ? options->output : NULL}};
    const record controls[] = {{"pipeline file", options->pipeline_file},
                               {"list of names", options->files_from},
                               {"manifest that is retried", options->retry_failed}};
    gi_status status = GI_OK;
    for (int i = 0; i < RECORDS; i++) {
        if (files[i].path) status = check_path(session, files[i].what, files[i].path, err);
        if (status != GI_OK) return status;
        for (int j = 0; j < i; j++)
            if (files[i].path && files[j].path && gi_records_are_one(files[i].path, files[j].path))
                return gi_fail(err, GI_ERR_USAGE, "%s and %s would be one file", files[j].what, files[i].what);
    }
    for (size_t i = 0; i < sizeof controls / sizeof controls[0] && status == GI_OK; i++)
        status = check_control(session, files, controls[i], err);
    return status;
}

// Without leaving anything there. A manifest is written in place, other files beside it and then renamed.
static bool can_open(const gi_session *session, const char *path) {
    const bool manifest = path == session->options->manifest;
    struct stat st;
    const bool exists = stat(path, &st) == 0;
    gi_output *output = NULL;
    gi_error err = {0};
    if (gi_path_descriptor(path) >= 0 || (exists && !S_ISREG(st.st_mode))) return true;
    if (exists && session->options->no_clobber) return false;
    if (exists && manifest) return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
    gi_status status = gi_output_open(path, &output, &err);
    gi_output_close(output);
    return status == GI_OK || (manifest && err.system == ENOENT); // it may be meant to lie in OUT
}

bool gi_records_can_open(const gi_session *session) {
    const gi_options *options = session->options;
    const char *const paths[] = {options->manifest, options->stats_json, options->trace};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i] && strcmp(paths[i], "-") != 0 && !can_open(session, paths[i])) return false;
    return true;
}

static const char *shown_record(const char *path) { return path && strcmp(path, "-") != 0 ? path : "standard output"; }

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
    if (status != GI_OK && err.system == ENOENT && session->list.out_directory) {
        // It may be meant to lie in OUT, which the batch would make a little later.
        gi_manifest_close(session->manifest);
        session->manifest = NULL;
        status = gi_path_make_directories(session->list.out_directory, &err);
        if (status == GI_OK) status = gi_manifest_open(&request, &session->list, &session->manifest, &err);
    }
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

static gi_status fail_stats(const gi_session *session, const char *at, const gi_error *err) {
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
    if (gi_stats_open(&request, &session->stats, &at, &err)) return fail_stats(session, at, &err);
    batch->timeline = gi_stats_timeline(session->stats);
    return GI_OK;
}

gi_status gi_records_open(gi_session *session, gi_batch_options *batch) {
    gi_status status = session->options->manifest ? open_manifest(session) : GI_OK;
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
        gi_status failed = fail_stats(session, at, &err);
        if (status == GI_OK) status = failed;
    }
    return status;
}

void gi_records_close(gi_session *session) {
    gi_manifest_close(session->manifest);
    gi_stats_close(session->stats);
}
