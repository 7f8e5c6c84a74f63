// The layout of help on a terminal.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/buffer.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/help_text.h"
#include "cli/terminal.h"

enum { OPTION_COLUMN = 26, TOPIC_COLUMN = 18, MAX_WIDTH = 100 };

int gi_help_width(void) {
    int width = gi_terminal_of(STDOUT_FILENO).width;
    return width > MAX_WIDTH ? MAX_WIDTH : width;
}

static int print(gi_buffer *text) {
    if (text->failed)
        gi_complain("out of memory");
    else
        fwrite(text->data, 1, text->size, stdout);
    int status = text->failed ? 1 : 0;
    gi_buffer_free(text);
    return status;
}

void gi_help_add_entry(gi_buffer *text, const char *name, const char *help, int column) {
    int length = (int)strlen(name) + 2;
    gi_buffer_printf(text, "  %s", name);
    if (length + 2 > column)
        gi_buffer_printf(text, "\n%*s", column, "");
    else
        gi_buffer_printf(text, "%*s", column - length, "");
    gi_buffer_wrap(text, help, column, column, gi_help_width());
    gi_buffer_puts(text, "\n");
}

static void add_option(gi_buffer *text, gi_help_option *option) {
    char name[128], letter[8] = "";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(name, sizeof name, "%s--%s%s%s", letter, option->name, *option->argument ? " " : "", option->argument);
    if (option->meaning.failed)
        text->failed = true;
    else
        gi_help_add_entry(text, name, option->meaning.data, OPTION_COLUMN);
    gi_help_option_free(option);
}

static void add_paragraph(gi_buffer *text, const char *words) {
    gi_buffer_puts(text, "\n");
    gi_buffer_wrap(text, words, 0, 0, gi_help_width());
    gi_buffer_puts(text, "\n");
}

static void add_description(gi_buffer *text, const gi_command *command) {
    gi_buffer words = {0};
    for (int i = 0; gi_help_paragraph(command, i, &words); i++) {
        if (words.failed) text->failed = true;
        if (!words.failed) add_paragraph(text, words.data);
        gi_buffer_free(&words);
    }
}

// Where the topics of the mask stand.
static void add_wayfinder(gi_buffer *text, const char *words, unsigned mask) {
    gi_buffer line = {0};
    gi_buffer_printf(&line, "%s 'gpuimg help ", words);
    gi_help_add_topics(&line, mask);
    gi_buffer_puts(&line, "'.");
    if (line.failed) text->failed = true;
    if (!line.failed) add_paragraph(text, line.data);
    gi_buffer_free(&line);
}

static void add_usage(gi_buffer *text, const gi_command *command) {
    gi_buffer summary = {0};
    gi_buffer_printf(text, "Usage: gpuimg %s%s%s\n", command->name, *command->usage ? " " : "", command->usage);
    gi_buffer_printf(&summary, "%s.", command->summary);
    if (!summary.failed) {
        summary.data[0] = (char)toupper((unsigned char)summary.data[0]);
        add_paragraph(text, summary.data);
    }
    gi_buffer_free(&summary);
}

static void add_examples(gi_buffer *text, const gi_command *command) {
    gi_buffer_puts(text, "\nExamples:\n");
    for (int i = 0; i < 2; i++) gi_buffer_printf(text, "  gpuimg %s\n", command->examples[i]);
}

static void add_shared_name(gi_buffer *names, gi_help_option *option) {
    gi_buffer_printf(names, "%s--%s", names->size ? ", " : "Also: ", option->name);
    if (option->letter) gi_buffer_printf(names, " (-%c)", option->letter);
    gi_help_option_free(option);
}

