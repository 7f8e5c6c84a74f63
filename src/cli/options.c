#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_values.h"

#define ROW(kind, name, long_name, letter, argument, words, min, max, standard, taken_by, help)                        \
    {long_name,      argument, words, standard, help, min, max, offsetof(gi_options, name),                            \
     GI_TYPE_##kind, taken_by, letter},
const gi_global_option gi_global_table[GI_GLOBAL_COUNT] = {GI_GLOBAL_OPTIONS(ROW)};
#undef ROW

// Where the parser stands.
typedef struct parser {
    const gi_option_user *user;
    char *const *next; // the next argument
    gi_options *options;
} parser;

static int find_long(const char *name, size_t length) {
    for (int i = 0; i < GI_GLOBAL_COUNT; i++)
        if (strlen(gi_global_table[i].name) == length && memcmp(gi_global_table[i].name, name, length) == 0) return i;
    return -1;
}

static int find_letter(char letter) {
    for (int i = 0; i < GI_GLOBAL_COUNT; i++)
        if (gi_global_table[i].letter && gi_global_table[i].letter == letter) return i;
    return -1;
}

static gi_status refuse_misplaced(const gi_global_option *option, const char *user, gi_error *err) {
    bool report = option->taken_by & GI_FOR_HIST;
    const char *place = option->taken_by == GI_FOR_PIPELINE ? "run"
                        : option->taken_by == GI_FOR_RUN    ? "commands that read images"
                        : report                            ? "hist and pipelines that end in it"
                                                            : "commands that write images";
    return gi_fail(err, GI_ERR_USAGE, "option --%s is not for %s, but for %s", option->name, user, place);
}

static gi_status refuse_unknown(const parser *p, const char *name, size_t length, gi_error *err) {
    const gi_stage *stage = p->user->stage;
    const char *words[GI_GLOBAL_COUNT + 64];
    size_t count = 0;
    for (int i = 0; stage && i < stage->option_count && i < 64; i++) words[count++] = stage->options[i].name;
    for (int i = 0; i < GI_GLOBAL_COUNT; i++)
        if (gi_global_table[i].taken_by & p->user->mask) words[count++] = gi_global_table[i].name;
    const char *near = gi_word_meant(name, length, words, count);
    int shown = length > 100 ? 100 : (int)length;
    if (near) return gi_fail(err, GI_ERR_USAGE, "unknown option '--%.*s': did you mean '--%s'?", shown, name, near);
    for (int i = 0; i < GI_STAGE_COUNT; i++)
        if (!stage && gi_stage_option_find(&gi_stage_table[i], name, length))
            return gi_fail(err, GI_ERR_USAGE,
                           "unknown option '--%.*s': write it into the pipeline, as in '%s %.*s=...'", shown, name,
                           gi_stage_table[i].name, shown, name);
    return gi_fail(err, GI_ERR_USAGE, "unknown option '--%.*s'", shown, name);
}

// Sets a global option; `value` is what follows '=' or stands in the same bundle, NULL when there is none.
static gi_status set_global(parser *p, int id, const char *value, gi_error *err) {
    const gi_global_option *option = &gi_global_table[id];
    if (!(option->taken_by & p->user->mask)) return refuse_misplaced(option, p->user->name, err);
    p->options->given |= (uint64_t)1 << id;
    if (option->type == GI_TYPE_FLAG) {
        if (value) return gi_fail(err, GI_ERR_USAGE, "option --%s takes no value", option->name);
        // The later of the two counts.
        if (id == GI_GLOBAL_quiet) p->options->verbose = false;
        if (id == GI_GLOBAL_verbose) p->options->quiet = false;
        *(bool *)((char *)p->options + option->field_offset) = true;
        return GI_OK;
    }
    if (!value) value = *p->next ? *p->next++ : NULL;
    if (!value) {
        char accepts[160];
        gi_global_accepts(option, accepts, sizeof accepts);
        return gi_fail(err, GI_ERR_USAGE, "option --%s needs a value: %s", option->name, accepts);
    }
    return gi_global_parse(option, value, p->options, err);
}

static gi_status set_stage_option(parser *p, const gi_stage_option *option, const char *value, gi_error *err) {
    char accepts[200];
    gi_stage_option_accepts(option, accepts, sizeof accepts);
    if (!value) value = *p->next ? *p->next++ : NULL;
    if (!value) return gi_fail(err, GI_ERR_USAGE, "option --%s needs a value: %s", option->name, accepts);
    if (gi_stage_option_parse(option, value, strlen(value), &p->options->stage, NULL))
        return gi_fail(err, GI_ERR_USAGE, "option --%s must be %s, not '%.100s'", option->name, accepts, value);
    return GI_OK;
}

static gi_status parse_long(parser *p, const char *argument, gi_error *err) {
    size_t length = strcspn(argument, "=");
    const char *value = argument[length] == '=' ? argument + length + 1 : NULL;
    int id = find_long(argument, length);
    if (id >= 0) return set_global(p, id, value, err);
    const gi_stage_option *option = p->user->stage ? gi_stage_option_find(p->user->stage, argument, length) : NULL;
    if (option) return set_stage_option(p, option, value, err);
    return refuse_unknown(p, argument, length, err);
}

static gi_status parse_bundle(parser *p, const char *letters, gi_error *err) {
    gi_status status = GI_OK;
    while (*letters && status == GI_OK) {
        int id = find_letter(*letters++);
        if (id < 0) return gi_fail(err, GI_ERR_USAGE, "unknown option '-%c'", letters[-1]);
        bool flag = gi_global_table[id].type == GI_TYPE_FLAG;
        const char *value = !flag && *letters ? letters + (*letters == '=') : NULL;
        status = set_global(p, id, value, err);
        if (value) break;
    }
    return status;
}

gi_status gi_options_parse(const gi_option_user *user, char *const *argv, gi_options *options, gi_error *err) {
    parser p = {user, argv, options};
    size_t count = 0;
    memset(options, 0, sizeof *options);
    if (user->stage) gi_stage_defaults(user->stage, &options->stage);
    while (argv[count]) count++;
    options->operands = calloc(count + 1, sizeof *options->operands);
    if (!options->operands) return gi_fail(err, GI_ERR_MEMORY, "out of memory");
    gi_status status = GI_OK;
    for (int i = 0; i < GI_GLOBAL_COUNT && status == GI_OK; i++)
        if (*gi_global_table[i].standard)
            status = gi_global_parse(&gi_global_table[i], gi_global_table[i].standard, options, err);
    bool only_operands = false;
    while (*p.next && status == GI_OK && !options->help && !options->version) {
        const char *argument = *p.next++;
        if (only_operands || argument[0] != '-' || argument[1] == '\0')
            options->operands[options->operand_count++] = argument;
        else if (strcmp(argument, "--") == 0)
            only_operands = true;
        else
            status = argument[1] == '-' ? parse_long(&p, argument + 2, err) : parse_bundle(&p, argument + 1, err);
    }
    return status;
}

void gi_options_free(gi_options *options) {
    free(options->operands);
    memset(options, 0, sizeof *options);
}

gi_status gi_options_check(const gi_options *options, const char *user, unsigned mask, gi_error *err) {
    for (int i = 0; i < GI_GLOBAL_COUNT; i++)
        if ((options->given >> i & 1) && !(gi_global_table[i].taken_by & (mask | GI_FOR_PIPELINE)))
            return refuse_misplaced(&gi_global_table[i], user, err);
    return GI_OK;
}
