// A reduction of an image's samples, from their exact counts.
#ifndef GI_CORE_COUNT_REDUCTION_H
#define GI_CORE_COUNT_REDUCTION_H

#include "core/primitives.h"

// *result = the reduction of counts[v] samples of each value v < levels, of which there is at least one in all. An
// integer, but for the mean. GI_ERR_LIMIT: it does not fit 64 bits.
gi_status gi_reduce_levels(const uint64_t *counts, uint32_t levels, gi_operation operation, gi_number *result,
                           gi_error *err);

#endif
