#include "codec_files.h"

static gi_format sniff(const char *data, size_t size) {
    return gi_format_sniff((gi_bytes){(const uint8_t *)data, size});
}

static void by_signature(void **state) {
    (void)state;
    assert_int_equal(sniff("\x89PNG\r\n\x1A\n", 8), GI_FORMAT_PNG);
    assert_int_equal(sniff("\x89PNG\r\n\x1A\n", 7), GI_FORMAT_UNKNOWN);
    assert_int_equal(sniff("\x89PNG\n\x1A\n\n", 8), GI_FORMAT_UNKNOWN); // line ends converted on the way
    assert_int_equal(sniff("\xFF\xD8\xFF\xE0", 4), GI_FORMAT_JPEG);
    assert_int_equal(sniff("\xFF\xD8", 2), GI_FORMAT_UNKNOWN);
    assert_int_equal(sniff("", 0), GI_FORMAT_UNKNOWN);
    assert_int_equal(gi_format_sniff((gi_bytes){NULL, 0}), GI_FORMAT_UNKNOWN);
    assert_int_equal(sniff("GIF89a..", 8), GI_FORMAT_UNKNOWN);
}

static void by_name(void **state) {
    (void)state;
    assert_int_equal(gi_format_of_name("a.png"), GI_FORMAT_PNG);
    assert_int_equal(gi_format_of_name("dir.jpg/a.PnG"), GI_FORMAT_PNG);
    assert_int_equal(gi_format_of_name("a.b.JPG"), GI_FORMAT_JPEG);
    assert_int_equal(gi_format_of_name("a.jpeg"), GI_FORMAT_JPEG);
    assert_int_equal(gi_format_of_name("dir.png/a"), GI_FORMAT_UNKNOWN);
    assert_int_equal(gi_format_of_name("png"), GI_FORMAT_UNKNOWN);
    assert_int_equal(gi_format_of_name("a.png "), GI_FORMAT_UNKNOWN);
    assert_int_equal(gi_format_of_name(""), GI_FORMAT_UNKNOWN);
}

static void names_of_others(void **state) {
    (void)state;
    static const char *const others[] = {"a.tif", "a.TIFF", "d.png/a.gif", "a.png.webp", "./a.bmp"};
    static const char *const none[] = {"a.png", "a.JPG", "a.jpeg", "a", "", "a.tmp", "d.tif/a", "tif", "a.png.tmp"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) assert_true(gi_format_is_other(others[i]));
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) assert_false(gi_format_is_other(none[i]));
}

static void names(void **state) {
    (void)state;
    assert_string_equal(gi_format_name(GI_FORMAT_PNG), "PNG");
    assert_string_equal(gi_format_name(GI_FORMAT_JPEG), "JPEG");
    assert_string_equal(gi_format_extension(GI_FORMAT_PNG), "png");
    assert_string_equal(gi_format_extension(GI_FORMAT_JPEG), "jpg");
}

static void refusals_tell_what_the_file_is(void **state) {
    (void)state;
    gi_decode_options options = {0};
    gi_decoder *decoder = NULL;
    gi_error err;
    assert_int_equal(gi_decoder_open((gi_bytes){NULL, 0}, &options, &decoder, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "empty");
    assert_int_equal(gi_decoder_open((gi_bytes){(const uint8_t *)"GI", 2}, &options, &decoder, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "neither PNG nor JPEG (it begins with the bytes 47 49)");
    assert_int_equal(gi_decoder_open((gi_bytes){(const uint8_t *)"text", 4}, &options, &decoder, NULL), GI_ERR_FORMAT);
    assert_null(decoder);
    gi_decoder_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_signature), cmocka_unit_test(by_name),
                                       cmocka_unit_test(names_of_others), cmocka_unit_test(names),
                                       cmocka_unit_test(refusals_tell_what_the_file_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
