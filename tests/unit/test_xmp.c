// What XMP packets tell of the pixels, in all the ways it is written, and in memory that ends anywhere.
#include "codec/xmp.h"
#include "codec_files.h"

static void assert_settled(const char *before, int orientation, const char *after) {
    size_t size = strlen(before);
    uint8_t *packet = malloc(size ? size : 1); // without a NUL: what is read past it is found by the sanitizer
    memcpy(packet, before, size);
    gi_xmp_settle(packet, size, orientation);
    assert_memory_equal(packet, after, size);
    free(packet);
}

static void every_way(void **state) {
    (void)state;
    assert_settled("<a tiff:Orientation=\"6\"/>", 1, "<a tiff:Orientation=\"1\"/>");
    assert_settled("<a tiff:Orientation = '8' />", 1, "<a tiff:Orientation = '1' />");
    assert_settled("<tiff:Orientation>3</tiff:Orientation>", 7, "<tiff:Orientation>7</tiff:Orientation>");
    assert_settled("<tiff:Orientation>\n\t3\r</tiff:Orientation>", 1, "<tiff:Orientation>\n\t1\r</tiff:Orientation>");
    assert_settled("ttiff:Orientation='2' tiff:Orientation='5'", 4, "ttiff:Orientation='4' tiff:Orientation='4'");
    static const char *const same[] = {"",
                                       "t",
                                       "tiff:Orientation",
                                       "tiff:Orientation ",
                                       "tiff:Orientation=",
                                       "tiff:Orientation=\"",
                                       "tiff:Orientation=6",
                                       "tiff:Orientation\"6\"",
                                       "tiff:Orientation=\"9\"",
                                       "tiff:Orientation=\"0\"",
                                       "tiff:Orientation>",
                                       "tiff:OrientationX=\"6\"",
                                       "tiff:orientation=\"6\"",
                                       "xmp:Orientation=\"6\""};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) assert_settled(same[i], 1, same[i]);
    gi_xmp_settle(NULL, 0, 1);
}

static void guids(void **state) {
    (void)state;
    static const char one[] = "<a xmpNote:HasExtendedXMP=\"0123456789ABCDEF0123456789ABCDEF\"";
    static const char two[] = "<xmpNote:HasExtendedXMP>0123456789ABCDEF0123456789ABCDEF<";
    const char *const packets[] = {one, two};
    for (size_t i = 0; i < 2; i++) {
        size_t size = strlen(packets[i]);
        for (size_t cut = 0; cut <= size; cut++) {
            uint8_t *exact = malloc(cut ? cut : 1);
            memcpy(exact, packets[i], cut);
            const uint8_t *guid = gi_xmp_guid((gi_bytes){exact, cut});
            if (cut < size - 1)
                assert_null(guid);
            else
                assert_memory_equal(guid, "0123456789ABCDEF0123456789ABCDEF", GI_XMP_GUID);
            free(exact);
        }
    }
    assert_null(gi_xmp_guid((gi_bytes){NULL, 0}));
}

static void assert_transposed(const char *before, const char *after) {
    gi_blob packet = {malloc(strlen(before) + 1), strlen(before)};
    memcpy(packet.data, before, packet.size);
    for (int i = 0; i < 2; i++) {
        const char *expected = i ? before : after; // twice is not at all
        assert_int_equal(gi_xmp_transpose(&packet, NULL), GI_OK);
        assert_int_equal(packet.size, strlen(expected));
        assert_memory_equal(packet.data, expected, packet.size);
    }
    gi_blob_free(&packet);
}

static void names_across_and_down(void **state) {
    (void)state;
    assert_transposed("<tiff:ImageWidth>64</tiff:ImageWidth>", "<tiff:ImageLength>64</tiff:ImageLength>");
    assert_transposed("tiff:ImageWidth='64' tiff:ImageLength = '48'", "tiff:ImageLength='64' tiff:ImageWidth = '48'");
    assert_transposed("a exif:PixelXDimension=\"1\"", "a exif:PixelYDimension=\"1\"");
    assert_transposed("tiff:XResolution exif:FocalPlaneXResolution", "tiff:YResolution exif:FocalPlaneYResolution");
    assert_transposed("tiff:ImageWidthtiff:ImageWidth", "tiff:ImageWidthtiff:ImageLength");
    static const char *const same[] = {"",
                                       "t",
                                       "tiff:ImageWidt",
                                       "tiff:ImageWidthX",
                                       "tiff:Orientation=\"6\"",
                                       "exif:PixelX",
                                       "ImageWidth",
                                       "tifF:ImageWidth"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) assert_transposed(same[i], same[i]);
    gi_blob packet = {NULL, 0};
    assert_int_equal(gi_xmp_transpose(&packet, NULL), GI_OK);
    assert_null(packet.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_way), cmocka_unit_test(guids),
                                       cmocka_unit_test(names_across_and_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
