// Temporaries of outputs: their names, and a register of those alive that a signal handler may walk.
#ifndef GI_RUN_TEMPORARY_H
#define GI_RUN_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { GI_TEMPORARY_SIZE = 256 }; // a name's bytes and its NUL

// text = ".NAME.gpuimg-PID-N.tmp" of at most `limit` bytes (and GI_TEMPORARY_SIZE - 1), NAME cut between characters.
void gi_temporary_name(char text[GI_TEMPORARY_SIZE], const char *name, size_t limit, unsigned long number);

// True for names of that form, whoever's process it was.
bool gi_temporary_matches(const char *name);

// Registers a temporary: an index for gi_temporary_forget, or -1 when the register is full (then only the sweep of a
// later run would remove it after a kill). The descriptor must stay open until it is forgotten.
int gi_temporary_register(int directory_fd, const char *name);
void gi_temporary_forget(int index);

#endif
