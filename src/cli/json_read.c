// JSON, read: by descent, with a limit to the depth.
#include <string.h>

#include "cli/json.h"

gi_json gi_json_over(const char *text, size_t size) { return (gi_json){text, text, text + size, 0}; }

gi_status gi_json_fail(const gi_json *json, gi_error *err, const char *reason) {
    return gi_fail(err, GI_ERR_FORMAT, "byte %zu: %s", (size_t)(json->at - json->begin) + 1, reason);
}

static void skip_blanks(gi_json *json) {
    while (json->at < json->end && memchr(" \t\r\n", *json->at, 4)) json->at++;
}

// Takes the byte, behind blanks, if it is the next.
static bool take(gi_json *json, char byte) {
    skip_blanks(json);
    bool there = json->at < json->end && *json->at == byte;
    json->at += there;
    return there;
}

static bool take_word(gi_json *json, const char *word) {
    size_t length = strlen(word);
    skip_blanks(json);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0) return false;
    json->at += length;
    return true;
}

bool gi_json_null(gi_json *json) { return take_word(json, "null"); }

bool gi_json_true(gi_json *json) { return take_word(json, "true"); }

gi_status gi_json_end(gi_json *json, gi_error *err) {
    skip_blanks(json);
    return json->at == json->end ? GI_OK : gi_json_fail(json, err, "more text behind the value");
}

// ---- strings ------------------------------------------------------------------------------------------------------

static bool take_hex4(gi_json *json, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = json->at < json->end && *json->at ? strchr(digits, *json->at | 0x20) : NULL;
        if (!digit) return false;
        *code = *code * 16 + (uint32_t)(digit - digits);
        json->at++;
    }
    return true;
}

// Behind "\u": one character, of two escapes where the first is half of a pair.
static gi_status take_code(gi_json *json, uint32_t *code, gi_error *err) {
    uint32_t low = 0;
    if (!take_hex4(json, code)) return gi_json_fail(json, err, "\\u wants four hexadecimal digits");
    if (*code == 0) return gi_json_fail(json, err, "a NUL in a string");
    if (*code < 0xd800 || *code > 0xdfff) return GI_OK;
    bool pair = *code < 0xdc00 && json->end - json->at >= 6 && json->at[0] == '\\' && json->at[1] == 'u';
    if (pair) json->at += 2;
    if (!pair || !take_hex4(json, &low) || low < 0xdc00 || low > 0xdfff)
        return gi_json_fail(json, err, "half of a surrogate pair");
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return GI_OK;
}

static void add_utf8(gi_buffer *text, uint32_t code) {
    char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(lead[length] | code);
    gi_buffer_add(text, bytes, length);
}

static gi_status take_escape(gi_json *json, gi_buffer *text, gi_error *err) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char letter = json->at < json->end ? *json->at : '\0';
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (known) {
        gi_buffer_add(text, &meant[known - letters], 1);
    } else if (letter == 'u') {
        uint32_t code;
        json->at++;
        gi_status status = take_code(json, &code, err);
        if (status == GI_OK) add_utf8(text, code);
        return status;
    } else {
        return gi_json_fail(json, err, "an unknown escape in a string");
    }
    json->at++;
    return GI_OK;
}

gi_status gi_json_string(gi_json *json, gi_buffer *text, gi_error *err) {
    text->size = 0;
    gi_buffer_puts(text, "");
    if (!take(json, '"')) return gi_json_fail(json, err, "a string is wanted");
    while (json->at < json->end && *json->at != '"') {
        uint32_t code = 0;
        size_t length = gi_utf8_decode(json->at, (size_t)(json->end - json->at), &code);
        if (length == 0) return gi_json_fail(json, err, "bytes that are no UTF-8");
        if (code < 0x20) return gi_json_fail(json, err, "a control character in a string");
        if (code == '\\') {
            json->at++;
            gi_status status = take_escape(json, text, err);
            if (status != GI_OK) return status;
        } else {
            gi_buffer_add(text, json->at, length);
            json->at += length;
        }
    }
    if (!take(json, '"')) return gi_json_fail(json, err, "a string without its end");
    return text->failed ? gi_fail(err, GI_ERR_MEMORY, "out of memory") : GI_OK;
}

// ---- numbers ------------------------------------------------------------------------------------------------------

