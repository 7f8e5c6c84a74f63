// Huffman codes: complete, no longer than allowed, as good as the best that trying everything finds.
#include "codec/deflate_code.h"
#include "codec_files.h"
#include "guarded_image.h"

static uint64_t cost_of(const uint32_t *counts, const uint8_t *lengths, int symbols) {
    uint64_t cost = 0;
    for (int i = 0; i < symbols; i++) cost += (uint64_t)counts[i] * lengths[i];
    return cost;
}

// The share of the code space that the lengths take: 2^15 is all.
static uint32_t space_of(const uint8_t *lengths, int symbols) {
    uint32_t space = 0;
    for (int i = 0; i < symbols; i++) space += lengths[i] ? 1U << (15 - lengths[i]) : 0;
    return space;
}

static void check_lengths(const uint32_t *counts, int symbols, int limit) {
    uint8_t lengths[GI_LITLENS];
    uint16_t words[GI_LITLENS];
    int used = 0;
    gi_code_lengths(counts, symbols, limit, lengths);
    for (int i = 0; i < symbols; i++) {
        assert_int_equal(counts[i] > 0, lengths[i] > 0);
        assert_true(lengths[i] <= limit);
        used += counts[i] > 0;
    }
    if (used == 0) return;
    assert_int_equal(space_of(lengths, symbols), used == 1 ? 1U << 14 : 1U << 15);
    // No word begins another: their first bits, lowest first, differ.
    gi_code_words(lengths, symbols, words);
    for (int i = 0; i < symbols; i++)
        for (int k = 0; k < symbols; k++) {
            if (i == k || !lengths[i] || !lengths[k] || lengths[i] > lengths[k]) continue;
            assert_int_not_equal(words[i], words[k] & ((1 << lengths[i]) - 1));
        }
}

// The least cost over all lengths of `symbols` symbols from `i` on that fit into `space`.
static uint64_t least_cost(const uint32_t *counts, int symbols, int limit, int i, uint32_t space) {
    if (i == symbols) return 0;
    uint64_t least = UINT64_MAX / 2;
    for (int length = 1; length <= limit; length++) {
        uint32_t part = 1U << (15 - length);
        if (part > space) continue;
        uint64_t cost = counts[i] * (uint64_t)length + least_cost(counts, symbols, limit, i + 1, space - part);
        if (cost < least) least = cost;
    }
    return least;
}

static void optimal(void **state) {
    (void)state;
    uint32_t seed = 3;
    for (int turn = 0; turn < 300; turn++) {
        uint32_t counts[6];
        uint8_t lengths[6];
        int symbols = 2 + turn % 5, limit = 3 + turn % 3;
        for (int i = 0; i < symbols; i++) counts[i] = 1U << next_random(&seed) % 20;
        gi_code_lengths(counts, symbols, limit, lengths);
        assert_int_equal(cost_of(counts, lengths, symbols), least_cost(counts, symbols, limit, 0, 1U << 15));
    }
}

static void complete(void **state) {
    (void)state;
    uint32_t seed = 5, counts[GI_LITLENS] = {0};
    check_lengths(counts, GI_LITLENS, 15);
    counts[100] = 7;
    check_lengths(counts, GI_LITLENS, 15);
    counts[256] = 1;
    check_lengths(counts, GI_LITLENS, 15);
    for (int turn = 0; turn < 200; turn++) {
        for (int i = 0; i < GI_LITLENS; i++)
            counts[i] = next_random(&seed) % 3 ? (uint32_t)(next_random(&seed) << 7) >> next_random(&seed) % 23 : 0;
        for (int limit = 9; limit <= 15; limit++) check_lengths(counts, GI_LITLENS, limit);
    }
}

// Fibonacci's numbers make the deepest code: one symbol at each depth.
static void deepest(void **state) {
    (void)state;
    uint32_t counts[32] = {1, 1};
    uint8_t lengths[32];
    for (int i = 2; i < 32; i++) counts[i] = counts[i - 1] + counts[i - 2];
    for (int symbols = 2; symbols <= 32; symbols++)
        for (int limit = 5; limit <= 15; limit++) check_lengths(counts, symbols, limit);
    gi_code_lengths(counts, 16, 15, lengths);
    for (int i = 1; i < 16; i++) assert_int_equal(lengths[i], 16 - i);
}

// Every length and distance: the symbol's base (RFC 1951, 3.2.5) and the extra bits give it back.
static void lengths_and_distances(void **state) {
    (void)state;
    uint32_t length = 3, distance = 1;
    for (uint32_t symbol = 257; symbol <= 284; symbol++) {
        uint32_t extra_bits = symbol < 265 ? 0 : (symbol - 261) / 4;
        for (uint32_t extra = 0; extra < 1U << extra_bits; extra++, length++) {
            if (length == 258) break; // has a symbol of its own
            gi_deflate_symbol s = gi_length_symbol(length);
            assert_int_equal(s.symbol, symbol);
            assert_int_equal(s.extra_bits, extra_bits);
            assert_int_equal(s.extra, extra);
        }
    }
    assert_int_equal(length, 258);
    assert_int_equal(gi_length_symbol(258).symbol, 285);
    assert_int_equal(gi_length_symbol(258).extra_bits, 0);
    for (uint32_t symbol = 0; symbol < 30; symbol++) {
        uint32_t extra_bits = symbol < 4 ? 0 : symbol / 2 - 1;
        for (uint32_t extra = 0; extra < 1U << extra_bits; extra++, distance++) {
            gi_deflate_symbol s = gi_distance_symbol(distance);
            assert_int_equal(s.symbol, symbol);
            assert_int_equal(s.extra_bits, extra_bits);
            assert_int_equal(s.extra, extra);
        }
    }
    assert_int_equal(distance, 32769);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(optimal), cmocka_unit_test(complete), cmocka_unit_test(deepest),
                                       cmocka_unit_test(lengths_and_distances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
