// What help and man pages say, without their layout: made from the tables of stages, commands and options.
#ifndef GI_CLI_HELP_TEXT_H
#define GI_CLI_HELP_TEXT_H

#include <stdbool.h>

#include "cli/buffer.h"
#include "cli/command.h"

// What gpuimg is, in a phrase and in a sentence.
extern const char gi_help_summary[];
extern const char gi_help_about[];

typedef struct gi_help_item {
    const char *name, *meaning;
} gi_help_item;

// Examples of all of gpuimg, without "gpuimg "; a NULL ends them.
extern const char *const gi_help_examples[];

// What `gpuimg help` tells beside commands, and man pages in sections of their own: in words, or as a list. A NULL name
// ends them.
typedef struct gi_help_topic {
    const char *name, *summary, *section;
    unsigned taken_by; // which commands it is of: GI_FOR_ bits
    const char *words;
    const gi_help_item *items;
} gi_help_topic;
extern const gi_help_topic gi_help_topics[];

// The topic of that name, or NULL.
const gi_help_topic *gi_help_topic_find(const char *name);

// Appends the names of those that are of the mask, with a bar between them.
void gi_help_add_topics(gi_buffer *text, unsigned mask);

// Appends paragraph i of the command's description; false past the last.
bool gi_help_paragraph(const gi_command *command, int i, gi_buffer *text);

// An option: how it is typed, and what it does with its range and default, which is owned: gi_help_option_free.
typedef struct gi_help_option {
    char letter; // 0: none
    const char *name;
    const char *argument; // "" for none
    bool shared;          // with commands that write images, or all
    gi_buffer meaning;
} gi_help_option;

// Option i of the command's stage, false past the last; likewise of the global options that the command takes.
bool gi_help_stage_option_at(const gi_command *command, int i, gi_help_option *option);
bool gi_help_global_option_at(const gi_command *command, int i, gi_help_option *option);
void gi_help_option_free(gi_help_option *option);

#endif
