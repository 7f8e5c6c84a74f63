#include "codec/npy_header.h"

#include <string.h>

#include "core/text.h"

typedef struct scanner {
    const char *at, *end;
    gi_npy_header *header;
    gi_error *err;
} scanner;

// A piece of the text.
typedef struct word {
    const char *text;
    size_t length;
} word;

static void skip_blanks(scanner *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')) s->at++;
}

// True when the next part is that character, which is then behind.
static bool take(scanner *s, char c) {
    skip_blanks(s);
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

static gi_status refuse(scanner *s, const char *wanted) {
    char quoted[GI_QUOTE_BYTES];
    size_t left = (size_t)(s->end - s->at);
    if (left == 0) return gi_fail(s->err, GI_ERR_FORMAT, "header: %s is missing at its end", wanted);
    return gi_fail(s->err, GI_ERR_FORMAT, "header: %s is missing before '%s'", wanted,
                   gi_quote(quoted, s->at, left < 16 ? left : 16));
}

static gi_status expect(scanner *s, char c, const char *wanted) { return take(s, c) ? GI_OK : refuse(s, wanted); }

// A quoted text without escapes. What is quoted here never needs one.
static gi_status take_quoted(scanner *s, word *out) {
    skip_blanks(s);
    char quote = s->at < s->end ? *s->at : '\0';
    if (quote != '\'' && quote != '"') return refuse(s, "a quoted text");
    const char *from = ++s->at;
    while (s->at < s->end && *s->at != quote && *s->at != '\\' && *s->at != '\n') s->at++;
    if (s->at == s->end || *s->at != quote) return refuse(s, "the end of a quoted text");
    *out = (word){from, (size_t)(s->at++ - from)};
    return GI_OK;
}

static bool is_word(word w, const char *text) {
    return strlen(text) == w.length && memcmp(w.text, text, w.length) == 0;
}

static gi_status refuse_type(scanner *s, word type) {
    char quoted[GI_QUOTE_BYTES];
    gi_quote(quoted, type.text, type.length);
    if (type.length >= 2 && type.text[1] == 'O')
        return gi_fail(s->err, GI_ERR_UNSUPPORTED, "an array of Python objects ('%s'), which are never loaded", quoted);
    return gi_fail(s->err, GI_ERR_UNSUPPORTED, "elements of type '%s': known are f4, f8, i4, i8 and u1", quoted);
}

static gi_status parse_type(scanner *s) {
    static const char known[GI_ELEMENT_COUNT][3] = {"f4", "f8", "i4", "i8", "u1"};
    const uint16_t probe = 1;
    char here = *(const uint8_t *)&probe ? '<' : '>';
    word type;
    skip_blanks(s);
    if (s->at < s->end && *s->at == '[')
        return gi_fail(s->err, GI_ERR_UNSUPPORTED, "elements with fields: known are f4, f8, i4, i8 and u1");
    gi_status status = take_quoted(s, &type);
    if (status != GI_OK) return status;
    if (type.length != 3) return refuse_type(s, type);
    int element = 0;
    while (element < GI_ELEMENT_COUNT && memcmp(known[element], type.text + 1, 2) != 0) element++;
    char order = type.text[0];
    bool ordered = order == '<' || order == '>' || order == '=';
    if (element == GI_ELEMENT_COUNT || (!ordered && !(order == '|' && element == GI_ELEMENT_U8)))
        return refuse_type(s, type);
    s->header->array.element = (gi_element)element;
    s->header->swapped = element != GI_ELEMENT_U8 && order != '=' && order != here;
    return GI_OK;
}

static gi_status parse_order(scanner *s) {
    skip_blanks(s);
    size_t left = (size_t)(s->end - s->at);
    bool yes = left >= 4 && memcmp(s->at, "True", 4) == 0, no = left >= 5 && memcmp(s->at, "False", 5) == 0;
    if (!yes && !no) return refuse(s, "True or False");
    s->at += yes ? 4 : 5;
    s->header->fortran = yes;
    return GI_OK;
}

// Python 2 wrote an L behind long numbers.
static gi_status parse_length(scanner *s, size_t *length) {
    skip_blanks(s);
    if (s->at < s->end && *s->at == '-') return gi_fail(s->err, GI_ERR_FORMAT, "header: a negative length");
    if (s->at == s->end || *s->at < '0' || *s->at > '9') return refuse(s, "a length");
    *length = 0;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        size_t digit = (size_t)(*s->at - '0');
        if (*length > (PTRDIFF_MAX - digit) / 10)
            return gi_fail(s->err, GI_ERR_LIMIT, "header: a length that no memory holds");
        *length = *length * 10 + digit;
    }
    if (s->at < s->end && *s->at == 'L') s->at++;
    return GI_OK;
}

// (), (3,) or (3, 4); a comma may end the longer ones, too. (3) is a number, not a tuple.
static gi_status parse_shape(scanner *s) {
    gi_array *array = &s->header->array;
    gi_status status = expect(s, '(', "the tuple of lengths");
    bool comma = true;
    while (status == GI_OK && !take(s, ')')) {
        if (!comma) return refuse(s, "a comma or the tuple's end");
        if (array->dimensions == GI_MAX_DIMENSIONS)
            return gi_fail(s->err, GI_ERR_LIMIT, "header: more than %d dimensions", GI_MAX_DIMENSIONS);
        status = parse_length(s, &array->shape[array->dimensions++]);
        comma = status == GI_OK && take(s, ',');
    }
    if (status == GI_OK && array->dimensions == 1 && !comma)
        return gi_fail(s->err, GI_ERR_FORMAT, "header: the shape is a number, not a tuple");
    return status;
}

gi_status gi_npy_dictionary_parse(gi_bytes text, gi_npy_header *header, gi_error *err) {
    static const struct {
        const char *key;
        gi_status (*parse)(scanner *);
    } keys[] = {{"descr", parse_type}, {"fortran_order", parse_order}, {"shape", parse_shape}};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    scanner s = {(const char *)text.data, (const char *)text.data + text.size, header, err};
    unsigned seen = 0;
    gi_status status = expect(&s, '{', "the dictionary");
    bool comma = true;
    while (status == GI_OK && !take(&s, '}')) {
        char quoted[GI_QUOTE_BYTES];
        word key;
        size_t i = 0;
        if (!comma) return refuse(&s, "a comma or the dictionary's end");
        if ((status = take_quoted(&s, &key)) != GI_OK) return status;
        while (i < KEYS && !is_word(key, keys[i].key)) i++;
        if (i == KEYS || (seen >> i & 1))
            return gi_fail(err, GI_ERR_FORMAT, "header: %s key '%s'", i == KEYS ? "unknown" : "repeated",
                           gi_quote(quoted, key.text, key.length));
        seen |= 1U << i;
        status = expect(&s, ':', "a colon");
        if (status == GI_OK) status = keys[i].parse(&s);
        comma = status == GI_OK && take(&s, ',');
    }
    if (status != GI_OK) return status;
    for (size_t i = 0; i < KEYS; i++)
        if (!(seen >> i & 1)) return gi_fail(err, GI_ERR_FORMAT, "header: '%s' is missing", keys[i].key);
    skip_blanks(&s);
    return s.at == s.end ? GI_OK : gi_fail(err, GI_ERR_FORMAT, "header: text behind the dictionary");
}
