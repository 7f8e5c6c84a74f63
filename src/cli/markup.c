#include "cli/markup.h"

#include <string.h>

static void add_safe(gi_buffer *out, const char *text, size_t size) {
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        size_t length = gi_utf8_decode(text + i, size - i, &code);
        switch (code) {
        case '&': gi_buffer_puts(out, "&amp;"); break;
        case '<': gi_buffer_puts(out, "&lt;"); break;
        case '>': gi_buffer_puts(out, "&gt;"); break;
        case '"': gi_buffer_puts(out, "&quot;"); break;
        case '\'': gi_buffer_puts(out, "&#39;"); break;
        case 0xfffe:
        case 0xffff: gi_buffer_printf(out, "\\u{%04x}", (unsigned)code); break;
        default: gi_buffer_add(out, text + i, length);
        }
        i += length;
    }
}

void gi_markup_add(gi_buffer *out, const char *text) {
    gi_buffer safe = {0}; // valid UTF-8
    gi_buffer_safe(&safe, text);
    if (safe.failed) out->failed = true;
    add_safe(out, safe.data, safe.failed ? 0 : safe.size);
    gi_buffer_free(&safe);
}

void gi_base64_add(gi_buffer *out, const void *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = bytes;
    for (; size; p += 3) {
        size_t taken = size < 3 ? size : 3;
        uint32_t group = (uint32_t)p[0] << 16 | (uint32_t)(taken > 1 ? p[1] : 0) << 8 | (taken > 2 ? p[2] : 0);
        char text[4];
        for (int i = 0; i < 4; i++) text[i] = digits[group >> (18 - 6 * i) & 63];
        for (size_t i = taken + 1; i < 4; i++) text[i] = '=';
        gi_buffer_add(out, text, 4);
        size -= taken;
    }
}
