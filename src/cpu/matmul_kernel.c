// Each step of p takes `rows` numbers of A, each spread over a vector, and two vectors of B: 2 * rows multiply-adds,
// which are as many as hide their own latency, and leave registers for the operands: 14 x 32 with AVX-512 (28 of 32
// registers hold C), 6 x 16 with AVX2 (12 of 16), 4 x 8 elsewhere.
#include "cpu/matmul_kernel.h"

#include "core/simd.h"

#define DEFINE_KERNEL(name, target, vector, ROWS, LOAD, STORE, SPREAD, ADD, MULTIPLY_ADD)                              \
    target static void name(size_t k, const float *a, const float *b, float *c, size_t c_stride, int add) {            \
        enum { LANES = sizeof(vector) / sizeof(float) };                                                               \
        vector sum[ROWS][2];                                                                                           \
        _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++) {                                                      \
            sum[i][0] = sum[i][1] = SPREAD(0);                                                                         \
            __builtin_prefetch(c + (size_t)i * c_stride);                                                              \
            __builtin_prefetch(c + (size_t)i * c_stride + LANES);                                                      \
        }                                                                                                              \
        for (size_t p = 0; p < k; p++, a += ROWS, b += 2 * LANES) {                                                    \
            vector b0 = LOAD(b), b1 = LOAD(b + LANES);                                                                 \
            _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++) {                                                  \
                vector x = SPREAD(a[i]);                                                                               \
                sum[i][0] = MULTIPLY_ADD(x, b0, sum[i][0]);                                                            \
                sum[i][1] = MULTIPLY_ADD(x, b1, sum[i][1]);                                                            \
            }                                                                                                          \
        }                                                                                                              \
        _Pragma("GCC unroll 16") for (int i = 0; i < ROWS; i++) {                                                      \
            float *row = c + (size_t)i * c_stride;                                                                     \
            if (add) sum[i][0] = ADD(LOAD(row), sum[i][0]);                                                            \
            if (add) sum[i][1] = ADD(LOAD(row + LANES), sum[i][1]);                                                    \
            STORE(row, sum[i][0]);                                                                                     \
            STORE(row + LANES, sum[i][1]);                                                                             \
        }                                                                                                              \
    }

// Four floats, whatever the machine.
typedef float v4 __attribute__((vector_size(16), aligned(4), may_alias));
#define V4_LOAD(p) (*(const v4 *)(p))
#define V4_STORE(p, v) (*(v4 *)(p) = (v))
#define V4_SPREAD(x) ((v4){x, x, x, x})
#define V4_ADD(x, y) ((x) + (y))
#define V4_MULTIPLY_ADD(x, y, z) ((x) * (y) + (z)) // two roundings: contraction is off
DEFINE_KERNEL(portable, , v4, 4, V4_LOAD, V4_STORE, V4_SPREAD, V4_ADD, V4_MULTIPLY_ADD)
static const gi_matmul_kernel portable_kernel = {4, 8, portable};

#if defined(__x86_64__)
#include <immintrin.h>
DEFINE_KERNEL(avx2, GI_TARGET_AVX2, __m256, 6, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_set1_ps, _mm256_add_ps,
              _mm256_fmadd_ps)
DEFINE_KERNEL(avx512, GI_TARGET_AVX512, __m512, 14, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_set1_ps, _mm512_add_ps,
              _mm512_fmadd_ps)
static const gi_matmul_kernel avx2_kernel = {6, 16, avx2}, avx512_kernel = {14, 32, avx512};

const gi_matmul_kernel *gi_matmul_kernel_now(void) {
    switch (gi_simd_level()) {
    case GI_SIMD_AVX512: return &avx512_kernel;
    case GI_SIMD_AVX2: return &avx2_kernel;
    default: return &portable_kernel;
    }
}
#else
const gi_matmul_kernel *gi_matmul_kernel_now(void) { return &portable_kernel; }
#endif
