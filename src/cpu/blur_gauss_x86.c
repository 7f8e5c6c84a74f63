// Multiply-add loops of the narrow Gaussian for SSE2 (the portable level: every 64-bit x86 has it), AVX2 and AVX-512.
#include "cpu/blur_gauss_narrow.h"
#include "core/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define NAME(x) x##_sse2
#define TARGET
#define VECTOR __m128i
#define LANES 4 // of 32 bits
#define LOAD(p) _mm_loadu_si128((const __m128i_u *)(p))
#define LOAD_BYTES(p) _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i_u *)(p)), _mm_setzero_si128())
#define STORE(p, v) _mm_storeu_si128((__m128i_u *)(p), v)
#define SPREAD(x) _mm_set1_epi32(x)
#define ADD_16(a, b) _mm_add_epi16(a, b)
#define ADD_32(a, b) _mm_add_epi32(a, b)
#define MULTIPLY_ADD(a, b) _mm_madd_epi16(a, b)
#define LOW_16(a, b) _mm_unpacklo_epi16(a, b)
#define HIGH_16(a, b) _mm_unpackhi_epi16(a, b)
#define SHIFT_RIGHT(a, n) _mm_srai_epi32(a, n)
#define PACK_32(a, b) _mm_packs_epi32(a, b)
#define PACK_16(a, b) _mm_packus_epi16(a, b)
#define IN_ORDER(v) (v) // four vectors packed to bytes
#include "cpu/blur_gauss_x86_template.h"

#define NAME(x) x##_avx2
#define TARGET GI_TARGET_AVX2
#define VECTOR __m256i
#define LANES 8
#define LOAD(p) _mm256_loadu_si256((const __m256i_u *)(p))
#define LOAD_BYTES(p) _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i_u *)(p)))
#define STORE(p, v) _mm256_storeu_si256((__m256i_u *)(p), v)
#define SPREAD(x) _mm256_set1_epi32(x)
#define ADD_16(a, b) _mm256_add_epi16(a, b)
#define ADD_32(a, b) _mm256_add_epi32(a, b)
#define MULTIPLY_ADD(a, b) _mm256_madd_epi16(a, b)
#define LOW_16(a, b) _mm256_unpacklo_epi16(a, b)
#define HIGH_16(a, b) _mm256_unpackhi_epi16(a, b)
#define SHIFT_RIGHT(a, n) _mm256_srai_epi32(a, n)
#define PACK_32(a, b) _mm256_packs_epi32(a, b)
#define PACK_16(a, b) _mm256_packus_epi16(a, b)
#define IN_ORDER(v) _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
#include "cpu/blur_gauss_x86_template.h"

#define NAME(x) x##_avx512
#define TARGET GI_TARGET_AVX512
#define VECTOR __m512i
#define LANES 16
#define LOAD(p) _mm512_loadu_si512(p)
#define LOAD_BYTES(p) _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i_u *)(p)))
#define STORE(p, v) _mm512_storeu_si512(p, v)
#define SPREAD(x) _mm512_set1_epi32(x)
#define ADD_16(a, b) _mm512_add_epi16(a, b)
#define ADD_32(a, b) _mm512_add_epi32(a, b)
#define MULTIPLY_ADD(a, b) _mm512_madd_epi16(a, b)
#define LOW_16(a, b) _mm512_unpacklo_epi16(a, b)
#define HIGH_16(a, b) _mm512_unpackhi_epi16(a, b)
#define SHIFT_RIGHT(a, n) _mm512_srai_epi32(a, n)
#define PACK_32(a, b) _mm512_packs_epi32(a, b)
#define PACK_16(a, b) _mm512_packus_epi16(a, b)
#define IN_ORDER(v) _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v)
#include "cpu/blur_gauss_x86_template.h"

size_t gi_narrow_columns_x86(const gi_narrow_columns *columns, const gi_narrow_taps *taps) {
    switch (gi_simd_level()) {
    case GI_SIMD_AVX512: return columns_avx512(columns, taps);
    case GI_SIMD_AVX2: return columns_avx2(columns, taps);
    default: return columns_sse2(columns, taps);
    }
}

size_t gi_narrow_line_x86(const gi_narrow_line *line, const gi_narrow_taps *taps) {
    switch (gi_simd_level()) {
    case GI_SIMD_AVX512: return line_avx512(line, taps);
    case GI_SIMD_AVX2: return line_avx2(line, taps);
    default: return line_sse2(line, taps);
    }
}

#else

size_t gi_narrow_columns_x86(const gi_narrow_columns *columns, const gi_narrow_taps *taps) {
    (void)columns;
    (void)taps;
    return 0;
}

size_t gi_narrow_line_x86(const gi_narrow_line *line, const gi_narrow_taps *taps) {
    (void)line;
    (void)taps;
    return 0;
}

#endif
