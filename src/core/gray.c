// gray: one channel from colour. 601 and 709 as OpenCV has them, in 15-bit fixed point; linear by gi_linear_tables.
#include <string.h>

#include "core/stage_table.h"

gi_status gi_gray_point(const void *args, const gi_point_input *in, gi_point *out, gi_error *err) {
    static const uint32_t weights[][3] = {
        [GI_GRAY_601] = {GI_LUMA_RED, GI_LUMA_GREEN, GI_LUMA_BLUE}, [GI_GRAY_709] = {6966, 23436, 2366}};
    const gi_gray_args *gray = args;
    *out = gi_point_identity(in->channels, in->sample);
    if (gi_colour_channels(in->channels) == 1) return GI_OK;
    if (gray->weights == GI_GRAY_LINEAR) {
        // Built here, so that no backend finds them missing half-way.
        if (!gi_linear_tables_get(in->sample)) return gi_fail(err, GI_ERR_MEMORY, "no memory for the tables of gray");
        out->mix = GI_MIX_LINEAR;
        return GI_OK;
    }
    out->mix = GI_MIX_WEIGHTS;
    memcpy(out->weights, weights[gray->weights], sizeof out->weights);
    return GI_OK;
}
