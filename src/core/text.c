#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

gi_text gi_text_over(char *data, size_t size) {
    gi_text text = {data, size, 0};
    if (size > 0) data[0] = '\0';
    return text;
}

void gi_text_add(gi_text *text, const char *format, ...) {
    if (text->used + 1 >= text->size) return;
    size_t room = text->size - text->used;
    va_list list;
    va_start(list, format);
    int wanted = vsnprintf(text->data + text->used, room, format, list);
    va_end(list);
    if (wanted > 0) text->used += (size_t)wanted < room ? (size_t)wanted : room - 1;
}

const char *gi_words_listed(const char *words, char *text, size_t size) {
    gi_text out = gi_text_over(text, size);
    while (*words) {
        int length = (int)strcspn(words, "|");
        gi_text_add(&out, "%s%.*s", out.used ? ", " : "", length, words);
        words += length + (words[length] == '|');
    }
    return text;
}

// Bytes of the printable character that begins at text[0]: 1 for ASCII, 2..4 for UTF-8 in its shortest form, 0 for
// control characters (C0, DEL and C1), surrogates, values past U+10FFFF and anything malformed.
static size_t printable_bytes(const char *text, size_t length) {
    static const unsigned smallest[] = {0, 0, 0xA0, 0x800, 0x10000};
    unsigned char lead = (unsigned char)text[0];
    if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
    size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC0 || lead > 0xF4 || bytes > length) return 0;
    unsigned code = lead & (0x7FU >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xC0) != 0x80) return 0;
        code = code << 6 | (next & 0x3FU);
    }
    if (code < smallest[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
    return bytes;
}

const char *gi_quote(char quoted[GI_QUOTE_BYTES], const char *text, size_t length) {
    enum { ELLIPSIS = 3 };
    size_t used = 0, kept = 0; // kept: where an ellipsis still fits
    for (size_t i = 0; i < length;) {
        size_t bytes = printable_bytes(text + i, length - i);
        size_t written = bytes ? bytes : 4; // \xNN
        if (used + written >= GI_QUOTE_BYTES) {
            memcpy(quoted + kept, "...", ELLIPSIS);
            used = kept + ELLIPSIS;
            break;
        }
        if (bytes)
            memcpy(quoted + used, text + i, bytes);
        else
            snprintf(quoted + used, GI_QUOTE_BYTES - used, "\\x%02x", (unsigned)(unsigned char)text[i]);
        used += written;
        i += bytes ? bytes : 1;
        if (used + ELLIPSIS < GI_QUOTE_BYTES) kept = used;
    }
    quoted[used] = '\0';
    return quoted;
}

const char *gi_plural(unsigned long long count) { return count == 1 ? "" : "s"; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool gi_same_word(const char *a, const char *b) {
    while (*a && lower(*a) == lower(*b)) a++, b++;
    return lower(*a) == lower(*b);
}
