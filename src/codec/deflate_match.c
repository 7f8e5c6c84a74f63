#include "codec/deflate_match.h"

#include <stdlib.h>

#include "codec/bytes.h"
#include "codec/deflate_huffman.h"

enum {
    HASH_BITS = 15,
    HASH_MIN = 4,            // bytes that are hashed: shorter matches are found at the near distances alone
    EMPTY = GI_WINDOW + 1,   // positions are kept plus this, so that 0 is out of reach
    SEQUENCES = 8192,        // at most in a block
    BLOCK_BYTES = 4 * 65535, // at most in a block
    UNIT = 16,               // costs are in sixteenths of a bit
    // What it is worth to be a byte further, to weigh a long match against a cheap one: found by trial, and much the
    // same for all that is not a photograph.
    WORTH = 28,
    NO_MATCH = -(1 << 30)
};

// `literals` bytes as they are, then a match; the last of a block may have none (length 0).
typedef struct sequence {
    uint32_t literals;
    uint16_t length, distance;
} sequence;

struct gi_matcher {
    uint32_t head[1 << HASH_BITS], previous[GI_WINDOW];
    sequence sequences[SEQUENCES + 1];
    uint32_t sequence_count;
    gi_block_counts counts;
    size_t extra_bits;
    // What the symbols cost by the last block's code, extra bits counted.
    uint16_t literal_cost[256], length_cost[GI_MATCH_MAX + 1], distance_cost[GI_DISTANCES];
    const uint8_t *data;
    size_t size;
    gi_match_options options;
};

typedef struct match {
    uint32_t length, distance;
    int score;
} match;

gi_matcher *gi_matcher_open(void) { return malloc(sizeof(gi_matcher)); }

void gi_matcher_close(gi_matcher *matcher) { free(matcher); }

static uint32_t hash_of(const uint8_t *p) { return (gi_le32(p) * 0x9E3779B1U) >> (32 - HASH_BITS); }

static uint64_t le64(const uint8_t *p) { return (uint64_t)gi_le32(p + 4) << 32 | gi_le32(p); }

// How far `a` and `b` agree, at most `most`.
static uint32_t match_length(const uint8_t *a, const uint8_t *b, uint32_t most) {
    uint32_t length = 0;
    for (; length < most; length += 8) {
        uint64_t different = le64(a + length) ^ le64(b + length);
        if (!different) continue;
        length += (uint32_t)__builtin_ctzll(different) >> 3;
        break;
    }
    return length < most ? length : most;
}

static void consider(const gi_matcher *m, size_t at, uint32_t distance, uint32_t most, match *best) {
    const uint8_t *p = m->data + at;
    if (distance > at || distance > GI_WINDOW) return;
    uint32_t length = match_length(p, p - distance, most);
    if (length < GI_MATCH_MIN) return;
    int score = (int)length * WORTH - m->length_cost[length] - m->distance_cost[gi_distance_symbol(distance).symbol];
    if (score > best->score) *best = (match){length, distance, score};
}

static void insert(gi_matcher *m, size_t at) {
    uint32_t hash = hash_of(m->data + at);
    m->previous[at % GI_WINDOW] = m->head[hash];
    m->head[hash] = (uint32_t)at + EMPTY;
}

// The best match at `at`, which is entered into the chains.
static match find(gi_matcher *m, size_t at) {
    match best = {0, 0, NO_MATCH};
    size_t left = m->size - at;
    uint32_t most = left < GI_MATCH_MAX ? (uint32_t)left : GI_MATCH_MAX;
    if (left < HASH_MIN) return best;
    consider(m, at, m->options.pixel, most, &best);
    if (best.length < most) consider(m, at, m->options.row, most, &best);
    uint32_t hash = hash_of(m->data + at), place = m->head[hash];
    m->previous[at % GI_WINDOW] = place;
    m->head[hash] = (uint32_t)at + EMPTY;
    if (best.length >= m->options.nice) return best;
    const uint8_t *p = m->data + at;
    uint32_t four = gi_le32(p);
    for (uint32_t left_chain = m->options.chain; left_chain; left_chain--) {
        uint32_t distance = (uint32_t)at + EMPTY - place;
        if (distance > GI_WINDOW) break;
        const uint8_t *q = p - distance;
        if (gi_le32(q) == four && (best.length < HASH_MIN || q[best.length] == p[best.length]))
            consider(m, at, distance, most, &best);
        if (best.length >= m->options.nice) break;
        uint32_t next = m->previous[(place - EMPTY) % GI_WINDOW];
        if (next >= place) break;
        place = next;
    }
    return best;
}

