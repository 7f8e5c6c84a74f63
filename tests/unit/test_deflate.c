// Blocks of literals and of matches inflate to what they were made from, at any size and distribution, within the
// bound.
#include "codec/deflate_huffman.h"
#include "codec/deflate_match.h"
#include "codec_files.h"
#include "guarded_image.h"
#include "inflate_whole.h"

enum { GUARD = 32 };

typedef enum maker { LITERALS, MATCHES, MAKERS } maker;

static gi_matcher *matcher;

// Deflates into memory of the bound's size, and inflates. Returns the bytes written.
static size_t check(const uint8_t *data, size_t size, maker how, const gi_match_options *options) {
    static const uint8_t last_block[2] = {3, 0};
    size_t bound = (how == LITERALS ? gi_literals_bound(size) : gi_matcher_bound(size)) + 6;
    uint8_t *stream = malloc(GUARD + 2 + bound + 6 + GUARD), *out = malloc(size + 1);
    assert_non_null(stream);
    assert_non_null(out);
    memset(stream, 0xA5, GUARD + 2 + bound + 6 + GUARD);
    uint8_t *start = stream + GUARD, *end = start + 2 + bound;
    gi_put_be16(start, 0x7801);
    gi_bits bits = {start + 2, 0, 0};
    if (how == LITERALS)
        gi_deflate_literals(&bits, data, size);
    else
        gi_matcher_deflate(matcher, (gi_bytes){data, size}, options, &bits);
    gi_bits_put_stored(&bits, NULL, 0);
    assert_true(bits.at <= end);
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(stream[i], 0xA5);
        assert_int_equal(end[6 + i], 0xA5);
    }
    size_t written = (size_t)(bits.at - start - 2);
    memcpy(bits.at, last_block, 2);
    gi_put_be32(bits.at + 2, gi_adler32(1, data, size));
    assert_true(inflate_whole((gi_bytes){start, (size_t)(bits.at + 6 - start)}, out, size));
    assert_memory_equal(out, data, size);
    free(stream);
    free(out);
    return written;
}

static const gi_match_options efforts[] = {
    {1, 100, 0, 0, 32, 8, true},       {3, 301, 1, 5, 16, 1, false},      {1, 1, 4, 0, 32, 16, true},
    {8, 70000, 64, 4, 258, 258, true}, {4, 32768, 1000, 3, 258, 3, true},
};

static void check_all(const uint8_t *data, size_t size) {
    check(data, size, LITERALS, NULL);
    for (size_t i = 0; i < sizeof efforts / sizeof efforts[0]; i++) check(data, size, MATCHES, &efforts[i]);
}

typedef enum bytes_kind { ONE, TWO, EVEN, FIBONACCI, STEEP, PERIOD, SPARSE, KINDS } bytes_kind;

static void fill(uint8_t *data, size_t size, bytes_kind kind, uint32_t seed) {
    for (size_t i = 0; i < size; i++) {
        uint32_t random = next_random(&seed);
        uint32_t bit_run = (uint32_t)__builtin_ctz(random << 8 | next_random(&seed) | 1U << 30);
        switch (kind) {
        case ONE: data[i] = 9; break;
        case TWO: data[i] = random & 1 ? 255 : 0; break;
        case EVEN: data[i] = (uint8_t)random; break;
        case FIBONACCI: data[i] = (uint8_t)(bit_run * 3 + 7); break; // powers of two: deeper than any limit
        case STEEP: data[i] = random < 40 ? (uint8_t)(random * 5) : (uint8_t)(random % 3); break;
        case PERIOD: data[i] = i < 5000 ? (uint8_t)random : data[i - 5000]; break;
        default: data[i] = random % 997 == 0 ? (uint8_t)(random >> 4) : 0; break;
        }
    }
}

static void sizes(void **state) {
    (void)state;
    static const size_t some[] = {1,     2,     3,     4,     7,      8,      9,      15,     16,     17,     31,
                                  255,   256,   257,   258,   259,    1000,   16383,  16384,  16385,  32768,  32769,
                                  65534, 65535, 65536, 70001, 131069, 131070, 131071, 131072, 262140, 262141, 400000};
    uint8_t *data = calloc(1, 400000 + GI_MATCH_SLACK);
    assert_non_null(data);
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            uint8_t *exact = malloc(some[i] + GI_MATCH_SLACK);
            assert_non_null(exact);
            memset(exact, kind, some[i] + GI_MATCH_SLACK);
            fill(exact, some[i], (bytes_kind)kind, (uint32_t)(i + 1));
            check_all(exact, some[i]);
            free(exact);
        }
    free(data);
}

static void megabytes(void **state) {
    (void)state;
    enum { SIZE = 3000017 };
    uint8_t *data = calloc(1, SIZE + GI_MATCH_SLACK);
    assert_non_null(data);
    for (int kind = 0; kind < KINDS; kind++) {
        fill(data, SIZE, (bytes_kind)kind, 11);
        check(data, SIZE, LITERALS, NULL);
        check(data, SIZE, MATCHES, &efforts[2]);
    }
    free(data);
}

// What follows the data is read, but makes no difference; nor does what the matcher did before.
static void slack_does_not_matter(void **state) {
    (void)state;
    enum { SIZE = 5000 };
    uint8_t data[2][SIZE + GI_MATCH_SLACK], out[2][2 * SIZE];
    for (uint32_t seed = 1; seed < 200; seed++)
        for (size_t e = 0; e < sizeof efforts / sizeof efforts[0]; e++) {
            size_t written[2], size = SIZE - seed % 300;
            fill(data[0], SIZE, seed % 2 ? TWO : STEEP, seed);
            memcpy(data[0] + size - 40, data[0] + 500 - seed, 40);
            memcpy(data[1], data[0], size);
            memcpy(data[0] + size, data[0] + 540 - seed, GI_MATCH_SLACK); // the match at the end would go on
            memset(data[1] + size, 99, GI_MATCH_SLACK);
            for (int k = 0; k < 2; k++) {
                gi_bits bits = {out[k], 0, 0};
                gi_matcher_deflate(matcher, (gi_bytes){data[k], size}, &efforts[e], &bits);
                gi_bits_put_stored(&bits, NULL, 0);
                written[k] = (size_t)(bits.at - out[k]);
            }
            assert_int_equal(written[0], written[1]);
            assert_memory_equal(out[0], out[1], written[0]);
        }
}

// Literals are no larger than their entropy and a code need; runs hardly take anything; noise is stored.
static void small_enough(void **state) {
    (void)state;
    enum { SIZE = 262140 };
    uint8_t *data = calloc(1, SIZE + GI_MATCH_SLACK);
    assert_non_null(data);
    fill(data, SIZE, TWO, 1);
    assert_true(check(data, SIZE, LITERALS, NULL) < SIZE / 4 + 100); // the end of the block makes it two bits for one
    fill(data, SIZE, EVEN, 1);
    assert_true(check(data, SIZE, LITERALS, NULL) <= SIZE + 4 * 5 + 6);
    assert_true(check(data, SIZE, MATCHES, &efforts[2]) <= SIZE + 4 * 5 + 6);
    fill(data, SIZE, ONE, 1);
    assert_true(check(data, SIZE, MATCHES, &efforts[2]) < 400);
    fill(data, SIZE, PERIOD, 1);
    assert_true(check(data, SIZE, MATCHES, &efforts[2]) < 5000 + 4000);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(megabytes),
                                       cmocka_unit_test(slack_does_not_matter), cmocka_unit_test(small_enough)};
    matcher = gi_matcher_open();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gi_matcher_close(matcher);
    return failed;
}
