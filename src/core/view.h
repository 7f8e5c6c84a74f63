// A view: a rectangle of samples somewhere in memory. It owns nothing.
#ifndef GI_CORE_VIEW_H
#define GI_CORE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gi_sample { GI_U8 = 0, GI_U16, GI_F32 } gi_sample;
typedef enum gi_where { GI_HOST = 0, GI_PINNED, GI_DEVICE } gi_where;

enum { GI_MAX_CHANNELS = 4 };

// Pixels of `channels` interleaved samples; row y begins at data + y * pitch_bytes.
// Channels: 1 gray, 2 gray+alpha, 3 RGB, 4 RGBA. Alpha is not premultiplied.
typedef struct gi_view {
    void *data;
    size_t pitch_bytes; // at least width * channels * bytes per sample
    uint32_t width;     // pixels
    uint32_t height;    // rows
    int channels;       // 1..4
    gi_sample sample;
    gi_where where;
} gi_view;

// What an image is apart from where it lies.
typedef struct gi_shape {
    uint32_t width;
    uint32_t height;
    int channels;
    gi_sample sample;
} gi_shape;

static inline size_t gi_sample_bytes(gi_sample sample) { return (size_t)1 << sample; }

// The largest value of an integer sample: 255 or 65535.
static inline uint32_t gi_sample_max(gi_sample sample) { return sample == GI_U8 ? 255U : 65535U; }

// Channels that carry colour: 1 for gray and gray+alpha, 3 for RGB and RGBA.
static inline int gi_colour_channels(int channels) { return channels >= 3 ? 3 : 1; }
static inline bool gi_has_alpha(int channels) { return channels == 2 || channels == 4; }

// Bytes of one row without padding. Fits size_t for every width of 32 bits.
static inline size_t gi_row_bytes(uint32_t width, int channels, gi_sample sample) {
    return (size_t)width * (size_t)channels * gi_sample_bytes(sample);
}

static inline void *gi_view_row(const gi_view *view, uint32_t y) {
    return (unsigned char *)view->data + (size_t)y * view->pitch_bytes;
}

// Rows [y0, y0 + rows) of a view; the caller keeps them inside it.
static inline gi_view gi_view_rows(const gi_view *view, uint32_t y0, uint32_t rows) {
    gi_view band = *view;
    band.data = gi_view_row(view, y0);
    band.height = rows;
    return band;
}

static inline gi_shape gi_view_shape(const gi_view *view) {
    gi_shape shape = {view->width, view->height, view->channels, view->sample};
    return shape;
}

// A view of tightly packed rows over `data`.
static inline gi_view gi_view_packed(void *data, gi_shape shape, gi_where where) {
    gi_view view = {data,           gi_row_bytes(shape.width, shape.channels, shape.sample),
                    shape.width,    shape.height,
                    shape.channels, shape.sample,
                    where};
    return view;
}

// *bytes = the size of tightly packed pixels of this shape; GI_ERR_LIMIT when it does not fit size_t.
gi_status gi_shape_bytes(gi_shape shape, size_t *bytes, gi_error *err);

// "gray", "gray+alpha", "RGB", "RGBA" for 1..4 channels.
const char *gi_channels_name(int channels);

// The name of channel c of an image of `channels` channels: gray, red, green, blue or alpha.
const char *gi_channel_name(int channels, int c);

#ifdef __cplusplus
}
#endif
#endif
