// The Huffman codes of deflate's blocks (RFC 1951), read strictly and made into tables for decoding. What is refused
// here is not therefore corrupt: the libraries take a few streams more, each its own, and are asked then.
#ifndef GI_CODEC_INFLATE_CODES_H
#define GI_CODEC_INFLATE_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Compressed bytes. GI_PACKED_PADDING bytes after them may be read, and are zero.
typedef struct gi_packed {
    const uint8_t *data;
    size_t size;
} gi_packed;

enum { GI_PACKED_PADDING = 32 };

// The 57 bits from `bit` on, the first one lowest, and some more. At most 8 * size + 64 may be asked for.
static inline uint64_t gi_packed_bits(const gi_packed *in, uint64_t bit) {
    uint64_t word;
    memcpy(&word, in->data + bit / 8, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word >> bit % 8;
}

enum {
    GI_LITLEN_SYMBOLS = 286,
    GI_DISTANCE_SYMBOLS = 30,
    GI_LITLEN_BITS = 11, // of a table's index: two short literals fit, and the table stays in the L1 cache
    GI_DISTANCE_BITS = 9,
    GI_CODE_LIMIT = 15, // bits of the longest code
};

// An entry tells what the next bits are:
//   bits 0..5    how many of them it is about
//   bits 6..7    literals: 1 or 2, which are in bits 16..23 and 24..31; 0: something else
//   bits 8..11   of a length or a distance, the extra bits that follow
//   bits 12..15  GI_ENTRY_END, GI_ENTRY_LONG, GI_ENTRY_BAD or GI_ENTRY_LITERAL
//   bits 16..31  of a length or a distance, what the extra bits are added to
enum {
    GI_ENTRY_BITS = 63,
    GI_ENTRY_END = 1 << 12,  // the end of the block
    GI_ENTRY_LONG = 1 << 13, // a code of more bits than the table's index: gi_long_entry tells
    GI_ENTRY_BAD = 1 << 14,  // no code
    GI_ENTRY_LITERAL = 1 << 15,
};

// The symbols' entries in order of their codes; codes of one length follow each other.
typedef struct gi_code_order {
    uint32_t entries[288];
    uint16_t place[GI_CODE_LIMIT + 1]; // of the first code of each length
    uint16_t first[GI_CODE_LIMIT + 2]; // that code, and the end of the last, with zeros added to 15 bits
} gi_code_order;

typedef struct gi_codes {
    uint32_t litlen[1 << GI_LITLEN_BITS];
    uint32_t distance[1 << GI_DISTANCE_BITS];
    gi_code_order litlen_order, distance_order;
} gi_codes;

// Lengths of the codes of a dynamic block, 0: no code.
typedef struct gi_code_lengths {
    uint8_t litlen[288], distance[32];
} gi_code_lengths;

// Reads a dynamic block's header behind its first three bits, and moves *bit to its end. False: it is cut, or not by
// the rules; codes must be complete, but for a single distance of one bit or none.
bool gi_code_lengths_read(const gi_packed *in, uint64_t *bit, gi_code_lengths *lengths);

void gi_codes_make(const gi_code_lengths *lengths, gi_codes *codes);

// The codes of fixed blocks.
void gi_codes_fixed(gi_codes *codes);

// The entry of the code at the beginning of `bits` that is longer than the `table_bits` of its table's index.
uint32_t gi_long_entry(const gi_code_order *order, uint64_t bits, int table_bits);

#endif
