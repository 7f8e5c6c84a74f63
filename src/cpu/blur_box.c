// Box blur at a cost per pixel that does not depend on the radius.
//
// A running sum for each column (add the row that enters, subtract the one that leaves), prefix sums F along it, and
// F(x + R + 1) - F(x - R) is the window's sum. F is continued past the row's ends by the border rule. All of this is
// modulo 2^32 or 2^64, which loses nothing: the window's sum itself fits.
#include <string.h>

#include "cpu/blur.h"
#include "cpu/blur_box.h"
#include "core/simd.h"

#define SAMPLE uint8_t
#define PAIR uint16_t
#define QUAD uint32_t
#define SUM uint32_t
#define SIGNED int32_t
#define PREFIX_SUMS gi_prefix_sums_u32
#define NAME(x) x##_u8_32
#include "cpu/blur_box_template.h"

#define SAMPLE uint16_t
#define PAIR uint32_t
#define QUAD uint64_t
#define SUM uint32_t
#define SIGNED int32_t
#define PREFIX_SUMS gi_prefix_sums_u32
#define NAME(x) x##_u16_32
#include "cpu/blur_box_template.h"

#define SAMPLE uint8_t
#define PAIR uint16_t
#define QUAD uint32_t
#define SUM uint64_t
#define SIGNED int64_t
#define PREFIX_SUMS gi_prefix_sums_u64
#define NAME(x) x##_u8_64
#include "cpu/blur_box_template.h"

#define SAMPLE uint16_t
#define PAIR uint32_t
#define QUAD uint64_t
#define SUM uint64_t
#define SIGNED int64_t
#define PREFIX_SUMS gi_prefix_sums_u64
#define NAME(x) x##_u16_64
#include "cpu/blur_box_template.h"

static gi_box_plan plan_box(const gi_blur_band *band, int32_t radius) {
    gi_box_plan plan = {.radius = radius, .weighted = gi_has_alpha(band->in.channels)};
    uint64_t side = 2 * (uint64_t)radius + 1, max = gi_sample_max(band->in.sample);
    plan.count = side * side;
    uint64_t bound = (plan.weighted ? max * max : max) + 1; // of one value, at most 2^32; count is below 2^31
    plan.narrow = bound * plan.count <= (uint64_t)1 << 31;
    plan.multiplies = plan.narrow && !plan.weighted && band->border != GI_BORDER_SHRINK && radius > 0;
    plan.small = plan.multiplies && band->in.sample == GI_U8 && plan.count <= GI_BOX_SMALL_COUNT;
    // Operands are integers below 2^52, and the two roundings' error, below 2^-51 of a quotient below max + 1, stays
    // under half of 1 / (max * count), the least distance of (integer + 1/2) / divisor from an integer.
    plan.by_double = max * (max + 1) * plan.count <= (uint64_t)1 << 50;
    while (plan.count >> (plan.shift + 1)) plan.shift++;
    if (plan.multiplies) {
        uint64_t power = (uint64_t)1 << (32 + plan.shift);
        plan.multiplier = (uint32_t)((power + plan.count - 1) / plan.count);
    }
    return plan;
}

gi_status gi_cpu_blur_box(const gi_blur_band *band, int32_t radius, gi_error *err) {
    gi_box_plan plan = plan_box(band, radius);
    gi_blur_rows rows = {.band = band, .plan = &plan};
    if (band->in.sample == GI_U8) {
        if (plan.narrow) return gi_blur_run(&rows, rows_u8_32, scratch_u8_32(&rows), err);
        return gi_blur_run(&rows, rows_u8_64, scratch_u8_64(&rows), err);
    }
    if (plan.narrow) return gi_blur_run(&rows, rows_u16_32, scratch_u16_32(&rows), err);
    return gi_blur_run(&rows, rows_u16_64, scratch_u16_64(&rows), err);
}
