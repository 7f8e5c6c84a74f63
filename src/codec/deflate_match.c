#include "codec/deflate_match.h"

#include <stdlib.h>

#include "codec/bytes.h"
#include "codec/deflate_huffman.h"

enum {
    HASH_BITS_MAX = 15,
    HASH_BITS_MIN = 8,
    // Bytes that are hashed for the chains, and for the last place of a long match. Pixels repeat so much that chains
    // of three or four bytes would be full of short matches; these lead to the long ones at once. Short matches are
    // found at the near distances, and at the last place where as few bytes stood if that was asked for.
    HASHED = 8,
    LONG_HASHED = 16,
    EMPTY = GI_WINDOW + 1,   // positions are kept plus this, so that 0 is out of reach
    SEQUENCES = 8192,        // at most in a block
    BLOCK_BYTES = 4 * 65535, // at most in a block
    UNIT = 16,               // costs are in sixteenths of a bit
    // What it is worth to be a byte further, to weigh a long match against a cheap one: of what a literal costs, in
    // eighths, and its limits. Found by trial; a byte costs as much where matches are few, and there they are worth it.
    WORTH_EIGHTHS = 7,
    WORTH_MIN = 20,
    WORTH_MAX = 96,
    SKIP_AFTER = 32, // after so many places without a match one more is skipped each time
    SKIP_MAX = 8,
    NO_MATCH = -(1 << 30)
};

// `literals` bytes as they are, then a match; the last of a block may have none (length 0).
typedef struct sequence {
    uint32_t literals;
    uint16_t length, distance;
} sequence;

struct gi_matcher {
    uint32_t head[1 << HASH_BITS_MAX], long_head[1 << HASH_BITS_MAX], brief_head[1 << HASH_BITS_MAX];
    uint32_t previous[GI_WINDOW];
    uint32_t hash_shift;
    uint32_t brief_shift; // leaves a brief match's bytes of eight; 0: none are looked for
    sequence sequences[SEQUENCES + 1];
    uint32_t sequence_count;
    gi_block_counts counts;
    size_t extra_bits;
    // What the symbols cost by the last block's code, extra bits counted.
    uint16_t literal_cost[256], length_cost[GI_MATCH_MAX + 1], distance_cost[GI_DISTANCES];
    int worth; // of a byte
    // Of the last match that was not near; 0: none yet. What was longer than a match goes on there, though nothing in
    // the middle of it may be in the chains.
    uint32_t last_far;
    const uint8_t *data;
    size_t size;
    gi_match_options options;
    size_t row; // of the options; SIZE_MAX where it is out of reach
};

typedef struct match {
    uint32_t length, distance;
    int score;
} match;

gi_matcher *gi_matcher_open(void) { return malloc(sizeof(gi_matcher)); }

void gi_matcher_close(gi_matcher *matcher) { free(matcher); }

static uint64_t le64(const uint8_t *p) { return (uint64_t)gi_le32(p + 4) << 32 | gi_le32(p); }

static uint64_t hash_of(uint64_t bytes) { return bytes * 0x9E3779B97F4A7C15U; }

static uint64_t long_hash_of(uint64_t first, uint64_t second) {
    return (first * 0x9E3779B97F4A7C15U ^ second) * 0xD6E8FEB86659FD93U;
}

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
    uint32_t length = match_length(p, p - distance, most);
    int score = (int)length * m->worth - m->length_cost[length] - m->distance_cost[gi_distance_symbol(distance).symbol];
    if (score > best->score) *best = (match){length, distance, score};
}

static bool same_start(const uint8_t *p, const uint8_t *q) { return !((gi_le32(p) ^ gi_le32(q)) & 0xffffff); }

// Places where the bytes at one may have stood before, plus EMPTY.
typedef struct places {
    uint32_t chain, last_long, last_brief;
} places;

// Enters `at` into the chains.
static places insert(gi_matcher *m, size_t at) {
    uint64_t first = le64(m->data + at), second = le64(m->data + at + HASHED);
    uint64_t hash = hash_of(first) >> m->hash_shift, long_hash = long_hash_of(first, second) >> m->hash_shift;
    places before = {m->head[hash], m->long_head[long_hash], 0};
    m->previous[at % GI_WINDOW] = before.chain;
    m->head[hash] = m->long_head[long_hash] = (uint32_t)at + EMPTY;
    if (m->brief_shift) {
        uint32_t *brief = &m->brief_head[hash_of(first << m->brief_shift) >> m->hash_shift];
        before.last_brief = *brief;
        *brief = (uint32_t)at + EMPTY;
    }
    return before;
}

