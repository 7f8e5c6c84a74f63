// A byte of a filtered row waits for the byte a pixel to its left, so that a row alone is one long chain: the processor
// idles. Rows below one another can go along together, though, if each stays behind the one above:
//
//     row 0   done done done done done done now            pixel t of row 0,
//     row 1   done done done done now                      pixel t - 2 of row 1,
//     row 2   done done now                                pixel t - 4 of row 2 ...
//
// One vector holds the pixels "now", a lane for each row; a step makes them all and moves the front one pixel to the
// right. What a lane needs has been made before, in registers: left is its own last pixel; above is what the lane of
// the row above made two steps ago (LAG: one step would do, but then a step would wait for the lanes to move over);
// the corner, above the left one, is what was above a step earlier. Row 0 alone looks into memory for what is above.
//
// A lane has 1, 2, 4 or 8 bytes; pixels of 3 and 6 bytes leave a rest of theirs unused. Steps come in blocks of as many
// as pixels fit into 16 bytes: 16 bytes of each row are loaded and transposed from a row to a vector into a pixel of
// each row to a vector, go through the steps, and are transposed back. The two halves of a vector are transposed
// apart: the lower holds the upper half of the rows.
//
// Lanes outside their rows: before a row begins they are fed zeros, which all filters keep zero, and so "left of the
// first pixel" is zero as it must be; after it ends they compute what nobody reads. Blocks in which a row begins or
// ends go through memory of their own, so that nothing outside the rows is read or written.
#include "codec/png_unfilter_wave.h"

#include <string.h>

#include "codec/png_filter.h"
#include "core/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum {
    HALF = 16,                  // bytes of half a vector, and of a row in a block
    ROWS_MAX = GI_PNG_RUN_ROWS, // lanes of 1 byte
    STEPS_MAX = HALF,
    LAG = 2, // pixels
};

// `pixel` and `lane`, the bytes of each, are constants where these are inlined.
#define WAVE GI_TARGET_AVX2 static inline __attribute__((always_inline))

// Ones in the lanes of the rows by whose filter a pixel becomes part of Paeth's choice (step() says how), or of an
// average.
typedef struct wave_masks {
    __m256i left, above, corner, average;
} wave_masks;

// The pixels made by the last step and by the one before it, and those above the last.
typedef struct wave_front {
    __m256i left, before, above;
} wave_front;

// Where a block lies: each row's bytes at in + in_at[row] and out + out_at[row].
typedef struct wave_block {
    const uint8_t *in, *above;
    uint8_t *out;
    const ptrdiff_t *in_at, *out_at;
} wave_block;

WAVE __m256i unpack_low(__m256i a, __m256i b, size_t lane) {
    switch (lane) {
    case 1: return _mm256_unpacklo_epi8(a, b);
    case 2: return _mm256_unpacklo_epi16(a, b);
    case 4: return _mm256_unpacklo_epi32(a, b);
    default: return _mm256_unpacklo_epi64(a, b);
    }
}

WAVE __m256i unpack_high(__m256i a, __m256i b, size_t lane) {
    switch (lane) {
    case 1: return _mm256_unpackhi_epi8(a, b);
    case 2: return _mm256_unpackhi_epi16(a, b);
    case 4: return _mm256_unpackhi_epi32(a, b);
    default: return _mm256_unpackhi_epi64(a, b);
    }
}

// Both halves of n vectors of n lanes each: an interleaving of the first n / 2 with the others rotates the bits of a
// lane's place by one, and so as many of them as n has bits swap vector and lane.
WAVE void transpose(__m256i *v, size_t lane) {
    const size_t n = HALF / lane;
    for (size_t round = 1; round < n; round *= 2) {
        __m256i w[STEPS_MAX];
        for (size_t i = 0; i < n / 2; i++) {
            w[2 * i] = unpack_low(v[i], v[i + n / 2], lane);
            w[2 * i + 1] = unpack_high(v[i], v[i + n / 2], lane);
        }
        for (size_t i = 0; i < n; i++) v[i] = w[i];
    }
}

// Pixels of 3 and 6 bytes to lanes of 4 and 8.
WAVE __m256i spread(__m256i v, size_t pixel) {
    const __m128i from_3 = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    const __m128i from_6 = _mm_setr_epi8(0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11, -1, -1);
    if (pixel != 3 && pixel != 6) return v;
    return _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(pixel == 3 ? from_3 : from_6));
}

// And back; the last 4 of 16 bytes become zero.
WAVE __m256i gather(__m256i v, size_t pixel) {
    const __m128i to_3 = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    const __m128i to_6 = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1);
    if (pixel != 3 && pixel != 6) return v;
    return _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(pixel == 3 ? to_3 : to_6));
}

