// Gaussian blur: choice of the form, and what the forms share.
#include "cpu/blur_gauss.h"

#include <string.h>

void gi_gauss_rows_at(const gi_blur_band *band, int radius, int64_t y, gi_gauss_rows *rows) {
    for (int k = 0; k <= radius; k++) {
        rows->above[k] = gi_blur_row(band, y - k);
        rows->below[k] = k == 0 ? band->blank : gi_blur_row(band, y + k);
    }
}

int64_t gi_gauss_inside(const gi_gauss *gauss, int border, int64_t i, int64_t n) {
    int64_t sum = (int64_t)1 << gauss->tap_bits;
    if (border != GI_BORDER_SHRINK) return sum;
    for (int64_t k = i + 1; k <= gauss->radius; k++) sum -= gauss->taps[k];
    for (int64_t k = n - i; k <= gauss->radius; k++) sum -= gauss->taps[k];
    return sum;
}

// Every tap but the centre's is 0: the identity, where no alpha makes colours black.
static void copy_rows(const gi_blur_band *band) {
    size_t bytes = gi_row_bytes(band->in.width, band->in.channels, band->in.sample);
    for (uint32_t y = 0; y < band->out.height; y++)
        memcpy(gi_view_row(&band->out, y), gi_blur_row(band, (int64_t)band->place.out_y0 + y), bytes);
}

gi_status gi_cpu_blur_gauss(const gi_blur_band *band, double sigma, gi_error *err) {
    gi_gauss gauss;
    gi_gauss_make(sigma, band->in.sample, &gauss);
    if (gi_has_alpha(band->in.channels)) return gi_cpu_gauss_alpha(band, &gauss, err);
    if (gauss.radius == 0) {
        copy_rows(band);
        return GI_OK;
    }
    bool narrow = gauss.tap_bits == 15;
    return narrow ? gi_cpu_gauss_narrow(band, &gauss, err) : gi_cpu_gauss_wide(band, &gauss, err);
}
