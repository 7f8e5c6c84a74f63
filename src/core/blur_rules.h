// The exact rules of the blur stage: what every backend computes, to the byte.
//
// Notation: v(y, x) a sample of one channel; A(y, x) the alpha and C(y, x) a colour of the same pixel; max 255 or
// 65535; floor(a/b) for integers a >= 0, b > 0. All sums are exact integers. Every rounding is half up; for integers
//     half_up(a, b) = floor((a + floor(b/2)) / b) = floor((2a + b) / 2b)                                  gi_half_up
//
// BORDER. A kernel of radius R covers rows y-R..y+R and columns x-R..x+R. Where they leave the image of H x W:
//   reflect101  index i becomes its image under reflection at the centres of the first and the last sample, repeated
//               until it lies inside (period 2(n-1); n = 1: always 0)
//   replicate   index i becomes the nearest one inside
//   constant    the pixel has the value `value` in every colour channel, and alpha max: a frame of that gray, opaque
//   shrink      the pixel does not take part: means are over the pixels inside
// Rows and columns are treated one after the other, so a corner outside in both follows both rules.
//
// BOX of radius R (sigma unset), 0 <= R <= 16384. The window has n pixels: (2R+1)^2, or with shrink the number inside
// (rows inside times columns inside). One rounding, at the end:
//   without alpha   v' = half_up(sum v, n)
//   with alpha      A' = half_up(sum A, n);   C' = half_up(sum A*C, sum A), or 0 where sum A = 0
// So an opaque image is blurred as if it had no alpha. R = 0 without alpha is the identity; with alpha it makes colours
// under alpha 0 black.
//
// GAUSSIAN, 0 < sigma <= 256. Taps t(k) = t(-k), |k| <= R = ceil(4 sigma), are integers in units of 2^-b that sum to
// 2^b (core/gauss.h makes them). Two passes, COLUMNS FIRST: pass 1 sums vertically over rows y+k, pass 2 horizontally
// over columns x+k of pass 1's result. Pass 1 knows no columns outside: pass 2 applies the border to its result, with
// `constant` taken as the row outside would give it: pass 1 of a column of constant pixels.
//   narrow form  u8 and sigma <= 32:  b = 15, f = 7
//   wide form    else:                b = 24, f = 8
// Ty = the sum of the vertical taps inside the image with shrink, else 2^b; Tx the same for the horizontal ones.
//   without alpha
//     pass 1   w  = half_up(2^f * sum t*v, Ty)         f fraction bits; at most max * 2^f
//     pass 2   v' = half_up(sum t*w, 2^f * Tx)
//     Where Ty = 2^b, pass 1 is (sum + 2^(b-f-1)) >> (b-f); where Tx = 2^b, pass 2 is (sum + 2^(b+f-1)) >> (b+f).
//   with alpha: passes over the weight A and over each weighted colour A*C, not normalised
//     narrow     pass 1   a = sum t*A                   m = sum t*A*C                  (exact; below 2^23, 2^31)
//                pass 2   D = sum t*a                   M = sum t*m                    (exact; below 2^38, 2^46)
//                         U = Ty * Tx                                                  (at most 2^30)
//     wide       pass 1   a = (sum t*A + 2^7) >> 8      m = (sum t*A*C + 2^15) >> 16   (below 2^32, 2^40)
//                pass 2   D = (sum t*a) >> 8            M = sum t*m                    (below 2^48, 2^64)
//                         U = (Ty * Tx) >> 16                                          (at most 2^32)
//     both       A' = min(max, half_up(D, U));   C' = min(max, half_up(M, D)), or 0 where D = 0
//     M + floor(D/2) stays below 2^64. `constant` gives rows and columns outside A = max and A*C = max * value.
#ifndef GI_CORE_BLUR_RULES_H
#define GI_CORE_BLUR_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/host_device.h"
#include "core/stage_table.h"

// floor((2a + b) / 2b) for b > 0 and a + floor(b/2) < 2^64.
GI_HOST_DEVICE static inline uint64_t gi_half_up(uint64_t a, uint64_t b) { return (a + b / 2) / b; }

// True when the arguments ask for the Gaussian, false for the box.
GI_HOST_DEVICE static inline bool gi_blur_is_gaussian(const gi_blur_args *args) { return args->sigma >= 0; }

// Radius of the box: the default is 1.
GI_HOST_DEVICE static inline int32_t gi_blur_box_radius(const gi_blur_args *args) {
    return args->radius >= 0 ? args->radius : 1;
}

// What index i, inside or not, stands for in a line of n >= 1 samples; -1: outside (constant, shrink).
GI_HOST_DEVICE static inline int64_t gi_border_index(int64_t i, int64_t n, int border) {
    if (i >= 0 && i < n) return i;
    if (border == GI_BORDER_REPLICATE) return i < 0 ? 0 : n - 1;
    if (border != GI_BORDER_REFLECT101) return -1;
    if (n == 1) return 0;
    int64_t period = 2 * (n - 1);
    i %= period;
    if (i < 0) i += period;
    return i < n ? i : period - i;
}

// The number of integers k = r modulo `period` with a <= k <= b.
GI_HOST_DEVICE static inline int64_t gi_count_congruent(int64_t r, int64_t period, int64_t a, int64_t b) {
    int64_t low = a - r, high = b - r; // multiples of the period in [low, high]
    int64_t below = (low - 1) / period - ((low - 1) % period < 0);
    return high / period - (high % period < 0) - below;
}

// How many of the indices a..b stand for index r (0 <= r < n): what a sum over many of them multiplies v(r) by.
GI_HOST_DEVICE static inline int64_t gi_border_count(int64_t r, int64_t a, int64_t b, int64_t n, int border) {
    bool inside = a <= r && r <= b;
    if (border == GI_BORDER_REFLECT101) {
        if (n == 1) return b - a + 1;
        int64_t period = 2 * (n - 1), count = gi_count_congruent(r, period, a, b);
        return r == 0 || r == n - 1 ? count : count + gi_count_congruent(-r, period, a, b);
    }
    if (border == GI_BORDER_REPLICATE && n == 1) return b - a + 1;
    if (border == GI_BORDER_REPLICATE && r == 0) return b < 0 ? b - a + 1 : a > 0 ? 0 : 1 - a;
    if (border == GI_BORDER_REPLICATE && r == n - 1) return a >= n ? b - a + 1 : b < n - 1 ? 0 : b - n + 2;
    return inside ? 1 : 0;
}

// How many of the indices i-radius..i+radius lie inside a line of n samples.
GI_HOST_DEVICE static inline int64_t gi_window_inside(int64_t i, int64_t radius, int64_t n) {
    int64_t first = i - radius > 0 ? i - radius : 0;
    int64_t last = i + radius < n - 1 ? i + radius : n - 1;
    return last - first + 1;
}

#endif
