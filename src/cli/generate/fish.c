// The tables of completion.fish, and its calls of `complete`.
#include <string.h>

#include "cli/generate/generate.h"
#include "cli/help_text.h"

static void add_quoted(gi_buffer *text, const char *string) {
    gi_buffer_puts(text, "'");
    gi_add_escaped(text, string, "\\'");
    gi_buffer_puts(text, "'");
}

static void add_stages(gi_buffer *text) {
    gi_buffer_puts(text, "function __gpuimg_stages\n");
    for (int i = 0; i < GI_STAGE_COUNT; i++) {
        gi_buffer_puts(text, "    __gpuimg_say ");
        add_quoted(text, gi_stage_table[i].summary);
        gi_buffer_printf(text, " %s\n", gi_stage_table[i].name);
    }
    gi_buffer_puts(text, "end\n");
}

// Each word with KEY= before it, or alone where the key is NULL.
static void add_words(gi_buffer *text, const char *key, const char *words) {
    while (*words) {
        size_t length = strcspn(words, " ");
        gi_buffer_printf(text, " %s%s%.*s", key ? key : "", key ? "=" : "", (int)length, words);
        words += length + (words[length] == ' ');
    }
}

// What may follow a stage's name: KEY=WORD, KEY= before a number, and the words of its first option alone.
static void add_stage_words(gi_buffer *text) {
    gi_completion option;
    gi_buffer_puts(text, "\nfunction __gpuimg_words -a stage\n    switch $stage\n");
    for (int i = 0; i < GI_STAGE_COUNT; i++) {
        gi_buffer_printf(text, "        case %s\n", gi_stage_table[i].name);
        for (int k = 0; gi_stage_completion_at(&gi_stage_table[i], k, &option); k++) {
            gi_buffer_puts(text, "            __gpuimg_say ");
            add_quoted(text, option.help);
            if (option.kind == GI_VALUE_NUMBER) gi_buffer_printf(text, " %s=", option.name);
            add_words(text, option.name, option.words);
            if (k == 0) add_words(text, NULL, option.words);
            gi_buffer_puts(text, "\n");
        }
    }
    gi_buffer_puts(text, "    end\nend\n");
}

static void add_options_with_values(gi_buffer *text) {
    gi_command command;
    gi_completion option;
    gi_buffer_puts(text, "\nfunction __gpuimg_options_with_values\n    printf '%s\\n'");
    for (int i = 0; gi_command_at(i, &command); i++) {
        if (command.operands == GI_OPERANDS_WORDS) continue;
        if (command.operands != GI_OPERANDS_PIPELINE && !command.first) continue;
        for (int k = 0; gi_completion_at(&command, k, &option); k++) {
            if (option.kind == GI_VALUE_NONE) continue;
            gi_buffer_printf(text, " --%s", option.name);
            if (option.letter) gi_buffer_printf(text, " -%c", option.letter);
        }
    }
    gi_buffer_puts(text, "\nend\n");
}

static void add_value(gi_buffer *text, const gi_completion *option) {
    switch (option->kind) {
    case GI_VALUE_NONE: break;
    case GI_VALUE_WORDS:
    case GI_VALUE_NUMBER: gi_buffer_printf(text, " -x -a '%s'", option->words); break;
    case GI_VALUE_DEVICE: gi_buffer_puts(text, " -x -a '(__gpuimg_devices)'"); break;
    case GI_VALUE_REPORT:
        gi_buffer_puts(text, " -x -a '(__gpuimg_files ");
        gi_report_extensions(text, "", " ");
        gi_buffer_puts(text, ")'");
        break;
    case GI_VALUE_FILE: gi_buffer_puts(text, " -r -F"); break;
    }
}

// What the first operand may be, and those behind it.
static void add_first(gi_buffer *text, const gi_command *command, const char *files) {
    gi_buffer_printf(text, "complete -c gpuimg -n '__gpuimg_is_at_first %s' -f -k -a '", command->name);
    if (command->first)
        gi_add_blank_words(text, command->first);
    else
        gi_buffer_puts(text, "(__gpuimg_pipeline)");
    gi_buffer_printf(text,
                     "'\ncomplete -c gpuimg -n '__gpuimg_is %s; and not __gpuimg_is_at_first %s' -f -k -a "
                     "'(__gpuimg_files %s)'\n",
                     command->name, command->name, files);
}

static void add_words_only(gi_buffer *text, const gi_command *command) {
    gi_buffer_printf(text, "complete -c gpuimg -n '__gpuimg_is %s' -f -a '", command->name);
    gi_add_blank_words(text, command->first);
    gi_buffer_puts(text, "'\n");
}

static void add_operands(gi_buffer *text, const gi_command *command) {
    gi_buffer files = {0};
    gi_add_blank_words(&files, gi_operand_extensions(command));
    if (files.failed)
        text->failed = true;
    else if (command->operands == GI_OPERANDS_COMMAND)
        gi_buffer_printf(text, "complete -c gpuimg -n '__gpuimg_is %s' -f -a '(__gpuimg_commands; __gpuimg_topics)'\n",
                         command->name);
    else if (command->operands == GI_OPERANDS_WORDS)
        add_words_only(text, command);
    else if (command->operands == GI_OPERANDS_PIPELINE || command->first)
        add_first(text, command, files.data);
    else
        gi_buffer_printf(text, "complete -c gpuimg -n '__gpuimg_is %s' -f -k -a '(__gpuimg_files %s)'\n", command->name,
                         files.data);
    gi_buffer_free(&files);
}

static void add_command(gi_buffer *text, const gi_command *command) {
    gi_completion option;
    gi_buffer_puts(text, "\n");
    add_operands(text, command);
    for (int k = 0; gi_completion_at(command, k, &option); k++) {
        gi_buffer_printf(text, "complete -c gpuimg -n '__gpuimg_is %s' -l %s", command->name, option.name);
        if (option.letter) gi_buffer_printf(text, " -s %c", option.letter);
        add_value(text, &option);
        gi_buffer_puts(text, " -d ");
        add_quoted(text, option.help);
        gi_buffer_puts(text, "\n");
    }
}

void gi_complete_fish(gi_buffer *text) {
    gi_command command;
    add_stages(text);
    add_stage_words(text);
    add_options_with_values(text);
    gi_buffer_puts(text, "\nfunction __gpuimg_commands\n");
    for (int i = 0; gi_command_at(i, &command); i++) {
        gi_buffer_puts(text, "    __gpuimg_say ");
        add_quoted(text, command.summary);
        gi_buffer_printf(text, " %s\n", command.name);
    }
    gi_buffer_puts(text, "end\n\nfunction __gpuimg_topics\n");
    for (const gi_help_topic *topic = gi_help_topics; topic->name; topic++) {
        gi_buffer_puts(text, "    __gpuimg_say ");
        add_quoted(text, topic->summary);
        gi_buffer_printf(text, " %s\n", topic->name);
    }
    gi_buffer_puts(text, "end\n\ncomplete -c gpuimg -n __gpuimg_has_no_command -f -k -a '(__gpuimg_commands)'\n"
                         "complete -c gpuimg -n __gpuimg_has_no_command -l help -s h -d 'help'\n"
                         "complete -c gpuimg -n __gpuimg_has_no_command -l version -d 'the version'\n");
    for (int i = 0; gi_command_at(i, &command); i++) add_command(text, &command);
}
