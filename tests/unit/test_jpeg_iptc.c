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

static void resources(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const expected *e = &cases[i];
        size_t head = sizeof GI_JPEG_PHOTOSHOP_NAME;
        uint8_t *exact = malloc(head + e->size);
        memcpy(exact, GI_JPEG_PHOTOSHOP_NAME, head);
        memcpy(exact + head, e->text, e->size);
        bool others = false, cut = false;
        gi_bytes iptc = gi_jpeg_iptc((gi_bytes){exact, head + e->size}, &others, &cut);
        if (others != e->others || cut != e->cut || iptc.size != (e->iptc ? strlen(e->iptc) : 0))
            fail_msg("case %zu: %zu bytes, others %d, cut %d", i, iptc.size, others, cut);
        if (e->iptc) assert_memory_equal(iptc.data, e->iptc, iptc.size);
        free(exact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(resources)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
