// A growing text for everything that is printed, and the escapes that make hostile bytes harmless.
#ifndef GI_CLI_BUFFER_H
#define GI_CLI_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Starts as {0}. Once memory is short, `failed` stays set and further additions do nothing.
typedef struct gi_buffer {
    char *data; // size bytes, then a NUL; NULL while empty
    size_t size;
    size_t capacity;
    bool failed;
} gi_buffer;

void gi_buffer_add(gi_buffer *text, const void *bytes, size_t size);
void gi_buffer_puts(gi_buffer *text, const char *string);
void gi_buffer_repeat(gi_buffer *text, const char *string, size_t times);
void gi_buffer_number(gi_buffer *text, uint64_t number);
void gi_buffer_printf(gi_buffer *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gi_buffer_free(gi_buffer *text);

// Appends a name or message so that it cannot drive a terminal: control characters (C0, DEL, C1), bidirectional
// overrides and bytes that are no UTF-8 appear as \n, \t, \r, \xNN or \u{NNNN}; all else as it is.
void gi_buffer_safe(gi_buffer *text, const char *string);

// Appends words wrapped at `width` columns; lines after the first are indented. `column` is where the text begins;
// no newline follows the last line.
void gi_buffer_wrap(gi_buffer *text, const char *words, int column, int indent, int width);

// Bytes of the UTF-8 character at `bytes`, and its code point; 0 when it is no valid UTF-8 (`size` > 0).
size_t gi_utf8_decode(const char *bytes, size_t size, uint32_t *code);

// True for what moves a terminal's cursor, changes its state, breaks lines or turns the direction of text.
bool gi_is_control(uint32_t code);

// Writes all of it to a descriptor, or returns false with errno set.
bool gi_write_all(int descriptor, const void *bytes, size_t size);

#endif
