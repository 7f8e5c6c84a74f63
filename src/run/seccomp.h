// seccomp, Linux's filter of system calls: which of them a process may make from now on. On x86-64 and 64-bit ARM.
//
// On the CPU alone the filter is a list of what is allowed, and all else fails with ENOSYS, as on a kernel that does
// not have the call. That is an answer with which the C library reckons: a later one that tries a newer call first goes
// on with the older one, so that the strict list breaks nothing by surprise. Nothing is killed.
//
// With a GPU it is a list of what is denied (EPERM): NVIDIA's driver is a library that we have no source of, and which
// makes other calls with each release. It needs local sockets, so that those remain; all other kinds are denied.
//
// The filter is written here instead of taken from libseccomp: it is one list for one architecture at a time, and a
// sandbox that depends on what a build machine had installed would be missing where nobody notices.
#ifndef GI_RUN_SECCOMP_H
#define GI_RUN_SECCOMP_H

#include <stdbool.h>

// True when this build has a filter for its architecture, and the kernel takes one.
bool gi_seccomp_available(void);

// All threads of the process are under the filter for good. Returns 0 or an errno.
int gi_seccomp_enter(bool gpu);

#endif
