#include "cli/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/buffer.h"
#include "cli/json.h"
#include "cli/signals.h"
#include "core/text.h"
#include "run/path.h"

struct gi_manifest {
    gi_manifest_request request;
    const gi_item_list *list;
    bool *recorded; // for each item
    int fd;
    bool regular;
    gi_buffer line;
    gi_status status; // of all writes so far
    gi_error err;
};

// ---- the file -----------------------------------------------------------------------------------------------------

// The bytes up to the end of the last whole line.
static off_t whole_lines(int fd, off_t size) {
    char block[4096];
    while (size > 0) {
        off_t from = size > (off_t)sizeof block ? size - (off_t)sizeof block : 0;
        ssize_t got = pread(fd, block, (size_t)(size - from), from);
        if (got <= 0) return size;
        const char *end = memrchr(block, '\n', (size_t)got);
        if (end) return from + (end - block) + 1;
        size = from;
    }
    return 0;
}

static gi_status fail_to_write(gi_error *err, int error_number) {
    return gi_fail_errno(err, "cannot write", error_number);
}

// A device, a FIFO (whose reader is waited for) or a descriptor that is open already: nothing of it is ours to replace.
static gi_status take_stream(gi_manifest *manifest, gi_error *err) {
    const char *path = manifest->request.path;
    const int ours = strcmp(path, "-") == 0 ? STDOUT_FILENO : gi_path_descriptor(path);
    if (ours >= 0) {
        manifest->fd = fcntl(ours, F_DUPFD_CLOEXEC, 3);
    } else {
        do manifest->fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
        while (manifest->fd < 0 && errno == EINTR && !gi_interrupt);
    }
    if (manifest->fd >= 0) return GI_OK;
    return errno == EINTR ? gi_fail(err, GI_ERR_CANCELLED, "interrupted") : fail_to_write(err, errno);
}

