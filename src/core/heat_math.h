// The exact arithmetic of the heat stage: float32, the same bits on every backend and machine.
//
// A file that includes this is compiled without contraction (-ffp-contract=off; nvcc -fmad=false), without flushing of
// subnormal numbers and with IEEE division: what is written here as a product and a sum rounds twice, and only gi_fmaf
// rounds once. The coefficients are those of tests/oracle/heat_coefficients.py.
//
// A pixel of value v is T = (float)v / (float)max. One step, with `up`, `down`, `left`, `right` the neighbours' T at
// its start (0 outside the image), k = (float)(alpha * dt), the product in double:
//     s = ((up + down) + left) + right
//     nonlinear, `inner` times:  T = gi_heat_nonlinear(T, s, k)
//     linear, once:              T = gi_heat_linear(T, s, k)
// After the last step v = gi_heat_sample(T, max). Alpha is copied.
//
// With k in (0, 0.25], T stays within [-1e-6, 1 + 1e-6] and s - 4T within [-4.00001, 4.00001].
#ifndef GI_CORE_HEAT_MATH_H
#define GI_CORE_HEAT_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/host_device.h"

#if defined(__CUDACC__)
#define GI_HEAT_INLINE static __host__ __device__ __forceinline__
#else
#define GI_HEAT_INLINE static inline __attribute__((always_inline))
#endif

// fmaf by double arithmetic, for processors without the instruction, where the C library's function takes some 50 ns.
// The product of two floats is exact in double. The second rounding, to float, can only go wrong where the sum lies
// halfway between two floats (of which the subnormal ones are further apart). There the sum is first rounded to odd
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). For finite operands.
GI_HEAT_INLINE float gi_fmaf_by_double(float a, float b, float c) {
    double product = (double)a * b;
    double sum = product + c;
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if ((bits & 0x1fffffff) != 0x10000000 && fabs(sum) >= 0x1p-126) return (float)sum;
    double c_part = sum - product;
    double error = (product - (sum - c_part)) + (c - c_part);
    bool inexact = error > 0 || error < 0, even = (bits & 1) == 0;
    if (inexact && even) bits += (error > 0) == (sum > 0) ? 1 : -1; // the odd neighbour on the exact sum's side
    memcpy(&sum, &bits, sizeof bits);
    return (float)sum;
}

// a * b + c rounded once. `fused` (a constant in each use): the processor has the instruction.
GI_HEAT_INLINE float gi_fmaf(float a, float b, float c, bool fused) {
#if defined(__CUDA_ARCH__)
    (void)fused;
    return __fmaf_rn(a, b, c);
#else
    return fused ? fmaf(a, b, c) : gi_fmaf_by_double(a, b, c);
#endif
}

// 1 / q, rounded once, for q in [1, 16]. On the device the steps of the compiler's own __frcp_rn (the hardware's
// approximation and one of Newton's steps, which rounds rightly for every q), less its checks for other ranges;
// tests/gpu/test_blocks.cu tries all q.
GI_HEAT_INLINE float gi_reciprocal(float q) {
#if defined(__CUDA_ARCH__)
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(q));
    return __fmaf_rn(r, __fmaf_rn(-q, r, 1.0F), r);
#else
    return 1.0F / q;
#endif
}

// tanh(x) for |x| <= 4.001, as x (1/4 + N(x^2) / Q(x^2)): |error| < 1.8e-7. tanh(-x) is exactly -tanh(x).
GI_HEAT_INLINE float gi_tanhf(float x, bool fused) {
    float u = x * x;
    float n = gi_fmaf(u, -0x1.4a53fep-15F, -0x1.8c9532p-9F, fused);
    n = gi_fmaf(u, n, 0x1.778e8ep-7F, fused);
    n = gi_fmaf(u, n, 0.75F, fused);
    float q = gi_fmaf(u, 0x1.7afe58p-13F, 0x1.70d116p-6F, fused);
    q = gi_fmaf(u, q, 0x1.d6c25ap-2F, fused);
    q = gi_fmaf(u, q, 1.0F, fused);
    return x * gi_fmaf(n, gi_reciprocal(q), 0.25F, fused);
}

// 0.99 x + 0.01 sin(x) for |x| <= 1.1, as x + x^3 D(x^2): |error| < 7e-8. D is a hundredth of sin's own polynomial,
// which is within 1e-7 of it.
GI_HEAT_INLINE float gi_heat_damp(float x, bool fused) {
    float u = x * x;
    float d = gi_fmaf(u, -0x1.0146cap-19F, 0x1.5d4f1cp-14F, fused);
    d = gi_fmaf(u, d, -0x1.b4e74ep-10F, fused);
    return gi_fmaf(x * u, d, x, fused);
}

// s - 4T. The product with 4 is exact, so that one rounding or two make no difference: the faster form of each place.
GI_HEAT_INLINE float gi_heat_laplacian(float t, float s, bool fused) {
#if defined(__CUDA_ARCH__)
    return gi_fmaf(-4.0F, t, s, fused);
#else
    return fused ? fmaf(-4.0F, t, s) : s - 4.0F * t;
#endif
}

// One inner iteration of mode=nonlinear.
GI_HEAT_INLINE float gi_heat_nonlinear(float t, float s, float k, bool fused) {
    float lap = gi_heat_laplacian(t, s, fused);
    return gi_heat_damp(gi_fmaf(k, gi_tanhf(lap, fused), t, fused), fused);
}

// One step of mode=linear.
GI_HEAT_INLINE float gi_heat_linear(float t, float s, float k) {
    float lap = gi_heat_laplacian(t, s, false);
    return t + k * lap;
}

// Clamped, and rounded half up in float arithmetic.
GI_HEAT_INLINE uint32_t gi_heat_sample(float t, float max) {
    t = t < 0.0F ? 0.0F : t;
    t = t > 1.0F ? 1.0F : t;
    return (uint32_t)(int32_t)(t * max + 0.5F);
}

#endif
