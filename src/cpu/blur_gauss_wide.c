// The wide Gaussian without alpha: taps in 2^-24, 8 fraction bits between the passes.
//
// Sums stay below 2^49 and are exact in double arithmetic, which every vector unit has at full width; 64-bit integer
// products most do not.
#include "cpu/blur_gauss.h"
#include "core/simd.h"

#define NUMBER double
#define NAME(x) x##_double
#include "cpu/blur_gauss_passes.h"
#undef NUMBER
#undef NAME

enum { FRACTION_BITS = 8 };

typedef struct wide {
    const gi_blur_band *band;
    const gi_gauss *gauss;
    size_t samples, margin; // margin: samples of R pixels
    double *line;           // pass 1's row, continued by R pixels on either side
    gi_gauss_rows rows;
} wide;

static void take(wide *w, const gi_blur_rows *rows, gi_scratch *scratch) {
    w->band = rows->band;
    w->gauss = rows->plan;
    w->samples = gi_blur_row_samples(rows->band);
    w->margin = (size_t)w->gauss->radius * (size_t)rows->band->in.channels;
    w->line = gi_scratch_take(scratch, w->samples + 2 * w->margin, sizeof *w->line);
}

#define SAMPLE uint8_t
#define NAME(x) x##_u8
#include "cpu/blur_gauss_wide_template.h"

#define SAMPLE uint16_t
#define NAME(x) x##_u16
#include "cpu/blur_gauss_wide_template.h"

gi_status gi_cpu_gauss_wide(const gi_blur_band *band, const gi_gauss *gauss, gi_error *err) {
    gi_blur_rows rows = {.band = band, .plan = gauss};
    wide w;
    gi_scratch count = {NULL, 0};
    take(&w, &rows, &count);
    return gi_blur_run(&rows, band->in.sample == GI_U8 ? make_rows_u8 : make_rows_u16, count.used, err);
}
