// What the system tells about the machine.
#ifndef GI_CLI_MACHINE_H
#define GI_CLI_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The value of the first line `key : value` of /proc/cpuinfo; false when there is none.
bool gi_cpuinfo(const char *key, char *value, size_t size);

// The version of NVIDIA's kernel driver; false without one.
bool gi_gpu_driver(char *version, size_t size);

// Bytes of memory that are free or could be freed at once, within the limits of this process's control group (version
// 2); 0: the system does not tell.
uint64_t gi_memory_free(void);

// Lets this process take so many bytes more; beyond them, allocations fail instead of calling for the system to end a
// process. Linux alone; elsewhere, and where it is not allowed, nothing happens.
void gi_memory_limit(uint64_t more_bytes);

#endif
