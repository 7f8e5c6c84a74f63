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
// image back and forth between, and the most that a WINDOW stage takes for itself as its gi_NAME_scratch tells.
size_t gi_band_bytes(const gi_plan *plan, int from, int to, uint32_t rows, bool uploads);

// The highest bands that work within rule->memory, at most rule->rows and the image's height, at least 1: for the whole
// plan as one leg, or, where those would be lower than the summed halo, for a leg from each WINDOW segment to the next.
// *fits: false when even a single row takes more.
uint32_t gi_band_rows(const gi_plan *plan, const gi_band_rule *rule, bool *fits);

// The end of the leg that begins at segment `from` and goes to `to` at most: where the bands are lower than the image
// and than the summed halo, or the memory is short, a leg ends before a WINDOW segment. Past `from` unless that is
// `to`.
int gi_leg_end(const gi_plan *plan, int from, int to, const gi_band_rule *rule);

// One leg: segments [from, to) over all bands, and what becomes of the result.
typedef struct gi_leg {
    int from, to;
    gi_counted counted; // for the barrier of segment `to`
    bool stored;        // whole in host memory: the next leg begins at `to`. Otherwise it begins at `from` again
    bool last;          // the plan's result
} gi_leg;

// The leg that begins at segment `from` when `resolved` barriers have their operations. In bands, what is before a
// barrier is stored where WINDOW segments make it, so that they are not done once more after it, and where it has fewer
// channels than the leg's input, which is then not needed any more.
gi_leg gi_leg_next(const gi_plan *plan, int from, int resolved, const gi_band_rule *rule);

// The height of bands for rows that come from a decoder one after another: little enough for a cache, and for the
// decoder and the encoder to work meanwhile; several times the halo, whose rows are worked on in two bands. `heavy`:
// the bands are shared out among threads.
uint32_t gi_band_rows_streamed(const gi_plan *plan, bool heavy);

// The height of bands for a device, to which one band goes while others are worked on and come back; `streams`: the
// rows come from a decoder. All rows where the image is counted before it is worked on: it then stays on the device,
// and goes there once.
uint32_t gi_band_rows_device(const gi_plan *plan, bool streams);

// Rows of the decoded image that are held at once: a band with its halo, or all where a second leg begins there.
uint32_t gi_window_rows(const gi_plan *plan, const gi_band_rule *rule);

#endif
