#include "run/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/codec.h"
#include "core/large.h"

enum { FIRST_CAPACITY = 1 << 16 };

static bool cancelled(const gi_read_options *options) { return options->cancel && *options->cancel; }

gi_status gi_read_open(const char *path, const gi_read_options *options, int *fd, gi_error *err) {
    *fd = STDIN_FILENO;
    if (!path) return GI_OK;
    // Without O_NONBLOCK a FIFO that has taken a regular file's place would be waited on.
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (options->regular_only ? O_NONBLOCK : 0);
    do {
        *fd = open(path, flags);
    } while (*fd < 0 && errno == EINTR && !cancelled(options));
    if (*fd >= 0) return GI_OK;
    if (errno == EINTR) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
    return gi_fail_errno(err, "cannot open", errno);
}

gi_status gi_read_full(int fd, void *to, size_t size, const gi_read_options *options, size_t *got, gi_error *err) {
    *got = 0;
    while (*got < size) {
        ssize_t count = read(fd, (char *)to + *got, size - *got);
        if (count < 0 && errno == EINTR) {
            if (cancelled(options)) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
            continue;
        }
        if (count < 0) return gi_fail_errno(err, "cannot read", errno);
        if (count == 0) break;
        *got += (size_t)count;
    }
    return GI_OK;
}

// Reads until file->size is `until` or the end is reached (*ended).
static gi_status read_until(int fd, size_t until, const gi_read_options *options, gi_file_data *file, bool *ended,
                            gi_error *err) {
    size_t got = 0, wanted = until - file->size;
    gi_status status = gi_read_full(fd, file->data + file->size, wanted, options, &got, err);
    file->size += got;
    *ended = got < wanted;
    return status;
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

static void take_begun(const gi_begun *begun, gi_file_data *file) {
    file->size = begun->bytes.size < FIRST_CAPACITY ? begun->bytes.size : FIRST_CAPACITY;
    memcpy(file->data, begun->bytes.data, file->size);
}

// A stream may have no end: what has come of it tells how much there can be.
static size_t stream_limit(const gi_read_options *options, const gi_file_data *file) {
    size_t limit = limit_of(options);
    uint64_t most = options->image_only ? gi_peek_most_bytes((gi_bytes){file->data, file->size}) : limit;
    return most < limit ? (size_t)most : limit;
}

static gi_status too_much(const gi_read_options *options, const gi_file_data *file, gi_error *err) {
    if (file->size > limit_of(options)) return too_large(options, err);
    return gi_fail(err, GI_ERR_LIMIT, "it goes on after %zu bytes, more than an image of the size it announces needs",
                   file->size);
}

// A stream's header, as soon as it has come: what is refused by it is not read to its end.
static gi_status check_begun(const gi_read_options *options, const gi_file_data *file, gi_error *err) {
    return options->image_only ? gi_peek_check((gi_bytes){file->data, file->size}, options->max_pixels, err) : GI_OK;
}

// `expected` bytes are likely there, of a regular file; one more is asked for, so that the end is seen without growing.
static gi_status read_all(int fd, size_t expected, const gi_read_options *options, gi_file_data *file, gi_error *err) {
    bool ended = false;
    size_t capacity = GI_SNIFF_BYTES;
    gi_status status = grow(file, FIRST_CAPACITY, err);
    if (status == GI_OK && options->begun) take_begun(options->begun, file);
    if (status == GI_OK && file->size < capacity) status = read_until(fd, capacity, options, file, &ended, err);
    if (status != GI_OK) return status;
    if (file->size == 0) return gi_fail(err, GI_ERR_FORMAT, "an empty file");
    if (options->image_only && gi_format_sniff((gi_bytes){file->data, file->size}) == GI_FORMAT_UNKNOWN)
        return gi_fail(err, GI_ERR_FORMAT, "neither PNG nor JPEG");
    capacity = expected >= FIRST_CAPACITY ? expected + 1 : FIRST_CAPACITY;
    if (capacity > FIRST_CAPACITY) status = take_room(file, capacity, err);
    while (!ended && status == GI_OK) {
        status = read_until(fd, capacity, options, file, &ended, err);
        if (status == GI_OK && !ended && !expected) status = check_begun(options, file, err);
        size_t limit = expected ? limit_of(options) : stream_limit(options, file);
        if (status == GI_OK && file->size > limit) return too_much(options, file, err);
        if (status != GI_OK || ended) return status;
        capacity = capacity <= limit / 2 ? capacity * 2 : limit + 1;
        status = grow(file, capacity, err);
    }
    return status;
}

void gi_file_data_free(gi_file_data *file) {
    free(file->data);
    gi_open_file_close(file->open);
    *file = (gi_file_data){.data = NULL};
}

static bool begins_as_png(int fd) {
    uint8_t first[GI_SNIFF_BYTES];
    return pread(fd, first, sizeof first, 0) == (ssize_t)sizeof first &&
           gi_format_sniff((gi_bytes){first, sizeof first}) == GI_FORMAT_PNG;
}

// Reads the file, or leaves it open: then `file` owns fd.
static gi_status read_opened(int fd, const gi_read_options *options, bool may_stay, gi_file_data *file, gi_error *err) {
    struct stat st;
    if (fstat(fd, &st) != 0) return gi_fail_errno(err, "cannot read", errno);
    if (S_ISDIR(st.st_mode)) return gi_fail_errno(err, "cannot read", EISDIR);
    bool regular = S_ISREG(st.st_mode);
    if (options->regular_only && !regular) return gi_fail(err, GI_ERR_IO, "no longer a regular file");
    if (regular && may_stay && st.st_size >= GI_LEAVE_OPEN_BYTES && begins_as_png(fd)) {
        file->size = (size_t)st.st_size;
        return gi_open_file_new(fd, options->cancel, &file->open, err);
    }
    if (regular && (uint64_t)st.st_size > limit_of(options)) return too_large(options, err);
    return read_all(fd, regular ? (size_t)st.st_size : 0, options, file, err);
}

gi_status gi_read_file(const char *path, const gi_read_options *options, gi_file_data *file, gi_error *err) {
    *file = (gi_file_data){.data = NULL};
    int fd = options->begun ? options->begun->fd : -1;
    if (options->begun) path = NULL;
    gi_status status = options->begun ? GI_OK : gi_read_open(path, options, &fd, err);
    if (status != GI_OK) return status;
    status = read_opened(fd, options, path && options->leave_open, file, err);
    if (path && !file->open) close(fd);
    if (status != GI_OK) gi_file_data_free(file);
    return status;
}
