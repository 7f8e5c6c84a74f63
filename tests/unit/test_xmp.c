// What XMP packets tell of the pixels, in all the ways it is written, and in memory that ends anywhere.
#include "codec/md5.h"
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

static void assert_blanked(const char *before, const char *after) {
    size_t size = strlen(before);
    uint8_t *packet = malloc(size ? size : 1);
    memcpy(packet, before, size);
    gi_xmp_blank_pictures(packet, size);
    assert_memory_equal(packet, after, size);
    free(packet);
}

static void pictures(void **state) {
    (void)state;
    assert_blanked("<xmpGImg:image>/9j/4AAQ&#xA;SkZJ</xmpGImg:image>",
                   "<xmpGImg:image>                 </xmpGImg:image>");
    assert_blanked("<xapGImg:image> /9j</xapGImg:image><a GImage:Data='/9j'/>",
                   "<xapGImg:image>    </xapGImg:image><a GImage:Data='   '/>");
    assert_blanked("<a GDepth:Data=\"/9j/\" xmpGImg:image=\"AA", "<a GDepth:Data=\"    \" xmpGImg:image=\"  ");
    static const char *const same[] = {"", "xmpGImg:image", "xmpGImg:image=", "<xmpGImg:images>/9j<",
                                       "<xmpGImg:image/>"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) assert_blanked(same[i], same[i]);
    gi_xmp_blank_pictures(NULL, 0);
}

// RFC 1321, A.5, and the lengths at which padding takes another block (digests by Python's hashlib).
static void digests(void **state) {
    (void)state;
    static const struct {
        size_t size;
        const char *text, *hex; // no text: that many letters a
    } cases[] = {{0, "", "D41D8CD98F00B204E9800998ECF8427E"},
                 {1, "a", "0CC175B9C0F1B6A831C399E269772661"},
                 {14, "message digest", "F96B697D7CB7938D525A2F31AAF161D0"},
                 {55, NULL, "EF1772B6DFF9A122358552954AD0DF65"},
                 {56, NULL, "3B0C8AC703F828B04C6C197006D17218"},
                 {63, NULL, "B06521F39153D618550606BE297466D5"},
                 {64, NULL, "014842D480B571495A4A0363793F7367"},
                 {65, NULL, "C743A45E0D2E6A95CB859ADAE0248435"},
                 {119, NULL, "8A7BD0732ED6A28CE75F6DABC90E1613"},
                 {120, NULL, "5F61C0CCAD4CAC44C75FF505E1F1E537"},
                 {1000, NULL, "CABE45DCC9AE5B66BA86600CCA6B8BA8"},
                 {80, "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                  "57EDF4A22BE3C955AC49DA2E2107B67A"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t *bytes = malloc(cases[i].size + 1), hex[GI_MD5_HEX];
        memset(bytes, 'a', cases[i].size);
        if (cases[i].text) memcpy(bytes, cases[i].text, cases[i].size);
        gi_md5((gi_bytes){bytes, cases[i].size}, hex);
        assert_memory_equal(hex, cases[i].hex, GI_MD5_HEX);
        free(bytes);
    }
}

static gi_blob blob_of(const char *text) {
    gi_blob blob = {NULL, 0};
    assert_int_equal(gi_blob_set(&blob, (gi_bytes){(const uint8_t *)text, strlen(text)}, NULL), GI_OK);
    return blob;
}

static void there_and_back(void **state) {
    (void)state;
    static const char text[] = "<a tiff:Orientation='6'/>";
    gi_blob packet = blob_of(text), more = {NULL, 0};
    assert_int_equal(gi_xmp_split(&packet, &more, NULL), GI_OK);
    const uint8_t *guid = gi_xmp_guid(gi_blob_bytes(&packet));
    assert_int_equal(more.size, GI_XMP_GUID + strlen(text));
    assert_memory_equal(guid, more.data, GI_XMP_GUID);
    assert_memory_equal(more.data + GI_XMP_GUID, text, strlen(text));
    const gi_xmp_now now = {1, true};
    uint8_t digest[GI_MD5_HEX];
    assert_int_equal(gi_xmp_fit_more(&packet, &more, &now, NULL), GI_OK);
    gi_md5((gi_bytes){more.data + GI_XMP_GUID, more.size - GI_XMP_GUID}, digest);
    assert_memory_equal(more.data, digest, GI_XMP_GUID);
    assert_memory_equal(guid, digest, GI_XMP_GUID); // in its place
    for (size_t i = 0; i < packet.size; i++) {      // whoever else made it: both stay
        packet.data[i] ^= 1;
        assert_int_equal(gi_xmp_join(&packet, &more, NULL), GI_OK);
        assert_true(more.size > 0);
        packet.data[i] ^= 1;
    }
    assert_int_equal(gi_xmp_join(&packet, &more, NULL), GI_OK);
    assert_int_equal(more.size, 0);
    assert_int_equal(packet.size, strlen(text));
    assert_memory_equal(packet.data, "<a tiff:Orientation='1'/>", packet.size);
    assert_int_equal(gi_xmp_join(&packet, &more, NULL), GI_OK);
    gi_blob_free(&packet);
}

// What does not change keeps the GUID that its maker gave it.
static void more_of_others(void **state) {
    (void)state;
    gi_blob packet = blob_of("<a xmpNote:HasExtendedXMP='0123456789abcdef0123456789abcdef'/>");
    gi_blob more = blob_of("0123456789abcdef0123456789abcdef<b/>");
    assert_int_equal(gi_xmp_fit_more(&packet, &more, &(gi_xmp_now){1, true}, NULL), GI_OK);
    assert_memory_equal(more.data, "0123456789abcdef0123456789abcdef<b/>", more.size);
    gi_blob_free(&packet);
    gi_blob_free(&more);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way),     cmocka_unit_test(guids),   cmocka_unit_test(names_across_and_down),
        cmocka_unit_test(pictures),      cmocka_unit_test(digests), cmocka_unit_test(there_and_back),
        cmocka_unit_test(more_of_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
