// Manifests as --retry-failed reads them: what is taken has a name and an output for each entry, and is listed; what is
// refused has a reason that is safe to print.
#include <stdint.h>
#include <string.h>

#include "cli/retry.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = memory_file(data, size);
    gi_retry retry;
    gi_error err;
    gi_status status = gi_retry_read(path, "gray weights=601", NULL, &retry, &err);
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
