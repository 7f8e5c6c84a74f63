// Help, made from the tables of stages, commands and options.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/buffer.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/report.h"
#include "cli/terminal.h"

enum { OPTION_COLUMN = 26, COMMAND_COLUMN = 14, MAX_WIDTH = 100 };

static int help_width(void) {
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

// A name in the left column and its help, wrapped, in the right one.
static void add_entry(gi_buffer *text, const char *name, const char *help, int column) {
    int length = (int)strlen(name) + 2;
    gi_buffer_printf(text, "  %s", name);
    if (length + 2 > column)
        gi_buffer_printf(text, "\n%*s", column, "");
    else
        gi_buffer_printf(text, "%*s", column - length, "");
    gi_buffer_wrap(text, help, column, column, help_width());
    gi_buffer_puts(text, "\n");
}

static void add_stage_option(gi_buffer *text, const gi_stage_option *option) {
    char name[128], accepts[160], standard[96];
    gi_buffer help = {0};
    if (option->type == GI_OPTION_CHOICE)
        snprintf(name, sizeof name, "--%s %s", option->name, option->words);
    else
        snprintf(name, sizeof name, "--%s %s", option->name, option->type == GI_OPTION_REAL ? "X" : "N");
    gi_stage_option_accepts(option, accepts, sizeof accepts);
    gi_stage_option_standard(option, standard, sizeof standard);
    gi_buffer_puts(&help, option->help);
    if (option->type != GI_OPTION_CHOICE) gi_buffer_printf(&help, ": %s", accepts);
    gi_buffer_printf(&help, " (default %s)", standard);
    if (!help.failed) add_entry(text, name, help.data, OPTION_COLUMN);
    gi_buffer_free(&help);
}

static void add_global_option(gi_buffer *text, const gi_global_option *option) {
    char name[128], accepts[160];
    gi_buffer help = {0};
    char letter[8] = "";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(name, sizeof name, "%s--%s%s%s", letter, option->name, *option->argument ? " " : "", option->argument);
    gi_buffer_puts(&help, option->help);
    gi_global_accepts(option, accepts, sizeof accepts);
    if (option->type == GI_TYPE_COUNT || *option->words) gi_buffer_printf(&help, ": %s", accepts);
    if (*option->standard) gi_buffer_printf(&help, " (default %s)", option->standard);
    if (!help.failed) add_entry(text, name, help.data, OPTION_COLUMN);
    gi_buffer_free(&help);
}

static void add_paragraph(gi_buffer *text, const char *words) {
    gi_buffer_puts(text, "\n");
    gi_buffer_wrap(text, words, 0, 0, help_width());
    gi_buffer_puts(text, "\n");
}

static void add_report_help(gi_buffer *text) {
    gi_buffer words = {0};
    gi_buffer_puts(&words, "IN is a PNG or JPEG file, a directory of them, or - for standard input. The format of the "
                           "report follows the extension of -o (");
    gi_report_add_words(&words, ".");
    gi_buffer_puts(
        &words, "), else it is text. SVG and PNG hold a plot for each image, one below the other; HTML is a "
                "page of its own with thumbnails, plots, tables and an overview. PNGs of 16 bits are read as 8 bits.");
    if (!words.failed) add_paragraph(text, words.data);
    gi_buffer_free(&words);
}

static void add_inputs_help(gi_buffer *text, unsigned mask) {
    if (mask & GI_FOR_IMAGE)
        add_paragraph(
            text, "IN is a PNG or JPEG file, a directory of them, or - for standard input; OUT is a file, or a "
                  "directory when there are several images, or - for standard output. The format follows "
                  "OUT's extension (.png, .jpg, .jpeg), else the input's. PNGs of 16 bits are read as 8 bits. A JPEG "
                  "is written with three channels, equal ones for gray, and with its usual losses: exact values, "
                  "such as masks, want PNG.");
    else
        add_report_help(text);
}

int gi_help_show(const gi_command *command) {
    gi_buffer text = {0};
    gi_buffer_printf(&text, "Usage: gpuimg %s%s%s\n", command->name, *command->usage ? " " : "", command->usage);
    gi_buffer summary = {0};
    gi_buffer_printf(&summary, "%s.", command->summary);
    if (!summary.failed) {
        summary.data[0] = (char)toupper((unsigned char)summary.data[0]);
        add_paragraph(&text, summary.data);
    }
    gi_buffer_free(&summary);
    add_paragraph(&text, command->detail);
    if (command->mask & GI_FOR_RUN) add_inputs_help(&text, command->mask);
    if (command->stage && command->stage->option_count) {
        gi_buffer_puts(&text, "\nOptions of this stage (in a pipeline: KEY=VALUE):\n");
        for (int i = 0; i < command->stage->option_count; i++) add_stage_option(&text, &command->stage->options[i]);
    }
    if (!command->stage && (command->mask & GI_FOR_RUN)) {
        gi_buffer_puts(&text, "\nStages, each with its own help:\n");
        for (int i = 0; i < GI_STAGE_COUNT; i++)
            add_entry(&text, gi_stage_table[i].name, gi_stage_table[i].summary, COMMAND_COLUMN);
    }
    gi_buffer_puts(&text, "\nOptions:\n");
    for (int i = 0; i < GI_GLOBAL_COUNT; i++)
        if (gi_global_table[i].taken_by & command->mask) add_global_option(&text, &gi_global_table[i]);
    gi_buffer_puts(&text, "\nExamples:\n");
    for (int i = 0; i < 2; i++) gi_buffer_printf(&text, "  gpuimg %s\n", command->examples[i]);
    return print(&text);
}

int gi_help_overview(void) {
    gi_buffer text = {0};
    gi_command command;
    gi_buffer_puts(&text, "Usage: gpuimg COMMAND [OPTIONS] IN... OUT\n");
    add_paragraph(&text,
                  "Runs image pipelines on an NVIDIA GPU, or on all CPU cores, with the same bytes out on either.");
    gi_buffer_puts(&text, "\nStages:\n");
    for (int i = 0; gi_command_at(i, &command); i++) {
        if (i == GI_STAGE_COUNT) gi_buffer_puts(&text, "\nOther commands:\n");
        add_entry(&text, command.name, command.summary, COMMAND_COLUMN);
    }
    gi_buffer_puts(&text, "\nExamples:\n"
                          "  gpuimg gray in.png out.png\n"
                          "  gpuimg gray photos/ out/\n"
                          "  gpuimg hist photo.jpg\n"
                          "  gpuimg run 'gray 709 | threshold otsu' scans/ masks/\n"
                          "\n'gpuimg help COMMAND' shows a command's options; 'gpuimg --version' the version.\n");
    add_paragraph(&text, "Exit status: 0 all done; 1 an input failed or an output could not be written; 2 usage error, "
                         "nothing touched; 3 the device asked for is not usable; 130 or 143 interrupted.");
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
        gi_complain("help takes one command");
        gi_suggest_help(command->name);
        return gi_exit_status(GI_ERR_USAGE);
    }
    const char *name = options->operands[0];
    if (gi_command_find(name, &topic)) return gi_help_show(&topic);
    gi_complain_unknown_command(name);
    return gi_exit_status(GI_ERR_USAGE);
}
