// Bands of rows: what a run of segments needs of its input, and how much memory it works in.
//
// A leg is a run of segments that goes over the image band by band, each band with the halo of all its WINDOW segments
// summed. Between two legs the image lies whole in host memory.
#ifndef GI_RUN_BANDS_H
#define GI_RUN_BANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/plan.h"

typedef struct gi_rows {
    uint32_t y, count;
} gi_rows;

// How bands are chosen.
typedef struct gi_band_rule {
    uint32_t rows; // of a band at most, 1 or more
    size_t memory; // to work in, apart from whole images in host memory; 0: no limit
    bool uploads;  // the backend copies its input: a device. Otherwise it reads it where it lies
} gi_band_rule;

// Rows of the image before segment `from` that segments [from, to) make `rows` of their result from.
gi_rows gi_rows_needed(const gi_plan *plan, int from, int to, gi_rows rows);

// Sum of the halos of segments [from, to); UINT32_MAX where it is more.
uint32_t gi_halo_sum(const gi_plan *plan, int from, int to);

// Bytes that segments [from, to) work in for a band of `rows` rows of their result: the two buffers that they pass the
// image back and forth between. What a stage takes for itself (taps, tables, column sums) is not counted.
size_t gi_band_bytes(const gi_plan *plan, int from, int to, uint32_t rows, bool uploads);

// The tallest bands that let each segment work alone within rule->memory, at most rule->rows and the image's height, at
// least 1. *fits: false when even a single row takes more.
uint32_t gi_band_rows(const gi_plan *plan, const gi_band_rule *rule, bool *fits);

// The end of the leg that begins at segment `from` and goes to `to` at most: where the bands are shorter than the image
// and than the summed halo, or the memory is short, each WINDOW segment ends a leg. Always past `from`.
int gi_leg_end(const gi_plan *plan, int from, int to, const gi_band_rule *rule);

#endif
