// equalize: a table from the histogram of the gray image, of the luma of a colour one, or of each colour channel.
#include "core/equalize.h"

#include <stdlib.h>
#include <string.h>

#include "core/scan.h"
#include "core/stage_table.h"

// *curve = the table for these counts; GI_CURVE_IDENTITY for an image of one level, or none.
static gi_status equalizing_curve(const uint64_t *counts, uint32_t levels, gi_curve *curve, gi_error *err) {
    const uint64_t pixels = gi_reduce_counts(counts, levels);
    uint64_t *upto = NULL;
    uint16_t *table = NULL;
    uint32_t first = 0;
    *curve = (gi_curve){GI_CURVE_IDENTITY, 0, NULL};
    while (first < levels && counts[first] == 0) first++;
    if (first == levels || counts[first] == pixels) return GI_OK;
    upto = malloc(levels * sizeof *upto);
    table = upto ? calloc(levels, sizeof *table) : NULL;
    if (table) {
        gi_scan_counts(counts, upto, levels);
        for (uint32_t v = first + 1; v < levels; v++)
            table[v] = (uint16_t)gi_equalize_level(upto[v] - upto[first], pixels - upto[first], levels - 1);
        *curve = (gi_curve){GI_CURVE_TABLE, 0, table};
    }
    free(upto);
    return table ? GI_OK : gi_fail(err, GI_ERR_MEMORY, "no memory for a table of %u levels", levels);
}

static gi_status each_channel(const gi_point_input *in, gi_point *out, gi_error *err) {
    gi_status status = GI_OK;
    for (int c = 0; c < gi_colour_channels(in->channels) && status == GI_OK; c++) {
        const uint64_t *counts = gi_histogram_channel(in->histogram, c);
        status = equalizing_curve(counts, in->histogram->levels, &out->before[c], err);
    }
    return status;
}

static gi_status by_luma(const gi_point_input *in, gi_point *out, gi_error *err) {
    static const uint32_t weights[3] = {GI_LUMA_RED, GI_LUMA_GREEN, GI_LUMA_BLUE};
    const uint64_t *counts = gi_histogram_channel(in->histogram, 0);
    gi_status status = equalizing_curve(counts, in->histogram->levels, &out->after, err);
    if (status != GI_OK || out->after.kind == GI_CURVE_IDENTITY) return status;
    out->mix = GI_MIX_SHIFT;
    memcpy(out->weights, weights, sizeof weights);
    return GI_OK;
}

gi_status gi_equalize_point(const void *args, const gi_point_input *in, gi_point *out, gi_error *err) {
    const gi_equalize_args *equalize = args;
    const gi_histogram *histogram = in->histogram;
    bool luma = equalize->mode == GI_EQUALIZE_LUMA && gi_colour_channels(in->channels) == 3;
    *out = gi_point_identity(in->channels, in->sample);
    int wanted = luma ? in->channels - 2 : in->channels;
    if (!histogram || histogram->channels != wanted || histogram->levels != gi_sample_max(in->sample) + 1)
        return gi_fail(err, GI_ERR_USAGE, "equalize needs the histogram of the %s", luma ? "image's luma" : "image");
    gi_status status = luma ? by_luma(in, out, err) : each_channel(in, out, err);
    if (status != GI_OK) gi_point_free(out);
    return status;
}
