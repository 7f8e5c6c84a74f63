// What a plan costs: bytes moved and memory held, for `run --explain`, and time against that of the codecs.
#ifndef GI_RUN_WORK_H
#define GI_RUN_WORK_H

#include "run/bands.h"

// Over the whole image, halos and repeated work of bands included.
typedef struct gi_work {
    double read, written; // bytes of pixels that the segments and the counting read and write
    double up, down;      // bytes copied to the device and back; 0 where the backend works in host memory
    size_t image;         // bytes of the decoded image
    size_t window;        // ... that are held at once where its rows come from a decoder
    size_t working;       // bytes at most that the bands work in (gi_band_bytes)
    size_t stored;        // bytes at most of whole images between legs
    int legs;
    uint32_t bands; // of each leg
} gi_work;

gi_work gi_work_of(const gi_plan *plan, const gi_band_rule *rule);

// True for so many seconds a pixel on one core: longer than the codecs take, roughly.
bool gi_work_outlasts_codecs(double pixel_seconds);

// True when the stages take longer on one core than the codecs do, roughly: then they are what all cores are for.
bool gi_work_is_heavy(const gi_plan *plan);

#endif
