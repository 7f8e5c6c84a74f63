// Deflate without matches: Huffman-coded literals. For photographs, whose residuals hardly repeat, it is as small as
// the best match finder's result and many times faster.
#ifndef GI_CODEC_DEFLATE_HUFFMAN_H
#define GI_CODEC_DEFLATE_HUFFMAN_H

#include "codec/deflate_code.h"

// Adds the bytes' counts.
void gi_count_bytes(const uint8_t *data, size_t size, uint32_t counts[256]);

// Appends blocks with `data` as literals, none of them final; stored blocks where those are smaller. Writes no more
// than gi_literals_bound bytes, with those that wait and the 8 of a put.
void gi_deflate_literals(gi_bits *bits, const uint8_t *data, size_t size);
size_t gi_literals_bound(size_t size);

// Appends `size` literals by a code whose literals are no longer than GI_LITERAL_LIMIT bits.
enum { GI_LITERAL_LIMIT = 14 };

// A literal's word << 16 | its length, for put_literals.
typedef struct gi_literal_table {
    uint32_t entry[256];
} gi_literal_table;

void gi_literal_table_make(const gi_block_code *code, gi_literal_table *table);

// Four at a time: 4 * 14 bits and the 7 that may wait are fewer than 64.
static inline void gi_bits_put_literals(gi_bits *bits, const gi_literal_table *table, const uint8_t *data,
                                        size_t size) {
    const uint32_t *entry = table->entry;
    gi_bits b = *bits;
    size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        uint32_t e0 = entry[data[i]], e1 = entry[data[i + 1]], e2 = entry[data[i + 2]], e3 = entry[data[i + 3]];
        uint32_t two = e0 + e1, four = two + e2 + e3; // the sums of lengths are in the lower 6 bits
        uint32_t low = e0 >> 16 | e1 >> 16 << (e0 & 31), high = e2 >> 16 | e3 >> 16 << (e2 & 31);
        uint64_t all = b.bits | (low | (uint64_t)high << (two & 63)) << b.count;
        uint32_t used = b.count + (four & 63);
        gi_store_le64(b.at, all);
        b.at += used >> 3;
        b.bits = all >> (used & ~7U);
        b.count = used & 7;
    }
    for (; i < size; i++) gi_bits_put(&b, entry[data[i]] >> 16, entry[data[i]] & 31);
    *bits = b;
}

#endif
