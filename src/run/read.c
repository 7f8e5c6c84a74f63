#include "run/read.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/codec.h"
#include "core/large.h"

enum { FIRST_CAPACITY = 1 << 16, READ_IN_TWO = 16 << 20 };

static bool cancelled(const gi_read_options *options) { return options->cancel && *options->cancel; }

static gi_status open_input(const char *path, const gi_read_options *options, int *fd, gi_error *err) {
    // Without O_NONBLOCK a FIFO that has taken a regular file's place would be waited on.
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (options->regular_only ? O_NONBLOCK : 0);
    do {
        *fd = open(path, flags);
    } while (*fd < 0 && errno == EINTR && !cancelled(options));
    if (*fd >= 0) return GI_OK;
    if (errno == EINTR) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
    return gi_fail_errno(err, "cannot open", errno);
}

// Reads until file->size is `until` or the end is reached (*ended).
static gi_status read_until(int fd, size_t until, const gi_read_options *options, gi_file_data *file, bool *ended,
                            gi_error *err) {
    while (file->size < until) {
        ssize_t got = read(fd, file->data + file->size, until - file->size);
        if (got < 0 && errno == EINTR) {
            if (cancelled(options)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
            continue;
        }
        if (got < 0) return gi_fail_errno(err, "cannot read", errno);
        if (got == 0) {
            *ended = true;
            return GI_OK;
        }
        file->size += (size_t)got;
    }
    return GI_OK;
}

// The upper part of a large file, which another thread reads: fresh memory takes longer to come by than the copy.
typedef struct upper_part {
    int fd;
    uint8_t *data;  // of the whole file
    size_t at, end; // read so far, and to be read
} upper_part;

static void *read_upper(void *context) {
    upper_part *part = context;
    ssize_t got = 1;
    while (part->at < part->end && got > 0) {
        got = pread(part->fd, part->data + part->at, part->end - part->at, (off_t)part->at);
        if (got > 0) part->at += (size_t)got;
    }
    return NULL;
}

// Reads up to `size` in two parts at once. Where the upper one is not complete, what is there is left to be read after
// the lower.
static gi_status read_in_two(int fd, size_t size, const gi_read_options *options, gi_file_data *file, bool *ended,
                             gi_error *err) {
    upper_part upper = {fd, file->data, size / 2, size};
    pthread_t thread;
    bool started = pthread_create(&thread, NULL, read_upper, &upper) == 0;
    gi_status status = read_until(fd, size / 2, options, file, ended, err);
    if (!started) return status;
    pthread_join(thread, NULL);
    if (status != GI_OK || *ended || upper.at < size) return status;
    if (lseek(fd, (off_t)size, SEEK_SET) < 0) return gi_fail_errno(err, "cannot read", errno);
    file->size = size;
    return GI_OK;
}

static size_t limit_of(const gi_read_options *options) { return options->limit ? options->limit : GI_READ_MAX; }

static gi_status too_large(const gi_read_options *options, gi_error *err) {
    return gi_fail(err, GI_ERR_LIMIT, "larger than %zu bytes, the most that is read", limit_of(options));
}

static gi_status grow(gi_file_data *file, size_t capacity, gi_error *err) {
    uint8_t *data = realloc(file->data, capacity);
    if (!data) return gi_fail(err, GI_ERR_MEMORY, "out of memory for a file of %zu bytes", capacity);
    file->data = data;
    return GI_OK;
}

// Room for a file of about that size, of which little was read yet. Not by `grow`, which would not get huge pages.
static gi_status take_room(gi_file_data *file, size_t capacity, gi_error *err) {
    uint8_t *data = gi_large_alloc(capacity);
    if (!data) return gi_fail(err, GI_ERR_MEMORY, "out of memory for a file of %zu bytes", capacity);
    memcpy(data, file->data, file->size);
    free(file->data);
    file->data = data;
    return GI_OK;
}

// `expected` bytes are likely there; one more is asked for, so that the end is seen without growing.
static gi_status read_all(int fd, size_t expected, const gi_read_options *options, gi_file_data *file, gi_error *err) {
    bool ended = false;
    size_t capacity = GI_SNIFF_BYTES;
    gi_status status = grow(file, FIRST_CAPACITY, err);
    if (status == GI_OK) status = read_until(fd, capacity, options, file, &ended, err);
    if (status != GI_OK) return status;
    if (file->size == 0) return gi_fail(err, GI_ERR_FORMAT, "an empty file");
    if (options->image_only && gi_format_sniff((gi_bytes){file->data, file->size}) == GI_FORMAT_UNKNOWN)
        return gi_fail(err, GI_ERR_FORMAT, "neither PNG nor JPEG");
    capacity = expected >= FIRST_CAPACITY ? expected + 1 : FIRST_CAPACITY;
    if (capacity > FIRST_CAPACITY) status = take_room(file, capacity, err);
    // Standard input may be a file that was read from before: then the buffer and the file do not begin together.
    if (status == GI_OK && expected >= READ_IN_TWO && lseek(fd, 0, SEEK_CUR) == (off_t)file->size)
        status = read_in_two(fd, expected, options, file, &ended, err);
    while (!ended && status == GI_OK) {
        status = read_until(fd, capacity, options, file, &ended, err);
        if (status == GI_OK && file->size > limit_of(options)) return too_large(options, err);
        if (status != GI_OK || ended) return status;
        capacity = capacity <= limit_of(options) / 2 ? capacity * 2 : limit_of(options) + 1;
        status = grow(file, capacity, err);
    }
    return status;
}

gi_status gi_read_file(const char *path, const gi_read_options *options, gi_file_data *file, gi_error *err) {
    *file = (gi_file_data){NULL, 0};
    int fd = STDIN_FILENO;
    struct stat st;
    gi_status status = path ? open_input(path, options, &fd, err) : GI_OK;
    if (status != GI_OK) return status;
    if (fstat(fd, &st) != 0) {
        status = gi_fail_errno(err, "cannot read", errno);
        goto out;
    }
    bool regular = S_ISREG(st.st_mode);
    if (S_ISDIR(st.st_mode))
        status = gi_fail_errno(err, "cannot read", EISDIR);
    else if (options->regular_only && !regular)
        status = gi_fail(err, GI_ERR_IO, "no longer a regular file");
    else if (regular && (uint64_t)st.st_size > limit_of(options))
        status = too_large(options, err);
    else
        status = read_all(fd, regular ? (size_t)st.st_size : 0, options, file, err);
out:
    if (path) close(fd);
    if (status != GI_OK) {
        free(file->data);
        *file = (gi_file_data){NULL, 0};
    }
    return status;
}
