#include "codec/exif.h"
#include "codec_files.h"

enum { SIZE = 26 };

// A TIFF block with one entry, in either byte order.
static void make(uint8_t block[SIZE], bool big, int value) {
    gi_exif_write(value, block);
    if (big) return;
    static const uint8_t little[SIZE] = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0};
    memcpy(block, little, SIZE);
    block[18] = (uint8_t)value;
    block[19] = (uint8_t)(value >> 8);
}

// Parses a copy of exactly that size, so that a sanitizer sees every byte read past it.
static int parse(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, data, size);
    int orientation = gi_exif_orientation((gi_bytes){exact, size});
    free(exact);
    return orientation;
}

static void all_values_both_orders(void **state) {
    (void)state;
    uint8_t block[SIZE];
    for (int big = 0; big < 2; big++)
        for (int value = 0; value < 256; value++) {
            make(block, big, value);
            assert_int_equal(parse(block, SIZE), value >= 1 && value <= 8 ? value : 1);
        }
}

static void cut_anywhere(void **state) {
    (void)state;
    uint8_t block[SIZE];
    for (int big = 0; big < 2; big++)
        for (size_t size = 0; size < SIZE; size++) {
            make(block, big, 6);
            // The entry ends at byte 22; the link after it is not needed.
            assert_int_equal(parse(block, size), size >= 22 ? 6 : 1);
        }
}

static void hostile_fields(void **state) {
    (void)state;
    static const struct {
        int at;
        uint8_t bytes[4];
    } cases[] = {
        {0, {'X', 'M', 0, 42}},         // no byte order
        {2, {0, 43, 0, 0}},             // wrong magic number
        {4, {0xFF, 0xFF, 0xFF, 0xFF}},  // directory past the end
        {4, {0, 0, 0, 25}},             // directory at the very end
        {4, {0x80, 0, 0, 0}},           // negative, were it signed
        {12, {0, 4, 0, 0}},             // LONG rather than SHORT
        {14, {0, 0, 0, 0}},             // no value
        {14, {0xFF, 0xFF, 0xFF, 0xFF}}, // very many values
        {10, {0x01, 0x0F, 0, 3}},       // another tag
        {8, {0, 0, 0x01, 0x12}},        // no entries
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t block[SIZE];
        make(block, true, 6);
        memcpy(block + cases[i].at, cases[i].bytes, 4);
        assert_int_equal(parse(block, SIZE), 1);
    }
}

static void more_entries_announced_than_there_are(void **state) {
    (void)state;
    uint8_t block[SIZE];
    make(block, true, 6);
    block[8] = block[9] = 0xFF;
    assert_int_equal(parse(block, SIZE), 6); // found before the end
    block[11] = 0x0F;
    assert_int_equal(parse(block, SIZE), 1); // not found, and not looked for past the end
}

static void directory_that_points_to_itself(void **state) {
    (void)state;
    uint8_t block[SIZE];
    make(block, true, 6);
    block[11] = 0x0F;
    block[25] = 8; // the next directory is this one
    assert_int_equal(parse(block, SIZE), 1);
    make(block, true, 6);
    gi_put_be32(block + 4, 0); // the directory overlaps the header
    assert_int_equal(parse(block, SIZE), 1);
}

// Orientation (of a wrong type, too), size and thumbnail in a block of two directories, at every length that it may be
// cut to.
static void settled(void **state) {
    (void)state;
    enum { WHOLE = 8 + 2 + 2 * 12 + 4 + 2 + 2 * 12 + 4 + 5, LINK = 34, SECOND = 38, THUMBNAIL = 68 };
    for (int big = 0; big < 2; big++)
        for (size_t cut = 0; cut <= WHOLE; cut++) {
            const uint16_t words[][2] = {
                {2, 42},         {8, 2},      {10, 0x0112},         {12, 1},         {22, 0x0100},
                {24, 3},         {SECOND, 2}, {SECOND + 2, 0x0201}, {SECOND + 4, 4}, {SECOND + 14, 0x0202},
                {SECOND + 16, 4}};
            const uint32_t longs[][2] = {{4, 8},           {14, 1},         {26, 1},
                                         {LINK, SECOND},   {SECOND + 6, 1}, {SECOND + 10, THUMBNAIL},
                                         {SECOND + 18, 1}, {SECOND + 22, 5}};
            uint8_t whole[WHOLE] = {(uint8_t)(big ? 'M' : 'I'), (uint8_t)(big ? 'M' : 'I')};
            for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
                for (size_t k = 0; k < 2; k++) whole[words[i][0] + k] = (uint8_t)(words[i][1] >> 8 * (big ? 1 - k : k));
            for (size_t i = 0; i < sizeof longs / sizeof longs[0]; i++)
                for (size_t k = 0; k < 4; k++) whole[longs[i][0] + k] = (uint8_t)(longs[i][1] >> 8 * (big ? 3 - k : k));
            memset(whole + THUMBNAIL - 1, 'x', WHOLE - THUMBNAIL + 1);
            uint8_t *exact = malloc(cut ? cut : 1);
            memcpy(exact, whole, cut);
            size_t size = cut;
            const gi_exif_now now = {7, 70000, 9, false};
            bool done = gi_exif_settle(exact, &size, &now);
            assert_int_equal(done, cut >= 10);
            if (cut >= 22) assert_int_equal(gi_exif_orientation((gi_bytes){exact, size}), 7);
            if (cut >= LINK) assert_int_equal(big ? gi_be32(exact + 30) : gi_le32(exact + 30), 70000);
            if (cut >= SECOND) assert_memory_equal(exact + LINK, "\0\0\0\0", 4);
            assert_int_equal(size, cut == WHOLE ? THUMBNAIL : cut);
            free(exact);
        }
}

