#include "codec/deflate_huffman.h"

#include "codec/bytes.h"

// A code for each block: short blocks follow the image's changes, long ones send fewer codes.
enum { BLOCK_BYTES = 2 * 65535 };

// Counts go to tables in turn: a count that waits for the one before it to be stored would cost most of the time.
void gi_count_bytes(const uint8_t *data, size_t size, uint32_t counts[256]) {
    enum { TABLES = 4 };
    uint32_t table[TABLES][256] = {{0}};
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint32_t low = gi_le32(data + i), high = gi_le32(data + i + 4);
        table[0][low & 255]++;
        table[1][low >> 8 & 255]++;
        table[2][low >> 16 & 255]++;
        table[3][low >> 24]++;
        table[0][high & 255]++;
        table[1][high >> 8 & 255]++;
        table[2][high >> 16 & 255]++;
        table[3][high >> 24]++;
    }
    for (; i < size; i++) table[0][data[i]]++;
    for (int k = 0; k < 256; k++) counts[k] += table[0][k] + table[1][k] + table[2][k] + table[3][k];
}

void gi_literal_table_make(const gi_block_code *code, gi_literal_table *table) {
    for (int i = 0; i < 256; i++) table->entry[i] = (uint32_t)code->litlen_words[i] << 16 | code->litlen_lengths[i];
}

static void put_block(gi_bits *bits, const uint8_t *data, size_t size) {
    gi_block_counts counts = {{0}, {0}};
    gi_block_code dynamic, fixed;
    gi_literal_table table;
    gi_count_bytes(data, size, counts.litlen);
    counts.litlen[GI_END_OF_BLOCK] = 1;
    gi_block_code_make(&counts, GI_LITERAL_LIMIT, &dynamic);
    gi_block_code_fixed(&counts, &fixed);
    bool is_fixed = fixed.header_bits + fixed.body_bits <= dynamic.header_bits + dynamic.body_bits;
    const gi_block_code *code = is_fixed ? &fixed : &dynamic;
    if ((code->header_bits + code->body_bits) / 8 >= gi_stored_bound(size)) {
        gi_bits_put_stored(bits, data, size);
        return;
    }
    if (is_fixed)
        gi_bits_put_fixed_head(bits);
    else
        gi_bits_put_dynamic_head(bits, code);
    gi_literal_table_make(code, &table);
    gi_bits_put_literals(bits, &table, data, size);
    gi_bits_put(bits, code->litlen_words[GI_END_OF_BLOCK], code->litlen_lengths[GI_END_OF_BLOCK]);
}

void gi_deflate_literals(gi_bits *bits, const uint8_t *data, size_t size) {
    while (size) {
        size_t part = size < BLOCK_BYTES ? size : BLOCK_BYTES;
        put_block(bits, data, part);
        data += part;
        size -= part;
    }
}

size_t gi_literals_bound(size_t size) {
    enum { PUT_BYTES = 8 };
    return size + (size / BLOCK_BYTES + 1) * (gi_stored_bound(BLOCK_BYTES) - BLOCK_BYTES + 1) + PUT_BYTES;
}
