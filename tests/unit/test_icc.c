// ICC profiles: heads, names of both versions, and every cut, in memory that ends where they do.
#include "codec/icc.h"
#include "codec_files.h"

enum { SIZE = 300, TAG = 200 };

// A profile with one tag.
static void make(uint8_t profile[SIZE], const char *name, const uint8_t *tag, size_t size) {
    memset(profile, 0, SIZE);
    gi_put_be32(profile, SIZE);
    memcpy(profile + 16, "RGB ", 4);
    memcpy(profile + 36, "acsp", 4);
    gi_put_be32(profile + 128, 1);
    memcpy(profile + 132, name, 4);
    gi_put_be32(profile + 136, TAG);
    gi_put_be32(profile + 140, (uint32_t)size);
    memcpy(profile + TAG, tag, size);
}

static void assert_name(const uint8_t *profile, size_t size, const char *expected) {
    char name[GI_ICC_NAME];
    uint8_t *exact = malloc(size);
    memcpy(exact, profile, size);
    gi_icc_name((gi_bytes){exact, size}, name);
    free(exact);
    assert_string_equal(name, expected);
}

static void heads(void **state) {
    (void)state;
    uint8_t profile[SIZE];
    char space[5];
    make(profile, "desc", (const uint8_t *)"", 0);
    assert_true(gi_icc_check((gi_bytes){profile, SIZE}));
    assert_int_equal(gi_icc_size(profile, SIZE), SIZE);
    assert_int_equal(gi_icc_size(profile, SIZE - 1), 0);
    assert_false(gi_icc_check((gi_bytes){profile, SIZE - 1}));
    assert_false(gi_icc_check((gi_bytes){profile, 131}));
    assert_false(gi_icc_check((gi_bytes){NULL, 0}));
    static const char spaces[][2][5] = {
        {"RGB ", "RGB"}, {"GRAY", "GRAY"}, {"Lab ", "Lab"}, {"2CLR", "2CLR"}, {"\1\xFFx ", "??x"}};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        memcpy(profile + 16, spaces[i][0], 4);
        gi_icc_space((gi_bytes){profile, SIZE}, space);
        assert_string_equal(space, spaces[i][1]);
    }
    gi_put_be32(profile, SIZE + 1);
    assert_false(gi_icc_check((gi_bytes){profile, SIZE}));
    gi_put_be32(profile, 131);
    assert_int_equal(gi_icc_size(profile, SIZE), 0);
    gi_put_be32(profile, SIZE);
    profile[36] = 'b';
    assert_false(gi_icc_check((gi_bytes){profile, SIZE}));
}

// Of one tag, or as many as are announced: anywhere within, then one byte past the end.
static void tags(void **state) {
    (void)state;
    uint8_t profile[SIZE];
    static const uint32_t places[][3] = {{TAG, SIZE - TAG, true}, {SIZE, 0, true},
                                         {SIZE + 1, 0, false},    {TAG, SIZE - TAG + 1, false},
                                         {0, SIZE, true},         {0xFFFFFFFF, 0xFFFFFFFF, false}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        make(profile, "desc", (const uint8_t *)"", 0);
        gi_put_be32(profile + 136, places[i][0]);
        gi_put_be32(profile + 140, places[i][1]);
        assert_int_equal(gi_icc_tags_inside((gi_bytes){profile, SIZE}), places[i][2]);
    }
    static const uint32_t counts[][2] = {
        {0, true}, {(SIZE - 132) / 12, true}, {(SIZE - 132) / 12 + 1, false}, {0xFFFFFFFF, false}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        make(profile, "desc", (const uint8_t *)"", 0);
        gi_put_be32(profile + 128, counts[i][0]);
        assert_int_equal(gi_icc_tags_inside((gi_bytes){profile, SIZE}), counts[i][1]);
    }
}

static void names(void **state) {
    (void)state;
    uint8_t profile[SIZE];
    static const uint8_t two[] = "desc\0\0\0\0\0\0\0\7a name";
    static const uint8_t four[] = "mluc\0\0\0\0\0\0\0\1\0\0\0\14enUS\0\0\0\6\0\0\0\34\0h\0\xE9\x20\x20";
    make(profile, "desc", two, sizeof two);
    assert_name(profile, SIZE, "a name");
    make(profile, "desc", four, sizeof four - 1);
    assert_name(profile, SIZE, "h??");
    make(profile, "cprt", two, sizeof two);
    assert_name(profile, SIZE, "");
    make(profile, "desc", (const uint8_t *)"text\0\0\0\0abcdefgh", 16);
    assert_name(profile, SIZE, "");
    // A text that is longer than the name, and one that says so.
    uint8_t *tag = profile + TAG;
    make(profile, "desc", two, sizeof two);
    gi_put_be32(tag + 8, 0xFFFFFFFF);
    gi_put_be32(profile + 140, 100);
    memset(tag + 12, 'x', 88);
    char expected[GI_ICC_NAME] = "";
    memset(expected, 'x', GI_ICC_NAME - 1);
    assert_name(profile, SIZE, expected);
}

static void hostile(void **state) {
    (void)state;
    uint8_t profile[SIZE];
    static const uint8_t two[] = "desc\0\0\0\0\0\0\0\7a name";
    static const uint8_t four[] = "mluc\0\0\0\0\0\0\0\1\0\0\0\14enUS\0\0\0\6\0\0\0\34\0h\0\xE9\x20\x20";
    for (int version = 0; version < 2; version++)
        for (size_t at = 128; at < TAG + 34; at++)
            for (int value = 0; value < 256; value += 51) {
                char name[GI_ICC_NAME];
                make(profile, "desc", version ? four : two, version ? sizeof four - 1 : sizeof two);
                profile[at] = (uint8_t)value;
                gi_icc_name((gi_bytes){profile, SIZE}, name);
                assert_true(strlen(name) < GI_ICC_NAME);
            }
    make(profile, "desc", two, sizeof two);
    for (size_t size = 132; size < SIZE; size++) {
        uint8_t *exact = malloc(size);
        char name[GI_ICC_NAME];
        memcpy(exact, profile, size);
        gi_icc_name((gi_bytes){exact, size}, name);
        free(exact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads), cmocka_unit_test(tags), cmocka_unit_test(names),
                                       cmocka_unit_test(hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