// What of a block lies outside it: nothing at its full length, then EXIF's own directory or the text, then all of it.
static void told_where_it_is_cut(void **state) {
    (void)state;
    enum { OWN = 38, TEXT = 56, WHOLE = 64 };
    static const uint8_t big[WHOLE] = {'M', 'M', 0, 42,  0, 0, 0,    8,    0,    2, 1,    0x0F, 0,   2,   0,
                                       0,   0,   8, 0,   0, 0, TEXT, 0x87, 0x69, 0, 4,    0,    0,   0,   1,
                                       0,   0,   0, OWN, 0, 0, 0,    0,    0,    1, 0xA0, 2,    0,   4,   0,
                                       0,   0,   1, 0,   0, 0, 9,    0,    0,    0, 0,    't',  'e', 'x', 't'};
    for (size_t cut = 0; cut <= WHOLE; cut++) {
        uint8_t *exact = malloc(cut ? cut : 1);
        memcpy(exact, big, cut);
        gi_exif_state expected = cut == WHOLE ? GI_EXIF_SOUND : cut >= 10 ? GI_EXIF_CUT : GI_EXIF_NONE;
        assert_int_equal(gi_exif_check((gi_bytes){exact, cut}), expected);
        free(exact);
    }
    static const struct {
        int at;
        uint8_t bytes[4];
        gi_exif_state expected;
    } cases[] = {
        {12, {0, 99, 0, 0}, GI_EXIF_SOUND},          // a type that has no size here
        {14, {0xFF, 0xFF, 0xFF, 0xFF}, GI_EXIF_CUT}, // very many values
        {18, {0, 0, 0, TEXT + 1}, GI_EXIF_CUT},      // one byte past the end
        {18, {0xFF, 0xFF, 0xFF, 0xFF}, GI_EXIF_CUT}, // far past it
        {30, {0, 0, 0, WHOLE}, GI_EXIF_CUT},         // a directory there
        {30, {0, 0, 0, 0}, GI_EXIF_CUT},             // or on the header
        {42, {0, 5, 0, 0}, GI_EXIF_SOUND},           // EXIF's own value elsewhere, within
        {4, {0, 0, 0, WHOLE}, GI_EXIF_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t block[WHOLE];
        memcpy(block, big, WHOLE);
        memcpy(block + cases[i].at, cases[i].bytes, 4);
        assert_int_equal(gi_exif_check((gi_bytes){block, WHOLE}), cases[i].expected);
    }
}

// Two entries of any forms: what one told the other tells; of one alone, which it is. Nothing else changes.
static void resolutions_turn_with_the_pixels(void **state) {
    (void)state;
    enum { WHOLE = 8 + 2 + 2 * 12 + 4, FIRST = 10, SECOND = 22 };
    static const uint16_t tags[][2] = {{0x011A, 0x011B}, {0x011B, 0x011A}, {0x011A, 0x0110}, {0x010F, 0x011B}};
    for (int big = 0; big < 2; big++)
        for (size_t i = 0; i < 4; i++)
            for (int transposed = 0; transposed < 2; transposed++) {
                uint8_t block[WHOLE] = {'I', 'I', 42, 0, 8, 0, 0, 0, 2, 0}, before[WHOLE];
                if (big) memcpy(block, "MM\0*\0\0\0\10\0\2", 10);
                for (size_t k = 0; k < 24; k++) block[FIRST + k] = (uint8_t)(100 + k);
                for (size_t k = 0; k < 2; k++) {
                    uint8_t *entry = block + (k ? SECOND : FIRST);
                    (big ? gi_put_be16 : gi_put_le16)(entry, tags[i][k]);
                }
                memcpy(before, block, WHOLE);
                size_t size = WHOLE;
                const gi_exif_now now = {1, 3, 4, transposed};
                assert_true(gi_exif_settle(block, &size, &now));
                if (transposed && i < 2) { // as it was, but for the tags
                    assert_memory_equal(block + FIRST + 2, before + SECOND + 2, 10);
                    assert_memory_equal(block + SECOND + 2, before + FIRST + 2, 10);
                    memcpy(block + FIRST + 2, before + FIRST + 2, 10);
                    memcpy(block + SECOND + 2, before + SECOND + 2, 10);
                } else if (transposed) {
                    uint8_t *entry = before + (i == 2 ? FIRST : SECOND);
                    (big ? gi_put_be16 : gi_put_le16)(entry, i == 2 ? 0x011B : 0x011A);
                }
                assert_memory_equal(block, before, WHOLE);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_values_both_orders),
                                       cmocka_unit_test(cut_anywhere),
                                       cmocka_unit_test(hostile_fields),
                                       cmocka_unit_test(more_entries_announced_than_there_are),
                                       cmocka_unit_test(directory_that_points_to_itself),
                                       cmocka_unit_test(settled),
                                       cmocka_unit_test(told_where_it_is_cut),
                                       cmocka_unit_test(resolutions_turn_with_the_pixels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
