#include "cli/buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/checked.h"

static bool reserve(gi_buffer *text, size_t more) {
    size_t need;
    if (text->failed) return false;
    if (gi_add(text->size, more, &need) && gi_add(need, 1, &need)) {
        if (need <= text->capacity) return true;
        size_t capacity = text->capacity < 128 ? 128 : text->capacity;
        while (capacity < need && capacity <= SIZE_MAX / 2) capacity *= 2;
        char *data = capacity < need ? NULL : realloc(text->data, capacity);
        if (data) {
            text->data = data;
            text->capacity = capacity;
            return true;
        }
    }
    text->failed = true;
    return false;
}

void gi_buffer_add(gi_buffer *text, const void *bytes, size_t size) {
    if (!reserve(text, size)) return;
    if (size) memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void gi_buffer_puts(gi_buffer *text, const char *string) { gi_buffer_add(text, string, strlen(string)); }

void gi_buffer_repeat(gi_buffer *text, const char *string, size_t times) {
    for (size_t i = 0; i < times; i++) gi_buffer_puts(text, string);
}

// Reports are mostly counts, and printf would take most of their time.
void gi_buffer_number(gi_buffer *text, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    gi_buffer_add(text, digits + at, sizeof digits - at);
}

void gi_buffer_printf(gi_buffer *text, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int size = vsnprintf(NULL, 0, format, list);
    if (size < 0) {
        text->failed = true;
    } else if (reserve(text, (size_t)size)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
    va_end(list);
}

void gi_buffer_free(gi_buffer *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}

size_t gi_utf8_decode(const char *bytes, size_t size, uint32_t *code) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)bytes;
    size_t length = p[0] < 0x80             ? 1
                    : (p[0] & 0xe0) == 0xc0 ? 2
                    : (p[0] & 0xf0) == 0xe0 ? 3
                    : (p[0] & 0xf8) == 0xf0 ? 4
                                            : 0;
    if (length == 0 || length > size) return 0;
    uint32_t value = length == 1 ? p[0] : p[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        value = (value << 6) | (p[i] & 0x3fU);
    }
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
    *code = value;
    return length;
}

// Characters that turn the direction of the text around them.
static bool is_bidi_control(uint32_t code) {
    return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f;
}

bool gi_is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 || is_bidi_control(code);
}

static void add_control(gi_buffer *text, unsigned char byte) {
    switch (byte) {
    case '\n': gi_buffer_puts(text, "\\n"); break;
    case '\t': gi_buffer_puts(text, "\\t"); break;
    case '\r': gi_buffer_puts(text, "\\r"); break;
    default: gi_buffer_printf(text, "\\x%02x", byte);
    }
}

void gi_buffer_safe(gi_buffer *text, const char *string) {
    size_t left = strlen(string);
    while (left) {
        uint32_t code = 0;
        size_t length = gi_utf8_decode(string, left, &code);
        if (length == 0) {
            gi_buffer_printf(text, "\\x%02x", (unsigned char)*string);
            length = 1;
        } else if (code < 0x20 || code == 0x7f) {
            add_control(text, (unsigned char)code);
        } else if (gi_is_control(code)) {
            gi_buffer_printf(text, "\\u{%04x}", (unsigned)code);
        } else {
            gi_buffer_add(text, string, length);
        }
        string += length;
        left -= length;
    }
}

void gi_buffer_wrap(gi_buffer *text, const char *words, int column, int indent, int width) {
    bool first = true;
    while (*words) {
        words += strspn(words, " ");
        int length = (int)strcspn(words, " ");
        if (length == 0) break;
        if (!first && column + 1 + length > width) {
            gi_buffer_printf(text, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            gi_buffer_puts(text, " ");
            column++;
        }
        gi_buffer_add(text, words, (size_t)length);
        column += length;
        words += length;
        first = false;
    }
}

bool gi_write_all(int descriptor, const void *bytes, size_t size) {
    const char *p = bytes;
    while (size) {
        ssize_t written = write(descriptor, p, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        p += written;
        size -= (size_t)written;
    }
    return true;
}
