// Prefix sums along a row of interleaved channels, modulo 2^32 or 2^64.
#include <string.h>

#include "cpu/blur_box.h"
#include "core/simd.h"

// Four neighbouring sums; three channels use three of them. GCC and Clang make it one vector on any machine.
typedef uint32_t lanes __attribute__((vector_size(16)));

static void prefix_channels_3_4(const uint32_t *values, uint32_t *sums, size_t pixels, size_t channels) {
    lanes sum = {0, 0, 0, 0}, value;
    memcpy(sums, &sum, sizeof sum);
    for (size_t x = 0; x < pixels; x++) {
        memcpy(&value, values + x * channels, sizeof value);
        sum += value;
        memcpy(sums + (x + 1) * channels, &sum, sizeof sum); // the lane too many is overwritten by the next pixel
    }
}

static void prefix_gray(const uint32_t *values, uint32_t *sums, size_t from, size_t pixels) {
    uint32_t sum = sums[from];
    for (size_t x = from; x < pixels; x++) {
        sum += values[x];
        sums[x + 1] = sum;
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

// Prefix sums within each half by two shifted additions, then the low half's total onto the high half; the running
// total is one addition from vector to vector.
GI_TARGET_AVX2 static size_t prefix_gray_avx2(const uint32_t *values, uint32_t *sums, size_t pixels) {
    const __m256i last = _mm256_set1_epi32(7);
    __m256i before = _mm256_setzero_si256();
    size_t x = 0;
    for (; x + 8 <= pixels; x += 8) {
        __m256i v = _mm256_loadu_si256((const __m256i_u *)(values + x));
        v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
        v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
        __m256i low = _mm256_permute2x128_si256(v, v, 0x08); // 0 below, the low half above
        v = _mm256_add_epi32(v, _mm256_shuffle_epi32(low, 0xff));
        _mm256_storeu_si256((__m256i_u *)(sums + x + 1), _mm256_add_epi32(v, before));
        before = _mm256_add_epi32(before, _mm256_permutevar8x32_epi32(v, last));
    }
    return x;
}
#endif

void gi_prefix_sums_u32(const uint32_t *values, uint32_t *sums, size_t pixels, int channels) {
    if (channels >= 3) {
        prefix_channels_3_4(values, sums, pixels, (size_t)channels);
        return;
    }
    sums[0] = sums[1] = 0;
    if (channels == 2) {
        for (size_t i = 0; i < 2 * pixels; i++) sums[i + 2] = sums[i] + values[i];
        return;
    }
    size_t done = 0;
#if defined(__x86_64__)
    if (gi_simd_level() >= GI_SIMD_AVX2) done = prefix_gray_avx2(values, sums, pixels);
#endif
    prefix_gray(values, sums, done, pixels);
}

void gi_prefix_sums_u64(const uint64_t *values, uint64_t *sums, size_t pixels, int channels) {
    size_t stride = (size_t)channels;
    for (size_t c = 0; c < stride; c++) {
        uint64_t sum = 0;
        sums[c] = 0;
        for (size_t x = 0; x < pixels; x++) {
            sum += values[x * stride + c];
            sums[(x + 1) * stride + c] = sum;
        }
    }
}
