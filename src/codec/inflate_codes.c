#include "codec/inflate_codes.h"

#include "core/simd.h"

// The first `length` bits of a code, the last one lowest, from a stream's, or back.
static uint32_t reversed(uint32_t bits, int length) {
    bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
    bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
    bits = (bits & 0x0F0F) << 4 | (bits >> 4 & 0x0F0F);
    bits = (bits & 0x00FF) << 8 | (bits >> 8 & 0x00FF);
    return bits >> (16 - length);
}

static void count_lengths(const uint8_t *lengths, int symbols, int count[GI_CODE_LIMIT + 1]) {
    memset(count, 0, (GI_CODE_LIMIT + 1) * sizeof *count);
    for (int i = 0; i < symbols; i++) count[lengths[i]]++;
    count[0] = 0;
}

// How much of all bit patterns the codes use, in units of the longest; 1 << GI_CODE_LIMIT: each one, just once.
static uint32_t used_patterns(const uint8_t *lengths, int symbols) {
    int count[GI_CODE_LIMIT + 1];
    uint32_t used = 0;
    count_lengths(lengths, symbols, count);
    for (int length = 1; length <= GI_CODE_LIMIT; length++) used += (uint32_t)count[length] << (GI_CODE_LIMIT - length);
    return used;
}

// ---- headers ------------------------------------------------------------------------------------------------------

enum { META_SYMBOLS = 19, META_LIMIT = 7 };

typedef struct meta_code {
    uint8_t symbol[1 << META_LIMIT], length[1 << META_LIMIT];
} meta_code;

// How many bit patterns of META_LIMIT bits three codes of these lengths use, which have 3 bits each.
#define USED(a) ((1 << META_LIMIT >> (a)) % (1 << META_LIMIT))
#define USED_3(b, c)                                                                                                   \
    USED(0) + USED(b) + USED(c), USED(1) + USED(b) + USED(c), USED(2) + USED(b) + USED(c),                             \
        USED(3) + USED(b) + USED(c), USED(4) + USED(b) + USED(c), USED(5) + USED(b) + USED(c),                         \
        USED(6) + USED(b) + USED(c), USED(7) + USED(b) + USED(c)
#define USED_64(c)                                                                                                     \
    USED_3(0, c), USED_3(1, c), USED_3(2, c), USED_3(3, c), USED_3(4, c), USED_3(5, c), USED_3(6, c), USED_3(7, c)
static const uint8_t used_by_three[512] = {USED_64(0), USED_64(1), USED_64(2), USED_64(3),
                                           USED_64(4), USED_64(5), USED_64(6), USED_64(7)};

// Whether the code of the code lengths is complete. It is where nearly all of a search's places end, hence the table.
static bool is_meta_complete(const gi_packed *in, uint64_t bit, int sent) {
    uint64_t bits = gi_packed_bits(in, bit) & ((1ULL << 3 * sent) - 1); // 19 times 3 bits are 57
    uint32_t used = 0;
    for (int i = 0; i < 63; i += 9) used += used_by_three[bits >> i & 511];
    return used == 1 << META_LIMIT;
}

