// Loops of the point operation that compilers do not make: stores past the caches, and gray from RGB and RGBA u8 by
// explicit shuffles, for AVX2 and AVX-512.
//
// RGB: per 128-bit lane: four pixels of three bytes are spread to words (R, G) and (B, 0), multiply-add gives one
// 32-bit sum a pixel, exactly (w0 R + w1 G + w2 B + 16384) >> 15. Four such vectors are packed to bytes and put back in
// order. RGBA: the same from words (R, B) and (G, A), which masks and shifts give. AVX2 reaches memory speed there
// already.
#include "cpu/point_rows.h"
#include "core/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

// Zeroes (index -1) above each byte make it a word.
#define LANE_RED_GREEN 0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1
#define LANE_BLUE 2, -1, -1, -1, 5, -1, -1, -1, 8, -1, -1, -1, 11, -1, -1, -1

// Two words to multiply a pair by.
static int word_pair(uint32_t low, uint32_t high) { return (int)(low | high << 16); }

typedef struct mix_avx2 {
    __m256i spread, red_green, blue, weights_red_green, weight_blue, half;
} mix_avx2;

GI_TARGET_AVX2 static inline __m256i mix8_avx2(const uint8_t *in, const mix_avx2 *m) {
    __m256i pixels = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i_u *)in), m->spread);
    __m256i red_green = _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, m->red_green), m->weights_red_green);
    __m256i blue = _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, m->blue), m->weight_blue);
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(red_green, blue), m->half), 15);
}

// 32 pixels a turn; a load reads up to 8 bytes past them, which are within the span while 35 pixels are left.
GI_TARGET_AVX2 static size_t mix_rgb8_avx2(const uint8_t *in, uint8_t *out, size_t pixels, const uint32_t weights[3]) {
    const mix_avx2 m = {_mm256_setr_epi32(0, 1, 2, 3, 3, 4, 5, 6), _mm256_setr_epi8(LANE_RED_GREEN, LANE_RED_GREEN),
                        _mm256_setr_epi8(LANE_BLUE, LANE_BLUE),    _mm256_set1_epi32(word_pair(weights[0], weights[1])),
                        _mm256_set1_epi32((int)weights[2]),        _mm256_set1_epi32(16384)};
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    size_t i = 0;
    for (; pixels - i >= 35; i += 32) {
        const uint8_t *p = in + 3 * i;
        __m256i low = _mm256_packs_epi32(mix8_avx2(p, &m), mix8_avx2(p + 24, &m));
        __m256i high = _mm256_packs_epi32(mix8_avx2(p + 48, &m), mix8_avx2(p + 72, &m));
        __m256i gray = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
        _mm256_storeu_si256((__m256i_u *)(out + i), gray);
    }
    return i;
}

typedef struct mix_avx512 {
    __m512i spread, red_green, blue, weights_red_green, weight_blue, half;
} mix_avx512;

GI_TARGET_AVX512 static inline __m512i mix16_avx512(const uint8_t *in, const mix_avx512 *m) {
    __m512i pixels = _mm512_permutexvar_epi32(m->spread, _mm512_loadu_si512(in));
    __m512i red_green = _mm512_madd_epi16(_mm512_shuffle_epi8(pixels, m->red_green), m->weights_red_green);
    __m512i blue = _mm512_madd_epi16(_mm512_shuffle_epi8(pixels, m->blue), m->weight_blue);
    return _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(red_green, blue), m->half), 15);
}

// 64 pixels a turn; a load reads up to 16 bytes past them, which are within the span while 70 pixels are left.
GI_TARGET_AVX512 static size_t mix_rgb8_avx512(const uint8_t *in, uint8_t *out, size_t pixels,
                                               const uint32_t weights[3]) {
    const mix_avx512 m = {_mm512_setr_epi32(0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12),
                          _mm512_broadcast_i32x4(_mm_setr_epi8(LANE_RED_GREEN)),
                          _mm512_broadcast_i32x4(_mm_setr_epi8(LANE_BLUE)),
                          _mm512_set1_epi32(word_pair(weights[0], weights[1])),
                          _mm512_set1_epi32((int)weights[2]),
                          _mm512_set1_epi32(16384)};
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    size_t i = 0;
    for (; pixels - i >= 70; i += 64) {
        const uint8_t *p = in + 3 * i;
        __m512i low = _mm512_packs_epi32(mix16_avx512(p, &m), mix16_avx512(p + 48, &m));
        __m512i high = _mm512_packs_epi32(mix16_avx512(p + 96, &m), mix16_avx512(p + 144, &m));
        __m512i gray = _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
        _mm512_storeu_si512(out + i, gray);
    }
    return i;
}

