// Rows expanded at each SIMD level and many widths, against single bits read one by one.
#include "codec/png_expand.h"
#include "codec_files.h"
#include "core/simd.h"

enum { MAX_WIDTH = 1300, GUARD = 40 };

static const struct {
    int colour, depth, transparency; // bytes of tRNS
} kinds[] = {{0, 1, 0},  {0, 2, 0}, {0, 4, 0}, {0, 8, 0}, {0, 16, 0}, {0, 1, 2},  {0, 2, 2},  {0, 4, 2}, {0, 8, 2},
             {0, 16, 2}, {2, 8, 0}, {2, 8, 6}, {3, 1, 0}, {3, 2, 0},  {3, 4, 0},  {3, 8, 0},  {3, 1, 2}, {3, 2, 3},
             {3, 4, 9},  {3, 8, 9}, {4, 8, 0}, {6, 8, 0}, {2, 16, 0}, {2, 16, 6}, {4, 16, 0}, {6, 16, 0}};

static unsigned sample(const uint8_t *row, size_t index, int depth) {
    unsigned value = 0;
    for (size_t bit = index * (size_t)depth; bit < (index + 1) * (size_t)depth; bit++)
        value = value << 1 | ((unsigned)row[bit / 8] >> (7 - bit % 8) & 1U);
    return value;
}

// Puts one sample of `bits` bits as it is delivered: value / top of the most that it can be, rounded half up.
static void put(uint8_t *out, size_t index, bool words, uint64_t value, unsigned top) {
    uint16_t word = (uint16_t)((2 * value * 65535 + top) / (2 * top));
    if (words)
        memcpy(out + 2 * index, &word, 2);
    else
        out[index] = (uint8_t)((2 * value * 255 + top) / (2 * top));
}

// One pixel; the palette index past the end, or -1.
static int define(const gi_png_info *info, bool words, const uint8_t *row, size_t x, uint8_t *out) {
    size_t samples = (size_t)gi_png_samples(info);
    unsigned top = (1U << info->depth) - 1, value = sample(row, x, info->depth);
    bool keyed = true;
    if (info->colour == GI_PNG_PALETTE) {
        memset(out, 0, 3);
        if ((int)value < info->palette_size) memcpy(out, info->palette + 3 * value, 3);
        if (info->transparency_size) out[3] = value < info->transparency_size ? info->transparency[value] : 255;
        return (int)value < info->palette_size ? -1 : (int)value;
    }
    for (size_t s = 0; s < samples; s++) {
        value = sample(row, x * samples + s, info->depth);
        put(out, s, words, value, top);
        keyed = keyed && info->transparency_size && value == (gi_be16(info->transparency + 2 * s) & top);
    }
    if (info->transparency_size) put(out, samples, words, keyed ? 0 : 1, 1);
    return -1;
}

static void check_row(const gi_png_info *info, int depth, uint32_t width) {
    static uint8_t expected[8 * MAX_WIDTH], out[8 * MAX_WIDTH + GUARD];
    size_t size = gi_png_row_bytes(info, width);
    uint8_t *row = malloc(size); // a byte read past it is found by the sanitizer
    gi_png_expander expander;
    gi_png_expander_init(&expander, info, depth);
    bool words = info->depth == 16 && depth != 8;
    assert_int_equal(expander.sample, words ? GI_U16 : GI_U8);
    size_t pixel = (size_t)expander.channels << words;
    int past = -1;
    for (size_t i = 0; i < size; i++) row[i] = (uint8_t)(rand() % 4 ? rand() & 0x13 : rand());
    for (size_t x = 0; x < width; x++) {
        int index = define(info, words, row, x, expected + x * pixel);
        if (index > past) past = index;
    }
    memset(out, 0xA5, sizeof out);
    assert_int_equal(gi_png_expand(&expander, row, width, out), past);
    assert_memory_equal(out, expected, width * pixel);
    for (size_t i = 0; i < GUARD; i++) assert_int_equal(out[width * pixel + i], 0xA5);
    free(row);
}

static void every_kind_and_level(void **state) {
    (void)state;
    static const uint8_t transparency[9] = {0, 0x11, 0, 0x10, 0, 1, 200, 3, 255};
    static uint8_t palette[3 * 256];
    gi_simd best = gi_simd_level();
    for (size_t i = 0; i < sizeof palette; i++) palette[i] = (uint8_t)(i * 7 + 3);
    srand(3);
    for (int level = GI_SIMD_PORTABLE; level <= (int)best; level++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            for (int whole = 0; whole < 2; whole++)
                for (uint32_t width = 1; width < MAX_WIDTH; width += width < 70 ? 1 : 97) {
                    gi_png_info info = {
                        .width = width, .height = 1, .depth = kinds[k].depth, .colour = kinds[k].colour};
                    if (info.colour == GI_PNG_PALETTE) {
                        memcpy(info.palette, palette, sizeof palette);
                        info.palette_size = whole ? 1 << info.depth : 1 + (1 << info.depth) / 2;
                    }
                    memcpy(info.transparency, transparency, sizeof transparency);
                    info.transparency_size = (size_t)kinds[k].transparency;
                    gi_simd_force((gi_simd)level);
                    for (int depth = 0; depth <= 16; depth += 8) check_row(&info, depth, width);
                }
    gi_simd_force(best);
}

static void every_16_bit_value(void **state) {
    (void)state;
    gi_png_info info = {.width = 256, .height = 1, .depth = 16, .colour = GI_PNG_GRAY};
    gi_png_expander expander;
    gi_png_expander_init(&expander, &info, 8);
    for (unsigned high = 0; high < 256; high++) {
        uint8_t row[512], out[256];
        for (unsigned low = 0; low < 256; low++) gi_put_be16(row + 2 * low, high << 8 | low);
        assert_int_equal(gi_png_expand(&expander, row, 256, out), -1);
        for (unsigned low = 0; low < 256; low++)
            assert_int_equal(out[low], ((high << 8 | low) * 255U + 32767U) / 65535U);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_and_level), cmocka_unit_test(every_16_bit_value)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
