// What the forms of the Gaussian blur share on the CPU.
#ifndef GI_CPU_BLUR_GAUSS_H
#define GI_CPU_BLUR_GAUSS_H

#include "core/gauss.h"
#include "cpu/blur.h"

// Rows y-k and y+k around a row, for k = 0..radius. The second row of k = 0 is blank, so that every k is a pair.
typedef struct gi_gauss_rows {
    const void *above[GI_GAUSS_MAX_TAPS + 1], *below[GI_GAUSS_MAX_TAPS + 1];
} gi_gauss_rows;

void gi_gauss_rows_at(const gi_blur_band *band, int radius, int64_t y, gi_gauss_rows *rows);

// The sum of the taps inside a line of n samples around sample i where they shrink, else of all taps.
int64_t gi_gauss_inside(const gi_gauss *gauss, int border, int64_t i, int64_t n);

// One function for each form of core/blur_rules.h; plans are gi_gauss.
gi_status gi_cpu_gauss_narrow(const gi_blur_band *band, const gi_gauss *gauss, gi_error *err);
gi_status gi_cpu_gauss_wide(const gi_blur_band *band, const gi_gauss *gauss, gi_error *err);
gi_status gi_cpu_gauss_alpha(const gi_blur_band *band, const gi_gauss *gauss, gi_error *err);

#endif
