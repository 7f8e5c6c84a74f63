// JSON, written.
#include <string.h>

#include "cli/json.h"

static void add_character(gi_buffer *text, const char *bytes, size_t length, uint32_t code) {
    if (code == '"' || code == '\\')
        gi_buffer_printf(text, "\\%c", (int)code);
    else if (code == '\n')
        gi_buffer_puts(text, "\\n");
    else if (code == '\t')
        gi_buffer_puts(text, "\\t");
    else if (gi_is_control(code)) // all of them below U+10000
        gi_buffer_printf(text, "\\u%04x", (unsigned)code);
    else
        gi_buffer_add(text, bytes, length);
}

bool gi_json_add_string(gi_buffer *text, const char *string) {
    bool valid = true;
    size_t left = strlen(string);
    gi_buffer_puts(text, "\"");
    while (left) {
        uint32_t code = 0;
        size_t length = gi_utf8_decode(string, left, &code);
        if (length) {
            add_character(text, string, length, code);
        } else {
            gi_buffer_puts(text, "\\ufffd");
            valid = false;
            length = 1;
        }
        string += length;
        left -= length;
    }
    gi_buffer_puts(text, "\"");
    return valid;
}

void gi_json_add_name(gi_buffer *text, const char *key, const char *name) {
    gi_buffer_printf(text, "\"%s\":", key);
    if (gi_json_add_string(text, name)) return;
    gi_buffer_printf(text, ",\"%s_hex\":\"", key);
    for (const char *p = name; *p; p++) gi_buffer_printf(text, "%02x", (unsigned)(unsigned char)*p);
    gi_buffer_puts(text, "\"");
}
