#include "cli/environment.h"

#include <stdlib.h>
#include <string.h>

#include "core/simd.h"

// NULL where the variable is empty, which is as if it were not set.
static const char *variable(const char *name) {
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

uint32_t gi_environment_band_rows(void) {
    const char *text = variable("GPUIMG_BAND_ROWS");
    if (!text || strspn(text, "0123456789") != strlen(text)) return 0;
    unsigned long rows = strtoul(text, NULL, 10); // the largest there is, where it does not fit
    return rows > UINT32_MAX ? UINT32_MAX : (uint32_t)rows;
}

gi_status gi_environment_check(gi_error *err) {
    const char *simd = variable("GPUIMG_SIMD"), *rows = variable("GPUIMG_BAND_ROWS");
    gi_simd level;
    if (simd && !gi_simd_named(simd, &level))
        return gi_fail(err, GI_ERR_USAGE, "variable GPUIMG_SIMD must be portable, avx2 or avx512, not '%.100s'", simd);
    if (rows && gi_environment_band_rows() == 0)
        return gi_fail(err, GI_ERR_USAGE, "variable GPUIMG_BAND_ROWS must be a number of rows from 1, not '%.100s'",
                       rows);
    return GI_OK;
}
