#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/option_values.h"
#include "core/text.h"

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

static bool has_name(int id, const char *name, size_t length) {
    return strlen(gi_global_table[id].name) == length && memcmp(gi_global_table[id].name, name, length) == 0;
}

// The first row of that name which is for the mask, else the first of all, else -1.
static int find_long(unsigned mask, const char *name, size_t length) {
    int found = -1;
    for (int i = 0; i < GI_GLOBAL_COUNT; i++) {
        if (!has_name(i, name, length)) continue;
        if (gi_global_table[i].taken_by & mask) return i;
        if (found < 0) found = i;
    }
    return found;
}

static bool is_first_of_name(unsigned mask, int id) {
    const char *name = gi_global_table[id].name;
    return (gi_global_table[id].taken_by & mask) && find_long(mask, name, strlen(name)) == id;
}

// Likewise of that letter.
static int find_letter(unsigned mask, char letter) {
    int found = -1;
    for (int i = 0; i < GI_GLOBAL_COUNT; i++) {
        if (!gi_global_table[i].letter || gi_global_table[i].letter != letter) continue;
        if (gi_global_table[i].taken_by & mask) return i;
        if (found < 0) found = i;
    }
    return found;
}

static const char *place_of(const gi_global_option *option) {
    switch (option->taken_by) {
    case GI_FOR_PIPELINE: return "run";
    case GI_FOR_RUN:
    case GI_FOR_LIST:
    case GI_FOR_DECODE | GI_FOR_FILE_INFO:
    case GI_FOR_DECODE: return "commands that read images";
    case GI_FOR_HIST: return "hist and pipelines that end in it";
    case GI_FOR_IMAGE: return "commands that write images";
    case GI_FOR_FILE_INFO: return "info";
    case GI_FOR_MATMUL: return "matmul";
    case GI_FOR_REDUCE: return "reduce";
    case GI_FOR_SCAN: return "scan";
    case GI_FOR_BENCH: return "bench";
    case GI_FOR_MATMUL | GI_FOR_SCAN: return "matmul and scan";
    case GI_FOR_RUN | GI_FOR_MATMUL | GI_FOR_SCAN: return "commands that write files";
    default: return "commands that compute";
    }
}

static gi_status refuse_misplaced(const gi_global_option *option, const char *user, gi_error *err) {
    return gi_fail(err, GI_ERR_USAGE, "option --%s is not for %s, but for %s", option->name, user, place_of(option));
}

