// What the system tells about the machine.
#ifndef GI_CLI_MACHINE_H
#define GI_CLI_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

// The value of the first line `key : value` of /proc/cpuinfo; false when there is none.
bool gi_cpuinfo(const char *key, char *value, size_t size);

// The version of NVIDIA's kernel driver; false without one.
bool gi_gpu_driver(char *version, size_t size);

#endif
