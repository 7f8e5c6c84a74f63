#include "codec/png_filter.h"

#include <stdlib.h>
#include <string.h>

enum { NONE, SUB, UP, AVERAGE, PAETH, FILTERS };

// The neighbour (left, above, above left) that is nearest to left + above - above left.
static inline uint8_t paeth(int left, int above, int corner) {
    int to_left = abs(above - corner), to_above = abs(left - corner), to_corner = abs(left + above - 2 * corner);
    if (to_left <= to_above && to_left <= to_corner) return (uint8_t)left;
    return (uint8_t)(to_above <= to_corner ? above : corner);
}

// `pixel` is a constant where this is inlined.
static inline void unfilter_left(int type, uint8_t *row, const uint8_t *above, size_t size, size_t pixel) {
    if (type == SUB) {
        for (size_t i = pixel; i < size; i++) row[i] = (uint8_t)(row[i] + row[i - pixel]);
    } else if (type == AVERAGE) {
        for (size_t i = 0; i < pixel && i < size; i++) row[i] = (uint8_t)(row[i] + above[i] / 2);
        for (size_t i = pixel; i < size; i++) row[i] = (uint8_t)(row[i] + (row[i - pixel] + above[i]) / 2);
    } else {
        for (size_t i = 0; i < pixel && i < size; i++) row[i] = (uint8_t)(row[i] + above[i]);
        for (size_t i = pixel; i < size; i++)
            row[i] = (uint8_t)(row[i] + paeth(row[i - pixel], above[i], above[i - pixel]));
    }
}

int gi_png_unfilter(int type, uint8_t *row, const uint8_t *above, size_t size, size_t pixel) {
    if (type == NONE) return 1;
    if (type < 0 || type >= FILTERS) return 0;
    if (type == UP) {
        for (size_t i = 0; i < size; i++) row[i] = (uint8_t)(row[i] + above[i]);
        return 1;
    }
    switch (pixel) {
    case 1: unfilter_left(type, row, above, size, 1); break;
    case 2: unfilter_left(type, row, above, size, 2); break;
    case 3: unfilter_left(type, row, above, size, 3); break;
    case 4: unfilter_left(type, row, above, size, 4); break;
    default: unfilter_left(type, row, above, size, pixel); break;
    }
    return 1;
}

static void filter_one(int type, uint8_t *out, const uint8_t *row, const uint8_t *above, size_t size, size_t pixel) {
    const uint8_t *left = row - pixel, *corner = above - pixel;
    switch (type) {
    case NONE: memcpy(out, row, size); break;
    case SUB:
        for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(row[i] - left[i]);
        break;
    case UP:
        for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(row[i] - above[i]);
        break;
    case AVERAGE:
        for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(row[i] - (left[i] + above[i]) / 2);
        break;
    default:
        for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(row[i] - paeth(left[i], above[i], corner[i]));
        break;
    }
}

static uint64_t cost_of(const uint8_t *filtered, size_t size) {
    uint64_t cost = 0;
    for (size_t i = 0; i < size; i++) cost += (uint64_t)abs((int8_t)filtered[i]);
    return cost;
}

void gi_png_filter(uint8_t *out, const uint8_t *row, const uint8_t *above, size_t size, size_t pixel,
                   uint8_t *scratch) {
    uint64_t best = UINT64_MAX;
    for (int type = NONE; type < FILTERS; type++) {
        filter_one(type, scratch, row, above, size, pixel);
        uint64_t cost = cost_of(scratch, size);
        if (cost >= best) continue;
        best = cost;
        out[0] = (uint8_t)type;
        memcpy(out + 1, scratch, size);
    }
}
