// The clock that durations are measured by.
#ifndef GI_CORE_CLOCK_H
#define GI_CORE_CLOCK_H

#include <time.h>

// Milliseconds since some moment before the process began; never set back.
static inline double gi_clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

#endif
