#include "cpu/window_band.h"

gi_status gi_window_check_band(const gi_window_job *job, uint32_t halo, const char *stage, gi_error *err) {
    const gi_view *in = &job->in, *out = &job->out;
    const gi_window_place *place = &job->place;
    if (in->sample != GI_U8 && in->sample != GI_U16)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "%s takes 8-bit or 16-bit samples", stage);
    if (in->channels < 1 || in->channels > GI_MAX_CHANNELS || out->channels != in->channels ||
        out->sample != in->sample || out->width != in->width)
        return gi_fail(err, GI_ERR_USAGE, "the output of %s must be like its input", stage);
    uint64_t out_end = (uint64_t)place->out_y0 + out->height, in_end = (uint64_t)place->in_y0 + in->height;
    uint64_t first = place->out_y0 > halo ? place->out_y0 - halo : 0;
    uint64_t end = out_end + halo < place->image_height ? out_end + halo : place->image_height;
    if (out_end > place->image_height || in_end > place->image_height || place->in_y0 > first || in_end < end)
        return gi_fail(err, GI_ERR_USAGE, "the band lacks rows that %s needs around its output", stage);
    return GI_OK;
}