int gi_help_brief(const gi_command *command) {
    gi_buffer text = {0}, own = {0}, names = {0};
    gi_help_option option;
    add_usage(&text, command);
    for (int i = 0; gi_help_stage_option_at(command, i, &option); i++) add_option(&own, &option);
    for (int i = 0; gi_help_global_option_at(command, i, &option); i++)
        if (option.shared)
            add_shared_name(&names, &option);
        else
            add_option(&own, &option);
    if (own.size) gi_buffer_printf(&text, "\n%s", own.data);
    if (names.size) add_paragraph(&text, names.data);
    add_examples(&text, command);
    gi_buffer_printf(&text, "\nAll of it: 'gpuimg help %s'.\n", command->name);
    text.failed |= own.failed || names.failed;
    gi_buffer_free(&own);
    gi_buffer_free(&names);
    return print(&text);
}

int gi_help_show(const gi_command *command) {
    gi_buffer text = {0};
    gi_help_option option;
    add_usage(&text, command);
    add_description(&text, command);
    if (command->stage && command->stage->option_count)
        gi_buffer_puts(&text, "\nOptions of this stage (in a pipeline: KEY=VALUE):\n");
    for (int i = 0; gi_help_stage_option_at(command, i, &option); i++) add_option(&text, &option);
    if (command->operands == GI_OPERANDS_PIPELINE) {
        gi_buffer_puts(&text, "\nStages, each with its own help:\n");
        for (int i = 0; i < GI_STAGE_COUNT; i++)
            gi_help_add_entry(&text, gi_stage_table[i].name, gi_stage_table[i].summary, GI_HELP_COLUMN);
    }
    gi_buffer_puts(&text, "\nOptions:\n");
    for (int i = 0; gi_help_global_option_at(command, i, &option); i++) add_option(&text, &option);
    add_wayfinder(&text, "More:", command->mask);
    add_examples(&text, command);
    return print(&text);
}

static int show_topic(const gi_help_topic *topic) {
    gi_buffer text = {0};
    if (topic->words) {
        gi_buffer_wrap(&text, topic->words, 0, 0, gi_help_width());
        gi_buffer_puts(&text, "\n");
    }
    for (const gi_help_item *item = topic->items; item && item->name; item++)
        gi_help_add_entry(&text, item->name, item->meaning, TOPIC_COLUMN);
    return print(&text);
}

// Short enough for one screen; what fewer people look for has its topic.
int gi_help_overview(void) {
    gi_buffer text = {0};
    gi_command command;
    gi_buffer_puts(&text, "Usage: gpuimg COMMAND [OPTIONS] IN... OUT\n\nStages:\n");
    for (int i = 0; gi_command_at(i, &command); i++) {
        if (i == GI_STAGE_COUNT) gi_buffer_puts(&text, "\nOther commands:\n");
        gi_help_add_entry(&text, command.name, command.summary, GI_HELP_COLUMN);
    }
    gi_buffer_puts(&text, "\nExamples:\n");
    for (int i = 0; gi_help_examples[i]; i++) gi_buffer_printf(&text, "  gpuimg %s\n", gi_help_examples[i]);
    add_wayfinder(&text, "Options: 'gpuimg help COMMAND'. More:", GI_FOR_ALL);
    return print(&text);
}

void gi_help_short(void) {
    static const char usage[] = "Usage: gpuimg COMMAND [OPTIONS] IN... OUT\n"
                                "       gpuimg gray in.png out.png\n"
                                "       gpuimg gray photos/ out/\n"
                                "       gpuimg hist photo.jpg\n"
                                "Try 'gpuimg help'.\n";
    (void)gi_write_all(STDERR_FILENO, usage, sizeof usage - 1);
}

int gi_help_command(const gi_command *command, const gi_options *options) {
    gi_command topic;
    if (options->operand_count == 0) return gi_help_overview();
    if (options->operand_count > 1) {
        gi_complain("help takes one command or topic");
        gi_suggest_help(command->name);
        return gi_exit_status(GI_ERR_USAGE);
    }
    const char *name = options->operands[0];
    const gi_help_topic *other = gi_help_topic_find(name);
    if (gi_command_find(name, &topic)) return gi_help_show(&topic);
    if (other) return show_topic(other);
    gi_complain_unknown_topic(name);
    return gi_exit_status(GI_ERR_USAGE);
}
