// Sizes that are refused.
#include "codec/reader.h"
#include "core/checked.h"

gi_status gi_codec_check_pixels(gi_shape shape, uint64_t max_pixels, gi_error *err) {
    uint64_t pixels = (uint64_t)shape.width * shape.height;
    if (max_pixels && pixels > max_pixels)
        return gi_fail(err, GI_ERR_LIMIT, "%ux%u is %llu pixels, more than the limit of %llu (--max-pixels)",
                       shape.width, shape.height, (unsigned long long)pixels, (unsigned long long)max_pixels);
    return GI_OK;
}

gi_status gi_codec_check_size(gi_shape shape, uint64_t max_pixels, gi_error *err) {
    size_t bytes;
    gi_status status = gi_codec_check_pixels(shape, max_pixels, err);
    if (status != GI_OK) return status;
    if (!gi_mul(gi_row_bytes(shape.width, shape.channels, shape.sample), shape.height, &bytes) ||
        bytes > GI_CODEC_BUFFER_LIMIT)
        return gi_fail(err, GI_ERR_LIMIT, "%ux%u %s pixels need more than the codec's limit of 2^30 bytes", shape.width,
                       shape.height, gi_channels_name(shape.channels));
    return GI_OK;
}
