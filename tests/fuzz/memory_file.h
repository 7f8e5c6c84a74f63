// For targets that read files by name: the input as a file, and reasons that are safe to print.
#ifndef GI_TESTS_FUZZ_MEMORY_FILE_H
#define GI_TESTS_FUZZ_MEMORY_FILE_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/status.h"
#include "tests/fuzz/require.h"

// The name of a file with these bytes, until the next call.
static inline const char *memory_file(const uint8_t *data, size_t size) {
    static int fd = -1;
    static char path[32];
    if (fd < 0) {
        fd = memfd_create("input", 0);
        REQUIRE(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    REQUIRE(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    return path;
}

static inline void check_reason(const gi_error *err) {
    REQUIRE(memchr(err->text, '\0', sizeof err->text) != NULL && err->text[0] != '\0');
    for (const char *c = err->text; *c; c++) REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7F);
}

#endif
