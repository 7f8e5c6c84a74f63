// Taps of the Gaussian blur, by which both backends sum (core/blur_rules.h says how).
#ifndef GI_CORE_GAUSS_H
#define GI_CORE_GAUSS_H

#include <stdint.h>

#include "core/view.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GI_GAUSS_MAX_TAPS = 1025 }; // t(0)..t(1024)

typedef struct gi_gauss {
    int32_t taps[GI_GAUSS_MAX_TAPS]; // t(0)..t(radius), t(-k) = t(k), in units of 2^-tap_bits; the whole sums to one
    int radius;                      // of the last tap that is not zero: at most gi_gauss_radius(sigma)
    int tap_bits;                    // b: 15 (narrow form) or 24 (wide form)
    int fraction_bits;               // f: kept between the passes, 7 or 8
} gi_gauss;

// ceil(4 sigma): the rows that a Gaussian looks up and down.
int gi_gauss_radius(double sigma);

// Fills *gauss for 0 < sigma <= 256. Tap k > 0 is floor(2^b * g(k) + 1/2) where g(k) = exp(-k^2 / 2 sigma^2) over its
// sum for |k| <= ceil(4 sigma), in double arithmetic; tap 0 is what is left to 2^b.
void gi_gauss_make(double sigma, gi_sample sample, gi_gauss *gauss);

#ifdef __cplusplus
}
#endif
#endif
