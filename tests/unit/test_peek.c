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

#define PNG_HEAD(width, height, crc) "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" width height "\x08\6\0\0\0" crc
#define SOF2(width, height) "\xff\xd8\xff\xe0\0\x04??\xff\xc2\0\x11\x08" height width "\x03"
#define HEAD(text) text, sizeof text - 1

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *head;
        size_t size;
        const char *said; // NULL: it is not refused
    } cases[] = {
        {HEAD(PNG_HEAD("\0\0\0\x64", "\0\0\0\x0a", "\x42\x1c\xfb\x7e")), NULL},
        {HEAD(PNG_HEAD("\0\0\0\x65", "\0\0\0\x0a", "\xad\xde\x90\x40")),
         "101x10 is 1010 pixels, more than the limit of"},
        {HEAD(PNG_HEAD("\0\0\0\x65", "\0\0\0\x0a", "\xad\xde\x90\x41")),
         "chunk IHDR at byte 8: its CRC does not match"},
        {HEAD(PNG_HEAD("\0\0\0\0", "\0\0\0\0", "\x3b\x8b\x7c\x12")), "chunk IHDR at byte 8: width or height is 0"},
        {HEAD(PNG_HEAD("\0\0\0\0", "\0\0\0\0", "\x3b\x8b\x7c")), NULL}, // it may go on
        {HEAD("\x89PNG\r\n\x1a\n\0\0\0\x0ctEXt????????????????????????"), NULL},
        {HEAD(SOF2("\0\x64", "\0\x0a")), NULL},
        {HEAD(SOF2("\0\x65", "\0\x0a")), "101x10 is 1010 pixels, more than the limit of"},
        {HEAD(SOF2("\0\0", "\0\x0a")), "segment SOF2 at byte 8: the width is 0"},
        {HEAD(SOF2("\0\x0a", "\0\0")), "segment SOF2 at byte 8: the height is 0"},
        {HEAD("\xff\xd8\xff"), NULL},
        {HEAD("GIF89a??"), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gi_error err = {0};
        gi_status status = gi_peek_check((gi_bytes){(const uint8_t *)cases[i].head, cases[i].size}, 1000, &err);
        if ((status == GI_OK) != !cases[i].said || (cases[i].said && !strstr(err.text, cases[i].said)))
            fail_msg("case %zu: status %d, '%s'", i, (int)status, err.text);
    }
    assert_int_equal(gi_peek_check((gi_bytes){(const uint8_t *)cases[1].head, cases[1].size}, 0, NULL), GI_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(png), cmocka_unit_test(jpeg), cmocka_unit_test(others),
                                       cmocka_unit_test(most), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