static void add_literal(gi_matcher *m, size_t at) {
    m->counts.litlen[m->data[at]]++;
    m->sequences[m->sequence_count].literals++;
}

static void add_match(gi_matcher *m, const match *found) {
    gi_deflate_symbol length = gi_length_symbol(found->length), distance = gi_distance_symbol(found->distance);
    m->counts.litlen[length.symbol]++;
    m->counts.distance[distance.symbol]++;
    m->extra_bits += length.extra_bits + distance.extra_bits;
    sequence *s = &m->sequences[m->sequence_count++];
    s->length = (uint16_t)found->length;
    s->distance = (uint16_t)found->distance;
    m->sequences[m->sequence_count] = (sequence){0, 0, 0};
}

// Enters the bytes of a match past the first: all of a short one, the ends of a long one.
static void insert_match(gi_matcher *m, size_t at, uint32_t length) {
    enum { END = 16 };
    size_t last = m->size - HASH_MIN;
    bool run = m->sequences[m->sequence_count - 1].distance == m->options.pixel;
    if (run && length > m->options.pixel) length = m->options.pixel;
    for (size_t i = 1; i < length && at + i <= last; i++) {
        if (i == END && length > 2 * END) i = length - END;
        insert(m, at + i);
    }
}

// Sequences from `at` on until a block is full; returns the position after them.
static size_t parse_block(gi_matcher *m, size_t at) {
    size_t end = m->size - at < BLOCK_BYTES ? m->size : at + BLOCK_BYTES;
    m->sequence_count = 0;
    m->sequences[0] = (sequence){0, 0, 0};
    memset(&m->counts, 0, sizeof m->counts);
    m->counts.litlen[GI_END_OF_BLOCK] = 1;
    m->extra_bits = 0;
    match found = {0, 0, NO_MATCH};
    bool have = false;
    while (at < end && m->sequence_count < SEQUENCES) {
        if (!have) found = find(m, at);
        have = false;
        int literal = WORTH - m->literal_cost[m->data[at]];
        if (found.score <= literal) {
            add_literal(m, at++);
            continue;
        }
        if (m->options.lazy && found.length < m->options.nice && at + 1 < end) {
            match next = find(m, at + 1);
            if (next.score + literal > found.score) {
                add_literal(m, at++);
                found = next;
                have = true;
                continue;
            }
        }
        add_match(m, &found);
        insert_match(m, at, found.length);
        at += found.length;
    }
    return at;
}

// ---- costs --------------------------------------------------------------------------------------------------------

static int cost_of(uint8_t length) { return UNIT * (length ? length : 13); }

static void costs_from_code(gi_matcher *m, const gi_block_code *code) {
    for (int i = 0; i < 256; i++) m->literal_cost[i] = (uint16_t)cost_of(code->litlen_lengths[i]);
    for (uint32_t i = GI_MATCH_MIN; i <= GI_MATCH_MAX; i++) {
        gi_deflate_symbol s = gi_length_symbol(i);
        m->length_cost[i] = (uint16_t)(cost_of(code->litlen_lengths[s.symbol]) + UNIT * (int)s.extra_bits);
    }
    for (uint32_t i = 0; i < GI_DISTANCES; i++) {
        int extra_bits = i < 4 ? 0 : (int)i / 2 - 1;
        m->distance_cost[i] = (uint16_t)(cost_of(code->distance_lengths[i]) + UNIT * extra_bits);
    }
}

