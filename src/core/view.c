#include "core/view.h"

#include "core/checked.h"

gi_status gi_shape_bytes(gi_shape shape, size_t *bytes, gi_error *err) {
    size_t row = gi_row_bytes(shape.width, shape.channels, shape.sample);
    if (!gi_mul(row, shape.height, bytes))
        return gi_fail(err, GI_ERR_LIMIT, "%ux%u pixels do not fit this machine's memory", shape.width, shape.height);
    return GI_OK;
}

const char *gi_channels_name(int channels) {
    static const char *const names[] = {"no channels", "gray", "gray+alpha", "RGB", "RGBA"};
    return names[channels >= 1 && channels <= 4 ? channels : 0];
}

const char *gi_channel_name(int channels, int c) {
    static const char *const colour[] = {"red", "green", "blue", "alpha"};
    if (channels >= 3) return colour[c & 3];
    return c == 0 ? "gray" : "alpha";
}