static gi_status refuse_unknown(const parser *p, const char *name, size_t length, gi_error *err) {
    const gi_stage *stage = p->user->stage;
    const char *words[GI_GLOBAL_COUNT + 64];
    size_t count = 0;
    for (int i = 0; stage && i < stage->option_count && i < 64; i++) words[count++] = stage->options[i].name;
    for (int i = 0; i < GI_GLOBAL_COUNT; i++)
        if (is_first_of_name(p->user->mask, i)) words[count++] = gi_global_table[i].name;
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

// What the rows of one name accept together, where several are for the mask.
static void accepts_text(unsigned mask, int id, char *text, size_t size) {
    gi_text out = gi_text_over(text, size);
    const char *name = gi_global_table[id].name;
    int rows = 0;
    for (int i = id; i < GI_GLOBAL_COUNT; i++)
        rows += has_name(i, name, strlen(name)) && (gi_global_table[i].taken_by & mask);
    for (int i = id, row = 0; i < GI_GLOBAL_COUNT; i++) {
        char accepts[160];
        if (!has_name(i, name, strlen(name)) || !(gi_global_table[i].taken_by & mask)) continue;
        gi_global_accepts(&gi_global_table[i], accepts, sizeof accepts);
        gi_text_add(&out, "%s%s", row++ ? ", or " : "", accepts);
        if (rows > 1) gi_text_add(&out, " for %s", place_of(&gi_global_table[i]));
    }
}

// Each row of the name takes the value if it can; one must.
static gi_status set_rows(parser *p, int id, const char *value, gi_error *err) {
    const char *name = gi_global_table[id].name;
    bool taken = false;
    for (int i = id; i < GI_GLOBAL_COUNT; i++) {
        if (!has_name(i, name, strlen(name)) || !(gi_global_table[i].taken_by & p->user->mask)) continue;
        bool good = gi_global_parse(&gi_global_table[i], value, p->options, NULL) == GI_OK;
        p->options->given &= ~((uint64_t)1 << i);
        p->options->given |= (uint64_t)good << i;
        taken |= good;
    }
    if (taken) return GI_OK;
    char accepts[400];
    accepts_text(p->user->mask, id, accepts, sizeof accepts);
    return gi_fail(err, GI_ERR_USAGE, "option --%s must be %s, not '%.100s'", name, accepts, value);
}

// Sets a global option; `value` is what follows '=' or stands in the same bundle, NULL when there is none.
static gi_status set_global(parser *p, int id, const char *value, gi_error *err) {
    const gi_global_option *option = &gi_global_table[id];
    if (!(option->taken_by & p->user->mask)) return refuse_misplaced(option, p->user->name, err);
    if (option->type == GI_TYPE_FLAG) {
        if (value) return gi_fail(err, GI_ERR_USAGE, "option --%s takes no value", option->name);
        // The later of the two counts.
        if (id == GI_GLOBAL_quiet) p->options->verbose = false;
        if (id == GI_GLOBAL_verbose) p->options->quiet = false;
        p->options->given |= (uint64_t)1 << id;
        *(bool *)((char *)p->options + option->field_offset) = true;
        return GI_OK;
    }
    if (!value) value = *p->next ? *p->next++ : NULL;
    if (!value) {
        char accepts[400];
        accepts_text(p->user->mask, id, accepts, sizeof accepts);
        return gi_fail(err, GI_ERR_USAGE, "option --%s needs a value: %s", option->name, accepts);
    }
    if (id == GI_GLOBAL_files_from && p->options->files_from)
        return gi_fail(err, GI_ERR_USAGE, "--files-from is given twice: one LIST may name all files");
    return set_rows(p, id, value, err);
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
    int id = find_long(p->user->mask, argument, length);
    if (id >= 0) return set_global(p, id, value, err);
    const gi_stage_option *option = p->user->stage ? gi_stage_option_find(p->user->stage, argument, length) : NULL;
    if (option) return set_stage_option(p, option, value, err);
    return refuse_unknown(p, argument, length, err);
}

static gi_status parse_bundle(parser *p, const char *letters, gi_error *err) {
    gi_status status = GI_OK;
    while (*letters && status == GI_OK) {
        int id = find_letter(p->user->mask, *letters++);
        if (id < 0) return gi_fail(err, GI_ERR_USAGE, "unknown option '-%c'", letters[-1]);
        bool flag = gi_global_table[id].type == GI_TYPE_FLAG;
        const char *value = !flag && *letters ? letters + (*letters == '=') : NULL;
        status = set_global(p, id, value, err);
        p->options->brief |= id == GI_GLOBAL_help;
        if (value) break;
    }
    return status;
}

static gi_status parse_option(parser *p, const char *argument, gi_error *err) {
    gi_status status = argument[1] == '-' ? parse_long(p, argument + 2, err) : parse_bundle(p, argument + 1, err);
    // From a shell's *: what was meant is told by what is there.
    if (status == GI_ERR_USAGE && access(argument, F_OK) == 0)
        return gi_fail(err, status, "%.100s begins with -: write ./%.100s for the file of that name, or -- before it",
                       argument, argument);
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
            status = parse_option(&p, argument, err);
    }
    return status;
}

void gi_options_free(gi_options *options) {
    free(options->operands);
    memset(options, 0, sizeof *options);
}

gi_status gi_options_check(const gi_options *options, const char *user, unsigned mask, gi_error *err) {
    for (int i = 0; i < GI_GLOBAL_COUNT; i++) {
        const gi_global_option *option = &gi_global_table[i];
        if (!(options->given >> i & 1) || (option->taken_by & (mask | GI_FOR_PIPELINE))) continue;
        const gi_global_option *meant = &gi_global_table[find_long(mask, option->name, strlen(option->name))];
        if (!(meant->taken_by & mask)) return refuse_misplaced(option, user, err);
        if (options->given >> (meant - gi_global_table) & 1) continue;
        // The value was one of other commands.
        char accepts[160];
        gi_global_accepts(meant, accepts, sizeof accepts);
        return gi_fail(err, GI_ERR_USAGE, "option --%s must be %s for %s", option->name, accepts, place_of(meant));
    }
    return GI_OK;
}