// Costs to begin with: literals by how often the bytes occur, lengths and distances evenly.
static void first_costs(gi_matcher *m) {
    gi_block_counts counts = {{0}, {0}};
    gi_block_code code;
    size_t size = m->size < BLOCK_BYTES ? m->size : BLOCK_BYTES;
    gi_count_bytes(m->data, size, counts.litlen);
    for (int i = GI_END_OF_BLOCK; i < GI_LITLENS; i++) counts.litlen[i] = 1 + (uint32_t)size / 64;
    for (int i = 0; i < GI_DISTANCES; i++) counts.distance[i] = 1;
    counts.distance[gi_distance_symbol(m->options.pixel).symbol] = 4;
    if (m->options.row < GI_WINDOW) counts.distance[gi_distance_symbol(m->options.row).symbol] = 4;
    gi_block_code_make(&counts, GI_CODE_LENGTH_MAX, &code);
    costs_from_code(m, &code);
}

static void begin(gi_matcher *m, gi_bytes data, const gi_match_options *options) {
    memset(m->head, 0, sizeof m->head);
    m->data = data.data;
    m->size = data.size;
    m->options = *options;
    if (data.size) first_costs(m);
}

// ---- writing ------------------------------------------------------------------------------------------------------

// A code's word and the extra bits after it.
typedef struct token {
    uint32_t word, bits;
} token;

static token token_of(uint32_t word, uint32_t length, gi_deflate_symbol symbol) {
    return (token){word | symbol.extra << length, length + symbol.extra_bits};
}

static void put_sequences(const gi_matcher *m, const gi_block_code *code, const uint8_t *data, gi_bits *bits) {
    gi_literal_table table;
    token lengths[GI_MATCH_MAX + 1];
    gi_literal_table_make(code, &table);
    for (uint32_t i = GI_MATCH_MIN; i <= GI_MATCH_MAX; i++) {
        gi_deflate_symbol s = gi_length_symbol(i);
        lengths[i] = token_of(code->litlen_words[s.symbol], code->litlen_lengths[s.symbol], s);
    }
    for (uint32_t i = 0; i <= m->sequence_count; i++) {
        const sequence *s = &m->sequences[i];
        gi_bits_put_literals(bits, &table, data, s->literals);
        if (!s->length) break;
        gi_deflate_symbol d = gi_distance_symbol(s->distance);
        token length = lengths[s->length];
        token distance = token_of(code->distance_words[d.symbol], code->distance_lengths[d.symbol], d);
        gi_bits_put(bits, length.word | (uint64_t)distance.word << length.bits, length.bits + distance.bits);
        data += s->literals + s->length;
    }
    gi_bits_put(bits, code->litlen_words[GI_END_OF_BLOCK], code->litlen_lengths[GI_END_OF_BLOCK]);
}

void gi_matcher_deflate(gi_matcher *m, gi_bytes data, const gi_match_options *options, gi_bits *bits) {
    begin(m, data, options);
    for (size_t at = 0, next; at < data.size; at = next) {
        gi_block_code dynamic, fixed;
        next = parse_block(m, at);
        gi_block_code_make(&m->counts, GI_LITERAL_LIMIT, &dynamic);
        gi_block_code_fixed(&m->counts, &fixed);
        bool is_fixed = fixed.header_bits + fixed.body_bits <= dynamic.header_bits + dynamic.body_bits;
        const gi_block_code *code = is_fixed ? &fixed : &dynamic;
        if ((code->header_bits + code->body_bits + m->extra_bits) / 8 >= gi_stored_bound(next - at)) {
            gi_bits_put_stored(bits, data.data + at, next - at);
        } else {
            if (is_fixed)
                gi_bits_put_fixed_head(bits);
            else
                gi_bits_put_dynamic_head(bits, code);
            put_sequences(m, code, data.data + at, bits);
        }
        costs_from_code(m, &dynamic);
    }
}

uint64_t gi_matcher_estimate(gi_matcher *m, gi_bytes data, const gi_match_options *options) {
    uint64_t bits = 0;
    begin(m, data, options);
    for (size_t at = 0; at < data.size;) {
        gi_block_code code;
        at = parse_block(m, at);
        gi_block_code_make(&m->counts, GI_LITERAL_LIMIT, &code);
        bits += code.body_bits + m->extra_bits;
        costs_from_code(m, &code);
    }
    return bits;
}
