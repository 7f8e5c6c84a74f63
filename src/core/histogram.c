#include "core/histogram.h"

#include <stdlib.h>
#include <string.h>

gi_status gi_histogram_init(gi_histogram *histogram, int channels, gi_sample sample, gi_error *err) {
    *histogram = (gi_histogram){NULL, 0, 0};
    if (channels < 1 || channels > GI_MAX_CHANNELS || (sample != GI_U8 && sample != GI_U16))
        return gi_fail(err, GI_ERR_UNSUPPORTED, "no histogram of this kind of image");
    uint32_t levels = gi_sample_max(sample) + 1;
    uint64_t *counts = calloc((size_t)channels * levels, sizeof *counts);
    if (!counts) return gi_fail(err, GI_ERR_MEMORY, "no memory for a histogram of %u levels", levels);
    *histogram = (gi_histogram){counts, levels, channels};
    return GI_OK;
}

void gi_histogram_free(gi_histogram *histogram) {
    if (!histogram) return;
    free(histogram->counts);
    *histogram = (gi_histogram){NULL, 0, 0};
}

gi_status gi_histogram_add(gi_histogram *into, const gi_histogram *from, gi_error *err) {
    if (into->channels != from->channels || into->levels != from->levels)
        return gi_fail(err, GI_ERR_USAGE, "histograms of different kinds of image: %s with %u levels and %s with %u",
                       gi_channels_name(into->channels), into->levels, gi_channels_name(from->channels), from->levels);
    size_t bins = (size_t)into->channels * into->levels;
    for (size_t i = 0; i < bins; i++) into->counts[i] += from->counts[i];
    return GI_OK;
}

void gi_histogram_rebin(const uint64_t *counts, uint32_t levels, uint64_t *out, uint32_t bins) {
    memset(out, 0, bins * sizeof *out);
    for (uint32_t v = 0; v < levels; v++) out[(uint64_t)v * bins / levels] += counts[v];
}
