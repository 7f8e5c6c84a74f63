// equalize: what a level becomes, for every backend.
//
// With counts h over the levels 0..max, n pixels and i the smallest level in use:
//     table[v] = round(max * (h[i+1] + ... + h[v]) / (n - h[i]))        v > i, a half to the even neighbour
//     table[v] = 0                                                      v <= i
// and an image of one level (h[i] = n) stays as it is. OpenCV's equalizeHist has the same rule in float32; it differs
// by one level where the quotient is exactly half-way between two and its rounded factor pushes it to the other side.
#ifndef GI_CORE_EQUALIZE_H
#define GI_CORE_EQUALIZE_H

#include <stdint.h>

#include "core/host_device.h"

// round(max * sum / rest), a half to even, for sum <= rest, 0 < rest < 2^47 and max <= 65535.
GI_HOST_DEVICE static inline uint32_t gi_equalize_level(uint64_t sum, uint64_t rest, uint32_t max) {
    uint64_t scaled = sum * max, level = scaled / rest, left = scaled % rest;
    if (2 * left > rest || (2 * left == rest && level % 2 == 1)) level++;
    return (uint32_t)level;
}

#endif
