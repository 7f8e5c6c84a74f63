#include "codec_files.h"

static void crc_of_known_text(void **state) {
    (void)state;
    assert_int_equal(gi_crc32(0, "", 0), 0);
    assert_int_equal(gi_crc32(0, "123456789", 9), 0xCBF43926U);
    assert_int_equal(gi_crc32(0, "IEND", 4), 0xAE426082U);
}

static void adler_of_known_text(void **state) {
    (void)state;
    assert_int_equal(gi_adler32(1, "", 0), 1);
    assert_int_equal(gi_adler32(1, "Wikipedia", 9), 0x11E60398U);
}

// Bit by bit and byte by byte, by the definitions.
static void any_length_and_split(void **state) {
    (void)state;
    static uint8_t data[20000];
    memset(data, 0xFF, sizeof data); // the largest sums
    for (size_t i = 0; i < 300; i++) data[i] = (uint8_t)(i * 37 + 11);
    for (size_t size = 0; size < sizeof data; size = size < 40 ? size + 1 : size * 2 + 1) {
        uint32_t crc = 0xFFFFFFFFU, a = 1, b = 0;
        for (size_t i = 0; i < size; i++) {
            crc ^= data[i];
            for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320U : crc >> 1;
            a = (a + data[i]) % 65521;
            b = (b + a) % 65521;
        }
        assert_int_equal(gi_crc32(0, data, size), ~crc);
        assert_int_equal(gi_adler32(1, data, size), b << 16 | a);
        size_t half = size / 3;
        assert_int_equal(gi_crc32(gi_crc32(0, data, half), data + half, size - half), ~crc);
        assert_int_equal(gi_adler32(gi_adler32(1, data, half), data + half, size - half), b << 16 | a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(crc_of_known_text), cmocka_unit_test(adler_of_known_text),
                                       cmocka_unit_test(any_length_and_split)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
