// What a band of PNG rows is best compressed by, found out on a sample of its rows.
#ifndef GI_CODEC_PNG_PLAN_H
#define GI_CODEC_PNG_PLAN_H

#include "codec/deflate_match.h"
#include "codec/png_band.h"

// How the filtered bytes become blocks.
typedef enum gi_png_method { GI_PNG_STORED, GI_PNG_LITERALS, GI_PNG_MATCHES } gi_png_method;

// One filter for all rows, or the choice of gi_png_filter_choose for each.
enum { GI_PNG_ADAPTIVE = GI_PNG_FILTERS };

typedef struct gi_png_plan {
    int filter; // a gi_png_filter_type or GI_PNG_ADAPTIVE
    gi_png_method method;
    gi_match_options matches;
} gi_png_plan;

// What a plan is made with: a compressor's scratch.
typedef struct gi_png_planner {
    int level;
    const uint8_t *zeros; // a row of zeros with its margin, as the row above an image
    uint8_t *scratch;     // as many bytes as the band has filtered ones, and GI_MATCH_SLACK
    gi_matcher *matcher;
} gi_png_planner;

// Filters the band's rows, each to 1 + row_bytes bytes; returns how many bytes that is.
size_t gi_png_filter_rows(const gi_png_planner *planner, const gi_png_band *band, int filter, uint8_t *out);

gi_png_plan gi_png_plan_make(const gi_png_planner *planner, const gi_png_band *band);

#endif
