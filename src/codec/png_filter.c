#include "codec/png_filter.h"

#include <stdlib.h>
#include <string.h>

#include "codec/png_filter_x86.h"

// The neighbour (left, above, above left) that is nearest to left + above - above left.
static inline uint8_t paeth(int left, int above, int corner) {
    int to_left = abs(above - corner), to_above = abs(left - corner), to_corner = abs(left + above - 2 * corner);
    if (to_left <= to_above && to_left <= to_corner) return (uint8_t)left;
    return (uint8_t)(to_above <= to_corner ? above : corner);
}

static inline uint8_t predicted(gi_png_filter_type type, const gi_png_row *in, size_t i) {
    int left = in->row[(ptrdiff_t)(i - in->pixel)], above = in->above[i];
    switch (type) {
    case GI_PNG_SUB: return (uint8_t)left;
    case GI_PNG_UP: return (uint8_t)above;
    case GI_PNG_AVERAGE: return (uint8_t)((left + above) / 2);
    case GI_PNG_PAETH: return paeth(left, above, in->above[(ptrdiff_t)(i - in->pixel)]);
    default: return 0;
    }
}

// `type` is a constant where this is inlined.
static inline void filter_type(gi_png_filter_type type, const gi_png_row *in, uint8_t *out) {
    for (size_t i = 0; i < in->size; i++) out[i] = (uint8_t)(in->row[i] - predicted(type, in, i));
}

void gi_png_filter_row(gi_png_filter_type type, const gi_png_row *row, uint8_t *out) {
    *out++ = (uint8_t)type;
    if (gi_png_filter_x86(type, row, out)) return;
    switch (type) {
    case GI_PNG_SUB: filter_type(GI_PNG_SUB, row, out); break;
    case GI_PNG_UP: filter_type(GI_PNG_UP, row, out); break;
    case GI_PNG_AVERAGE: filter_type(GI_PNG_AVERAGE, row, out); break;
    case GI_PNG_PAETH: filter_type(GI_PNG_PAETH, row, out); break;
    default: memcpy(out, row->row, row->size); break;
    }
}

static void row_costs(const gi_png_row *in, uint64_t costs[GI_PNG_FILTERS]) {
    for (int type = 0; type < GI_PNG_FILTERS; type++) costs[type] = 0;
    for (size_t i = 0; i < in->size; i++)
        for (int type = 0; type < GI_PNG_FILTERS; type++) {
            int8_t residual = (int8_t)(in->row[i] - predicted((gi_png_filter_type)type, in, i));
            costs[type] += (uint64_t)abs(residual);
        }
}

gi_png_filter_type gi_png_filter_choose(const gi_png_row *row) {
    uint64_t costs[GI_PNG_FILTERS];
    if (!gi_png_filter_costs_x86(row, costs)) row_costs(row, costs);
    int best = 0;
    for (int type = 1; type < GI_PNG_FILTERS; type++)
        if (costs[type] < costs[best]) best = type;
    return (gi_png_filter_type)best;
}

void gi_png_filter(const gi_png_row *row, uint8_t *out) { gi_png_filter_row(gi_png_filter_choose(row), row, out); }
