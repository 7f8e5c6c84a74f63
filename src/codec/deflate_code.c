#include "codec/deflate_code.h"

#include <stdbool.h>

enum { SYMBOL_BITS = 9, SYMBOL_MASK = (1 << SYMBOL_BITS) - 1 };

// ---- lengths of a code --------------------------------------------------------------------------------------------

// Sorts by 8 bits from `shift` on, keeping the order of equals.
static void sort_pass(const uint32_t *in, uint32_t *out, int size, uint32_t shift) {
    int start[257] = {0};
    for (int i = 0; i < size; i++) start[(in[i] >> shift & 255) + 1]++;
    for (int k = 1; k < 256; k++) start[k] += start[k - 1];
    for (int i = 0; i < size; i++) out[start[in[i] >> shift & 255]++] = in[i];
}

// The symbols that occur as count << SYMBOL_BITS | symbol, rarest first. Returns how many.
static int sort_symbols(const uint32_t *counts, int symbols, uint32_t *sorted) {
    uint32_t other[GI_LITLENS], all = 0;
    int used = 0;
    for (int i = 0; i < symbols; i++)
        if (counts[i]) {
            sorted[used++] = counts[i] << SYMBOL_BITS | (uint32_t)i;
            all |= counts[i];
        }
    for (uint32_t shift = SYMBOL_BITS; shift < 32 && all >> (shift - SYMBOL_BITS); shift += 8) {
        sort_pass(sorted, other, used, shift);
        memcpy(sorted, other, (size_t)used * sizeof *sorted);
    }
    return used;
}

// Huffman's construction with two queues: leaves by weight, and the inner nodes, which come about by weight. depths[i]
// is that of sorted[i]. Returns the greatest. `used` is at least 2.
static int huffman_depths(const uint32_t *sorted, int used, uint8_t *depths) {
    if (used < 2) return 0;
    uint32_t weight[GI_LITLENS];
    uint16_t parent[2 * GI_LITLENS]; // of a leaf; from GI_LITLENS on, of an inner node
    int leaf = 0, inner = 0;
    for (int node = 0; node < used - 1; node++) {
        weight[node] = 0;
        for (int k = 0; k < 2; k++) {
            bool take_leaf = leaf < used && (inner == node || sorted[leaf] >> SYMBOL_BITS <= weight[inner]);
            weight[node] += take_leaf ? sorted[leaf] >> SYMBOL_BITS : weight[inner];
            parent[take_leaf ? leaf++ : GI_LITLENS + inner++] = (uint16_t)node;
        }
    }
    uint8_t depth[GI_LITLENS];
    depth[used - 2] = 0;
    for (int node = used - 3; node >= 0; node--) depth[node] = (uint8_t)(depth[parent[GI_LITLENS + node]] + 1);
    for (int i = 0; i < used; i++) depths[i] = (uint8_t)(depth[parent[i]] + 1);
    return depths[0];
}

// One list of package-merge: the leaves, and pairs of the list before, by weight; an item is a leaf or a pair.
typedef struct package_list {
    bool is_leaf[2 * GI_LITLENS];
} package_list;

// Fills `list` and its items' weights from the list before (`size_before` weights); returns its size.
static int package_merge(const uint32_t *sorted, int used, const uint64_t *before, int size_before, package_list *list,
                         uint64_t *weight) {
    int leaf = 0, pair = 0, size = 0, pairs = size_before / 2;
    while (leaf < used || pair < pairs) {
        uint64_t pair_weight = pair < pairs ? before[2 * pair] + before[2 * pair + 1] : 0;
        bool take_leaf = leaf < used && (pair == pairs || sorted[leaf] >> SYMBOL_BITS <= pair_weight);
        list->is_leaf[size] = take_leaf;
        weight[size++] = take_leaf ? sorted[leaf++] >> SYMBOL_BITS : pair_weight;
        pair += !take_leaf;
    }
    return size;
}

// The optimal depths of at most `limit`: Larmore and Hirschberg's package-merge. A symbol is as deep as its leaf is
// often among the 2 * used - 2 lightest items of the last list, those within pairs counted.
static void limited_depths(const uint32_t *sorted, int used, int limit, uint8_t *depths) {
    package_list lists[GI_CODE_LENGTH_MAX];
    uint64_t weights[2][2 * GI_LITLENS];
    int size = 0;
    for (int level = 0; level < limit; level++)
        size = package_merge(sorted, used, weights[(level + 1) & 1], size, &lists[level], weights[level & 1]);
    memset(depths, 0, (size_t)used);
    int taken = 2 * used - 2;
    for (int level = limit - 1; level >= 0 && taken; level--) {
        int leaves = 0;
        for (int i = 0; i < taken; i++) leaves += lists[level].is_leaf[i];
        for (int i = 0; i < leaves; i++) depths[i]++;
        taken = 2 * (taken - leaves);
    }
}

