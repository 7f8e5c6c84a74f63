// Exact histograms: 64-bit counts, one bin for each level of the sample, and the statistics that follow from them.
#ifndef GI_CORE_HISTOGRAM_H
#define GI_CORE_HISTOGRAM_H

#include <stdint.h>

#include "core/status.h"
#include "core/view.h"

#ifdef __cplusplus
extern "C" {
#endif

// Counts of channel c at level v: counts[c * levels + v]; levels = 256 or 65536. Owned by the struct
// (gi_histogram_free).
typedef struct gi_histogram {
    uint64_t *counts;
    uint32_t levels;
    int channels;
} gi_histogram;

// Zeroed counts for that kind of image. GI_ERR_MEMORY possible; *histogram is then empty.
gi_status gi_histogram_init(gi_histogram *histogram, int channels, gi_sample sample, gi_error *err);
void gi_histogram_free(gi_histogram *histogram);

// Adds the counts of `from`, of the same channels and levels, to `into`; GI_ERR_USAGE when they differ.
gi_status gi_histogram_add(gi_histogram *into, const gi_histogram *from, gi_error *err);

static inline const uint64_t *gi_histogram_channel(const gi_histogram *histogram, int c) {
    return histogram->counts + (size_t)c * histogram->levels;
}

enum { GI_PERCENTILE_COUNT = 6 };
extern const int gi_percentile_points[GI_PERCENTILE_COUNT]; // 1 5 25 75 95 99

// Definitions in DESIGN, section 3: percentile p is the smallest v with cumulative count * 100 >= p * n (exactly, in
// integers), std is the population's, entropy in bits, clipped = counts at 0 and at the maximum. An empty histogram
// gives zeros throughout. Sums are exact in integers (128 bits where needed) before the one rounding to double.
typedef struct gi_statistics {
    uint64_t pixels;
    uint32_t min, max, median, otsu;
    uint32_t percentiles[GI_PERCENTILE_COUNT];
    double mean, std, entropy;
    uint64_t clipped_shadows, clipped_highlights;
} gi_statistics;

void gi_statistics_of(const uint64_t *counts, uint32_t levels, gi_statistics *out);

// Otsu's level: the smallest t that maximises the between-class variance of {v <= t} and {v > t}, as OpenCV's
// THRESH_OTSU has it. Computed from exact integer sums. One level or none in use: 0,
// so that a blank page stays white.
uint32_t gi_otsu_level(const uint64_t *counts, uint32_t levels);

// Re-bins `levels` exact counts into `bins` (1..levels) equal bins over [0, levels): level v goes to v * bins / levels.
void gi_histogram_rebin(const uint64_t *counts, uint32_t levels, uint64_t *out, uint32_t bins);

#ifdef __cplusplus
}
#endif
#endif
