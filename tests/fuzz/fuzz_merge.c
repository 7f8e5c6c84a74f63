// Reports as hist --merge reads them: what is taken adds up; what is refused has a reason that is safe to print.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/merge.h"
#include "tests/fuzz/require.h"

static void check_reason(const gi_error *err) {
    REQUIRE(memchr(err->text, '\0', sizeof err->text) != NULL && err->text[0] != '\0');
    for (const char *c = err->text; *c; c++) REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7F);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int fd = -1;
    static char path[32];
    if (fd < 0) {
        fd = memfd_create("report", 0);
        REQUIRE(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    REQUIRE(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    const gi_report_request request = {.style = &gi_report_json, .total = true};
    gi_report *report = NULL;
    gi_error err;
    REQUIRE(gi_report_open(&request, &report, &err) == GI_OK);
    gi_status status = gi_merge_report(path, report, &err);
    // Twice the same is taken, too, unless the sum is too large.
    if (status == GI_OK) {
        status = gi_merge_report(path, report, &err);
        REQUIRE(status == GI_OK || status == GI_ERR_LIMIT);
    }
    if (status != GI_OK) check_reason(&err);
    gi_report_close(report);
    return 0;
}
