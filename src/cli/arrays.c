#include "cli/arrays.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/confine.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "run/array_file.h"
#include "run/path.h"

gi_status gi_arrays_refuse(const gi_arrays *arrays, const char *format, ...) {
    gi_error err;
    va_list list;
    va_start(list, format);
    gi_status status = gi_failv(&err, GI_ERR_USAGE, format, list);
    va_end(list);
    gi_complain_error(&err, NULL);
    gi_suggest_help(arrays->command->name);
    return status;
}

static int algorithm_of(const gi_options *options, gi_primitive primitive) {
    static const gi_global_id ids[GI_PRIMITIVE_COUNT] = {GI_GLOBAL_matmul_algo, GI_GLOBAL_reduce_algo,
                                                         GI_GLOBAL_scan_algo};
    return gi_options_choice(options, ids[primitive]);
}

gi_status gi_arrays_open(gi_arrays *arrays, const gi_command *command, const gi_options *options,
                         gi_primitive primitive) {
    gi_error err = {0};
    gi_choice choice;
    const gi_primitive_work none = {0};
    *arrays = (gi_arrays){.command = command, .options = options, .primitive = primitive};
    arrays->console = (gi_console){options->quiet, options->verbose};
    arrays->algorithm = algorithm_of(options, primitive);
    gi_status status = gi_options_check(options, command->name, command->mask, &err);
    gi_confinement confinement = {.options = options, .files = {options->array_output}};
    if (status == GI_OK) status = gi_device_of_options(options, &confinement.device, &err);
    if (status == GI_OK) status = gi_confine(&confinement, &err);
    if (status == GI_OK) status = gi_context_of_options(options, &arrays->context, &err);
    if (status == GI_OK)
        status = gi_context_choose_primitive(arrays->context, primitive, arrays->algorithm, &none, &choice, &err);
    if (status == GI_ERR_USAGE) return gi_arrays_refuse(arrays, "%s", err.text);
    if (status) gi_complain_error(&err, NULL);
    const gi_messages messages = gi_arrays_messages(arrays);
    if (status == GI_OK) gi_confine_note(&confinement, &messages);
    return status;
}

void gi_arrays_close(gi_arrays *arrays) { gpuimg_context_close(arrays->context); }

gi_status gi_arrays_check_output(const gi_arrays *arrays) {
    const char *output = arrays->options->array_output;
    if (!output) return gi_arrays_refuse(arrays, "no output: -o FILE, or -o - for standard output");
    if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO))
        return gi_arrays_refuse(arrays, "standard output is a terminal: send the array to a file or a pipe");
    return GI_OK;
}

gi_messages gi_arrays_messages(const gi_arrays *arrays) {
    return (gi_messages){gi_console_say, (void *)(uintptr_t)&arrays->console};
}

const char *gi_arrays_shown(const char *name) { return gi_path_input(gi_path_of_argument(name)); }

const char *gi_arrays_output(const gi_arrays *arrays) {
    return gi_path_output(gi_path_of_argument(arrays->options->array_output));
}

gi_status gi_arrays_complain(const gi_arrays *arrays, const char *file, gi_status status, const gi_error *err) {
    const gi_messages messages = gi_arrays_messages(arrays);
    // What was interrupted says so by its exit status.
    if (status != GI_OK && status != GI_ERR_CANCELLED) gi_say(&messages, GI_FAILURE, file, "%s", err->text);
    return status;
}

gi_status gi_arrays_load(const gi_arrays *arrays, const char *name, gi_array *array) {
    gi_error err = {0};
    gi_status status = gi_array_load(gi_path_of_argument(name), &gi_interrupt, array, &err);
    return gi_arrays_complain(arrays, gi_arrays_shown(name), status, &err);
}

gi_status gi_arrays_save(const gi_arrays *arrays, const gi_array *array) {
    gi_error err = {0};
    const char *path = gi_path_of_argument(arrays->options->array_output);
    if (gi_interrupt) return GI_ERR_CANCELLED;
    gi_status status = gi_array_save(path, array, arrays->options->no_clobber, &gi_interrupt, &err);
    return gi_arrays_complain(arrays, gi_arrays_output(arrays), status, &err);
}

void gi_arrays_note(const gi_arrays *arrays, const gi_choice *choice) {
    const gi_messages messages = gi_arrays_messages(arrays);
    gi_say(&messages, GI_NOTE, NULL, "device %s (%s): %s", choice->backend->name, choice->backend->detail, choice->why);
}
