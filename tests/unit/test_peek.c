// Pixels by a file's first bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/codec.h"

static uint64_t peek(const char *bytes, size_t size) {
    return gi_peek_pixels((gi_bytes){(const uint8_t *)bytes, size});
}

static void png(void **state) {
    (void)state;
    static const char head[] = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x1e\0\0\0\x10\xe0\x08\x02\0\0\0";
    assert_int_equal(peek(head, sizeof head - 1), 7680 * 4320);
    assert_int_equal(peek(head, 24), 7680 * 4320);
    for (size_t size = 0; size < 24; size++) assert_int_equal(peek(head, size), 0);
}

static void jpeg(void **state) {
    (void)state;
    // APP0 of 4 bytes, a fill byte, DHT, which is no frame, SOF2.
    static const char head[] = "\xff\xd8\xff\xe0\0\x04??\xff\xff\xc4\0\x03?\xff\xc2\0\x11\x08\x04\x38\x07\x80\x03";
    assert_int_equal(peek(head, sizeof head - 1), 1920 * 1080);
    for (size_t size = 0; size < 23; size++) assert_int_equal(peek(head, size), 0);
    assert_int_equal(peek("\xff\xd8\xff\xe0\0\0\xff\xe0\0\0\xff\xe0\0\0", 14), 0); // segments of no length
    assert_int_equal(peek("\xff\xd8\xff\xe0\xff\xff??????????", 16), 0);           // past the end
}

static void others(void **state) {
    (void)state;
    assert_int_equal(peek("GIF89a\x01\0\x01\0............................", 38), 0);
    assert_int_equal(peek("", 0), 0);
}

static void most(void **state) {
    (void)state;
    static const char head[] = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x1e\0\0\0\x10\xe0\x08\x02\0\0\0";
    gi_bytes bytes = {(const uint8_t *)head, sizeof head - 1};
    assert_int_equal(gi_peek_most_bytes(bytes), (64 << 20) + 16ULL * 7680 * 4320);
    bytes.size = 20;
    assert_int_equal(gi_peek_most_bytes(bytes), 64 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(png), cmocka_unit_test(jpeg), cmocka_unit_test(others),
                                       cmocka_unit_test(most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
