// The tables of completion.zsh: a function with the options of each command, and lists for _describe.
#include <string.h>

#include "cli/generate/generate.h"
#include "cli/help_text.h"

// Text inside single quotes, in which `special` is escaped.
static void add_quoted(gi_buffer *text, const char *string, const char *special) {
    for (; *string; string++) {
        char byte[2] = {*string, '\0'};
        if (*string == '\'')
            gi_buffer_puts(text, "'\\''");
        else
            gi_add_escaped(text, byte, special);
    }
}

// 'WORD:HELP' as _describe wants it; `key` with "=" before the word unless NULL.
static void add_described(gi_buffer *text, const char *key, const char *word, const char *help) {
    size_t length = strcspn(word, " ");
    gi_buffer_printf(text, " '%s%s%.*s:", key ? key : "", key ? "=" : "", (int)length, word);
    add_quoted(text, help, "\\");
    gi_buffer_puts(text, "'");
}

static void add_all_words(gi_buffer *text, const char *key, const gi_completion *option) {
    for (const char *word = option->words; *word; word += strspn(word, " ")) {
        add_described(text, key, word, option->help);
        word += strcspn(word, " ");
    }
}

static void add_names(gi_buffer *text) {
    gi_command command;
    gi_buffer_puts(text, "_gpuimg_commands() {\n    local -a names=(");
    for (int i = 0; gi_command_at(i, &command); i++) add_described(text, NULL, command.name, command.summary);
    gi_buffer_puts(text, ")\n    _describe -t commands command names\n}\n\n_gpuimg_commands_and_topics() {\n"
                         "    local -a names=(");
    for (const gi_help_topic *topic = gi_help_topics; topic->name; topic++)
        add_described(text, NULL, topic->name, topic->summary);
    gi_buffer_puts(text, ")\n    _gpuimg_commands\n    _describe -t topics topic names\n}\n\n"
                         "_gpuimg_stages() {\n    local -a names=(");
    for (int i = 0; i < GI_STAGE_COUNT; i++)
        add_described(text, NULL, gi_stage_table[i].name, gi_stage_table[i].summary);
    gi_buffer_puts(text, ")\n    _describe -t stages stage names \"$@\"\n}\n");
}

// What may follow a stage's name: KEY= before a number in `open`; KEY=WORD, and the words of its first option alone.
static void add_stage_words(gi_buffer *text) {
    gi_completion option;
    gi_buffer_puts(text, "\n# STAGE: sets `open` and `whole`.\n_gpuimg_words() {\n    case $1 in\n");
    for (int i = 0; i < GI_STAGE_COUNT; i++) {
        const gi_stage *stage = &gi_stage_table[i];
        gi_buffer_printf(text, "    %s)\n        open=(", stage->name);
        for (int k = 0; gi_stage_completion_at(stage, k, &option); k++)
            if (option.kind == GI_VALUE_NUMBER) add_described(text, option.name, "", option.help);
        gi_buffer_puts(text, ")\n        whole=(");
        for (int k = 0; gi_stage_completion_at(stage, k, &option); k++) {
            add_all_words(text, option.name, &option);
            if (k == 0) add_all_words(text, NULL, &option);
        }
        gi_buffer_puts(text, ") ;;\n");
    }
    gi_buffer_puts(text, "    esac\n}\n");
}

static void add_action(gi_buffer *text, const gi_completion *option) {
    gi_buffer_printf(text, ":%s:", option->argument);
    switch (option->kind) {
    case GI_VALUE_NONE: break;
    case GI_VALUE_WORDS:
    case GI_VALUE_NUMBER: gi_buffer_printf(text, *option->words ? "(%s)" : " %s", option->words); break;
    case GI_VALUE_DEVICE: gi_buffer_puts(text, "_gpuimg_devices"); break;
    case GI_VALUE_REPORT:
        gi_buffer_puts(text, "_files -g \"*.(#i)(");
        gi_report_extensions(text, "", "|");
        gi_buffer_puts(text, ")(-.)\"");
        break;
    case GI_VALUE_FILE: gi_buffer_puts(text, "_files"); break;
    }
}

// One argument of _arguments, as in '(-j --workers)'{-j+,--workers=}'[help]:N: '.
static void add_option(gi_buffer *text, const gi_completion *option) {
    bool flag = option->kind == GI_VALUE_NONE;
    gi_buffer_puts(text, " \\\n        ");
    if (option->letter)
        gi_buffer_printf(text, "'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name, option->letter,
                         flag ? "" : "+", option->name, flag ? "" : "=");
    else
        gi_buffer_printf(text, "'--%s%s", option->name, flag ? "" : "=");
    gi_buffer_puts(text, "[");
    add_quoted(text, option->help, "\\[]");
    gi_buffer_puts(text, "]");
    if (!flag) add_action(text, option);
    gi_buffer_puts(text, "'");
}

static void add_operands(gi_buffer *text, const gi_command *command) {
    const char *extensions = gi_operand_extensions(command);
    if (command->operands == GI_OPERANDS_PIPELINE) gi_buffer_puts(text, " \\\n        '1:pipeline:_gpuimg_pipeline'");
    if (command->operands == GI_OPERANDS_COMMAND)
        gi_buffer_puts(text, " \\\n        '1:command or topic:_gpuimg_commands_and_topics'");
    if (command->first) {
        gi_buffer_puts(text, command->operands == GI_OPERANDS_WORDS ? " \\\n        '*:name:("
                                                                    : " \\\n        '1:operation:(");
        gi_add_blank_words(text, command->first);
        gi_buffer_puts(text, ")'");
    }
    if (*extensions)
        gi_buffer_printf(text, " \\\n        '*:file:%s \"*.(#i)(%s)(-.)\"'",
                         command->mask & GI_FOR_HIST ? "_gpuimg_inputs" : "_files -g", extensions);
}

static void add_command(gi_buffer *text, const gi_command *command) {
    gi_completion option;
    gi_buffer_printf(text, "\n_gpuimg_of_%s() {\n    _arguments -s -S", command->name);
    for (int k = 0; gi_completion_at(command, k, &option); k++) add_option(text, &option);
    add_operands(text, command);
    gi_buffer_puts(text, "\n}\n");
}

void gi_complete_zsh(gi_buffer *text) {
    gi_command command;
    add_names(text);
    add_stage_words(text);
    for (int i = 0; gi_command_at(i, &command); i++) add_command(text, &command);
}
