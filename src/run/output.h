// Outputs that are complete or absent: a temporary beside the target, checked, then renamed over it.
//
// A process may be killed at any moment: the target is then the old file or the new one, never a part of either. The
// system going down (a power cut) is not covered: nothing is synced to the disk, which would cost a batch more than
// its codecs do; file systems that order data before a replacing rename (ext4, xfs, btrfs) keep the promise all the
// same. A process should ignore SIGPIPE and SIGXFSZ, so that they come back as errors to be named.
#ifndef GI_RUN_OUTPUT_H
#define GI_RUN_OUTPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "codec/codec.h"
#include "core/status.h"

typedef struct gi_output gi_output;

// Prepares to write `path` (NULL: standard output). A symbolic link is followed, so that its target is replaced. A
// target that exists and is no regular file is written to directly; so are descriptors of ours (gi_path_descriptor),
// without opening them anew, so that what they were opened for (appending, a socket) holds. A FIFO that nobody reads
// is waited for, as by a shell.
// Otherwise bytes go to a dot-file in the target's directory, created with the old file's mode or 0666 less the
// umask, whose name carries this process's id and which is locked while it lives.
gi_status gi_output_open(const char *path, gi_output **output, gi_error *err);

// Likewise; a system call that a signal interrupts while *cancel is set gives GI_ERR_CANCELLED, at opening a FIFO and
// at every write. `cancel` may be NULL, and must outlive the output.
gi_status gi_output_open_cancellable(const char *path, volatile sig_atomic_t *cancel, gi_output **output,
                                     gi_error *err);

// The sink that writes to it. Every write is checked.
gi_sink gi_output_sink(gi_output *output);

// How many bytes it was given so far.
uint64_t gi_output_bytes(const gi_output *output);

enum { GI_DIGEST_BYTES = 32 };

// A hash of bytes, from whoever has a library for it.
typedef struct gi_digester {
    size_t state_bytes;
    void (*begin)(void *state);
    void (*add)(void *state, const void *data, size_t size);
    void (*end)(void *state, uint8_t digest[GI_DIGEST_BYTES]);
} gi_digester;

// Begins to hash what the output is given, before it is given anything; and the hash of all of that, once.
// GI_ERR_MEMORY.
gi_status gi_output_hash(gi_output *output, const gi_digester *digester, gi_error *err);
void gi_output_digest(gi_output *output, uint8_t digest[GI_DIGEST_BYTES]);

// Whether the output `path` would replace a file: a regular one, whose descriptor is none of ours. What a descriptor
// leads to is there by the caller's will.
bool gi_output_replaces(const char *path);

// Flushes, closes and renames. Only after GI_OK is the file there. The output is closed in either case; still call
// gi_output_close. With `no_clobber` a target that has come into being meanwhile is kept: GI_ERR_EXISTS.
gi_status gi_output_commit(gi_output *output, bool no_clobber, gi_error *err);

// Frees it; removes the temporary unless committed. NULL is fine.
void gi_output_close(gi_output *output);

// Removes, in `directory`, temporaries whose process is gone: regular files of this user, named as temporaries are,
// that no process holds locked. Where the file system has no locks, none.
void gi_output_sweep(const char *directory);

// Sweeps where an output `path` has its temporaries: its directory, and that of what it links to. For every output, or
// for the first of a directory, before it is opened.
void gi_output_sweep_beside(const char *path);

// Removes all temporaries of this process; their outputs fail if the process lives on. Async-signal-safe: for the
// handler of a second SIGINT, just before _exit.
void gi_output_remove_all(void);

#endif
