// The tables of completion.bash: functions that set variables of their caller's.
#include "cli/generate/generate.h"
#include "cli/help_text.h"

static const char *kind_word(gi_value_kind kind) {
    static const char *const words[] = {"", "words", "number", "device", "report", "file"}; // by gi_value_kind
    return words[kind];
}

static void add_names(gi_buffer *text, bool stages_only) {
    gi_command command;
    gi_buffer_puts(text, stages_only ? "_gpuimg_stages='" : "_gpuimg_commands='");
    for (int i = 0; gi_command_at(i, &command); i++)
        if (command.stage || !stages_only) gi_buffer_printf(text, "%s%s", i ? " " : "", command.name);
    gi_buffer_puts(text, "'\n");
}

static void add_options(gi_buffer *text) {
    gi_command command;
    gi_completion option;
    gi_buffer_puts(text, "\n# COMMAND: sets `options`.\n_gpuimg_options() {\n    case $1 in\n");
    for (int i = 0; gi_command_at(i, &command); i++) {
        gi_buffer_printf(text, "    %s) options='", command.name);
        for (int k = 0; gi_completion_at(&command, k, &option); k++) {
            gi_buffer_printf(text, "%s--%s", k ? " " : "", option.name);
            if (option.letter) gi_buffer_printf(text, " -%c", option.letter);
        }
        gi_buffer_puts(text, "' ;;\n");
    }
    gi_buffer_puts(text, "    esac\n}\n");
}

static void add_keys(gi_buffer *text) {
    gi_completion option;
    gi_buffer_puts(text, "\n# STAGE: sets `keys`.\n_gpuimg_keys() {\n    case $1 in\n");
    for (int i = 0; i < GI_STAGE_COUNT; i++) {
        gi_buffer_printf(text, "    %s) keys='", gi_stage_table[i].name);
        for (int k = 0; gi_stage_completion_at(&gi_stage_table[i], k, &option); k++)
            gi_buffer_printf(text, "%s%s", k ? " " : "", option.name);
        gi_buffer_puts(text, "' ;;\n");
    }
    gi_buffer_puts(text, "    esac\n}\n");
}

static void add_values(gi_buffer *text) {
    gi_command command;
    gi_completion option;
    gi_buffer_puts(text, "\n# COMMAND OPTION: sets `kind` and `words` when the option takes a value.\n"
                         "_gpuimg_option() {\n    case \"$1 $2\" in\n");
    for (int i = 0; gi_command_at(i, &command); i++) {
        for (int k = 0; gi_completion_at(&command, k, &option); k++) {
            if (option.kind == GI_VALUE_NONE) continue;
            gi_buffer_printf(text, "    '%s --%s'", command.name, option.name);
            if (option.letter) gi_buffer_printf(text, " | '%s -%c'", command.name, option.letter);
            gi_buffer_printf(text, ") kind=%s", kind_word(option.kind));
            if (*option.words && option.kind != GI_VALUE_DEVICE) gi_buffer_printf(text, " words='%s'", option.words);
            gi_buffer_puts(text, " ;;\n");
        }
    }
    gi_buffer_puts(text, "    esac\n}\n");
}

static void add_operands(gi_buffer *text) {
    gi_command command;
    gi_buffer_puts(text,
                   "\n# COMMAND: sets `first`, the words of which one comes before the operands, and `files`, these "
                   "operands' extensions.\n_gpuimg_operands() {\n    case $1 in\n");
    for (int i = 0; gi_command_at(i, &command); i++) {
        gi_buffer_printf(text, "    %s) first='", command.name);
        gi_add_blank_words(text, command.first ? command.first : "");
        gi_buffer_printf(text, "' files='%s' ;;\n", gi_operand_extensions(&command));
    }
    gi_buffer_puts(text, "    esac\n}\n");
}

void gi_complete_bash(gi_buffer *text) {
    gi_buffer_puts(text, "_gpuimg_topics='");
    for (const gi_help_topic *topic = gi_help_topics; topic->name; topic++)
        gi_buffer_printf(text, "%s%s", topic == gi_help_topics ? "" : " ", topic->name);
    gi_buffer_puts(text, "'\n");
    add_names(text, false);
    add_names(text, true);
    gi_buffer_puts(text, "_gpuimg_reports='");
    gi_report_extensions(text, "", "|");
    gi_buffer_puts(text, "'\n");
    add_options(text);
    add_operands(text);
    add_keys(text);
    add_values(text);
}
