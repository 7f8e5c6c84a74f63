// The commands: those of the table in command.c, and each stage by its own name.
#ifndef GI_CLI_COMMAND_H
#define GI_CLI_COMMAND_H

#include "cli/buffer.h"
#include "cli/options.h"
#include "core/stage_table.h"

typedef struct gi_command gi_command;

// What the arguments that are no options are.
typedef enum gi_operand_kind {
    GI_OPERANDS_IMAGES,   // image files and directories
    GI_OPERANDS_PIPELINE, // a pipeline first, then the same
    GI_OPERANDS_ARRAYS,   // .npy files
    GI_OPERANDS_VALUES,   // a .npy file, or an image
    GI_OPERANDS_WORDS,    // any of the words of `first`
    GI_OPERANDS_COMMAND   // the name of a command
} gi_operand_kind;

struct gi_command {
    const char *name;
    const char *usage; // what follows "gpuimg NAME"
    const char *summary;
    const char *detail;
    const char *examples[2];
    const gi_stage *stage; // NULL unless the command is a stage
    unsigned mask;         // GI_FOR_ bits
    gi_operand_kind operands;
    const char *first; // "a|b|c": one of these words comes before the operands; NULL: none does
    int (*run)(const gi_command *command, const gi_options *options); // returns the exit status
};

// False when there is none of that name.
bool gi_command_find(const char *name, gi_command *command);

// Command i in the order of the help, false past the last.
bool gi_command_at(int i, gi_command *command);

// The known command name, or topic of the help where `topics`, nearest to what was typed, or NULL.
const char *gi_command_nearest(const char *name, bool topics);

// The `run` members.
int gi_image_command(const gi_command *command, const gi_options *options);
int gi_hist_command(const gi_command *command, const gi_options *options);
int gi_run_command(const gi_command *command, const gi_options *options);
int gi_matmul_command(const gi_command *command, const gi_options *options);
int gi_reduce_command(const gi_command *command, const gi_options *options);
int gi_scan_command(const gi_command *command, const gi_options *options);
int gi_bench_command(const gi_command *command, const gi_options *options);
int gi_info_command(const gi_command *command, const gi_options *options);
int gi_help_command(const gi_command *command, const gi_options *options);

// Columns of standard output that help takes; a line of help, NAME in the left column and its text, wrapped, from the
// other one on (GI_HELP_COLUMN where names are short).
enum { GI_HELP_COLUMN = 14 };
int gi_help_width(void);
void gi_help_add_entry(gi_buffer *text, const char *name, const char *help, int column);

// Prints the help of one command on standard output, or what of it fits a screen: its own options, the names of those
// that others have, too; and a short usage on standard error.
int gi_help_show(const gi_command *command);
int gi_help_brief(const gi_command *command);
int gi_help_overview(void);
void gi_help_short(void);

#endif
