#include "codec_files.h"
#include "core/simd.h"

typedef uint32_t checksum(uint32_t begin, const void *data, size_t size);

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
static void check_lengths_and_splits(checksum *crc32, checksum *adler32) {
    static uint8_t data[20003];
    memset(data, 0xFF, sizeof data); // the largest sums
    for (size_t i = 0; i < 300; i++) data[i] = (uint8_t)(i * 37 + 11);
    for (size_t size = 0; size < sizeof data; size = size < 70 ? size + 1 : size * 2 + 1) {
        const uint8_t *p = data + size % 7;
        size_t length = size < sizeof data - 7 ? size : sizeof data - 7;
        uint32_t crc = 0xFFFFFFFFU, a = 1, b = 0;
        for (size_t i = 0; i < length; i++) {
            crc ^= p[i];
            for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320U : crc >> 1;
            a = (a + p[i]) % 65521;
            b = (b + a) % 65521;
        }
        assert_int_equal(crc32(0, p, length), ~crc);
        assert_int_equal(adler32(1, p, length), b << 16 | a);
        size_t part = length / 3;
        assert_int_equal(crc32(crc32(0, p, part), p + part, length - part), ~crc);
        assert_int_equal(adler32(adler32(1, p, part), p + part, length - part), b << 16 | a);
        assert_int_equal(gi_adler32_combine(adler32(1, p, part), adler32(1, p + part, length - part), length - part),
                         b << 16 | a);
    }
}

static void any_length_and_split(void **state) {
    (void)state;
    check_lengths_and_splits(gi_crc32, gi_adler32);
#ifdef GPUIMG_HAVE_ISAL
    check_lengths_and_splits(gi_crc32_isal, gi_adler32_isal);
#endif
    gi_simd best = gi_simd_level();
    for (int level = GI_SIMD_PORTABLE; level <= (int)best; level++) {
        gi_simd_force((gi_simd)level);
        check_lengths_and_splits(gi_crc32_portable, gi_adler32_portable);
    }
    gi_simd_force(best);
}

// Sums that wrap, and lengths past 32 bits: n zero bytes add n times a to b.
static void combined_sums(void **state) {
    (void)state;
    static const uint32_t sums[] = {0, 1, 2, 65519, 65520};
    for (size_t i = 0; i < 5 * 5 * 5 * 5; i++) {
        uint32_t a = sums[i % 5], b = sums[i / 5 % 5], c = sums[i / 25 % 5], d = sums[i / 125];
        uint32_t n = 12345, both = gi_adler32_combine(b << 16 | a, d << 16 | c, n);
        assert_int_equal(both & 65535, (a + c + 65520) % 65521);
        assert_int_equal(both >> 16, (b + d + (uint64_t)n * ((a + 65520) % 65521)) % 65521);
        uint64_t large = 65521ULL << 20;
        assert_int_equal(gi_adler32_combine(b << 16 | a, d << 16 | c, large + n), both);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(crc_of_known_text), cmocka_unit_test(adler_of_known_text),
                                       cmocka_unit_test(any_length_and_split), cmocka_unit_test(combined_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
