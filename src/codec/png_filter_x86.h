// The PNG filters with AVX2 and AVX-512 instructions.
#ifndef GI_CODEC_PNG_FILTER_X86_H
#define GI_CODEC_PNG_FILTER_X86_H

#include <stdbool.h>

#include "codec/png_filter.h"

// gi_png_filter_row without the leading type; and the sum of absolute residuals of each filter. False, and nothing
// done, where the processor has neither or gi_simd_level() says so.
bool gi_png_filter_x86(gi_png_filter_type type, const gi_png_row *row, uint8_t *out);
bool gi_png_filter_costs_x86(const gi_png_row *row, uint64_t costs[GI_PNG_FILTERS]);

#endif
