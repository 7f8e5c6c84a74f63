#include "codec/png_unfilter_row.h"

#include <string.h>

#include "codec/png_filter.h"
#include "core/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void undo_up(uint8_t *restrict out, const uint8_t *restrict in, const uint8_t *restrict above, size_t size) {
    for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(in[i] + above[i]);
}

// The nearest to p = left + above - corner of left, above and corner (the pixel above the left one); of equals, the
// first. Let low <= high be left and above, up = high - corner, down = corner - low: p is up away from low, down away
// from high, and up - down from the corner. Where the corner lies between the two, low is nearest if down >= 2 up, and
// high if up >= 2 down. Where it does not, p lies beyond low or high, up or down is negative, and the comparisons name
// the right one again. With p's mirror image at the corner, corner + down - up, they are image >= high, image <= low.
static inline uint8_t paeth(int left, int above, int corner) {
    int low = left < above ? left : above, high = left < above ? above : left;
    int image = 3 * corner - left - above;
    int nearest = image >= high ? low : corner;
    return (uint8_t)(image <= low ? high : nearest);
}

// `filter` and `pixel` are constants where this is inlined.
GI_SIMD_BODY void undo(const gi_png_filtered_row *row, int filter, size_t pixel) {
    const uint8_t *in = row->filtered + 1, *above = row->above;
    uint8_t *restrict out = row->out;
    uint8_t left[8] = {0}, corner[8] = {0}; // in registers, where rows would be read back from memory
    for (size_t i = 0, size = row->size; i < size; i += pixel)
        for (size_t c = 0; c < pixel; c++) {
            uint8_t a = left[c], b = above[i + c];
            int predicted = filter == GI_PNG_SUB ? a : filter == GI_PNG_AVERAGE ? (a + b) / 2 : paeth(a, b, corner[c]);
            out[i + c] = left[c] = (uint8_t)(in[i + c] + predicted);
            corner[c] = b;
        }
}

GI_SIMD_BODY void undo_along(const gi_png_filtered_row *row, size_t pixel) {
    switch (row->filtered[0]) {
    case GI_PNG_SUB: undo(row, GI_PNG_SUB, pixel); break;
    case GI_PNG_AVERAGE: undo(row, GI_PNG_AVERAGE, pixel); break;
    default: undo(row, GI_PNG_PAETH, pixel); break;
    }
}

#if defined(__x86_64__)
enum { VECTOR = 16 };

// Sums of all pixels so far, by doubling: to each byte the one a pixel to the left is added, then the one two pixels to
// the left, four and eight; then the last pixel of the vector before.
GI_TARGET_AVX2 static void undo_sub_avx2(uint8_t *out, const uint8_t *in, size_t size, size_t pixel) {
    const size_t step = VECTOR - VECTOR % pixel;
    const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m128i shift[4]; // a shuffle reads zero from negative places
    size_t shifts = 0, i = 0;
    for (size_t by = pixel; by < VECTOR; by *= 2) shift[shifts++] = _mm_sub_epi8(places, _mm_set1_epi8((char)by));
    uint8_t last[VECTOR];
    for (size_t c = 0; c < VECTOR; c++) last[c] = (uint8_t)(step - pixel + c % pixel);
    const __m128i last_pixel = _mm_loadu_si128((const __m128i_u *)last);
    __m128i left = _mm_setzero_si128();
    for (; i + VECTOR <= size; i += step) {
        __m128i v = _mm_loadu_si128((const __m128i_u *)(in + i));
        for (size_t k = 0; k < shifts; k++) v = _mm_add_epi8(v, _mm_shuffle_epi8(v, shift[k]));
        v = _mm_add_epi8(v, left);
        _mm_storeu_si128((__m128i_u *)(out + i), v);
        left = _mm_shuffle_epi8(v, last_pixel);
    }
    for (; i < size; i++) out[i] = (uint8_t)(in[i] + (i < pixel ? 0 : out[i - pixel]));
}
#endif

void gi_png_unfilter_row(const gi_png_filtered_row *row) {
    const uint8_t filter = row->filtered[0], *in = row->filtered + 1;
    if (filter == GI_PNG_NONE) {
        memcpy(row->out, in, row->size);
        return;
    }
    if (filter == GI_PNG_UP) {
        undo_up(row->out, in, row->above, row->size);
        return;
    }
#if defined(__x86_64__)
    if (filter == GI_PNG_SUB && gi_simd_level() >= GI_SIMD_AVX2) {
        undo_sub_avx2(row->out, in, row->size, row->pixel);
        return;
    }
#endif
    switch (row->pixel) {
    case 1: undo_along(row, 1); break;
    case 2: undo_along(row, 2); break;
    case 3: undo_along(row, 3); break;
    case 4: undo_along(row, 4); break;
    case 6: undo_along(row, 6); break;
    default: undo_along(row, 8); break;
    }
}
