#include "run/thumbnail.h"

#include <stdlib.h>
#include <string.h>

// Pixels of the image before box i of `boxes` over `length`.
static uint32_t edge(uint32_t i, uint32_t boxes, uint32_t length) { return (uint32_t)((uint64_t)i * length / boxes); }

static uint32_t scaled(uint32_t length, uint32_t longest, uint32_t side) {
    uint32_t rounded = (uint32_t)(((uint64_t)length * side + longest / 2) / longest);
    return rounded ? rounded : 1;
}

gi_status gi_thumbnail_init(gi_thumbnail *thumbnail, gi_shape from, uint32_t side, gi_error *err) {
    memset(thumbnail, 0, sizeof *thumbnail);
    thumbnail->from = from;
    gi_shape shape = {from.width, from.height, from.channels, GI_U8};
    uint32_t longest = from.width > from.height ? from.width : from.height;
    if (longest > side) {
        shape.width = scaled(from.width, longest, side);
        shape.height = scaled(from.height, longest, side);
    }
    size_t bytes = 0;
    gi_status status = gi_shape_bytes(shape, &bytes, err);
    if (status != GI_OK) return status;
    thumbnail->view = gi_view_packed(malloc(bytes), shape, GI_HOST);
    thumbnail->sums = calloc((size_t)shape.width * (size_t)shape.channels, sizeof *thumbnail->sums);
    if (thumbnail->view.data && thumbnail->sums) return GI_OK;
    gi_thumbnail_free(thumbnail);
    return gi_fail(err, GI_ERR_MEMORY, "no memory for a thumbnail");
}

void gi_thumbnail_free(gi_thumbnail *thumbnail) {
    free(thumbnail->view.data);
    free(thumbnail->sums);
    memset(thumbnail, 0, sizeof *thumbnail);
}

// Adds a row to the sums of its boxes; `channels` is a constant where this is called, so that the inner loops are short
// and straight. Alpha comes last: A, and A * C for each colour.
#define SUM_ROW(name, type)                                                                                            \
    static inline void name(const gi_thumbnail *t, const type *pixel, int channels) {                                  \
        uint32_t x = 0;                                                                                                \
        for (uint32_t box = 0; box < t->view.width; box++) {                                                           \
            uint64_t sums[GI_MAX_CHANNELS] = {0};                                                                      \
            uint32_t end = edge(box + 1, t->view.width, t->from.width);                                                \
            for (; x < end; x++, pixel += channels) {                                                                  \
                uint64_t weight = gi_has_alpha(channels) ? pixel[channels - 1] : 1;                                    \
                for (int c = 0; c < gi_colour_channels(channels); c++) sums[c] += weight * pixel[c];                   \
                if (gi_has_alpha(channels)) sums[channels - 1] += weight;                                              \
            }                                                                                                          \
            for (int c = 0; c < channels; c++) t->sums[(size_t)box * (size_t)channels + (size_t)c] += sums[c];         \
        }                                                                                                              \
    }
SUM_ROW(sum_row_u8, uint8_t)
SUM_ROW(sum_row_u16, uint16_t)

static void sum_row(const gi_thumbnail *t, const void *row) {
    bool wide = t->from.sample == GI_U16;
    switch (t->from.channels) {
    case 1: wide ? sum_row_u16(t, row, 1) : sum_row_u8(t, row, 1); break;
    case 2: wide ? sum_row_u16(t, row, 2) : sum_row_u8(t, row, 2); break;
    case 3: wide ? sum_row_u16(t, row, 3) : sum_row_u8(t, row, 3); break;
    default: wide ? sum_row_u16(t, row, 4) : sum_row_u8(t, row, 4); break;
    }
}

// sum / n as a u8, rounded half up.
static uint8_t mean(uint64_t sum, uint64_t n, uint32_t max) {
    // The quotient first: sum * 255 might not fit.
    uint64_t level = n ? (sum + n / 2) / n : 0;
    return (uint8_t)((level * 255 + max / 2) / max);
}

static void finish_boxes(gi_thumbnail *t, uint32_t box_y, uint32_t rows) {
    int channels = t->from.channels, colours = gi_colour_channels(channels);
    uint32_t max = gi_sample_max(t->from.sample);
    uint8_t *out = gi_view_row(&t->view, box_y);
    for (uint32_t box = 0; box < t->view.width; box++) {
        uint64_t *sums = t->sums + (size_t)box * (size_t)channels;
        uint64_t width = edge(box + 1, t->view.width, t->from.width) - edge(box, t->view.width, t->from.width);
        uint64_t weight = gi_has_alpha(channels) ? sums[channels - 1] : width * rows;
        for (int c = 0; c < colours; c++) *out++ = mean(sums[c], weight, max);
        if (gi_has_alpha(channels)) *out++ = mean(sums[channels - 1], width * rows, max);
    }
    memset(t->sums, 0, (size_t)t->view.width * (size_t)channels * sizeof *t->sums);
}

void gi_thumbnail_rows(gi_thumbnail *t, const gi_view *rows) {
    for (uint32_t i = 0; i < rows->height; i++) {
        sum_row(t, gi_view_row(rows, i));
        t->y++;
        // The box row that ends here, if any: the last whose rows begin before.
        uint32_t box = (uint32_t)(((uint64_t)t->y * t->view.height - 1) / t->from.height);
        uint32_t begin = edge(box, t->view.height, t->from.height), end = edge(box + 1, t->view.height, t->from.height);
        if (t->y == end) finish_boxes(t, box, end - begin);
    }
}
