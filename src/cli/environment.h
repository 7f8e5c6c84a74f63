// Variables of the environment that tests and measurements set; GPUIMG_DEVICE and
// GPUIMG_SANDBOX are options' (session.c, confine.c).
#ifndef GI_CLI_ENVIRONMENT_H
#define GI_CLI_ENVIRONMENT_H

#include <stdint.h>

#include "core/status.h"

// GI_ERR_USAGE: one of them has a value that would be ignored.
gi_status gi_environment_check(gi_error *err);

// GPUIMG_BAND_ROWS, a height of bands that nothing else would choose; 0: not set.
uint32_t gi_environment_band_rows(void);

#endif
