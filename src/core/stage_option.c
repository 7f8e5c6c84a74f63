// Option values from and to text.
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stage_table.h"
#include "core/text.h"

enum { WORD_BASE = -2 }; // a LEVEL's word number i is stored as WORD_BASE - i

// Word number `index` of "a|b|c": sets *length and returns its start, or NULL past the last.
static const char *word_at(const char *words, int index, size_t *length) {
    if (words[0] == '\0') return NULL;
    for (; index > 0; index--) {
        words = strchr(words, '|');
        if (!words) return NULL;
        words++;
    }
    *length = strcspn(words, "|");
    return words;
}

// The index of the word in "a|b|c", or -1.
static int word_index(const char *words, const char *text, size_t length) {
    size_t word_length = 0;
    const char *word;
    for (int i = 0; (word = word_at(words, i, &word_length)); i++)
        if (word_length == length && memcmp(word, text, length) == 0) return i;
    return -1;
}

static size_t count_digits(const char *text, size_t length) {
    size_t n = 0;
    while (n < length && text[n] >= '0' && text[n] <= '9') n++;
    return n;
}

// The whole text as a decimal integer in [min, max]: digits, perhaps with a minus sign, and nothing else.
static bool parse_integer(const gi_stage_option *option, const char *text, size_t length, int32_t *value) {
    bool negative = length > 0 && text[0] == '-';
    size_t digits = length - negative;
    if (digits == 0 || count_digits(text + negative, digits) != digits) return false;
    int64_t sum = 0;
    for (size_t i = negative; i < length; i++) {
        sum = sum * 10 + (text[i] - '0');
        if (sum > -(int64_t)INT32_MIN) return false;
    }
    if (negative) sum = -sum;
    if ((double)sum < option->min || (double)sum > option->max) return false;
    *value = (int32_t)sum;
    return true;
}

// True for [-]digits[.digits][e[+-]digits] with at least one digit before the exponent: no hex, inf or nan.
static bool is_decimal(const char *text, size_t length) {
    size_t i = length > 0 && text[0] == '-';
    size_t digits = count_digits(text + i, length - i);
    i += digits;
    if (i < length && text[i] == '.') {
        i++;
        size_t fraction = count_digits(text + i, length - i);
        digits += fraction;
        i += fraction;
    }
    if (digits == 0) return false;
    if (i < length && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        if (i < length && (text[i] == '+' || text[i] == '-')) i++;
        size_t exponent = count_digits(text + i, length - i);
        if (exponent == 0) return false;
        i += exponent;
    }
    return i == length;
}

// The whole text as a decimal number in [min, max]. strtod follows the locale's decimal point, which a program that
// uses the library may have changed: hence the C locale for this thread meanwhile.
static bool parse_real(const gi_stage_option *option, const char *text, size_t length, double *value) {
    char copy[64];
    if (length >= sizeof copy || !is_decimal(text, length)) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain) return false;
    locale_t previous = uselocale(plain);
    double number = strtod(copy, NULL);
    uselocale(previous);
    freelocale(plain);
    if (!(number >= option->min && number <= option->max)) return false;
    *value = number + 0.0; // -0 becomes 0
    return true;
}

// True when that many digits read back as the same number.
static bool format_digits(double number, int digits, char *text, size_t size) {
    snprintf(text, size, "%.*g", digits, number);
    double back = strtod(text, NULL);
    return !(back < number || back > number);
}

// The shortest decimal text that reads back as the same number, in the C locale; 40 rather than 4e+01.
static void format_real(double number, char *text, size_t size) {
    enum { MOST_DIGITS = 17, PLAIN_DIGITS = 15 };
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t previous = plain ? uselocale(plain) : (locale_t)0;
    int digits = 1;
    while (!format_digits(number, digits, text, size) && digits < MOST_DIGITS) digits++;
    if (strchr(text, 'e')) {
        format_digits(number, PLAIN_DIGITS, text, size);
        if (strchr(text, 'e') || digits > PLAIN_DIGITS) format_digits(number, digits, text, size);
    }
    if (plain) {
        uselocale(previous);
        freelocale(plain);
    }
}

