// Man pages, in the macros of man(7).
#include <ctype.h>
#include <string.h>

#include "cli/generate/generate.h"
#include "cli/help_text.h"

// Literal text: what roff would take for a request, an escape or a typographic sign is written as its escape.
static void add_roff(gi_buffer *text, const char *string) {
    static const struct {
        char byte;
        const char *escape;
    } escapes[] = {{'\\', "\\(rs"}, {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
                   {'^', "\\(ha"},  {'~', "\\(ti"}, {'"', "\\(dq"}};
    for (; *string; string++) {
        const char *escape = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
            if (escapes[i].byte == *string) escape = escapes[i].escape;
        if (escape)
            gi_buffer_puts(text, escape);
        else
            gi_buffer_add(text, string, 1);
    }
}

// A line of its own that starts with text, which no first byte can make a request.
static void add_line(gi_buffer *text, const char *string) {
    if (*string == '.') gi_buffer_puts(text, "\\&");
    add_roff(text, string);
    gi_buffer_puts(text, "\n");
}

static void add_bold(gi_buffer *text, const char *string) {
    gi_buffer_puts(text, "\\fB");
    add_roff(text, string);
    gi_buffer_puts(text, "\\fR");
}

static void add_upper(gi_buffer *text, const char *string) {
    for (; *string; string++) {
        char letter = (char)toupper((unsigned char)*string);
        gi_buffer_add(text, &letter, 1);
    }
}

// The name of the page of a command, or of gpuimg for NULL.
static void add_page_name(gi_buffer *text, const char *command) {
    gi_buffer_printf(text, "gpuimg%s%s", command ? "\\-" : "", command ? command : "");
}

static void add_head(gi_buffer *text, const char *command, const char *summary, const char *date) {
    gi_buffer_puts(text, ".\\\" Generated from the tables of stages, commands and options.\n.TH GPUIMG");
    if (command) gi_buffer_puts(text, "\\-");
    if (command) add_upper(text, command);
    gi_buffer_printf(text, " 1 %s \"gpuimg %s\" \"gpuimg manual\"\n.SH NAME\n", date, GPUIMG_VERSION);
    add_page_name(text, command);
    gi_buffer_puts(text, " \\- ");
    add_line(text, summary);
}

// A synopsis: words in capitals are to be replaced, the others are typed as they stand.
static void add_usage(gi_buffer *text, const char *usage) {
    while (*usage) {
        size_t length = strspn(usage, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (length > 1) {
            gi_buffer_puts(text, "\\fI");
            gi_buffer_add(text, usage, length);
            gi_buffer_puts(text, "\\fR");
        } else {
            char byte[2] = {*usage, '\0'};
            add_roff(text, byte);
            length = 1;
        }
        usage += length;
    }
    gi_buffer_puts(text, "\n");
}

static void add_synopsis_line(gi_buffer *text, const char *command, const char *usage) {
    gi_buffer_puts(text, "\\fBgpuimg");
    if (*command) gi_buffer_puts(text, " ");
    add_roff(text, command);
    gi_buffer_puts(text, *usage ? "\\fR " : "\\fR");
    add_usage(text, usage);
}

static void add_item(gi_buffer *text, const char *name, const char *meaning) {
    gi_buffer_puts(text, ".TP\n");
    add_bold(text, name);
    gi_buffer_puts(text, "\n");
    add_line(text, meaning);
}

// A section for each topic of the mask.
static void add_topics(gi_buffer *text, unsigned mask) {
    for (const gi_help_topic *topic = gi_help_topics; topic->name; topic++) {
        if (!(topic->taken_by & mask)) continue;
        gi_buffer_printf(text, ".SH %s\n", topic->section);
        if (topic->words) add_line(text, topic->words);
        for (const gi_help_item *item = topic->items; item && item->name; item++)
            add_item(text, item->name, item->meaning);
    }
}

static void add_option(gi_buffer *text, gi_help_option *option) {
    gi_buffer_puts(text, ".TP\n");
    if (option->letter) gi_buffer_printf(text, "\\fB\\-%c\\fR, ", option->letter);
    gi_buffer_puts(text, "\\fB\\-\\-");
    add_roff(text, option->name);
    gi_buffer_puts(text, "\\fR");
    if (*option->argument) {
        gi_buffer_puts(text, " \\fI");
        add_roff(text, option->argument);
        gi_buffer_puts(text, "\\fR");
    }
    gi_buffer_puts(text, "\n");
    if (option->meaning.failed)
        text->failed = true;
    else
        add_line(text, option->meaning.data);
    gi_help_option_free(option);
}

static void add_description(gi_buffer *text, const gi_command *command) {
    gi_buffer words = {0};
    gi_buffer_puts(text, ".SH DESCRIPTION\n");
    for (int i = 0; gi_help_paragraph(command, i, &words); i++) {
        if (i > 0) gi_buffer_puts(text, ".PP\n");
        if (words.failed) text->failed = true;
        if (!words.failed) add_line(text, words.data);
        gi_buffer_free(&words);
    }
}

static void add_options(gi_buffer *text, const gi_command *command) {
    gi_help_option option;
    if (command->stage && command->stage->option_count)
        gi_buffer_puts(text, ".SH STAGE OPTIONS\nIn a pipeline: \\fIKEY\\fR=\\fIVALUE\\fR without dashes.\n");
    for (int i = 0; gi_help_stage_option_at(command, i, &option); i++) add_option(text, &option);
    gi_buffer_puts(text, ".SH OPTIONS\n");
    for (int i = 0; gi_help_global_option_at(command, i, &option); i++) add_option(text, &option);
}

static void add_commands(gi_buffer *text, const char *title, bool stages) {
    gi_command command;
    gi_buffer_printf(text, ".SH %s\n", title);
    for (int i = 0; gi_command_at(i, &command); i++)
        if ((command.stage != NULL) == stages) add_item(text, command.name, command.summary);
}

static void add_example(gi_buffer *text, const char *example) {
    gi_buffer_puts(text, ".EX\ngpuimg ");
    add_roff(text, example);
    gi_buffer_puts(text, "\n.EE\n");
}

// References to all pages but `self` (NULL: that of gpuimg itself).
static void add_see_also(gi_buffer *text, const char *self) {
    gi_command command;
    bool first = true;
    gi_buffer_puts(text, ".SH SEE ALSO\n");
    for (int i = -1; i < 0 || gi_command_at(i, &command); i++) {
        const char *name = i < 0 ? NULL : command.name;
        if (name == self || (name && self && strcmp(name, self) == 0)) continue;
        gi_buffer_puts(text, first ? ".BR " : ",\n.BR ");
        add_page_name(text, name);
        gi_buffer_puts(text, " (1)");
        first = false;
    }
    gi_buffer_puts(text, "\n");
}

void gi_man_command(gi_buffer *text, const gi_command *command, const char *date) {
    add_head(text, command->name, command->summary, date);
    gi_buffer_puts(text, ".SH SYNOPSIS\n");
    add_synopsis_line(text, command->name, command->usage);
    add_description(text, command);
    if (command->operands == GI_OPERANDS_PIPELINE) add_commands(text, "STAGES", true);
    add_options(text, command);
    add_topics(text, command->mask);
    gi_buffer_puts(text, ".SH EXAMPLES\n");
    for (int i = 0; i < 2; i++) add_example(text, command->examples[i]);
    add_see_also(text, command->name);
}

void gi_man_overview(gi_buffer *text, const char *date) {
    gi_command help;
    add_head(text, NULL, gi_help_summary, date);
    gi_buffer_puts(text, ".SH SYNOPSIS\n");
    add_synopsis_line(text, "", "COMMAND [OPTIONS] IN... OUT");
    gi_buffer_puts(text, ".br\n");
    if (gi_command_find("help", &help)) add_synopsis_line(text, "help", help.usage);
    gi_buffer_puts(text, ".br\n");
    add_synopsis_line(text, "--version", "");
    gi_buffer_puts(text, ".SH DESCRIPTION\n");
    add_line(text, gi_help_about);
    gi_buffer_puts(text, ".PP\nEach command has a page of its own, as \\fBgpuimg\\-gray\\fR(1), and \\fBgpuimg help "
                         "\\fICOMMAND\\fR shows the same, but for the sections that are topics of its own: \\fBgpuimg "
                         "help ");
    gi_help_add_topics(text, GI_FOR_ALL);
    gi_buffer_puts(text, "\\fR.\n");
    add_commands(text, "STAGES", true);
    add_commands(text, "OTHER COMMANDS", false);
    add_topics(text, GI_FOR_ALL);
    gi_buffer_puts(text, ".SH EXAMPLES\n");
    for (int i = 0; gi_help_examples[i]; i++) add_example(text, gi_help_examples[i]);
    add_see_also(text, NULL);
}