void gi_code_lengths(const uint32_t *counts, int symbols, int limit, uint8_t *lengths) {
    uint32_t sorted[GI_LITLENS];
    uint8_t depths[GI_LITLENS];
    int used = sort_symbols(counts, symbols, sorted);
    for (int i = 0; i < symbols; i++) lengths[i] = 0;
    if (used == 1) depths[0] = 1;
    if (used > 1 && huffman_depths(sorted, used, depths) > limit) limited_depths(sorted, used, limit, depths);
    for (int i = 0; i < used; i++) lengths[sorted[i] & SYMBOL_MASK] = depths[i];
}

// ---- words of a code ----------------------------------------------------------------------------------------------

static uint16_t reversed(uint32_t word, int length) {
    word = (word & 0x5555) << 1 | (word >> 1 & 0x5555);
    word = (word & 0x3333) << 2 | (word >> 2 & 0x3333);
    word = (word & 0x0f0f) << 4 | (word >> 4 & 0x0f0f);
    word = (word & 0x00ff) << 8 | word >> 8;
    return (uint16_t)(word >> (16 - length));
}

void gi_code_words(const uint8_t *lengths, int symbols, uint16_t *words) {
    uint32_t of_length[GI_CODE_LENGTH_MAX + 1] = {0}, next[GI_CODE_LENGTH_MAX + 1] = {0};
    for (int i = 0; i < symbols; i++) of_length[lengths[i]]++;
    of_length[0] = 0;
    for (int length = 1; length <= GI_CODE_LENGTH_MAX; length++)
        next[length] = (next[length - 1] + of_length[length - 1]) << 1;
    for (int i = 0; i < symbols; i++) words[i] = lengths[i] ? reversed(next[lengths[i]]++, lengths[i]) : 0;
}

// ---- codes of a block ---------------------------------------------------------------------------------------------

enum { REPEAT = 16, ZEROS = 17, MANY_ZEROS = 18, SENT_LIMIT = 7, SENT_SYMBOLS = 19 };
static const uint8_t sent_order[SENT_SYMBOLS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
static const uint8_t sent_extra_bits[SENT_SYMBOLS] = {[REPEAT] = 2, [ZEROS] = 3, [MANY_ZEROS] = 7};

static void send(gi_block_code *code, int symbol, int extra) {
    code->sent[code->sent_count] = (uint8_t)symbol;
    code->sent_extra[code->sent_count++] = (uint8_t)extra;
}

static int at_most(int value, int most) { return value < most ? value : most; }

// A run of equal lengths: zeros as 3..138 at once, others once and then as 3..6 repetitions.
static void send_run(gi_block_code *code, int length, int run) {
    if (length) {
        send(code, length, 0);
        run--;
    }
    int most = length ? 6 : 138;
    while (run >= 3) {
        int part = at_most(run, most);
        if (length)
            send(code, REPEAT, part - 3);
        else if (part > 10)
            send(code, MANY_ZEROS, part - 11);
        else
            send(code, ZEROS, part - 3);
        run -= part;
    }
    while (run-- > 0) send(code, length, 0);
}

static void send_lengths(gi_block_code *code) {
    uint8_t lengths[GI_LITLENS + GI_DISTANCES];
    code->litlens = GI_LITLENS;
    while (code->litlens > 257 && !code->litlen_lengths[code->litlens - 1]) code->litlens--;
    code->distances = GI_DISTANCES;
    while (code->distances > 1 && !code->distance_lengths[code->distances - 1]) code->distances--;
    int count = code->litlens + code->distances;
    memcpy(lengths, code->litlen_lengths, (size_t)code->litlens);
    memcpy(lengths + code->litlens, code->distance_lengths, (size_t)code->distances);
    code->sent_count = 0;
    for (int i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && lengths[i + run] == lengths[i]; run++) {
        }
        send_run(code, lengths[i], run);
    }
}

static size_t bits_of(const uint32_t *counts, const uint8_t *lengths, int symbols) {
    size_t bits = 0;
    for (int i = 0; i < symbols; i++) bits += (size_t)counts[i] * lengths[i];
    return bits;
}