// For a match that is longer than the best, which must not end where the data does.
static void consider_place(const gi_matcher *m, size_t at, uint32_t place, uint32_t most, match *best) {
    const uint8_t *p = m->data + at, *q = m->data + place - EMPTY;
    if (le64(q) == le64(p) && q[best->length] == p[best->length])
        consider(m, at, (uint32_t)at + EMPTY - place, most, best);
}

// As long a match nearer by costs fewer bits; but it ends with the row, where what lies rows above goes on, and so has
// to save in a row what another beginning costs.
static void consider_nearer(const gi_matcher *m, size_t at, uint32_t place, uint32_t most, match *best) {
    enum { BEGINNING = 24 * UNIT };
    const uint8_t *p = m->data + at, *q = m->data + place - EMPTY;
    uint32_t distance = (uint32_t)at + EMPTY - place;
    if (distance >= best->distance || le64(q) != le64(p)) return;
    int saved = m->distance_cost[gi_distance_symbol(best->distance).symbol] -
                m->distance_cost[gi_distance_symbol(distance).symbol];
    if (best->distance % m->row != 0 || saved * (double)m->row > (double)BEGINNING * GI_MATCH_MAX)
        consider(m, at, distance, most, best);
}

static void consider_brief(const gi_matcher *m, size_t at, uint32_t place, uint32_t most, match *best) {
    const uint8_t *p = m->data + at, *q = m->data + place - EMPTY;
    if (!((le64(q) ^ le64(p)) << m->brief_shift)) consider(m, at, (uint32_t)at + EMPTY - place, most, best);
}

// The best match at `at`, which is entered into the chains.
static match find(gi_matcher *m, size_t at) {
    match best = {0, 0, NO_MATCH};
    size_t left = m->size - at, pixel = m->options.pixel, row = m->row, far = m->last_far;
    uint32_t most = left < GI_MATCH_MAX ? (uint32_t)left : GI_MATCH_MAX, tries = m->options.chain;
    if (left < LONG_HASHED) return best;
    const uint8_t *p = m->data + at;
    if (at >= pixel && same_start(p, p - pixel)) consider(m, at, (uint32_t)pixel, most, &best);
    if (at >= row && same_start(p, p - row) && best.length < most) consider(m, at, (uint32_t)row, most, &best);
    if (!tries) return best;
    if (far && at >= far && same_start(p, p - far) && best.length < most) consider(m, at, (uint32_t)far, most, &best);
    places before = insert(m, at);
    uint32_t place = before.chain, reach = (uint32_t)at + EMPTY - GI_WINDOW;
    uint32_t enough = m->options.nice < most ? m->options.nice : most;
    if (best.length < enough && before.last_long >= reach && before.last_long != place)
        consider_place(m, at, before.last_long, most, &best);
    if (best.length >= enough && place >= reach) consider_nearer(m, at, place, most, &best);
    while (best.length < enough && place >= reach && tries--) {
        consider_place(m, at, place, most, &best);
        uint32_t next = m->previous[(place - EMPTY) % GI_WINDOW];
        if (next >= place) break; // overwritten since
        place = next;
    }
    if (best.length < HASHED && before.last_brief >= reach) consider_brief(m, at, before.last_brief, most, &best);
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
    if (found->distance != m->options.pixel && found->distance != m->row) m->last_far = found->distance;
    sequence *s = &m->sequences[m->sequence_count++];
    s->length = (uint16_t)found->length;
    s->distance = (uint16_t)found->distance;
    m->sequences[m->sequence_count] = (sequence){0, 0, 0};
}

// Enters the bytes of a match past the first: all of a short one, the ends of a long one; of a run the first pixel,
// where the next such run will want to begin.
static void insert_match(gi_matcher *m, size_t at, const match *found) {
    if (!m->options.chain || m->size - at < LONG_HASHED) return;
    size_t last = m->size - LONG_HASHED, end = at + found->length, ends = m->options.ends;
    if (found->distance == m->options.pixel && found->length > m->options.pixel) end = at + m->options.pixel;
    size_t head_end = end - at > 2 * ends ? at + ends : end;
    for (size_t i = at + 1; i < head_end && i <= last; i++) insert(m, i);
    for (size_t i = head_end < end ? end - ends : end; i < end && i <= last; i++) insert(m, i);
}

