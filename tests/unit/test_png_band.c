// Bands of PNG rows: what is compressed decodes to the rows, within the bound, the same at every instruction set and
// from a compressor used before.
#include "codec/png_band.h"
#include "codec_files.h"
#include "core/simd.h"
#include "guarded_image.h"
#include "png_band_check.h"

// Kinds of pixels.
typedef enum pixels { FLAT, NOISE, SMOOTH, TWO_VALUES, STRIPES, MIXED, PIXELS } pixels;

static uint8_t pixel_of(pixels kind, size_t x, uint32_t y, uint32_t *seed) {
    uint32_t random = next_random(seed);
    switch (kind) {
    case FLAT: return 77;
    case NOISE: return (uint8_t)random;
    case SMOOTH: return (uint8_t)(x / 3 + y / 2 + (random & 3));
    case TWO_VALUES: return random % 11 == 0 ? 255 : 0;
    case STRIPES: return (uint8_t)((x + 3 * y) % 24 < 12 ? 200 : x % 7);
    default: return pixel_of((pixels)(y / 16 % MIXED), x, y, seed);
    }
}

static test_band band_of(pixels kind, size_t row_bytes, size_t pixel, uint32_t height) {
    uint32_t seed = 7 + (uint32_t)kind;
    test_band made = test_band_make(row_bytes, pixel, height, kind & 1);
    for (uint32_t y = 0; y <= height; y++)
        for (size_t x = 0; x < row_bytes; x++) test_band_row(&made, y - 1)[x] = pixel_of(kind, x, y, &seed);
    return made;
}

static gi_png_compressor *open_for(int level, gi_codec_choice codec, size_t row_bytes, uint32_t height) {
    gi_png_compressor *compressor = NULL;
    gi_error err;
    gi_png_compressor_options options = {level, codec, row_bytes, height};
    assert_int_equal(gi_png_compressor_open(&options, &compressor, &err), GI_OK);
    return compressor;
}

// Packs the band twice, from a new compressor and then from the used one, at each instruction set: one result.
static void check_band(const gi_png_band *band, int level, gi_codec_choice codec) {
    gi_simd best = gi_simd_level();
    packed_band first = {NULL, 0, 0};
    for (gi_simd simd = GI_SIMD_PORTABLE; simd <= best; simd++) {
        gi_simd_force(simd);
        gi_png_compressor *compressor = open_for(level, codec, band->row_bytes, band->height);
        for (int turn = 0; turn < 2; turn++) {
            packed_band packed = pack_band(compressor, band);
            assert_non_null(packed.data);
            if (!first.data) {
                first = packed;
                assert_true(band_is_whole(&first, band));
                continue;
            }
            assert_int_equal(packed.size, first.size);
            assert_int_equal(packed.adler, first.adler);
            assert_memory_equal(packed.data, first.data, first.size);
            free(packed.data);
        }
        gi_png_compressor_close(compressor);
    }
    gi_simd_force(best);
    free(first.data);
}

static void every_level_and_kind(void **state) {
    (void)state;
    static const struct {
        size_t row_bytes, pixel;
        uint32_t height;
    } shapes[] = {{1, 1, 1}, {2, 1, 1}, {3, 3, 2}, {8, 8, 1}, {1, 1, 700}, {5000, 2, 1}, {333, 3, 41}, {1024, 4, 90}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int kind = 0; kind < PIXELS; kind++) {
            test_band made = band_of((pixels)kind, shapes[s].row_bytes, shapes[s].pixel, shapes[s].height);
            for (int level = 0; level <= 9; level++) check_band(&made.band, level, GI_CODEC_AUTO);
            for (int level = 0; level <= 9; level += 3) check_band(&made.band, level, GI_CODEC_ZLIB);
            check_band(&made.band, 9, GI_CODEC_STB);
            free(made.memory);
        }
}

static void large_bands(void **state) {
    (void)state;
    for (int kind = 0; kind < PIXELS; kind++) {
        test_band made = band_of((pixels)kind, 40003, 1, 60);
        for (int level = 0; level <= 6; level += 2) check_band(&made.band, level, GI_CODEC_AUTO);
        free(made.memory);
    }
}

// Rows of packed pixels.
static void few_bits(void **state) {
    (void)state;
    for (int kind = 0; kind < PIXELS; kind++)
        for (int bits = 1; bits <= 4; bits *= 2) {
            test_band made = band_of((pixels)kind, 130, 1, 100);
            made.band.bits = bits;
            for (int level = 1; level <= 9; level += 4) check_band(&made.band, level, GI_CODEC_AUTO);
            free(made.memory);
        }
}

// What a compressor did before leaves no trace: bands in two orders.
static void any_order(void **state) {
    (void)state;
    packed_band packed[2][PIXELS];
    test_band made[PIXELS];
    for (int level = 1; level <= 9; level += 2) {
        for (int order = 0; order < 2; order++) {
            gi_png_compressor *compressor = open_for(level, GI_CODEC_AUTO, 900, 80);
            for (int i = 0; i < PIXELS; i++) {
                int kind = order ? PIXELS - 1 - i : i;
                made[kind] = band_of((pixels)kind, 900, 3, 80 - 7 * (uint32_t)kind);
                packed[order][kind] = pack_band(compressor, &made[kind].band);
                assert_non_null(packed[order][kind].data);
                free(made[kind].memory);
            }
            gi_png_compressor_close(compressor);
        }
        for (int kind = 0; kind < PIXELS; kind++) {
            assert_int_equal(packed[0][kind].size, packed[1][kind].size);
            assert_memory_equal(packed[0][kind].data, packed[1][kind].data, packed[0][kind].size);
            free(packed[0][kind].data);
            free(packed[1][kind].data);
        }
    }
}

static void too_large(void **state) {
    (void)state;
    gi_png_compressor *compressor = NULL;
    gi_error err;
    gi_png_compressor_options options = {2, GI_CODEC_AUTO, (size_t)1 << 29, 3};
    assert_int_equal(gi_png_compressor_open(&options, &compressor, &err), GI_ERR_LIMIT);
    options.row_bytes = (size_t)-1;
    assert_int_equal(gi_png_compressor_open(&options, &compressor, &err), GI_ERR_LIMIT);
    assert_null(compressor);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_level_and_kind), cmocka_unit_test(large_bands),
                                       cmocka_unit_test(few_bits), cmocka_unit_test(any_order),
                                       cmocka_unit_test(too_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
