// Text built up piece by piece in a buffer of fixed size, and foreign text made fit to print.
#ifndef GI_CORE_TEXT_H
#define GI_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

// A caller's buffer, always terminated (size 0: nothing is ever written).
typedef struct gi_text {
    char *data;
    size_t size;
    size_t used; // without the terminator
} gi_text;

// An empty text over the buffer.
gi_text gi_text_over(char *data, size_t size);

// Appends; what does not fit is cut off.
void gi_text_add(gi_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes "a, b, c" for "a|b|c" to `text`, which it returns; truncates.
const char *gi_words_listed(const char *words, char *text, size_t size);

enum { GI_QUOTE_BYTES = 64 }; // room that gi_quote needs at most, with its terminator

// Writes `length` bytes of foreign text as it may stand in a message: control characters and bytes that are no UTF-8
// become \xNN, what is long is cut and ends in "...". Returns `quoted`, so that it serves as an argument.
const char *gi_quote(char quoted[GI_QUOTE_BYTES], const char *text, size_t length);

// The ending of a noun in a message of `count` of them: "" for one, else "s".
const char *gi_plural(unsigned long long count);

// Equal but for the case of ASCII letters, whatever the locale: in a Turkish one the I of strcasecmp is not that of i.
bool gi_same_word(const char *a, const char *b);

#endif
