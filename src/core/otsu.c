// Otsu's level on the CPU: all levels in turn. core/otsu_rules.h has the rule.
#include "core/histogram.h"
#include "core/otsu_rules.h"

uint32_t gi_otsu_level(const uint64_t *counts, uint32_t levels) {
    gi_otsu_sums all = {0, 0, 0}, lower = {0, 0, 0};
    gi_otsu_variance best = gi_otsu_variance_of(&all, &lower);
    uint32_t level = 0;
    for (uint32_t v = 0; v < levels; v++) all = gi_otsu_sums_add(all, gi_otsu_sums_of(counts[v], v));
    for (uint32_t t = 0; t < levels; t++) {
        if (counts[t] == 0) continue; // the classes of t - 1, or none yet: no greater
        lower = gi_otsu_sums_add(lower, gi_otsu_sums_of(counts[t], t));
        if (lower.count == all.count) break; // nothing above: no second class
        gi_otsu_variance here = gi_otsu_variance_of(&all, &lower);
        if (gi_otsu_variance_compare(&here, &best) <= 0) continue;
        best = here;
        level = t;
    }
    return level;
}
