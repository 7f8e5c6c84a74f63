// What every WINDOW stage checks of its job.
#ifndef GI_CPU_WINDOW_BAND_H
#define GI_CPU_WINDOW_BAND_H

#include "core/window.h"

// GI_ERR_USAGE unless the output is like the input and the input holds the rows that `halo` asks for;
// GI_ERR_UNSUPPORTED for samples other than u8 and u16. `stage` names the stage in the reason.
gi_status gi_window_check_band(const gi_window_job *job, uint32_t halo, const char *stage, gi_error *err);

#endif
