// Reports as hist --merge reads them: what is taken adds up; what is refused has a reason that is safe to print.
#include <stdint.h>

#include "cli/merge.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = memory_file(data, size);
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
