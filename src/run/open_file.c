#include "run/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct gi_open_file {
    int fd;
    volatile sig_atomic_t *cancel;
};

gi_status gi_open_file_new(int fd, volatile sig_atomic_t *cancel, gi_open_file **file, gi_error *err) {
    *file = malloc(sizeof **file);
    if (!*file) return gi_fail(err, GI_ERR_MEMORY, "out of memory for an open file");
    **file = (gi_open_file){fd, cancel};
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL); // the system reads further ahead
    return GI_OK;
}

static gi_status read_at(void *context, size_t at, void *to, size_t size, gi_error *err) {
    const gi_open_file *file = context;
    for (uint8_t *next = to; size > 0;) {
        if (file->cancel && *file->cancel) return gi_fail(err, GI_ERR_CANCELLED, "interrupted");
        ssize_t got = pread(file->fd, next, size, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return gi_fail_errno(err, "cannot read", errno);
        if (got == 0) return gi_fail(err, GI_ERR_IO, "the file became shorter while it was read");
        next += got;
        at += (size_t)got;
        size -= (size_t)got;
    }
    return GI_OK;
}

gi_input gi_open_file_input(gi_open_file *file, size_t size) { return (gi_input){size, read_at, file}; }

void gi_open_file_close(gi_open_file *file) {
    if (file) close(file->fd);
    free(file);
}