gi_status gi_stage_option_parse(const gi_stage_option *option, const char *value, size_t length, gi_stage_args *args,
                                gi_error *err) {
    char *field = (char *)args + option->field_offset;
    int word = word_index(option->words, value, length);
    int32_t integer = WORD_BASE - word;
    double real = 0;
    bool good = word >= 0;
    switch (option->type) {
    case GI_OPTION_CHOICE:
        if (good) memcpy(field, &word, sizeof word);
        break;
    case GI_OPTION_INTEGER:
    case GI_OPTION_LEVEL:
        if (!good) good = parse_integer(option, value, length, &integer);
        if (good) memcpy(field, &integer, sizeof integer);
        break;
    case GI_OPTION_REAL:
        good = parse_real(option, value, length, &real);
        if (good) memcpy(field, &real, sizeof real);
        break;
    }
    if (good) return GI_OK;
    char accepts[200], quoted[GI_QUOTE_BYTES];
    gi_stage_option_accepts(option, accepts, sizeof accepts);
    return gi_fail(err, GI_ERR_USAGE, "%s must be %s, not '%s'", option->name, accepts,
                   gi_quote(quoted, value, length));
}

// "a, b or c"
static void add_words(gi_text *text, const char *words) {
    size_t length = 0, next = 0;
    const char *word;
    for (int i = 0; (word = word_at(words, i, &length)); i++) {
        const char *between = i == 0 ? "" : word_at(words, i + 1, &next) ? ", " : " or ";
        gi_text_add(text, "%s%.*s", between, (int)length, word);
    }
}

void gi_stage_option_accepts(const gi_stage_option *option, char *text, size_t size) {
    gi_text out = gi_text_over(text, size);
    char low[32], high[32];
    format_real(option->min, low, sizeof low);
    format_real(option->max, high, sizeof high);
    switch (option->type) {
    case GI_OPTION_CHOICE: add_words(&out, option->words); return;
    case GI_OPTION_REAL: gi_text_add(&out, "a number from %s to %s", low, high); return;
    case GI_OPTION_INTEGER:
    case GI_OPTION_LEVEL: gi_text_add(&out, "an integer from %.0f to %.0f", option->min, option->max); break;
    }
    if (option->words[0] == '\0') return;
    gi_text_add(&out, ", or ");
    add_words(&out, option->words);
}

// The text of a stored value: a word, a number, or nothing where there is neither.
static bool value_text(const gi_stage_option *option, double value, char *text, size_t size) {
    gi_text out = gi_text_over(text, size);
    int index = option->type == GI_OPTION_CHOICE ? (int)value : WORD_BASE - (int)value;
    bool named = option->type == GI_OPTION_CHOICE || (option->type == GI_OPTION_LEVEL && value < 0);
    bool given = value >= option->min && value <= option->max;
    char number[32];
    if (named) {
        size_t length = 0;
        const char *word = index >= 0 ? word_at(option->words, index, &length) : NULL;
        if (!word) return false;
        gi_text_add(&out, "%.*s", (int)length, word);
    } else if (!given) {
        return false;
    } else if (option->type == GI_OPTION_REAL) {
        format_real(value, number, sizeof number);
        gi_text_add(&out, "%s", number);
    } else {
        gi_text_add(&out, "%.0f", value);
    }
    return true;
}

bool gi_stage_option_value(const gi_stage_option *option, const gi_stage_args *args, char *text, size_t size) {
    const char *field = (const char *)args + option->field_offset;
    int choice = 0;
    int32_t integer = 0;
    double value = 0;
    switch (option->type) {
    case GI_OPTION_CHOICE:
        memcpy(&choice, field, sizeof choice);
        value = choice;
        break;
    case GI_OPTION_INTEGER:
    case GI_OPTION_LEVEL:
        memcpy(&integer, field, sizeof integer);
        value = integer;
        break;
    case GI_OPTION_REAL: memcpy(&value, field, sizeof value); break;
    }
    return value_text(option, value, text, size);
}

void gi_stage_option_standard(const gi_stage_option *option, char *text, size_t size) {
    if (value_text(option, option->standard, text, size)) return;
    gi_text out = gi_text_over(text, size);
    gi_text_add(&out, option->type == GI_OPTION_LEVEL ? "half of the range (128; 16-bit: 32768)" : "not given");
}