// Every lane moves on by one row; the first is filled from the `lane` bytes that end at `end`. 16 bytes are read.
WAVE __m256i to_row_below(__m256i lanes, const uint8_t *end, size_t lane) {
    __m128i first = _mm_loadu_si128((const __m128i_u *)(end - HALF));
    __m256i halves = _mm256_permute2x128_si256(_mm256_castsi128_si256(first), lanes, 0x20);
    switch (lane) {
    case 1: return _mm256_alignr_epi8(lanes, halves, 15);
    case 2: return _mm256_alignr_epi8(lanes, halves, 14);
    case 4: return _mm256_alignr_epi8(lanes, halves, 12);
    default: return _mm256_alignr_epi8(lanes, halves, 8);
    }
}

// v + Paeth's choice, by paeth()'s rules in png_unfilter_row.c: low where down >= 2 up, high where up >= 2 down.
// Neither is changed by raising what is negative to 0, nor by 255 in place of more; where both hold, low, high and
// corner are equal. All sums are made before the choice, for this is the chain that a step waits for.
WAVE __m256i add_paeth(__m256i v, __m256i left, __m256i above, __m256i corner) {
    __m256i low = _mm256_min_epu8(left, above), high = _mm256_max_epu8(left, above);
    __m256i down = _mm256_subs_epu8(corner, low), up = _mm256_subs_epu8(high, corner);
    __m256i is_low = _mm256_cmpeq_epi8(_mm256_max_epu8(down, _mm256_adds_epu8(up, up)), down);
    __m256i is_high = _mm256_cmpeq_epi8(_mm256_max_epu8(up, _mm256_adds_epu8(down, down)), up);
    __m256i sum = _mm256_blendv_epi8(_mm256_add_epi8(v, corner), _mm256_add_epi8(v, low), is_low);
    return _mm256_blendv_epi8(sum, _mm256_add_epi8(v, high), is_high);
}

// One pixel of each row from the filtered `v`. With what a filter does not look at made zero, Paeth's choice is left
// for Sub, above for Up, and zero for None and Average, which has a sum of its own: the instruction rounds up,
// therefore complements of all three.
WAVE __m256i step(wave_front *front, const wave_masks *masks, __m256i v, const uint8_t *above_end, size_t lane) {
    const __m256i ones = _mm256_set1_epi8(-1);
    __m256i corner = _mm256_and_si256(front->above, masks->corner);
    front->above = to_row_below(front->before, above_end, lane);
    front->before = front->left;
    __m256i average = _mm256_avg_epu8(_mm256_xor_si256(front->left, ones), _mm256_xor_si256(front->above, ones));
    v = _mm256_add_epi8(v, _mm256_andnot_si256(average, masks->average));
    __m256i left = _mm256_and_si256(front->left, masks->left), above = _mm256_and_si256(front->above, masks->above);
    front->left = add_paeth(v, left, above, corner);
    return front->left;
}

// Stores from the last row to the first: for rows that are not there, block->out_at names row 0's place.
WAVE void unfilter_block(wave_front *front, const wave_masks *masks, const wave_block *block, size_t pixel,
                         size_t lane) {
    const size_t n = HALF / lane;
    __m256i v[STEPS_MAX];
    for (size_t k = 0; k < n; k++) {
        __m128i lower = _mm_loadu_si128((const __m128i_u *)(block->in + block->in_at[k]));
        __m128i upper = _mm_loadu_si128((const __m128i_u *)(block->in + block->in_at[k + n]));
        v[k] = spread(_mm256_inserti128_si256(_mm256_castsi128_si256(lower), upper, 1), pixel);
    }
    transpose(v, lane);
    for (size_t s = 0; s < n; s++) v[s] = step(front, masks, v[s], block->above + s * pixel + lane, lane);
    transpose(v, lane);
    for (size_t k = n; k-- > 0;) {
        __m256i rows = gather(v[k], pixel);
        _mm_storeu_si128((__m128i_u *)(block->out + block->out_at[k + n]), _mm256_extracti128_si256(rows, 1));
        _mm_storeu_si128((__m128i_u *)(block->out + block->out_at[k]), _mm256_castsi256_si128(rows));
    }
}

// Blocks in which rows begin or end. `in` is zero before a row's first bytes come.
typedef struct wave_edge {
    uint8_t in[ROWS_MAX * HALF], out[ROWS_MAX * HALF], above[2 * HALF];
    ptrdiff_t at[ROWS_MAX];
} wave_edge;

// The pixels that row k has in the block of steps from t.
typedef struct wave_span {
    size_t step, x, pixels; // the first one's step in the block and place in the row; how many
} wave_span;

static wave_span span_of(size_t t, size_t n, size_t k, size_t width) {
    size_t lag = LAG * k, from = t < lag ? lag : t, end = width + lag < t + n ? width + lag : t + n;
    return (wave_span){from - t, from - lag, from < end ? end - from : 0};
}

// All 16 bytes mostly, and no call then.
static inline void copy(uint8_t *to, const uint8_t *from, size_t bytes) {
    if (bytes != HALF)
        memcpy(to, from, bytes);
    else
        memcpy(to, from, HALF);
}

