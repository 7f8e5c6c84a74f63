#include "cli/option_values.h"

#include <stdio.h>
#include <string.h>

#include "cli/shard_option.h"
#include "core/text.h"
#include "run/device.h"

void gi_words_text(const char *words, char *text, size_t size) {
    size_t used = 0;
    if (size) text[0] = '\0';
    while (*words && used < size) {
        int length = (int)strcspn(words, "|");
        const char *rest = words[length] ? words + length + 1 : words + length;
        const char *separator = !*rest ? "" : strchr(rest, '|') ? ", " : " or ";
        int written = snprintf(text + used, size - used, "%.*s%s", length, words, separator);
        used += written > 0 ? (size_t)written : 0;
        words = rest;
    }
}

void gi_global_accepts(const gi_global_option *option, char *text, size_t size) {
    switch (option->type) {
    case GI_TYPE_FLAG: snprintf(text, size, "%s", ""); break;
    case GI_TYPE_SIZE:
    case GI_TYPE_BYTES:
        snprintf(text, size, "an integer from %.0f to %.0f, with k, M or G behind it where wanted", option->min,
                 option->max);
        break;
    case GI_TYPE_COUNT: snprintf(text, size, "an integer from %.0f to %.0f", option->min, option->max); break;
    case GI_TYPE_CHOICE:
    case GI_TYPE_DEVICE: gi_words_text(option->words, text, size); break;
    case GI_TYPE_SHARD: snprintf(text, size, "I/N with I from 1 to N, or auto"); break;
    case GI_TYPE_COLOUR: snprintf(text, size, "#rgb, #rrggbb, r,g,b (0 to 255 each), white or black"); break;
    case GI_TYPE_TEXT: snprintf(text, size, "a file name"); break;
    }
}

// Decimal digits alone, at most `limit`; *end is set behind them.
static bool parse_digits(const char *text, uint64_t limit, uint64_t *out, const char **end) {
    uint64_t value = 0;
    if (*text < '0' || *text > '9') return false;
    for (; *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (digit > limit || value > (limit - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    *end = text;
    return true;
}

static bool parse_number(const gi_global_option *option, const char *text, uint64_t *out) {
    uint64_t factor = 1, max = (uint64_t)option->max;
    const char *end = NULL;
    if (!parse_digits(text, max, out, &end)) return false;
    if (option->type != GI_TYPE_COUNT && *end) {
        const uint64_t kilo = option->type == GI_TYPE_BYTES ? 1024 : 1000;
        factor = *end == 'k' || *end == 'K' ? kilo : *end == 'M' ? kilo * kilo : *end == 'G' ? kilo * kilo * kilo : 0;
        end++;
    }
    if (*end || factor == 0 || *out > max / factor) return false;
    *out *= factor;
    return *out >= (uint64_t)option->min;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool parse_hex_colour(const char *digits, gi_colour *colour) {
    size_t length = strlen(digits);
    if (length != 3 && length != 6) return false;
    for (size_t i = 0; i < 3; i++) {
        int high = hex_digit(digits[i * length / 3]), low = hex_digit(digits[i * length / 3 + (length == 6)]);
        if (high < 0 || low < 0) return false;
        colour->rgb[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

bool gi_colour_parse(const char *text, gi_colour *colour) {
    bool white = gi_same_word(text, "white");
    if (white || gi_same_word(text, "black")) {
        memset(colour->rgb, white ? 255 : 0, sizeof colour->rgb);
        return true;
    }
    if (*text == '#') return parse_hex_colour(text + 1, colour);
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        const char *end = NULL;
        if (!parse_digits(text, 255, &value, &end) || *end != (i < 2 ? ',' : '\0')) return false;
        colour->rgb[i] = (uint8_t)value;
        text = end + 1;
    }
    return true;
}

// The word's place in "a|b|c" from 0, or -1.
static int word_index(const char *words, const char *text) {
    size_t size = strlen(text);
    for (int i = 0; *words; i++) {
        size_t length = strcspn(words, "|");
        if (length == size && memcmp(words, text, size) == 0) return i;
        words += length + (words[length] == '|');
    }
    return -1;
}

int gi_options_choice(const gi_options *options, gi_global_id id) {
    const gi_global_option *option = &gi_global_table[id];
    return word_index(option->words, *(const char *const *)((const char *)options + option->field_offset));
}

gi_status gi_options_check_codec(const gi_options *options, bool on_cpu, gi_error *err) {
    gi_codec_choice codec = (gi_codec_choice)gi_options_choice(options, GI_GLOBAL_codec);
    gi_error cause;
    if (gi_codec_check(codec, &cause)) return gi_fail(err, GI_ERR_USAGE, "--codec %s: %s", options->codec, cause.text);
    if (on_cpu && codec == GI_CODEC_NVJPEG)
        return gi_fail(err, GI_ERR_USAGE, "--codec nvjpeg is for pipelines: this command decodes images on the CPU");
    return GI_OK;
}

int gi_options_depth(const gi_options *options) {
    return !options->depth ? 0 : strcmp(options->depth, "8") == 0 ? 8 : 16;
}

static bool parse_value(const gi_global_option *option, const char *value, void *field) {
    uint64_t number = 0;
    gi_device_request request;
    gi_shard shard;
    switch (option->type) {
    case GI_TYPE_COUNT:
        if (!parse_number(option, value, &number)) return false;
        *(int *)field = (int)number;
        return true;
    case GI_TYPE_SIZE:
    case GI_TYPE_BYTES: return parse_number(option, value, field);
    case GI_TYPE_COLOUR: return gi_colour_parse(value, field);
    case GI_TYPE_CHOICE:
        if (word_index(option->words, value) < 0) return false;
        break;
    case GI_TYPE_DEVICE:
        if (gi_device_parse(value, &request, NULL)) return false;
        break;
    case GI_TYPE_SHARD:
        if (strcmp(value, "auto") != 0 && !gi_shard_parse(value, &shard)) return false;
        break;
    case GI_TYPE_TEXT:
        if (!*value) return false;
        break;
    case GI_TYPE_FLAG: return false;
    }
    *(const char **)field = value;
    return true;
}

gi_status gi_global_parse(const gi_global_option *option, const char *value, gi_options *options, gi_error *err) {
    char accepts[160];
    if (parse_value(option, value, (char *)options + option->field_offset)) return GI_OK;
    gi_global_accepts(option, accepts, sizeof accepts);
    return gi_fail(err, GI_ERR_USAGE, "option --%s must be %s, not '%.100s'", option->name, accepts, value);
}

const char *gi_word_meant(const char *typed, size_t length, const char *const *words, size_t count) {
    const char *longer = NULL;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(words[i], typed, length) != 0) continue;
        longer = words[i];
        found++;
    }
    return found == 1 && length >= 2 ? longer : gi_nearest_word(typed, length, words, count);
}