static size_t take_digits(gi_json *json) {
    const char *from = json->at;
    while (json->at < json->end && *json->at >= '0' && *json->at <= '9') json->at++;
    return (size_t)(json->at - from);
}

// Any number, as text.
static gi_status take_number(gi_json *json, gi_error *err) {
    json->at += json->at < json->end && *json->at == '-';
    const char *digits = json->at;
    size_t count = take_digits(json);
    bool good = count > 0 && (count == 1 || *digits != '0');
    if (good && json->at < json->end && *json->at == '.') {
        json->at++;
        good = take_digits(json) > 0;
    }
    if (good && json->at < json->end && (*json->at | 0x20) == 'e') {
        json->at++;
        json->at += json->at < json->end && (*json->at == '+' || *json->at == '-');
        good = take_digits(json) > 0;
    }
    return good ? GI_OK : gi_json_fail(json, err, "no value of JSON");
}

gi_status gi_json_unsigned(gi_json *json, uint64_t *number, gi_error *err) {
    skip_blanks(json);
    const gi_json start = *json;
    gi_status status = take_number(json, err);
    if (status != GI_OK) return status;
    *number = 0;
    for (const char *p = start.at; p < json->at; p++) {
        if (*p < '0' || *p > '9') return gi_json_fail(&start, err, "a whole number from 0 on is wanted");
        uint64_t digit = (uint64_t)(*p - '0');
        if (*number > (UINT64_MAX - digit) / 10) return gi_json_fail(&start, err, "a number past 64 bits");
        *number = *number * 10 + digit;
    }
    return GI_OK;
}

// ---- objects and arrays -------------------------------------------------------------------------------------------

static gi_status take_member(gi_json *json, gi_json_member member, void *context, gi_error *err) {
    gi_buffer key = {0};
    gi_status status = gi_json_string(json, &key, err);
    if (status == GI_OK && !take(json, ':')) status = gi_json_fail(json, err, "a colon is wanted");
    if (status == GI_OK) status = member(context, json, key.data, err);
    gi_buffer_free(&key);
    return status;
}

static gi_status deeper(gi_json *json, char opening, const char *wanted, gi_error *err) {
    if (!take(json, opening)) return gi_json_fail(json, err, wanted);
    return ++json->depth > GI_JSON_DEPTH ? gi_json_fail(json, err, "nested too deep") : GI_OK;
}

gi_status gi_json_object(gi_json *json, gi_json_member member, void *context, gi_error *err) {
    gi_status status = deeper(json, '{', "an object is wanted", err);
    if (status != GI_OK) return status;
    bool more = !take(json, '}');
    while (more) {
        status = take_member(json, member, context, err);
        if (status != GI_OK) return status;
        more = take(json, ',');
        if (!more && !take(json, '}')) return gi_json_fail(json, err, "a comma or the object's end is wanted");
    }
    json->depth--;
    return GI_OK;
}

gi_status gi_json_array(gi_json *json, gi_json_element element, void *context, gi_error *err) {
    gi_status status = deeper(json, '[', "an array is wanted", err);
    if (status != GI_OK) return status;
    bool more = !take(json, ']');
    for (size_t i = 0; more; i++) {
        status = element(context, json, i, err);
        if (status != GI_OK) return status;
        more = take(json, ',');
        if (!more && !take(json, ']')) return gi_json_fail(json, err, "a comma or the array's end is wanted");
    }
    json->depth--;
    return GI_OK;
}

static gi_status skip_member(void *context, gi_json *json, const char *key, gi_error *err) {
    (void)context, (void)key;
    return gi_json_skip(json, err);
}

static gi_status skip_element(void *context, gi_json *json, size_t index, gi_error *err) {
    (void)context, (void)index;
    return gi_json_skip(json, err);
}

gi_status gi_json_skip(gi_json *json, gi_error *err) {
    skip_blanks(json);
    char first = json->at < json->end ? *json->at : '\0';
    if (first == '{') return gi_json_object(json, skip_member, NULL, err);
    if (first == '[') return gi_json_array(json, skip_element, NULL, err);
    if (first == '"') {
        gi_buffer text = {0};
        gi_status status = gi_json_string(json, &text, err);
        gi_buffer_free(&text);
        return status;
    }
    if (take_word(json, "null") || take_word(json, "true") || take_word(json, "false")) return GI_OK;
    return take_number(json, err);
}
