// threshold: v > level ? max : 0, in each colour channel. otsu takes the level from the histogram of the gray image.
#include "core/stage_table.h"

// Otsu's level of the image, which is gray by now: the planner has seen to that.
static gi_status otsu_level(const gi_point_input *in, uint32_t *level, gi_error *err) {
    const gi_histogram *histogram = in->histogram;
    if (gi_colour_channels(in->channels) != 1) return gi_fail(err, GI_ERR_USAGE, "threshold otsu needs a gray image");
    if (!histogram || histogram->channels < 1 || histogram->levels != gi_sample_max(in->sample) + 1)
        return gi_fail(err, GI_ERR_USAGE, "threshold otsu needs the image's histogram");
    *level = gi_otsu_level(gi_histogram_channel(histogram, 0), histogram->levels);
    return GI_OK;
}

gi_status gi_threshold_point(const void *args, const gi_point_input *in, gi_point *out, gi_error *err) {
    const gi_threshold_args *threshold = args;
    uint32_t max = gi_sample_max(in->sample), level = max / 2 + 1;
    *out = gi_point_identity(in->channels, in->sample);
    if (threshold->level == GI_LEVEL_OTSU) {
        gi_status status = otsu_level(in, &level, err);
        if (status != GI_OK) return status;
    } else if (threshold->level != GI_LEVEL_HALF) {
        if (threshold->level < 0 || (uint32_t)threshold->level > max)
            return gi_fail(err, GI_ERR_USAGE,
                           "threshold level %d does not fit the image: samples of %d bits take a level from 0 to %u",
                           (int)threshold->level, in->sample == GI_U8 ? 8 : 16, max);
        level = (uint32_t)threshold->level;
    }
    for (int c = 0; c < gi_colour_channels(in->channels); c++)
        out->before[c] = (gi_curve){GI_CURVE_THRESHOLD, level, NULL};
    return GI_OK;
}
