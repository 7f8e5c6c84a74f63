// What the commands on arrays share: device, files, messages.
#ifndef GI_CLI_ARRAYS_H
#define GI_CLI_ARRAYS_H

#include "api_internal.h"
#include "cli/command.h"
#include "cli/console.h"
#include "core/array.h"

typedef struct gi_arrays {
    const gi_command *command;
    const gi_options *options;
    gi_primitive primitive;
    int algorithm; // what --algo says
    gi_console console;
    gpuimg_context *context; // owned
} gi_arrays;

// A usage error: prints the reason, and where there is help.
gi_status gi_arrays_refuse(const gi_arrays *arrays, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Opens the device of a command's options, and checks that it has the algorithm. Complaints are printed, as by all
// here. End with gi_arrays_close, also after failure.
gi_status gi_arrays_open(gi_arrays *arrays, const gi_command *command, const gi_options *options,
                         gi_primitive primitive);
void gi_arrays_close(gi_arrays *arrays);

// Checks that there is an output, which is no terminal.
gi_status gi_arrays_check_output(const gi_arrays *arrays);

// Reads the .npy file `name`, - for standard input. The caller frees the array.
gi_status gi_arrays_load(const gi_arrays *arrays, const char *name, gi_array *array);

// Writes it to what -o says.
gi_status gi_arrays_save(const gi_arrays *arrays, const gi_array *array);

// Says that `file` failed, and gives the status back.
gi_status gi_arrays_complain(const gi_arrays *arrays, const char *file, gi_status status, const gi_error *err);

// Speaks as -q and -v have it. The session must outlive it.
gi_messages gi_arrays_messages(const gi_arrays *arrays);

// Tells with -v where a primitive ran, and why.
void gi_arrays_note(const gi_arrays *arrays, const gi_choice *choice);

// An operand's name, "standard input" for -; the output's, "standard output" for -.
const char *gi_arrays_shown(const char *name);
const char *gi_arrays_output(const gi_arrays *arrays);

#endif
