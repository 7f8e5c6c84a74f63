// Huffman codes of deflate blocks (RFC 1951, section 3.2), and the bits of a stream being written.
#ifndef GI_CODEC_DEFLATE_CODE_H
#define GI_CODEC_DEFLATE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    GI_END_OF_BLOCK = 256,
    GI_LITLENS = 286,     // literals, the end of the block, lengths
    GI_LITLEN_CODE = 288, // the fixed code has two that never occur
    GI_DISTANCES = 30,
    GI_CODE_LENGTH_MAX = 15,
    GI_MATCH_MIN = 3,
    GI_MATCH_MAX = 258,
    GI_WINDOW = 32768
};

// ---- codes --------------------------------------------------------------------------------------------------------

// The lengths, at most `limit` (<= 15), of an optimal prefix code for symbols that occur so often; 0 for a count of 0.
// A single symbol gets a length of 1. `symbols` is at most GI_LITLENS, a count below 2^23, 2^limit at least the
// symbols.
void gi_code_lengths(const uint32_t *counts, int symbols, int limit, uint8_t *lengths);

// The canonical code of those lengths, its first bit lowest as deflate sends it.
void gi_code_words(const uint8_t *lengths, int symbols, uint16_t *words);

// The codes of a block.
typedef struct gi_block_code {
    uint8_t litlen_lengths[GI_LITLEN_CODE], distance_lengths[GI_DISTANCES];
    uint16_t litlen_words[GI_LITLEN_CODE], distance_words[GI_DISTANCES];
    // How the lengths themselves are sent: symbols 0..18, with the value of their extra bits.
    uint8_t sent[GI_LITLENS + GI_DISTANCES], sent_extra[GI_LITLENS + GI_DISTANCES];
    uint8_t sent_lengths[19];
    int sent_count, litlens, distances, sent_lengths_count;
    size_t header_bits; // with the 3 that begin a block
    size_t body_bits;   // of the symbols counted, without their extra bits
} gi_block_code;

typedef struct gi_block_counts {
    uint32_t litlen[GI_LITLENS], distance[GI_DISTANCES]; // each below 2^23; GI_END_OF_BLOCK once
} gi_block_counts;

// The best dynamic code for those counts, codes of literals and lengths no longer than litlen_limit.
void gi_block_code_make(const gi_block_counts *counts, int litlen_limit, gi_block_code *code);

// The fixed code; header_bits is 3.
void gi_block_code_fixed(const gi_block_counts *counts, gi_block_code *code);

// ---- lengths and distances ----------------------------------------------------------------------------------------

// A symbol and its extra bits.
typedef struct gi_deflate_symbol {
    uint32_t symbol, extra_bits, extra;
} gi_deflate_symbol;

static inline uint32_t gi_log2(uint32_t value) { return 31 - (uint32_t)__builtin_clz(value); }

// Of a length 3..258: four symbols to each power of two, after eight without extra bits.
static inline gi_deflate_symbol gi_length_symbol(uint32_t length) {
    uint32_t x = length - GI_MATCH_MIN;
    if (length == GI_MATCH_MAX) return (gi_deflate_symbol){285, 0, 0};
    if (x < 8) return (gi_deflate_symbol){257 + x, 0, 0};
    uint32_t extra_bits = gi_log2(x) - 2;
    return (gi_deflate_symbol){257 + 4 * extra_bits + (x >> extra_bits), extra_bits, x & ((1U << extra_bits) - 1)};
}

// Of a distance 1..32768: two symbols to each power of two.
static inline gi_deflate_symbol gi_distance_symbol(uint32_t distance) {
    uint32_t x = distance - 1;
    if (x < 4) return (gi_deflate_symbol){x, 0, 0};
    uint32_t extra_bits = gi_log2(x) - 1;
    return (gi_deflate_symbol){2 * extra_bits + (x >> extra_bits), extra_bits, x & ((1U << extra_bits) - 1)};
}

// ---- bits ---------------------------------------------------------------------------------------------------------

// A stream being written: `count` bits, below 8, wait in `bits`. Eight bytes from `at` on are written at each put.
typedef struct gi_bits {
    uint8_t *at;
    uint64_t bits;
    uint32_t count;
} gi_bits;

static inline void gi_store_le64(uint8_t *p, uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(p, &value, sizeof value);
}

// At most 56 bits; those of `value` above `count` are zero.
static inline void gi_bits_put(gi_bits *bits, uint64_t value, uint32_t count) {
    uint64_t all = bits->bits | value << bits->count;
    uint32_t used = bits->count + count;
    gi_store_le64(bits->at, all);
    bits->at += used >> 3;
    bits->bits = all >> (used & ~7U);
    bits->count = used & 7;
}

// The head of a block that is not the last: its type, and the codes if they are `code`'s own.
enum { GI_BLOCK_STORED, GI_BLOCK_FIXED, GI_BLOCK_DYNAMIC };
void gi_bits_put_fixed_head(gi_bits *bits);
void gi_bits_put_dynamic_head(gi_bits *bits, const gi_block_code *code);

// Stored blocks, none final, of `size` bytes; an empty one for 0. Ends at a byte's border.
void gi_bits_put_stored(gi_bits *bits, const uint8_t *data, size_t size);

// The most bytes that gi_bits_put_stored writes, with those that wait.
size_t gi_stored_bound(size_t size);

#endif
