#include "core/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

gi_status gi_failv(gi_error *err, gi_status status, const char *format, va_list list) {
    if (!err) return status;
    err->status = status;
    err->place_offset = -1;
    err->place_length = 0;
    err->system = 0;
    vsnprintf(err->text, sizeof err->text, format, list);
    return status;
}

gi_status gi_fail(gi_error *err, gi_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    gi_failv(err, status, format, list);
    va_end(list);
    return status;
}

gi_status gi_fail_errno(gi_error *err, const char *what, int error_number) {
    char text[128];
    gi_status status = error_number == ENOMEM ? GI_ERR_MEMORY : GI_ERR_IO;
    gi_fail(err, status, "%s: %s", what, strerror_r(error_number, text, sizeof text));
    if (err) err->system = error_number;
    return status;
}

const char *gi_status_name(gi_status status) {
    static const char *const names[GI_STATUS_COUNT] = {"ok",          "usage",         "input/output", "format",
                                                       "unsupported", "limit",         "exists",       "memory",
                                                       "device",      "device memory", "cancelled"};
    return (unsigned)status < GI_STATUS_COUNT ? names[status] : "unknown";
}
