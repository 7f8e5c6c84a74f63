// Inner loops of the point operation: each goes over a span of pixels.
//
// Spans are short enough that a second loop over one finds it in the first-level cache, so that a pipeline composed
// into one operation reads and writes main memory once, without a loop of its own for every combination.
#ifndef GI_CPU_POINT_ROWS_H
#define GI_CPU_POINT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/point.h"

// Samples after which the pattern of thresholds repeats for 1, 2, 3 and 4 channels, and a multiple of every vector.
enum { GI_PATTERN_SAMPLES = 192 };

// For each sample of a repeating pattern: out = (v > level ? max : 0), or v where `keep` has all its bits set.
typedef struct gi_threshold_pattern {
    union {
        uint8_t u8[GI_PATTERN_SAMPLES];
        uint16_t u16[GI_PATTERN_SAMPLES];
    } level, keep;
    bool uniform; // one level for all samples, none kept
    bool streams; // the result is too large for the caches: stores may pass them by
} gi_threshold_pattern;

// in -> out, of the same channels. `out` may be `in`.
typedef struct gi_curve_span {
    const void *in;
    void *out;
    size_t pixels;
    int channels;
} gi_curve_span;

// Three or four channels -> one or two. `out` must not overlap `in`.
typedef struct gi_mix_span {
    const void *in;
    void *out;
    size_t pixels;
    int channels; // of `in`
} gi_mix_span;

// Every colour channel of `in` plus the difference from `luma` to `becomes`, clamped; three or four channels, alpha
// kept. Both lumas have one sample a pixel, and two (the second is not looked at) where `in` has alpha. `out` may be
// `in`.
typedef struct gi_shift_span {
    const void *in;
    void *out;
    const void *luma, *becomes;
    size_t pixels;
    int channels; // of `in`
} gi_shift_span;

// One set of loops for each sample type.
typedef struct gi_point_rows {
    void (*threshold)(const gi_curve_span *span, const gi_threshold_pattern *pattern);
    void (*curves)(const gi_curve_span *span, const gi_curve curves[3]); // any kinds; slower than `threshold`
    void (*mix_weights)(const gi_mix_span *span, const uint32_t weights[3]);
    void (*mix_linear)(const gi_mix_span *span, const gi_linear_tables *tables);
    void (*shift)(const gi_shift_span *span);
} gi_point_rows;

extern const gi_point_rows gi_point_rows_u8;
extern const gi_point_rows gi_point_rows_u16;

// Weighted mix of RGB u8, and of RGBA u8 with its alpha, by explicit shuffles (de-interleaving is what compilers do
// badly). They do a first part of the pixels and return how many: 0 where the instruction set or the weights do not
// allow it.
size_t gi_mix_rgb8_x86(const uint8_t *in, uint8_t *out, size_t pixels, const uint32_t weights[3]);
size_t gi_mix_rgba8_x86(const uint8_t *in, uint8_t *out, size_t pixels, const uint32_t weights[3]);

// The threshold of u8 at one level, storing past the caches, which spares reading the lines first. It does a first part
// of the samples and returns how many.
size_t gi_threshold_stream8_x86(const uint8_t *in, uint8_t *out, size_t samples, uint8_t level);

#endif
