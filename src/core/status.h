// Status codes and error texts shared by every layer.
#ifndef GI_CORE_STATUS_H
#define GI_CORE_STATUS_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// What went wrong, coarse enough to choose an exit status or a fallback by. The reason a person reads is in gi_error.
typedef enum gi_status {
    GI_OK = 0,
    GI_ERR_USAGE,         // the request makes no sense: unknown stage, value out of range, colliding outputs
    GI_ERR_IO,            // the system refused to read, write, create or rename
    GI_ERR_FORMAT,        // the bytes are no valid PNG or JPEG, or are damaged
    GI_ERR_UNSUPPORTED,   // a valid file of a kind this build cannot read or write
    GI_ERR_LIMIT,         // larger than a limit (--max-pixels, a codec's own)
    GI_ERR_EXISTS,        // the output exists and must not be replaced
    GI_ERR_MEMORY,        // host memory exhausted
    GI_ERR_DEVICE,        // the device (or the sandbox) asked for is not usable, or failed
    GI_ERR_DEVICE_MEMORY, // device memory exhausted: the caller may retry in bands or on the CPU
    GI_ERR_CANCELLED,     // SIGINT/SIGTERM, or --fail-fast after another file's failure
    GI_STATUS_COUNT
} gi_status;

// Caller-owned reason of a failure: one line, no trailing newline, no "gpuimg:" prefix and no file name in front
// (whoever prints it adds both).
typedef struct gi_error {
    gi_status status;
    int place_offset; // byte offset into the text that was being parsed, where a caret belongs; -1: none
    int place_length; // bytes to underline from there, at least 1 when place_offset >= 0
    int system;       // the system's errno behind it; 0: none
    char text[480];
} gi_error;

// Fills *err (which may be NULL) with the formatted reason, no place, and returns status: `return gi_fail(err, ...);`
gi_status gi_fail(gi_error *err, gi_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

// As gi_fail with a printf-style va_list.
gi_status gi_failv(gi_error *err, gi_status status, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

// Fails with GI_ERR_IO and the text "WHAT: strerror(error_number)"; ENOMEM becomes GI_ERR_MEMORY.
gi_status gi_fail_errno(gi_error *err, const char *what, int error_number);

// The status's name in lower case words, for logs and tests: "ok", "usage", "device memory", ...
const char *gi_status_name(gi_status status);

#ifdef __cplusplus
}
#endif
#endif
