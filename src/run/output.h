// Outputs that are complete or absent: a temporary beside the target, checked, then renamed over it.
#ifndef GI_RUN_OUTPUT_H
#define GI_RUN_OUTPUT_H

#include "codec/codec.h"
#include "core/status.h"

typedef struct gi_output gi_output;

// Prepares to write `path` (NULL: standard output). A symbolic link is followed, so that its target is replaced. A
// target that exists and is no regular file is written to directly. Otherwise bytes go to a dot-file in the target's
// directory, created with the old file's mode or 0666 less the umask, whose name carries this process's id and which
// is locked while it lives.
gi_status gi_output_open(const char *path, gi_output **output, gi_error *err);

// The sink that writes to it. Every write is checked.
gi_sink gi_output_sink(gi_output *output);

// Flushes, closes and renames. Only after GI_OK is the file there. The output is closed in either case; still call
// gi_output_close. With `no_clobber` a target that has come into being meanwhile is kept: GI_ERR_EXISTS.
gi_status gi_output_commit(gi_output *output, bool no_clobber, gi_error *err);

// Frees it; removes the temporary unless committed. NULL is fine.
void gi_output_close(gi_output *output);

// Removes, in `directory`, temporaries whose process is gone.
void gi_output_sweep(const char *directory);

#endif
