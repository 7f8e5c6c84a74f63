// Every sample between 8 and 16 bits, at each SIMD level, with odd counts, alignments and guards.
#include "codec/depth.h"
#include "codec_files.h"
#include "core/simd.h"

static void every_value(void **state) {
    (void)state;
    for (uint32_t v = 0; v < 256; v++) {
        assert_int_equal(gi_depth_up((uint8_t)v), v * 257);
        assert_int_equal(gi_depth_down((uint16_t)(v * 257)), v); // and back
    }
    for (uint32_t v = 0; v < 65536; v++) {
        assert_int_equal(gi_depth_down((uint16_t)v), (v * 255 + 32767) / 65535);
        assert_int_equal(gi_depth_down((uint16_t)v), (2 * v + 257) / (2 * 257)); // v / 257 to nearest
    }
}

static void rows_at_each_level(void **state) {
    (void)state;
    enum { MOST = 300, GUARD = 64 };
    gi_simd best = gi_simd_level();
    for (int level = GI_SIMD_PORTABLE; level <= (int)best; level++) {
        gi_simd_force((gi_simd)level);
        for (size_t count = 0; count <= MOST; count += count < 70 ? 1 : 23)
            for (size_t shift = 0; shift < 2; shift++) {
                uint8_t narrow[MOST + GUARD], back[MOST + GUARD], wide[2 * MOST + GUARD + 1];
                memset(wide, 0xA5, sizeof wide);
                memset(back, 0xA5, sizeof back);
                for (size_t i = 0; i < count; i++) narrow[i] = (uint8_t)(i * 37 + count);
                gi_depth_widen(narrow, count, wide + shift);
                for (size_t i = 0; i < count; i++) {
                    uint16_t word;
                    memcpy(&word, wide + shift + 2 * i, 2);
                    assert_int_equal(word, narrow[i] * 257);
                    word = (uint16_t)(word - i % 128);
                    memcpy(wide + shift + 2 * i, &word, 2);
                    narrow[i] = gi_depth_down(word);
                }
                for (size_t i = shift + 2 * count; i < sizeof wide; i++) assert_int_equal(wide[i], 0xA5);
                gi_depth_narrow(wide + shift, count, back);
                assert_memory_equal(back, narrow, count);
                for (size_t i = count; i < sizeof back; i++) assert_int_equal(back[i], 0xA5);
            }
    }
    gi_simd_force(best);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_value), cmocka_unit_test(rows_at_each_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
