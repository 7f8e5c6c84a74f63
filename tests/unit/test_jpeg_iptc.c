// IPTC's records among Photoshop's resources, in memory that ends where the segment does.
#include "codec/jpeg_metadata.h"
#include "codec_files.h"

typedef struct expected {
    const char *text; // of the resources
    size_t size;
    const char *iptc; // NULL: none is found
    bool others, cut;
} expected;

#define CASE(text, ...)                                                                                                \
    { text, sizeof text - 1, __VA_ARGS__ }
#define IPTC "8BIM\4\4"

static const expected cases[] = {
    CASE("", NULL, false, false),
    CASE(IPTC "\0\0\0\0\0\4abcd", "abcd", false, false),
    CASE(IPTC "\0\0\0\0\0\3abc\0", "abc", false, false),
    CASE(IPTC "\0\0\0\0\0\3abc", "abc", false, false), // its padding is missing
    CASE(IPTC "\5a name"
              "\0\0\0\4abcd",
         NULL, false, true),                                 // a length within the name
    CASE(IPTC "\5aname\0\0\0\4abcd", "abcd", false, false),  // a name of 5, six bytes with its length
    CASE(IPTC "\4name\0\0\0\0\4abcd", "abcd", false, false), // padded
    CASE("8BIM\3\355\0\0\0\0\0\1x\0" IPTC "\0\0\0\0\0\2yz", "yz", true, false),
    CASE(IPTC "\0\0\0\0\0\2yz"
              "8BIM\4\45\0\0\0\0\0\1x\0",
         "yz", true, false),
    CASE(IPTC "\0\0\0\0\0\2yz" IPTC "\0\0\0\0\0\2ab", "yz", false, false), // the first
    CASE(IPTC "\0\0\0\0\0\0", NULL, false, false),
    CASE(IPTC "\0\0\0\0\0\5abcd", NULL, false, true),
    CASE(IPTC "\0\0\377\377\377\377abcd", NULL, false, true),
    CASE(IPTC "\0\0\0\0", NULL, false, true),
    CASE(IPTC "\377", NULL, false, true),
    CASE(IPTC, NULL, false, false),
    CASE("8BIM\3\355\0\0\0\0\0\5x" IPTC "\0\0\0\0\0\2yz", NULL, true, false), // swallowed in part
    CASE("8BIX\4\4\0\0\0\0\0\4abcd", NULL, false, false),
};

static uint8_t *exactly(const char *text, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, text, size);
    return exact;
}

static void resources(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const expected *e = &cases[i];
        uint8_t *exact = exactly(e->text, e->size);
        bool others = false;
        gi_bytes rest, iptc = gi_jpeg_iptc((gi_bytes){exact, e->size}, &others, &rest);
        bool cut = gi_jpeg_iptc_is_cut(rest);
        if (others != e->others || cut != e->cut || iptc.size != (e->iptc ? strlen(e->iptc) : 0))
            fail_msg("case %zu: %zu bytes, others %d, cut %d", i, iptc.size, others, cut);
        if (e->iptc) assert_memory_equal(iptc.data, e->iptc, iptc.size);
        free(exact);
    }
}

static void take(gi_jpeg_resources *to, const char *text, size_t size) {
    uint8_t *exact = exactly(text, size);
    assert_int_equal(gi_jpeg_resources_take(to, (gi_bytes){exact, size}, NULL), GI_OK);
    free(exact);
}

// Cut into three segments wherever that is: all that is found whole is found so, too.
static void segments(void **state) {
    (void)state;
    static const char text[] = "8BIM\4\f\0\0\0\0\0\5face!\0" IPTC "\4name\0\0\0\0\4abcd8BIM\3\355\0\0\0\0\0\1x";
    const size_t size = sizeof text - 1;
    for (size_t i = 0; i <= size; i++)
        for (size_t j = i; j <= size; j++) {
            gi_jpeg_resources to = {.large = false};
            take(&to, text, i);
            take(&to, text + i, j - i);
            take(&to, text + j, size - j);
            // Who leaves padding out at the end of a segment need not begin the next one with it.
            bool padding = i == 17 || j == 17;
            if (to.rest.size || to.large || (to.iptc.size != 4 && !padding)) fail_msg("cut at %zu and %zu", i, j);
            if (to.iptc.size) assert_memory_equal(to.iptc.data, "abcd", 4);
            gi_jpeg_resources_free(&to);
        }
}

// A resource that is cut, and then a segment of its own: nothing of the one is part of the other.
static void cut_before_whole(void **state) {
    (void)state;
    static const char iptc[] = IPTC "\0\0\0\0\0\50abcd", other[] = "8BIM\3\355\0\0\0\0\0\50face",
                      whole[] = IPTC "\0\0\0\0\0\4true",
                      before_whole[] = "8BIM\4\f\0\0\0\0\0\4face" IPTC "\0\0\0\0\0\4true";
    const struct {
        const char *text;
        size_t size;
    } first[] = {{iptc, sizeof iptc - 1}, {other, sizeof other - 1}, {iptc, 5}},
      next[] = {{whole, sizeof whole - 1}, {before_whole, sizeof before_whole - 1}};
    for (size_t i = 0; i < 6; i++) {
        gi_jpeg_resources to = {.large = false};
        take(&to, first[i % 3].text, first[i % 3].size);
        assert_true(to.rest.size > 0);
        take(&to, next[i / 3].text, next[i / 3].size);
        assert_int_equal(to.rest.size, 0);
        assert_int_equal(to.cut, i % 3 == 0);
        assert_int_equal(to.iptc.size, 4);
        assert_memory_equal(to.iptc.data, "true", 4);
        gi_jpeg_resources_free(&to);
    }
}

static void too_many(void **state) {
    (void)state;
    gi_jpeg_resources to = {.large = false};
    static char more[65000];
    take(&to, IPTC "\0\0\1\0\0\0", 12);
    for (int i = 0; i < 130; i++) {
        take(&to, more, sizeof more);
        assert_true(to.rest.size <= GI_BLOB_MOST);
    }
    assert_true(to.large && !to.rest.size && !to.iptc.size);
    gi_jpeg_resources_free(&to);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(resources), cmocka_unit_test(segments),
                                       cmocka_unit_test(cut_before_whole), cmocka_unit_test(too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
