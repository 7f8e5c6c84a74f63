#include "run/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/path.h"
#include "run/temporary.h"

enum { BUFFER_BYTES = 1 << 16, NAME_TRIES = 1000 };

struct gi_output {
    char *path;       // resolved; NULL: standard output
    const char *name; // its last component
    int fd, directory_fd;
    bool temporary; // bytes go to temporary_name; else straight to what was open before
    bool replaces;  // there is an old file, whose mode is `old.st_mode`
    struct stat old;
    int registered;
    volatile sig_atomic_t *cancel;
    const gi_digester *digester; // NULL: nothing is hashed
    void *digest_state;
    uint64_t taken; // bytes, of which `used` are in the buffer still
    size_t used;
    char temporary_name[GI_TEMPORARY_SIZE];
    unsigned char buffer[BUFFER_BYTES];
};

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

// True when an interrupted call should be given up.
static bool cancelled(const volatile sig_atomic_t *cancel) { return cancel && *cancel; }

static gi_status open_descriptor(gi_output *output, int fd, gi_error *err) {
    output->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (output->fd < 0) return gi_path_fail(err, "cannot write", gi_path_output(output->path), errno);
    return GI_OK;
}

static gi_status open_special(gi_output *output, gi_error *err) {
    do {
        output->fd = open(output->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    } while (output->fd < 0 && errno == EINTR && !cancelled(output->cancel));
    if (output->fd >= 0) return GI_OK;
    if (errno == EINTR) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
    return gi_path_fail(err, "cannot write", output->path, errno);
}

// Creates and locks one temporary of that name. Returns 0 or an errno; EEXIST: try another name. A sweep elsewhere may
// take the lock between creation and flock, and remove the file: that shows as a link count of 0.
static int create_locked(gi_output *output) {
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    output->fd = openat(output->directory_fd, output->temporary_name, flags, output->replaces ? 0600 : 0666);
    if (output->fd < 0) return errno;
    int locked;
    do locked = flock(output->fd, LOCK_EX);
    while (locked != 0 && errno == EINTR);
    struct stat st;
    if (fstat(output->fd, &st) != 0 || st.st_nlink > 0) return 0;
    close_fd(&output->fd);
    return EEXIST;
}

static gi_status open_temporary(gi_output *output, gi_error *err) {
    static atomic_ulong counter;
    char *parent = gi_path_parent(output->path);
    if (!parent) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    output->directory_fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int error_number = output->directory_fd < 0 ? errno : EEXIST;
    long limit = error_number == EEXIST ? fpathconf(output->directory_fd, _PC_NAME_MAX) : 0;
    if (limit <= 0) limit = NAME_MAX;
    for (int i = 0; error_number == EEXIST && i < NAME_TRIES; i++) {
        gi_temporary_name(output->temporary_name, output->name, (size_t)limit, atomic_fetch_add(&counter, 1));
        error_number = create_locked(output);
    }
    gi_status status = GI_OK;
    if (error_number != 0)
        status = gi_path_fail(err, "cannot create a file in", parent, error_number);
    else
        output->registered = gi_temporary_register(output->directory_fd, output->temporary_name);
    output->temporary = status == GI_OK;
    free(parent);
    return status;
}

// Fits `output` to the path: which kind it is, and opens it.
static gi_status open_path(gi_output *output, const char *path, gi_error *err) {
    int fd = gi_path_descriptor(path);
    struct stat st;
    bool exists = fd < 0 && stat(path, &st) == 0;
    bool follow = fd < 0 && (!exists || S_ISREG(st.st_mode));
    if (exists && S_ISDIR(st.st_mode)) return gi_path_fail(err, "cannot write", path, EISDIR);
    if (follow) {
        gi_status status = gi_path_follow(path, &output->path, err);
        if (status != GI_OK) return status;
    } else if (!(output->path = strdup(path))) {
        return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    }
    if (fd >= 0) return open_descriptor(output, fd, err);
    if (!follow) return open_special(output, err);
    size_t length = 0;
    output->name = gi_path_last(output->path, &length);
    if (length == 0 || output->name[length] != '\0') return gi_path_fail(err, "cannot write", path, ENOTDIR);
    output->replaces = exists;
    if (exists) output->old = st;
    return open_temporary(output, err);
}

gi_status gi_output_open_cancellable(const char *path, volatile sig_atomic_t *cancel, gi_output **output,
                                     gi_error *err) {
    *output = NULL;
    gi_output *made = calloc(1, sizeof *made);
    if (!made) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    made->fd = made->directory_fd = made->registered = -1;
    made->cancel = cancel;
    gi_status status = path ? open_path(made, path, err) : open_descriptor(made, STDOUT_FILENO, err);
    if (status == GI_OK)
        *output = made;
    else
        gi_output_close(made);
    return status;
}

gi_status gi_output_open(const char *path, gi_output **output, gi_error *err) {
    return gi_output_open_cancellable(path, NULL, output, err);
}

static gi_status write_all(gi_output *output, const unsigned char *data, size_t size, gi_error *err) {
    while (size > 0) {
        ssize_t written = write(output->fd, data, size < SSIZE_MAX ? size : SSIZE_MAX);
        if (written < 0 && errno == EINTR) {
            if (cancelled(output->cancel)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
            continue;
        }
        // A write of nothing that is no error would repeat for ever.
        if (written <= 0)
            return gi_path_fail(err, "cannot write", gi_path_output(output->path), written < 0 ? errno : EIO);
        data += written;
        size -= (size_t)written;
    }
    return GI_OK;
}

static gi_status flush(gi_output *output, gi_error *err) {
    size_t size = output->used;
    output->used = 0;
    return write_all(output, output->buffer, size, err);
}

static gi_status sink_write(void *context, const void *data, size_t size, gi_error *err) {
    gi_output *output = context;
    output->taken += size;
    if (output->digester) output->digester->add(output->digest_state, data, size);
    if (size > BUFFER_BYTES - output->used) {
        gi_status status = flush(output, err);
        if (status != GI_OK) return status;
    }
    if (size >= BUFFER_BYTES) return write_all(output, data, size, err);
    if (size > 0) memcpy(output->buffer + output->used, data, size);
    output->used += size;
    return GI_OK;
}

gi_status gi_output_hash(gi_output *output, const gi_digester *digester, gi_error *err) {
    output->digest_state = malloc(digester->state_bytes);
    if (!output->digest_state) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    output->digester = digester;
    digester->begin(output->digest_state);
    return GI_OK;
}

void gi_output_digest(gi_output *output, uint8_t digest[GI_DIGEST_BYTES]) {
    output->digester->end(output->digest_state, digest);
}

uint64_t gi_output_bytes(const gi_output *output) { return output->taken; }

gi_sink gi_output_sink(gi_output *output) { return (gi_sink){sink_write, output}; }

// The old file's owner as far as we may, then its mode (changing the owner may clear bits of it).
static gi_status keep_mode(gi_output *output, gi_error *err) {
    const struct stat *old = &output->old;
    bool foreign = old->st_uid != geteuid() || old->st_gid != getegid();
    if (foreign && fchown(output->fd, old->st_uid, old->st_gid) != 0) {
        int ours = fchown(output->fd, (uid_t)-1, old->st_gid); // a failure leaves the new file ours
        (void)ours;
    }
    if (fchmod(output->fd, old->st_mode & 0777) == 0) return GI_OK;
    // File systems without modes refuse; what they show is what the old file had.
    if (errno == EPERM || errno == ENOTSUP || errno == ENOSYS) return GI_OK;
    return gi_path_fail(err, "cannot set the mode of", output->path, errno);
}

// Renames the temporary to a name that must not exist yet. Returns 0 or an errno.
static int rename_new(const gi_output *output) {
    int d = output->directory_fd;
    if (renameat2(d, output->temporary_name, d, output->name, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return errno;
    if (linkat(d, output->temporary_name, d, output->name, 0) == 0) {
        unlinkat(d, output->temporary_name, 0);
        return 0;
    }
    if (errno != EPERM && errno != ENOSYS && errno != ENOTSUP && errno != EMLINK) return errno;
    // Neither call on this file system: a look and a rename is the best there is.
    struct stat st;
    if (fstatat(d, output->name, &st, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
    return renameat(d, output->temporary_name, d, output->name) == 0 ? 0 : errno;
}

static gi_status rename_into_place(gi_output *output, bool no_clobber, gi_error *err) {
    int d = output->directory_fd, error_number = 0;
    if (no_clobber)
        error_number = rename_new(output);
    else if (renameat(d, output->temporary_name, d, output->name) != 0)
        error_number = errno;
    if (no_clobber && error_number == EEXIST) return gi_path_fail_existing(err, output->path);
    if (error_number != 0) return gi_path_fail(err, "cannot replace", output->path, error_number);
    output->temporary = false;
    return GI_OK;
}

bool gi_output_replaces(const char *path) {
    struct stat st;
    return gi_path_descriptor(path) < 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

gi_status gi_output_commit(gi_output *output, bool no_clobber, gi_error *err) {
    int guard = -1; // keeps the lock until the rename; close() is checked before it
    gi_status status = output->fd < 0 ? gi_fail(err, GI_ERR_IO, "the output is closed") : flush(output, err);
    if (status != GI_OK) goto out;
    if (output->temporary && output->replaces && (status = keep_mode(output, err)) != GI_OK) goto out;
    if (output->temporary && (guard = fcntl(output->fd, F_DUPFD_CLOEXEC, 3)) < 0) {
        status = gi_path_fail(err, "cannot write", output->path, errno);
        goto out;
    }
    int fd = output->fd;
    output->fd = -1;
    // After EINTR the descriptor is closed on Linux, and nothing was lost.
    if (close(fd) != 0 && errno != EINTR) {
        status = gi_path_fail(err, "cannot write", gi_path_output(output->path), errno);
        goto out;
    }
    if (output->temporary) status = rename_into_place(output, no_clobber, err);
out:
    close_fd(&guard);
    close_fd(&output->fd);
    return status;
}

void gi_output_close(gi_output *output) {
    if (!output) return;
    if (output->temporary) unlinkat(output->directory_fd, output->temporary_name, 0);
    gi_temporary_forget(output->registered);
    close_fd(&output->fd);
    close_fd(&output->directory_fd);
    free(output->digest_state);
    free(output->path);
    free(output);
}
