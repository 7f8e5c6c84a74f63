// The lists of the filter's: numbers of system calls, ended by -1. What an architecture does not have, or the build
// machine's headers do not know yet, is left out.
#ifndef GI_RUN_SECCOMP_CALLS_H
#define GI_RUN_SECCOMP_CALLS_H

// All that gpuimg, the C library, an OpenMP runtime and the codecs' libraries need after the start, and nothing that
// reaches beyond the process but through files it has opened. Calls of which only some arguments are harmless (clone,
// fcntl, ioctl, kill, open, prlimit) are rules of seccomp.c.
//
// Of files: what makes, renames and removes them is held in check by Landlock. Modes, owners, times and attributes are
// not, nor is truncate before its version 3: of these only what acts on an open file is here, by which an output keeps
// the mode of the file that it replaces.
extern const int gi_seccomp_allowed[];

// What no driver of a GPU needs, and what undoes the sandbox or reaches far into the kernel.
extern const int gi_seccomp_denied[];

// In a build with sanitizers, also what these need: the search for leaks stops the process by a tracer of its own.
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define GI_SANITIZED
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define GI_SANITIZED
#endif
#endif
#ifdef GI_SANITIZED
extern const int gi_seccomp_of_sanitizers[];
#endif

#endif
