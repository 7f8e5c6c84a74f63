// Point operations in normal form: per-channel curve -> mix to gray (at most one) -> curve.
//
// Any run of POINT stages composes into one gi_point, which each backend applies in a single pass over the image.
// Alpha is never touched. For a mix to gray, `channels` 3 becomes 1 and 4 becomes 2. One further form keeps the
// channels: GI_MIX_SHIFT (equalize mode=luma); nothing can be composed after it.
#ifndef GI_CORE_POINT_H
#define GI_CORE_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/histogram.h"
#include "core/host_device.h"
#include "core/status.h"
#include "core/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gi_curve_kind {
    GI_CURVE_IDENTITY = 0,
    GI_CURVE_THRESHOLD, // v > level ? max : 0
    GI_CURVE_TABLE      // table[v]
} gi_curve_kind;

// A function of one sample. Tables have max+1 entries (256 or 65536), each at most max, whatever the sample type.
typedef struct gi_curve {
    gi_curve_kind kind;
    uint32_t level;  // GI_CURVE_THRESHOLD
    uint16_t *table; // GI_CURVE_TABLE: owned by the gi_point that holds the curve
} gi_curve;

typedef enum gi_mix_kind {
    GI_MIX_NONE = 0,
    GI_MIX_WEIGHTS, // (w0 R + w1 G + w2 B + 16384) >> 15, the weights summing to 32768
    GI_MIX_LINEAR,  // Rec. 709 in linear light, by gi_linear_tables
    GI_MIX_SHIFT    // no mix, but colour moved with its luma: C' = clamp(C + after(Y) - Y), Y as GI_MIX_WEIGHTS has it
} gi_mix_kind;

// Weights of the Rec. 601 luma.
enum { GI_LUMA_RED = 9798, GI_LUMA_GREEN = 19235, GI_LUMA_BLUE = 3735 };

typedef struct gi_point {
    gi_shape shape;     // of the input; width and height unused
    gi_curve before[3]; // colour channels of the input; [0] alone for gray
    gi_mix_kind mix;    // anything but GI_MIX_NONE only where shape.channels >= 3
    uint32_t weights[3];
    gi_curve after; // only after a mix; of GI_MIX_SHIFT: what the luma becomes
} gi_point;

// What a POINT stage may look at when it fills its operation.
typedef struct gi_point_input {
    int channels; // of the image at this place of the pipeline
    gi_sample sample;
    const gi_histogram *histogram; // what the stage asked for: that image's, or its luma's; NULL: not measured
} gi_point_input;

// Fills *out with the stage's operation on such an image. `args` points at the stage's own argument struct.
// Values that do not fit the sample's depth: GI_ERR_USAGE. On failure *out owns nothing.
typedef gi_status (*gi_point_fn)(const void *args, const gi_point_input *in, gi_point *out, gi_error *err);

// The operation that changes nothing.
gi_point gi_point_identity(int channels, gi_sample sample);
bool gi_point_is_identity(const gi_point *point);

// Channels of the output.
int gi_point_channels_out(const gi_point *point);

// *out = `second` after `first`: one operation with the same result as the two in turn. second->shape.channels must
// be gi_point_channels_out(first), and after a GI_MIX_SHIFT nothing but the identity may follow: GI_ERR_USAGE. *out
// owns copies of its tables. GI_ERR_MEMORY possible.
gi_status gi_point_compose(const gi_point *first, const gi_point *second, gi_point *out, gi_error *err);

// Frees the tables and makes *point the identity. NULL is fine.
void gi_point_free(gi_point *point);

// The curve's value at v (v <= max).
GI_HOST_DEVICE static inline uint32_t gi_curve_at(const gi_curve *curve, uint32_t v, uint32_t max) {
    if (curve->kind == GI_CURVE_THRESHOLD) return v > curve->level ? max : 0;
    return curve->kind == GI_CURVE_TABLE ? curve->table[v] : v;
}

// Tables of the gray weights=linear mix, for 8 or 16 bits. Linear light is in units of 2^-30:
//   sum  = red[R] + green[G] + blue[B]        red[v] = round(0.2126 * decode(v/max) * 2^30), and so on (IEC 61966-2-1)
//   code = the number of k in 1..max with threshold[k] <= sum,  threshold[k] = round(decode((k - 0.5)/max) * 2^30)
// which is the correctly rounded re-encoded value. `coarse[i]` is the code of sum = i << 18, so that
// coarse[sum >> 18] <= code <= coarse[(sum >> 18) + 1] bounds the search; it has 4098 entries.
typedef struct gi_linear_tables {
    const uint32_t *red, *green, *blue; // max + 1 entries each
    const uint32_t *threshold;          // max + 1 entries; [0] is 0 and never read
    const uint16_t *coarse;             // 4098 entries
} gi_linear_tables;

enum { GI_LINEAR_COARSE_SHIFT = 18, GI_LINEAR_COARSE_COUNT = 4098 };

// Built once per process and kept; thread-safe. NULL when memory is exhausted.
const gi_linear_tables *gi_linear_tables_get(gi_sample sample);

// The code of a sum, by the tables: the definition that every backend must match.
GI_HOST_DEVICE static inline uint32_t gi_linear_encode(const gi_linear_tables *t, uint32_t sum) {
    uint32_t i = sum >> GI_LINEAR_COARSE_SHIFT;
    uint32_t low = t->coarse[i], high = t->coarse[i + 1];
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (t->threshold[middle] <= sum)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

#ifdef __cplusplus
}
#endif
#endif
