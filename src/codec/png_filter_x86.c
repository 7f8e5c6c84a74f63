#include "codec/png_filter_x86.h"

#include <string.h>

#include "core/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define V __m256i
#define VECTOR_BYTES 32
#define TARGET GI_TARGET_AVX2
#define NAME(name) name##_avx2

TARGET static inline V NAME(zero)(void) { return _mm256_setzero_si256(); }
TARGET static inline V NAME(load)(const void *p) { return _mm256_loadu_si256(p); }
TARGET static inline void NAME(store)(void *p, V v) { _mm256_storeu_si256(p, v); }
// The first `size` bytes, fewer than a vector's; zeros after them.
TARGET static inline V NAME(load_part)(const void *p, size_t size) {
    uint8_t bytes[32] = {0};
    memcpy(bytes, p, size);
    return NAME(load)(bytes);
}
TARGET static inline void NAME(store_part)(void *p, V v, size_t size) {
    uint8_t bytes[32];
    NAME(store)(bytes, v);
    memcpy(p, bytes, size);
}
TARGET static inline V NAME(keep_part)(V v, size_t size) {
    uint8_t bytes[32];
    NAME(store)(bytes, v);
    return NAME(load_part)(bytes, size);
}
TARGET static inline uint64_t NAME(sum)(V v) {
    uint64_t sums[4];
    NAME(store)(sums, v);
    return sums[0] + sums[1] + sums[2] + sums[3];
}
TARGET static inline V NAME(subtract)(V a, V b) { return _mm256_sub_epi8(a, b); }
TARGET static inline V NAME(min)(V a, V b) { return _mm256_min_epu8(a, b); }
TARGET static inline V NAME(distance)(V a, V b) {
    return _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
}
// (a + b) / 2: the instruction rounds up.
TARGET static inline V NAME(average)(V a, V b) {
    V odd = _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_set1_epi8(1));
    return _mm256_sub_epi8(_mm256_avg_epu8(a, b), odd);
}
// a <= b ? yes : no
TARGET static inline V NAME(select_le)(V a, V b, V yes, V no) {
    return _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi8(_mm256_min_epu8(a, b), a));
}
// 255 where a >= c and b >= c are both true or both false, else v.
TARGET static inline V NAME(or_where_same_side)(V v, V a, V b, V c) {
    V a_over = _mm256_cmpeq_epi8(_mm256_max_epu8(a, c), a), b_over = _mm256_cmpeq_epi8(_mm256_max_epu8(b, c), b);
    return _mm256_or_si256(v, _mm256_cmpeq_epi8(a_over, b_over));
}
TARGET static inline V NAME(add_absolute)(V sum, V residual) {
    return _mm256_add_epi64(sum, _mm256_sad_epu8(_mm256_abs_epi8(residual), _mm256_setzero_si256()));
}
#include "codec/png_filter_x86_template.h"

#define V __m512i
#define VECTOR_BYTES 64
#define TARGET GI_TARGET_AVX512
#define NAME(name) name##_avx512

TARGET static inline V NAME(zero)(void) { return _mm512_setzero_si512(); }
TARGET static inline V NAME(load)(const void *p) { return _mm512_loadu_si512(p); }
TARGET static inline void NAME(store)(void *p, V v) { _mm512_storeu_si512(p, v); }
// By masks, not through arrays: gcc's address sanitizer misaligns those of 64 bytes on the stack.
TARGET static inline __mmask64 NAME(part)(size_t size) { return ((__mmask64)1 << size) - 1; }
TARGET static inline V NAME(load_part)(const void *p, size_t size) {
    return _mm512_maskz_loadu_epi8(NAME(part)(size), p);
}
TARGET static inline void NAME(store_part)(void *p, V v, size_t size) {
    _mm512_mask_storeu_epi8(p, NAME(part)(size), v);
}
TARGET static inline V NAME(keep_part)(V v, size_t size) { return _mm512_maskz_mov_epi8(NAME(part)(size), v); }
TARGET static inline uint64_t NAME(sum)(V v) { return (uint64_t)_mm512_reduce_add_epi64(v); }
TARGET static inline V NAME(subtract)(V a, V b) { return _mm512_sub_epi8(a, b); }
TARGET static inline V NAME(min)(V a, V b) { return _mm512_min_epu8(a, b); }
TARGET static inline V NAME(distance)(V a, V b) {
    return _mm512_or_si512(_mm512_subs_epu8(a, b), _mm512_subs_epu8(b, a));
}
TARGET static inline V NAME(average)(V a, V b) {
    V odd = _mm512_and_si512(_mm512_xor_si512(a, b), _mm512_set1_epi8(1));
    return _mm512_sub_epi8(_mm512_avg_epu8(a, b), odd);
}
TARGET static inline V NAME(select_le)(V a, V b, V yes, V no) {
    return _mm512_mask_blend_epi8(_mm512_cmple_epu8_mask(a, b), no, yes);
}
TARGET static inline V NAME(or_where_same_side)(V v, V a, V b, V c) {
    __mmask64 same = ~(_mm512_cmpge_epu8_mask(a, c) ^ _mm512_cmpge_epu8_mask(b, c));
    return _mm512_mask_blend_epi8(same, v, _mm512_set1_epi8(-1));
}
TARGET static inline V NAME(add_absolute)(V sum, V residual) {
    return _mm512_add_epi64(sum, _mm512_sad_epu8(_mm512_abs_epi8(residual), _mm512_setzero_si512()));
}
#include "codec/png_filter_x86_template.h"

bool gi_png_filter_x86(gi_png_filter_type type, const gi_png_row *row, uint8_t *out) {
    switch (gi_simd_level()) {
    case GI_SIMD_AVX512: filter_avx512(type, row, out); return true;
    case GI_SIMD_AVX2: filter_avx2(type, row, out); return true;
    default: return false;
    }
}

bool gi_png_filter_costs_x86(const gi_png_row *row, uint64_t costs[GI_PNG_FILTERS]) {
    switch (gi_simd_level()) {
    case GI_SIMD_AVX512: row_costs_avx512(row, costs); return true;
    case GI_SIMD_AVX2: row_costs_avx2(row, costs); return true;
    default: return false;
    }
}
#else
bool gi_png_filter_x86(gi_png_filter_type type, const gi_png_row *row, uint8_t *out) {
    (void)type, (void)row, (void)out;
    return false;
}

bool gi_png_filter_costs_x86(const gi_png_row *row, uint64_t costs[GI_PNG_FILTERS]) {
    (void)row, (void)costs;
    return false;
}
#endif
