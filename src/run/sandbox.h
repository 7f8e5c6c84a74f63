// What is left to the process once its inputs and outputs are known, and before anything is decoded: no network, no
// other program or process, and no change in the file system but where the outputs go. Files may be read as before.
//
// By Landlock (run/landlock.h) and seccomp (run/seccomp.h), as far as the kernel has them; it holds for good, and for
// all threads that are started later. So it is for a program, never for a library within one.
#ifndef GI_RUN_SANDBOX_H
#define GI_RUN_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "run/inputs.h"

// What a kernel has, or what holds.
typedef struct gi_sandbox_means {
    int landlock; // its version, from 1; 0: none
    bool seccomp;
} gi_sandbox_means;

gi_sandbox_means gi_sandbox_of_kernel(void);

// "Landlock (version 7) and seccomp", "seccomp, but no Landlock", ...
const char *gi_sandbox_text(gi_sandbox_means means, char *text, size_t size);

typedef struct gi_sandbox {
    gi_sandbox_means means;
    bool gpu;
    int ruleset; // -1: none
    int failed;  // errno of a rule that could not be made; 0: all could
} gi_sandbox;

// Begins one of those means, which may be fewer than the kernel's. Nothing holds yet. `gpu`: NVIDIA's driver will be
// used, so that its devices, its places in the file system and local sockets stay open to it.
void gi_sandbox_begin(gi_sandbox *sandbox, gi_sandbox_means means, bool gpu);

// Allows what gi_output_open(path) does, now or later, and a plain file there as well: in the directory of the path,
// and in that of what it links to, files may be made, written, renamed and removed, also in directories below; what is
// there and no regular file may be written to. With `make` the directory is made where it is missing. What is missing
// then is left to whoever opens the output to complain of.
void gi_sandbox_allow_output(gi_sandbox *sandbox, const char *path, bool make);

// Likewise for all outputs of the list. The directories that a batch makes for them have to be there before: with
// `make` they are made, OUT first of all. A failure to do so is the batch's to complain of.
void gi_sandbox_allow_outputs(gi_sandbox *sandbox, const gi_item_list *list, bool make);

// From here on it holds. Of the means, returns those that do.
gi_sandbox_means gi_sandbox_enter(gi_sandbox *sandbox);

#endif
