#include "core/gauss.h"

#include <math.h>
#include <string.h>

int gi_gauss_radius(double sigma) { return (int)ceil(4 * sigma); }

void gi_gauss_make(double sigma, gi_sample sample, gi_gauss *gauss) {
    bool narrow = sample == GI_U8 && sigma <= 32;
    int radius = gi_gauss_radius(sigma);
    memset(gauss, 0, sizeof *gauss);
    gauss->tap_bits = narrow ? 15 : 24;
    gauss->fraction_bits = narrow ? 7 : 8;

    // Summed from the small ends, the same way on every machine.
    double sum = 0;
    for (int k = radius; k > 0; k--) sum += 2 * exp(-(double)k * k / (2 * sigma * sigma));
    sum += 1;
    int32_t one = (int32_t)1 << gauss->tap_bits, rest = one;
    for (int k = radius; k > 0; k--) {
        int32_t tap = (int32_t)floor(one * (exp(-(double)k * k / (2 * sigma * sigma)) / sum) + 0.5);
        gauss->taps[k] = tap;
        rest -= 2 * tap;
        if (tap > 0 && gauss->radius == 0) gauss->radius = k;
    }
    gauss->taps[0] = rest;
}