// Adds literals without a look for matches, though later ones may begin there.
static size_t skip_places(gi_matcher *m, size_t at, size_t end, uint32_t count) {
    for (; count && at < end; count--, at++) {
        if (m->options.chain && m->size - at >= LONG_HASHED) insert(m, at);
        add_literal(m, at);
    }
    return at;
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
    uint32_t misses = 0;
    while (at < end && m->sequence_count < SEQUENCES) {
        if (!have) found = find(m, at);
        have = false;
        int literal = m->worth - m->literal_cost[m->data[at]];
        if (found.score <= literal) {
            add_literal(m, at++);
            at = skip_places(m, at, end, ++misses / SKIP_AFTER);
            if (misses > SKIP_MAX * SKIP_AFTER) misses = SKIP_MAX * SKIP_AFTER;
            continue;
        }
        misses = 0;
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
        insert_match(m, at, &found);
        at += found.length;
    }
    return at;
}

// ---- costs --------------------------------------------------------------------------------------------------------

static int cost_of(uint8_t length) { return UNIT * (length ? length : 13); }

static int worth_of(const gi_block_counts *counts, const gi_block_code *code) {
    uint64_t bits = 0, literals = 0;
    for (int i = 0; i < 256; i++) {
        literals += counts->litlen[i];
        bits += (uint64_t)counts->litlen[i] * code->litlen_lengths[i];
    }
    if (!literals) return WORTH_MAX;
    int worth = (int)(bits * UNIT * WORTH_EIGHTHS / (8 * literals));
    return worth < WORTH_MIN ? WORTH_MIN : worth > WORTH_MAX ? WORTH_MAX : worth;
}

static void costs_from_code(gi_matcher *m, const gi_block_counts *counts, const gi_block_code *code) {
    m->worth = worth_of(counts, code);
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
    gi_count_bytes(m->data, m->size, counts.litlen);
    for (int i = GI_END_OF_BLOCK; i < GI_LITLENS; i++) counts.litlen[i] = 1 + (uint32_t)m->size / 64;
    for (int i = 0; i < GI_DISTANCES; i++) counts.distance[i] = 1;
    counts.distance[gi_distance_symbol(m->options.pixel).symbol] = 4;
    if (m->row <= GI_WINDOW) counts.distance[gi_distance_symbol(m->options.row).symbol] = 4;
    gi_block_code_make(&counts, GI_CODE_LENGTH_MAX, &code);
    costs_from_code(m, &counts, &code);
}

// Empties the tables, of which less data uses less.
static void forget(gi_matcher *m) {
    uint32_t bits = HASH_BITS_MIN;
    while (bits < HASH_BITS_MAX && m->size >> bits) bits++;
    m->hash_shift = 64 - bits;
    m->last_far = 0;
    memset(m->head, 0, sizeof *m->head << bits);
    memset(m->long_head, 0, sizeof *m->long_head << bits);
    if (m->brief_shift) memset(m->brief_head, 0, sizeof *m->brief_head << bits);
}

// The first costs are a guess: the first bytes are parsed for better ones, and once more by those.
static void begin(gi_matcher *m, gi_bytes data, const gi_match_options *options) {
    enum { FIRST_SHARE = 16, FIRST_MIN = 2048, FIRST_MAX = 16384 };
    size_t first = data.size / FIRST_SHARE;
    first = first < FIRST_MIN ? FIRST_MIN : first < FIRST_MAX ? first : FIRST_MAX;
    m->data = data.data;
    m->options = *options;
    m->brief_shift = options->brief ? 8 * (HASHED - options->brief) : 0;
    m->row = options->row <= GI_WINDOW ? options->row : SIZE_MAX;
    m->size = data.size < first ? data.size : first;
    if (data.size) {
        gi_block_code code;
        forget(m);
        first_costs(m);
        parse_block(m, 0);
        gi_block_code_make(&m->counts, GI_LITERAL_LIMIT, &code);
        costs_from_code(m, &m->counts, &code);
    }
    m->size = data.size;
    forget(m);
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
        costs_from_code(m, &m->counts, &dynamic);
    }
}

size_t gi_matcher_bound(size_t size) {
    // The shortest block is full of the shortest matches; each may be as long as its bytes stored.
    enum { BLOCK_MIN = SEQUENCES * GI_MATCH_MIN, BLOCK_MAX = BLOCK_BYTES + GI_MATCH_MAX, PUT_BYTES = 8 };
    return size + (size / BLOCK_MIN + 1) * (gi_stored_bound(BLOCK_MAX) - BLOCK_MAX + 1) + PUT_BYTES;
}

uint64_t gi_matcher_estimate(gi_matcher *m, gi_bytes data, const gi_match_options *options) {
    uint64_t bits = 0;
    begin(m, data, options);
    for (size_t at = 0; at < data.size;) {
        gi_block_code code;
        at = parse_block(m, at);
        gi_block_code_make(&m->counts, GI_LITERAL_LIMIT, &code);
        bits += code.body_bits + m->extra_bits;
        costs_from_code(m, &m->counts, &code);
    }
    return bits;
}
