// What the backend asks of devices.c apart from backend_cuda.h.
#ifndef GI_CUDA_DEVICES_H
#define GI_CUDA_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

// False when the driver is missing or too old, with the reason. Takes no time: starts no driver.
bool gi_cuda_driver(char *reason, size_t size);

#endif
