// What the completions of all shells share.
#include "cli/generate/generate.h"

#include <string.h>

// Appends the words of "a|b|c" that are not there yet.
static void add_words(gi_completion *option, const char *words) {
    while (*words) {
        size_t length = strcspn(words, "|"), used = strlen(option->words);
        bool known = false;
        for (const char *word = option->words; *word; word += strspn(word, " ")) {
            size_t size = strcspn(word, " ");
            known |= size == length && memcmp(word, words, length) == 0;
            word += size;
        }
        if (!known && used + length + 2 <= sizeof option->words) {
            if (used) option->words[used++] = ' ';
            memcpy(option->words + used, words, length);
            option->words[used + length] = '\0';
        }
        words += length + (words[length] == '|');
    }
}

bool gi_stage_completion_at(const gi_stage *stage, int i, gi_completion *out) {
    if (!stage || i < 0 || i >= stage->option_count) return false;
    const gi_stage_option *option = &stage->options[i];
    bool choice = option->type == GI_OPTION_CHOICE;
    memset(out, 0, sizeof *out);
    out->name = option->name;
    out->argument = choice ? option->name : option->type == GI_OPTION_REAL ? "X" : "N";
    out->help = option->help;
    out->kind = choice ? GI_VALUE_WORDS : GI_VALUE_NUMBER;
    add_words(out, option->words);
    return true;
}

static gi_value_kind kind_of(const gi_global_option *option) {
    switch (option->type) {
    case GI_TYPE_FLAG: return GI_VALUE_NONE;
    case GI_TYPE_COUNT:
    case GI_TYPE_SIZE:
    case GI_TYPE_BYTES:
    case GI_TYPE_SHARD: return GI_VALUE_NUMBER;
    case GI_TYPE_CHOICE:
    case GI_TYPE_COLOUR: return GI_VALUE_WORDS;
    case GI_TYPE_DEVICE: return GI_VALUE_DEVICE;
    case GI_TYPE_TEXT: break;
    }
    return option->taken_by == GI_FOR_HIST ? GI_VALUE_REPORT : GI_VALUE_FILE;
}

// True when no earlier row for the mask has the name of row `id`.
static bool leads(unsigned mask, int id) {
    for (int i = 0; i < id; i++)
        if ((gi_global_table[i].taken_by & mask) && strcmp(gi_global_table[i].name, gi_global_table[id].name) == 0)
            return false;
    return gi_global_table[id].taken_by & mask;
}

bool gi_completion_at(const gi_command *command, int i, gi_completion *out) {
    int id = 0;
    if (gi_stage_completion_at(command->stage, i, out)) return true;
    if (command->stage) i -= command->stage->option_count;
    for (; id < GI_GLOBAL_COUNT; id++)
        if (leads(command->mask, id) && i-- == 0) break;
    if (id == GI_GLOBAL_COUNT) return false;
    const gi_global_option *option = &gi_global_table[id];
    memset(out, 0, sizeof *out);
    out->letter = option->letter;
    out->name = option->name;
    out->argument = option->argument;
    out->help = option->help;
    out->kind = kind_of(option);
    if (option->type == GI_TYPE_COLOUR) add_words(out, "white|black");
    for (; option->type == GI_TYPE_CHOICE && id < GI_GLOBAL_COUNT; id++)
        if ((gi_global_table[id].taken_by & command->mask) && strcmp(gi_global_table[id].name, out->name) == 0)
            add_words(out, gi_global_table[id].words);
    return true;
}

const char *gi_operand_extensions(const gi_command *command) {
    switch (command->operands) {
    case GI_OPERANDS_IMAGES:
    case GI_OPERANDS_PIPELINE: return "png|jpg|jpeg";
    case GI_OPERANDS_ARRAYS: return "npy";
    case GI_OPERANDS_VALUES: return "npy|png|jpg|jpeg";
    case GI_OPERANDS_WORDS:
    case GI_OPERANDS_COMMAND: break;
    }
    return "";
}

void gi_add_blank_words(gi_buffer *text, const char *words) {
    for (; *words; words++) gi_buffer_add(text, *words == '|' ? " " : words, 1);
}

void gi_report_extensions(gi_buffer *text, const char *before, const char *after) {
    const char *words = gi_global_table[GI_GLOBAL_report_format].words;
    while (*words) {
        size_t length = strcspn(words, "|");
        gi_buffer_puts(text, before);
        gi_buffer_add(text, words, length);
        words += length + (words[length] == '|');
        gi_buffer_puts(text, *words ? after : "");
    }
}

void gi_add_escaped(gi_buffer *text, const char *string, const char *special) {
    for (; *string; string++) {
        if (strchr(special, *string)) gi_buffer_puts(text, "\\");
        gi_buffer_add(text, string, 1);
    }
}