static void finish_code(const gi_block_counts *counts, gi_block_code *code) {
    gi_code_words(code->litlen_lengths, GI_LITLEN_CODE, code->litlen_words);
    gi_code_words(code->distance_lengths, GI_DISTANCES, code->distance_words);
    code->body_bits = bits_of(counts->litlen, code->litlen_lengths, GI_LITLENS) +
                      bits_of(counts->distance, code->distance_lengths, GI_DISTANCES);
}

void gi_block_code_make(const gi_block_counts *counts, int litlen_limit, gi_block_code *code) {
    memset(code->litlen_lengths, 0, sizeof code->litlen_lengths);
    gi_code_lengths(counts->litlen, GI_LITLENS, litlen_limit, code->litlen_lengths);
    gi_code_lengths(counts->distance, GI_DISTANCES, GI_CODE_LENGTH_MAX, code->distance_lengths);
    // Some decoders refuse a code of fewer than two distances.
    int used = 0;
    for (int i = 0; i < GI_DISTANCES; i++) used += code->distance_lengths[i] > 0;
    for (int i = 0; used < 2; i++)
        if (!code->distance_lengths[i]) {
            code->distance_lengths[i] = 1;
            used++;
        }
    send_lengths(code);
    uint32_t sent_counts[SENT_SYMBOLS] = {0};
    for (int i = 0; i < code->sent_count; i++) sent_counts[code->sent[i]]++;
    gi_code_lengths(sent_counts, SENT_SYMBOLS, SENT_LIMIT, code->sent_lengths);
    code->sent_lengths_count = SENT_SYMBOLS;
    while (code->sent_lengths_count > 4 && !code->sent_lengths[sent_order[code->sent_lengths_count - 1]])
        code->sent_lengths_count--;
    code->header_bits = 3 + 14 + 3 * (size_t)code->sent_lengths_count;
    for (int i = 0; i < SENT_SYMBOLS; i++)
        code->header_bits += sent_counts[i] * (size_t)(code->sent_lengths[i] + sent_extra_bits[i]);
    finish_code(counts, code);
}

void gi_block_code_fixed(const gi_block_counts *counts, gi_block_code *code) {
    for (int i = 0; i < GI_LITLEN_CODE; i++) code->litlen_lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(code->distance_lengths, 5, GI_DISTANCES);
    code->header_bits = 3;
    finish_code(counts, code);
}

// ---- bits ---------------------------------------------------------------------------------------------------------

void gi_bits_put_fixed_head(gi_bits *bits) { gi_bits_put(bits, GI_BLOCK_FIXED << 1, 3); }

void gi_bits_put_dynamic_head(gi_bits *bits, const gi_block_code *code) {
    uint16_t words[SENT_SYMBOLS];
    gi_code_words(code->sent_lengths, SENT_SYMBOLS, words);
    gi_bits_put(bits, GI_BLOCK_DYNAMIC << 1, 3);
    gi_bits_put(bits, (uint64_t)(code->litlens - 257), 5);
    gi_bits_put(bits, (uint64_t)(code->distances - 1), 5);
    gi_bits_put(bits, (uint64_t)(code->sent_lengths_count - 4), 4);
    for (int i = 0; i < code->sent_lengths_count; i++) gi_bits_put(bits, code->sent_lengths[sent_order[i]], 3);
    for (int i = 0; i < code->sent_count; i++) {
        gi_bits_put(bits, words[code->sent[i]], code->sent_lengths[code->sent[i]]);
        gi_bits_put(bits, code->sent_extra[i], sent_extra_bits[code->sent[i]]);
    }
}

enum { STORED_MAX = 65535, STORED_HEAD = 5 };

void gi_bits_put_stored(gi_bits *bits, const uint8_t *data, size_t size) {
    do {
        uint64_t part = size < STORED_MAX ? size : STORED_MAX;
        gi_bits_put(bits, GI_BLOCK_STORED << 1, 3);
        if (bits->count) gi_bits_put(bits, 0, 8 - bits->count);
        gi_bits_put(bits, part | (part ^ 0xffff) << 16, 32);
        if (part) { // `data` may be NULL for none
            memcpy(bits->at, data, part);
            bits->at += part;
            data += part;
            size -= part;
        }
    } while (size);
}

size_t gi_stored_bound(size_t size) { return size + (size / STORED_MAX + 1) * STORED_HEAD + 1; }