static bool is_stream(const char *path) {
    struct stat st;
    if (strcmp(path, "-") == 0 || gi_path_descriptor(path) >= 0) return true;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

// Only one run at a time writes to it: a second one would take the first one's lines away.
static gi_status take_file(gi_manifest *manifest, gi_error *err) {
    const gi_manifest_request *request = &manifest->request;
    struct stat st;
    if (is_stream(request->path)) return take_stream(manifest, err);
    int flags = O_RDWR | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC | (request->no_clobber ? O_EXCL : 0);
    manifest->fd = open(request->path, flags, 0666);
    if (manifest->fd < 0 && errno == EEXIST) return gi_path_fail_existing(err, NULL);
    if (manifest->fd < 0 || fstat(manifest->fd, &st) != 0) return fail_to_write(err, errno);
    manifest->regular = S_ISREG(st.st_mode);
    if (!manifest->regular) return GI_OK;
    if (flock(manifest->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return gi_fail(err, GI_ERR_IO, "another run is writing to it");
    off_t keep = request->append ? whole_lines(manifest->fd, st.st_size) : 0;
    return ftruncate(manifest->fd, keep) == 0 ? GI_OK : fail_to_write(err, errno);
}

static gi_status write_line(gi_manifest *manifest, gi_error *err) {
    struct stat before;
    gi_buffer *line = &manifest->line;
    gi_buffer_puts(line, "}\n");
    if (line->failed) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    bool known = manifest->regular && fstat(manifest->fd, &before) == 0;
    if (gi_write_all(manifest->fd, line->data, line->size)) return GI_OK;
    int error_number = errno;
    // On a full disk, the part that did fit.
    if (known) (void)!ftruncate(manifest->fd, before.st_size);
    return fail_to_write(err, error_number);
}

// ---- lines --------------------------------------------------------------------------------------------------------

typedef struct record {
    const char *path, *output, *status, *reason;
    const gi_outcome *outcome; // NULL: nothing was done
    bool directory;
} record;

static void add_name(gi_buffer *line, const char *key, const char *name) {
    if (name)
        gi_json_add_name(line, key, name);
    else
        gi_buffer_printf(line, "\"%s\":null", key);
}

static void add_digest(gi_buffer *line, const gi_outcome *outcome) {
    if (!outcome || outcome->status != GI_OK || outcome->skipped || outcome->bytes_out == 0) {
        gi_buffer_puts(line, ",\"sha256\":null");
        return;
    }
    gi_buffer_puts(line, ",\"sha256\":\"");
    for (int i = 0; i < GI_DIGEST_BYTES; i++) gi_buffer_printf(line, "%02x", (unsigned)outcome->digest[i]);
    gi_buffer_puts(line, "\"");
}

static gi_status put(gi_manifest *manifest, const record *r, gi_error *err) {
    gi_buffer *line = &manifest->line;
    if (manifest->status == GI_OK) {
        line->size = 0;
        gi_buffer_puts(line, "{");
        add_name(line, "path", r->path);
        gi_buffer_printf(line, ",\"status\":\"%s\",\"reason\":", r->status);
        if (r->reason)
            gi_json_add_string(line, r->reason);
        else
            gi_buffer_puts(line, "null");
        gi_buffer_puts(line, ",");
        add_name(line, "output", r->output);
        gi_buffer_printf(line, ",\"bytes\":%llu,\"ms\":%.3f",
                         r->outcome ? (unsigned long long)r->outcome->bytes_out : 0ull,
                         r->outcome ? r->outcome->time_ms : 0.0);
        gi_buffer_puts(line, ",\"pipeline\":");
        gi_json_add_string(line, manifest->request.pipeline);
        if (manifest->request.sha256) add_digest(line, r->outcome);
        if (r->directory) gi_buffer_puts(line, ",\"directory\":true");
        manifest->status = write_line(manifest, &manifest->err);
    }
    if (manifest->status != GI_OK && err) *err = manifest->err;
    return manifest->status;
}

gi_status gi_manifest_open(const gi_manifest_request *request, const gi_item_list *list, gi_manifest **out,
                           gi_error *err) {
    gi_manifest *manifest = calloc(1, sizeof *manifest);
    gi_status status = GI_OK;
    *out = manifest;
    if (!manifest) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    manifest->request = *request;
    manifest->list = list;
    manifest->fd = -1;
    manifest->recorded = calloc(list->count + 1, sizeof *manifest->recorded);
    if (!manifest->recorded)
        return gi_fail(err, GI_ERR_MEMORY, "out of memory for %zu file%s", list->count, gi_plural(list->count));
    status = take_file(manifest, err);
    for (size_t i = 0; i < list->failed && status == GI_OK; i++) {
        const gi_unread *unread = &list->unread[i];
        status = put(manifest, &(record){unread->in, unread->out, "failed", unread->reason, NULL, true}, err);
    }
    return status;
}

gi_status gi_manifest_add(gi_manifest *manifest, size_t index, const gi_outcome *outcome, gi_error *err) {
    const gi_item *item = &manifest->list->items[index];
    bool failed = outcome->status != GI_OK;
    const char *status = failed ? "failed" : outcome->skipped ? "skipped" : "done";
    const char *reason = failed ? outcome->reason : *outcome->damage ? outcome->damage : NULL;
    manifest->recorded[index] = true;
    return put(manifest, &(record){item->in, item->out, status, reason, outcome, false}, err);
}

gi_status gi_manifest_finish(gi_manifest *manifest, gi_error *err) {
    gi_status status = manifest->status;
    if (status != GI_OK && err) *err = manifest->err;
    for (size_t i = 0; i < manifest->list->count && status == GI_OK; i++) {
        const gi_item *item = &manifest->list->items[i];
        if (manifest->recorded[i]) continue;
        status = put(manifest, &(record){item->in, item->out, "not started", NULL, NULL, false}, err);
    }
    return status;
}

void gi_manifest_close(gi_manifest *manifest) {
    if (!manifest) return;
    if (manifest->fd >= 0) close(manifest->fd);
    gi_buffer_free(&manifest->line);
    free(manifest->recorded);
    free(manifest);
}
