// Man pages and shell completions, made at build time from the tables of stages, commands and options.
#ifndef GI_CLI_GENERATE_GENERATE_H
#define GI_CLI_GENERATE_GENERATE_H

#include "cli/buffer.h"
#include "cli/command.h"

// Append a whole file: gpuimg(1), the page of one command, and the completion of each shell. `date` is YYYY-MM-DD.
void gi_man_overview(gi_buffer *text, const char *date);
void gi_man_command(gi_buffer *text, const gi_command *command, const char *date);
void gi_complete_bash(gi_buffer *text);
void gi_complete_zsh(gi_buffer *text);
void gi_complete_fish(gi_buffer *text);

// What a shell offers for an option's value.
typedef enum gi_value_kind {
    GI_VALUE_NONE,   // a flag
    GI_VALUE_WORDS,  // one of `words`
    GI_VALUE_NUMBER, // `words` too, where there are any
    GI_VALUE_DEVICE,
    GI_VALUE_REPORT, // a file with the extension of a report
    GI_VALUE_FILE
} gi_value_kind;

typedef struct gi_completion {
    char letter; // 0: none
    const char *name;
    const char *argument; // "" for flags
    const char *help;
    char words[160]; // separated by blanks
    gi_value_kind kind;
} gi_completion;

// Option i of a command, its stage's options first; false past the last. Rows of the same name are one option here.
bool gi_completion_at(const gi_command *command, int i, gi_completion *option);

// The extensions of the files that are the command's operands, "png|jpg|jpeg"; "" where they are none.
const char *gi_operand_extensions(const gi_command *command);

// Appends the words of "a|b|c" with blanks between them.
void gi_add_blank_words(gi_buffer *text, const char *words);

// Option i of a stage.
bool gi_stage_completion_at(const gi_stage *stage, int i, gi_completion *option);

// Appends the words of --format for reports as they end a file's name, each with `before` and `after`.
void gi_report_extensions(gi_buffer *text, const char *before, const char *after);

// Appends a text with a backslash before each of its bytes that `special` holds.
void gi_add_escaped(gi_buffer *text, const char *string, const char *special);

#endif
