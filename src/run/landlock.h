// Landlock, Linux's access control that a process takes upon itself: what may be changed in the file system is what
// rules name. The kernel's interface is declared here anew, in landlock.c: it never changes, and the headers of the
// machine that builds are often older than the kernel of the one that runs.
#ifndef GI_RUN_LANDLOCK_H
#define GI_RUN_LANDLOCK_H

#include <stdint.h>

// What a rule may allow in a directory and all below it; the first two on a file, too.
enum {
    GI_LANDLOCK_WRITE = 1,  // open for writing, truncate
    GI_LANDLOCK_DEVICE = 2, // ioctl
    GI_LANDLOCK_FILES = 4,  // make regular files, rename them within their directory, remove them
    GI_LANDLOCK_FOLDERS = 8 // make directories
};

// The version of the kernel's interface, from 1; 0 where there is none, or it is switched off.
int gi_landlock_version(void);

// A set of rules that denies, for now, all that `version` (1 to gi_landlock_version()) knows to deny but reading:
// running programs, every change in the file system, TCP, signals to and abstract sockets of processes outside. A
// descriptor, or -1 and errno.
int gi_landlock_open(int version);

// Allows `rights` on what the descriptor `place` (O_PATH will do) is, and below it. Returns 0 or an errno.
int gi_landlock_allow(int ruleset, int version, int place, unsigned rights);

// The calling thread, and those it starts from now on, are under the rules for good. Returns 0 or an errno.
int gi_landlock_enter(int ruleset);

#endif