typedef struct mix_rgba_avx2 {
    __m256i even_bytes, weights_red_blue, weight_green, half, alpha;
} mix_rgba_avx2;

// Eight times gray | alpha << 8, each in 32 bits.
GI_TARGET_AVX2 static inline __m256i mix8_rgba_avx2(const uint8_t *in, const mix_rgba_avx2 *m) {
    __m256i pixels = _mm256_loadu_si256((const __m256i_u *)in);
    __m256i red_blue = _mm256_madd_epi16(_mm256_and_si256(pixels, m->even_bytes), m->weights_red_blue);
    __m256i green = _mm256_madd_epi16(_mm256_srli_epi16(pixels, 8), m->weight_green);
    __m256i gray = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(red_blue, green), m->half), 15);
    return _mm256_or_si256(gray, _mm256_and_si256(_mm256_srli_epi32(pixels, 16), m->alpha));
}

GI_TARGET_AVX2 static size_t mix_rgba8_avx2(const uint8_t *in, uint8_t *out, size_t pixels, const uint32_t weights[3]) {
    const mix_rgba_avx2 m = {_mm256_set1_epi16(0x00ff), _mm256_set1_epi32(word_pair(weights[0], weights[2])),
                             _mm256_set1_epi32((int)weights[1]), _mm256_set1_epi32(16384), _mm256_set1_epi32(0xff00)};
    size_t i = 0;
    for (; pixels - i >= 16; i += 16) {
        __m256i low = mix8_rgba_avx2(in + 4 * i, &m), high = mix8_rgba_avx2(in + 4 * i + 32, &m);
        __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
        _mm256_storeu_si256((__m256i_u *)(out + 2 * i), both);
    }
    return i;
}

// 32768, all of one channel, is no signed word.
static bool fit_words(const uint32_t weights[3]) {
    return weights[0] <= INT16_MAX && weights[1] <= INT16_MAX && weights[2] <= INT16_MAX;
}

size_t gi_mix_rgba8_x86(const uint8_t *in, uint8_t *out, size_t pixels, const uint32_t weights[3]) {
    if (gi_simd_level() < GI_SIMD_AVX2 || !fit_words(weights)) return 0;
    return mix_rgba8_avx2(in, out, pixels, weights);
}

size_t gi_mix_rgb8_x86(const uint8_t *in, uint8_t *out, size_t pixels, const uint32_t weights[3]) {
    if (!fit_words(weights)) return 0;
    switch (gi_simd_level()) {
    case GI_SIMD_AVX512: return mix_rgb8_avx512(in, out, pixels, weights);
    case GI_SIMD_AVX2: return mix_rgb8_avx2(in, out, pixels, weights);
    default: return 0;
    }
}

// SSE2, which every 64-bit x86 has, is as fast as memory already. Vectors have to be stored aligned.
size_t gi_threshold_stream8_x86(const uint8_t *in, uint8_t *out, size_t samples, uint8_t level) {
    const __m128i levels = _mm_set1_epi8((char)level), white = _mm_set1_epi8(-1);
    size_t i = 0;
    for (; i < samples && (uintptr_t)(out + i) % sizeof(__m128i) != 0; i++) out[i] = in[i] > level ? UINT8_MAX : 0;
    for (; samples - i >= sizeof(__m128i); i += sizeof(__m128i)) {
        __m128i v = _mm_loadu_si128((const __m128i_u *)(in + i));
        __m128i dark = _mm_cmpeq_epi8(_mm_min_epu8(v, levels), v);
        _mm_stream_si128((__m128i *)(void *)(out + i), _mm_xor_si128(dark, white));
    }
    _mm_sfence(); // before another thread is told that they are there
    return i;
}

#else

size_t gi_threshold_stream8_x86(const uint8_t *in, uint8_t *out, size_t samples, uint8_t level) {
    (void)in;
    (void)out;
    (void)samples;
    (void)level;
    return 0;
}

size_t gi_mix_rgb8_x86(const uint8_t *in, uint8_t *out, size_t pixels, const uint32_t weights[3]) {
    (void)in;
    (void)out;
    (void)pixels;
    (void)weights;
    return 0;
}

size_t gi_mix_rgba8_x86(const uint8_t *in, uint8_t *out, size_t pixels, const uint32_t weights[3]) {
    return gi_mix_rgb8_x86(in, out, pixels, weights);
}

#endif