WAVE void unfilter_edge(wave_front *front, const wave_masks *masks, const gi_png_run *run, wave_edge *edge, size_t t,
                        size_t pixel, size_t lane) {
    const size_t n = HALF / lane, width = run->size / pixel;
    for (size_t k = 0; k < run->count; k++) {
        wave_span span = span_of(t, n, k, width);
        const uint8_t *row = run->filtered + k * (run->size + 1) + 1;
        if (span.pixels) copy(edge->in + k * HALF + span.step * pixel, row + span.x * pixel, span.pixels * pixel);
    }
    wave_span first = span_of(t, n, 0, width);
    if (first.pixels) memcpy(edge->above + HALF, run->above + t * pixel, first.pixels * pixel);
    wave_block block = {edge->in, edge->above + HALF, edge->out, edge->at, edge->at};
    unfilter_block(front, masks, &block, pixel, lane);
    for (size_t k = 0; k < run->count; k++) {
        wave_span span = span_of(t, n, k, width);
        uint8_t *row = run->out + k * run->pitch_bytes;
        if (span.pixels) copy(row + span.x * pixel, edge->out + k * HALF + span.step * pixel, span.pixels * pixel);
    }
}

WAVE wave_masks masks_of(const gi_png_run *run, size_t lane) {
    uint8_t left[2 * HALF] = {0}, above[2 * HALF] = {0}, corner[2 * HALF] = {0}, average[2 * HALF] = {0};
    for (size_t k = 0; k < run->count; k++) {
        uint8_t filter = run->filtered[k * (run->size + 1)];
        memset(left + k * lane, filter == GI_PNG_SUB || filter == GI_PNG_PAETH ? 0xFF : 0, lane);
        memset(above + k * lane, filter == GI_PNG_UP || filter == GI_PNG_PAETH ? 0xFF : 0, lane);
        memset(corner + k * lane, filter == GI_PNG_PAETH ? 0xFF : 0, lane);
        memset(average + k * lane, filter == GI_PNG_AVERAGE ? 0xFF : 0, lane);
    }
    return (wave_masks){_mm256_loadu_si256((const __m256i_u *)left), _mm256_loadu_si256((const __m256i_u *)above),
                        _mm256_loadu_si256((const __m256i_u *)corner), _mm256_loadu_si256((const __m256i_u *)average)};
}

// A block is inside when every row has all its pixels and, as 16 bytes are loaded and stored of the 12 that 3 and 6
// bytes a pixel give, 4 more; those are made by the next block.
WAVE void unfilter_wave(const gi_png_run *run, size_t pixel, size_t lane) {
    const size_t n = HALF / lane, rows = 2 * n, width = run->size / pixel;
    const wave_masks masks = masks_of(run, lane);
    wave_front front = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    wave_edge edge = {0};
    ptrdiff_t in_at[ROWS_MAX], out_at[ROWS_MAX];
    for (size_t k = 0; k < rows; k++) {
        size_t row = k < run->count ? k : 0;
        in_at[k] = (ptrdiff_t)(row * (run->size + 1) + 1) - (ptrdiff_t)(row * LAG * pixel);
        out_at[k] = (ptrdiff_t)(row * run->pitch_bytes) - (ptrdiff_t)(row * LAG * pixel);
        edge.at[k] = (ptrdiff_t)(k * HALF);
    }
    const size_t begun = LAG * (rows - 1), end = width + LAG * (run->count - 1);
    for (size_t t = 0; t < end; t += n) {
        for (; t >= begun && t * pixel + HALF <= run->size; t += n) {
            size_t at = t * pixel;
            wave_block block = {run->filtered + at, run->above + at, run->out + at, in_at, out_at};
            unfilter_block(&front, &masks, &block, pixel, lane);
        }
        unfilter_edge(&front, &masks, run, &edge, t, pixel, lane);
    }
}

GI_TARGET_AVX2 static void wave_1(const gi_png_run *run) { unfilter_wave(run, 1, 1); }
GI_TARGET_AVX2 static void wave_2(const gi_png_run *run) { unfilter_wave(run, 2, 2); }
GI_TARGET_AVX2 static void wave_3(const gi_png_run *run) { unfilter_wave(run, 3, 4); }
GI_TARGET_AVX2 static void wave_4(const gi_png_run *run) { unfilter_wave(run, 4, 4); }
GI_TARGET_AVX2 static void wave_6(const gi_png_run *run) { unfilter_wave(run, 6, 8); }
GI_TARGET_AVX2 static void wave_8(const gi_png_run *run) { unfilter_wave(run, 8, 8); }

uint32_t gi_png_wave_rows(size_t pixel) {
    if (gi_simd_level() < GI_SIMD_AVX2) return 0;
    return (uint32_t)(pixel > 4 ? 4 : pixel > 2 ? 8 : 2 * HALF / pixel);
}

void gi_png_unfilter_wave(const gi_png_run *run) {
    switch (run->pixel) {
    case 1: wave_1(run); break;
    case 2: wave_2(run); break;
    case 3: wave_3(run); break;
    case 4: wave_4(run); break;
    case 6: wave_6(run); break;
    default: wave_8(run); break;
    }
}
#else
uint32_t gi_png_wave_rows(size_t pixel) {
    (void)pixel;
    return 0;
}

void gi_png_unfilter_wave(const gi_png_run *run) { (void)run; }
#endif