static void read_meta_code(const gi_packed *in, uint64_t bit, int sent, meta_code *code) {
    static const uint8_t order[META_SYMBOLS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[META_SYMBOLS] = {0};
    uint64_t bits = gi_packed_bits(in, bit);
    uint32_t next = 0;
    for (int i = 0; i < sent; i++, bits >>= 3) lengths[order[i]] = bits & 7;
    for (int length = 1; length <= META_LIMIT; length++, next <<= 1)
        for (uint8_t symbol = 0; symbol < META_SYMBOLS; symbol++) {
            if (lengths[symbol] != length) continue;
            for (uint32_t i = reversed(next, length); i < 1 << META_LIMIT; i += 1U << length) {
                code->symbol[i] = symbol;
                code->length[i] = (uint8_t)length;
            }
            next++;
        }
}

// The lengths of all codes, one after the other. False: a repetition of nothing, or past the end.
static bool read_lengths(const gi_packed *in, uint64_t *bit, const meta_code *code, uint8_t *lengths, int symbols) {
    for (int i = 0; i < symbols;) {
        if (*bit > 8 * (uint64_t)in->size) return false;
        uint64_t bits = gi_packed_bits(in, *bit);
        int at = bits & ((1 << META_LIMIT) - 1), symbol = code->symbol[at], repeat = 1;
        uint8_t value = 0;
        bits >>= code->length[at];
        *bit += code->length[at];
        if (symbol < 16) {
            value = (uint8_t)symbol;
        } else if (symbol == 16) {
            if (i == 0) return false;
            value = lengths[i - 1];
            repeat = 3 + (int)(bits & 3);
            *bit += 2;
        } else {
            repeat = symbol == 17 ? 3 + (int)(bits & 7) : 11 + (int)(bits & 127);
            *bit += symbol == 17 ? 3 : 7;
        }
        if (repeat > symbols - i) return false;
        memset(lengths + i, value, (size_t)repeat);
        i += repeat;
    }
    return *bit <= 8 * (uint64_t)in->size;
}

bool gi_code_lengths_read(const gi_packed *in, uint64_t *bit, gi_code_lengths *lengths) {
    enum { COUNTS_BITS = 14, END_OF_BLOCK = 256 };
    const uint32_t complete = 1U << GI_CODE_LIMIT, half = complete / 2;
    uint8_t all[GI_LITLEN_SYMBOLS + GI_DISTANCE_SYMBOLS];
    meta_code code;
    if (*bit + COUNTS_BITS > 8 * (uint64_t)in->size) return false;
    uint64_t bits = gi_packed_bits(in, *bit);
    int litlen = 257 + (int)(bits & 31), distance = 1 + (int)(bits >> 5 & 31), sent = 4 + (int)(bits >> 10 & 15);
    if (litlen > GI_LITLEN_SYMBOLS || distance > GI_DISTANCE_SYMBOLS) return false;
    if (!is_meta_complete(in, *bit + COUNTS_BITS, sent)) return false;
    read_meta_code(in, *bit + COUNTS_BITS, sent, &code);
    *bit += COUNTS_BITS + 3 * (uint64_t)sent;
    if (!read_lengths(in, bit, &code, all, litlen + distance)) return false;
    memset(lengths, 0, sizeof *lengths);
    memcpy(lengths->litlen, all, (size_t)litlen);
    memcpy(lengths->distance, all + litlen, (size_t)distance);
    if (lengths->litlen[END_OF_BLOCK] == 0 || used_patterns(lengths->litlen, litlen) != complete) return false;
    uint32_t used = used_patterns(lengths->distance, distance);
    if (used == complete || used == 0) return true;
    return used == half && memchr(lengths->distance, 1, (size_t)distance); // one code of one bit, and no other
}

// ---- tables -------------------------------------------------------------------------------------------------------

// Length 258 has a code of its own; what its group would reach with all extra bits set is not sent.
static uint32_t litlen_entry(int symbol) {
    if (symbol < 256) return GI_ENTRY_LITERAL | 1U << 6 | (uint32_t)symbol << 16;
    if (symbol == 256) return GI_ENTRY_END;
    if (symbol > 285) return GI_ENTRY_BAD;
    if (symbol == 285) return 258U << 16;
    if (symbol < 265) return (uint32_t)(symbol - 254) << 16;
    uint32_t extra = (uint32_t)(symbol - 261) / 4;
    return extra << 8 | (3 + ((4 + (uint32_t)(symbol - 265) % 4) << extra)) << 16;
}

static uint32_t distance_entry(int symbol) {
    if (symbol > 29) return GI_ENTRY_BAD;
    if (symbol < 4) return (uint32_t)(symbol + 1) << 16;
    uint32_t extra = (uint32_t)symbol / 2 - 1;
    return extra << 8 | (1 + ((2 + (uint32_t)symbol % 2) << extra)) << 16;
}

static void sort_codes(const uint8_t *lengths, int symbols, uint32_t (*entry_of)(int), gi_code_order *order) {
    int count[GI_CODE_LIMIT + 1];
    uint16_t next[GI_CODE_LIMIT + 1], place = 0, first = 0;
    count_lengths(lengths, symbols, count);
    for (int length = 1; length <= GI_CODE_LIMIT; length++) {
        order->place[length] = next[length] = place;
        order->first[length] = first;
        place = (uint16_t)(place + count[length]);
        first = (uint16_t)(first + (count[length] << (GI_CODE_LIMIT - length)));
    }
    order->first[GI_CODE_LIMIT + 1] = first;
    for (int i = 0; i < symbols; i++)
        if (lengths[i]) order->entries[next[lengths[i]]++] = entry_of(i) | lengths[i];
}

// The table is doubled from length to length: what is decided by the shorter codes is so, whatever bit comes next.
static void fill_table(const gi_code_order *order, uint32_t *table, int table_bits) {
    table[0] = table[1] = GI_ENTRY_BAD;
    for (int length = 1; length <= table_bits; length++) {
        if (length > 1) memcpy(table + (1 << (length - 1)), table, sizeof *table << (length - 1));
        uint32_t code = (uint32_t)order->first[length] >> (GI_CODE_LIMIT - length);
        uint32_t end = (uint32_t)order->first[length + 1] >> (GI_CODE_LIMIT - length);
        const uint32_t *entry = order->entries + order->place[length];
        for (; code < end; code++) table[reversed(code, length)] = *entry++;
    }
    int shift = GI_CODE_LIMIT - table_bits;
    uint32_t code = (uint32_t)order->first[table_bits + 1] >> shift;
    uint32_t end = ((uint32_t)order->first[GI_CODE_LIMIT + 1] + (1U << shift) - 1) >> shift;
    for (; code < end; code++) table[reversed(code, table_bits)] = GI_ENTRY_LONG;
}

// Where a literal is followed by another one that the index holds as well, the entry is of both.
GI_SIMD_BODY void pair_body(const uint32_t *single, uint32_t *table) {
    for (uint32_t i = 0; i < 1 << GI_LITLEN_BITS; i++) {
        uint32_t a = single[i], b = single[i >> (a & GI_ENTRY_BITS)];
        uint32_t bits = (a & GI_ENTRY_BITS) + (b & GI_ENTRY_BITS);
        uint32_t both = a & b & GI_ENTRY_LITERAL && bits <= GI_LITLEN_BITS ? UINT32_MAX : 0;
        table[i] = a + (both & ((b & 0xFF) | (b & 0xFF0000) << 8)); // bits and numbers of literals add up
    }
}
GI_SIMD_VARIANTS(pair_literals, pair_body, (const uint32_t *single, uint32_t *table), (single, table))

void gi_codes_make(const gi_code_lengths *lengths, gi_codes *codes) {
    uint32_t single[1 << GI_LITLEN_BITS];
    sort_codes(lengths->litlen, 288, litlen_entry, &codes->litlen_order);
    sort_codes(lengths->distance, 32, distance_entry, &codes->distance_order);
    fill_table(&codes->litlen_order, single, GI_LITLEN_BITS);
    fill_table(&codes->distance_order, codes->distance, GI_DISTANCE_BITS);
    pair_literals(single, codes->litlen);
}

void gi_codes_fixed(gi_codes *codes) {
    gi_code_lengths lengths;
    for (int i = 0; i < 288; i++) lengths.litlen[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(lengths.distance, 5, sizeof lengths.distance);
    gi_codes_make(&lengths, codes);
}

uint32_t gi_long_entry(const gi_code_order *order, uint64_t bits, int table_bits) {
    uint32_t code = reversed((uint32_t)bits & ((1U << GI_CODE_LIMIT) - 1), GI_CODE_LIMIT);
    for (int length = table_bits + 1; length <= GI_CODE_LIMIT; length++)
        if (code < order->first[length + 1])
            return order->entries[order->place[length] + ((code - order->first[length]) >> (GI_CODE_LIMIT - length))];
    return GI_ENTRY_BAD;
}
