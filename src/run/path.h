// Path names as literal bytes: joining, splitting, following links, showing them in a one-line reason.
#ifndef GI_RUN_PATH_H
#define GI_RUN_PATH_H

#include <stddef.h>

#include "core/status.h"

// DIRECTORY/NAME, without doubling the slash. NULL when memory is exhausted; the caller frees. So all below.
char *gi_path_join(const char *directory, const char *name);

// The last component of a path without trailing slashes; *length its bytes (0 for "" and "/").
const char *gi_path_last(const char *path, size_t *length);

// The directory that holds the path's last component: "." where the path has none, "/" for children of the root.
char *gi_path_parent(const char *path);

// *target = the path that symbolic links in the LAST component lead to, whether or not it exists. GI_ERR_IO for a loop.
gi_status gi_path_follow(const char *path, char **target, gi_error *err);

// The directory that an output `path` comes to lie in: symbolic links in the last component are followed. NULL for a
// loop of them, or when memory is exhausted; the caller frees.
char *gi_path_target_parent(const char *path);

// The descriptor of this process that the path stands for, else -1: /dev/stdout, /dev/stderr, /dev/fd/N,
// /proc/self/fd/N, however they are written, and links to them. It need not be open.
int gi_path_descriptor(const char *path);

// The path that an argument names: NULL for "-", by which the command line names a standard stream. A file of that name
// is ./-, or comes from a list.
const char *gi_path_of_argument(const char *argument);

// The name in messages of a path that is read, or written; NULL is standard input, or standard output.
const char *gi_path_input(const char *path);
const char *gi_path_output(const char *path);

enum { GI_PATH_SHOWN = 256 };

// The path fit for a one-line reason: control bytes as '?', a long one cut at its front so that the name stays.
const char *gi_path_show(const char *path, char text[GI_PATH_SHOWN]);

// Fails with "WHAT PATH: strerror(error_number)"; ENOMEM is GI_ERR_MEMORY, anything else GI_ERR_IO.
gi_status gi_path_fail(gi_error *err, const char *what, const char *path, int error_number);

// Fails with GI_ERR_EXISTS, as --no-clobber has it: "PATH exists already", or without the path where it is NULL, for a
// message that begins with it.
gi_status gi_path_fail_existing(gi_error *err, const char *path);

// Makes the directory and those above it that are missing, with mode 0777 less the umask. One that exists is fine.
gi_status gi_path_make_directories(const char *path, gi_error *err);

#endif
