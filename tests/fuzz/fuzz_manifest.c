// Manifests as --retry-failed reads them: what is taken has a name and an output for each entry, and is listed; what is
// refused has a reason that is safe to print.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/retry.h"
#include "tests/fuzz/require.h"

static void check_reason(const gi_error *err) {
    REQUIRE(memchr(err->text, '\0', sizeof err->text) != NULL && err->text[0] != '\0');
    for (const char *c = err->text; *c; c++) REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7F);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int fd = -1;
    static char path[32];
    if (fd < 0) {
        fd = memfd_create("manifest", 0);
        REQUIRE(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    REQUIRE(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    gi_retry retry;
    gi_error err;
    gi_status status = gi_retry_read(path, NULL, &retry, &err);
    if (status != GI_OK) check_reason(&err);
    for (size_t i = 0; status == GI_OK && i < retry.count; i++) {
        const gi_retry_entry *entry = &retry.entries[i];
        REQUIRE(entry->path && entry->path[0] && entry->failed && entry->line > 0);
        REQUIRE(i == 0 || strcmp(entry[-1].path, entry->path) < 0);
        REQUIRE(!entry->output || entry->output[0]);
    }
    gi_retry_free(&retry);
    return 0;
}
