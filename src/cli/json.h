// JSON as the program writes and reads it.
#ifndef GI_CLI_JSON_H
#define GI_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/buffer.h"
#include "core/status.h"

// ---- writing ------------------------------------------------------------------------------------------------------

// Appends a string. False when some bytes were no UTF-8 and stand as U+FFFD each.
bool gi_json_add_string(gi_buffer *text, const char *string);

// Appends "KEY":"NAME"; where the name is no UTF-8, also ,"KEY_hex":"..." with its exact bytes.
void gi_json_add_name(gi_buffer *text, const char *key, const char *name);

// ---- reading ------------------------------------------------------------------------------------------------------

// Where a reader stands in a text, which stays the caller's. Every function below begins at a value and ends behind it,
// or fails with GI_ERR_FORMAT and "byte N: ...". Text is what RFC 8259 allows; beyond that, a string that holds NUL and
// values nested deeper than GI_JSON_DEPTH are refused.
typedef struct gi_json {
    const char *begin, *at, *end;
    int depth;
} gi_json;

enum { GI_JSON_DEPTH = 64 };

gi_json gi_json_over(const char *text, size_t size);

// Calls `member` at the value of each member, `element` at each element; it must read the value or skip it.
typedef gi_status (*gi_json_member)(void *context, gi_json *json, const char *key, gi_error *err);
typedef gi_status (*gi_json_element)(void *context, gi_json *json, size_t index, gi_error *err);
gi_status gi_json_object(gi_json *json, gi_json_member member, void *context, gi_error *err);
gi_status gi_json_array(gi_json *json, gi_json_element element, void *context, gi_error *err);

// Replaces *text by the string's bytes (text->data is not NULL then).
gi_status gi_json_string(gi_json *json, gi_buffer *text, gi_error *err);

// An integer from 0 to 2^64 - 1, written without sign, fraction and exponent.
gi_status gi_json_unsigned(gi_json *json, uint64_t *number, gi_error *err);

// True, and behind it, at null, or at true; else nothing happens.
bool gi_json_null(gi_json *json);
bool gi_json_true(gi_json *json);

// Any value.
gi_status gi_json_skip(gi_json *json, gi_error *err);

// Only blanks may be left.
gi_status gi_json_end(gi_json *json, gi_error *err);

// Fails at the place where the reader stands.
gi_status gi_json_fail(const gi_json *json, gi_error *err, const char *reason);

#endif
