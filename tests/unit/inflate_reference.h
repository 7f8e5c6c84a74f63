// Inflate after RFC 1951, bit by bit and at any cost of time: what the libraries are compared with.
#ifndef GI_TESTS_INFLATE_REFERENCE_H
#define GI_TESTS_INFLATE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum reference_end { REFERENCE_ENDED, REFERENCE_FULL, REFERENCE_CUT, REFERENCE_CORRUPT } reference_end;

typedef struct reference {
    const uint8_t *in;
    size_t in_bits, bit; // of the input; the next
    uint8_t *out;
    size_t room, size;
    // Bytes before the first Huffman code that leaves bit patterns unused, other than by the single code of one bit
    // that RFC 1951 allows; SIZE_MAX: none.
    size_t incomplete_at;
    reference_end end;
} reference;

// Of each length how many codes there are, and the symbols in order of their codes.
typedef struct reference_code {
    int count[16], symbols[320];
} reference_code;

static inline unsigned reference_bits(reference *r, int count) {
    unsigned value = 0;
    for (int i = 0; i < count; i++, r->bit++) {
        if (r->bit >= r->in_bits) {
            r->end = REFERENCE_CUT;
            return 0;
        }
        value |= ((unsigned)r->in[r->bit / 8] >> r->bit % 8 & 1U) << i;
    }
    return value;
}

// False: over-subscribed. An incomplete code is noted, `kind` is 'c' for code lengths, 'l' and 'd' for the others.
static inline bool reference_build(reference *r, const uint8_t *lengths, int n, int kind, reference_code *code) {
    int offset[16] = {0}, left = 1, longest = 0;
    memset(code, 0, sizeof *code);
    for (int i = 0; i < n; i++) code->count[lengths[i]]++;
    code->count[0] = 0;
    for (int i = 1; i < 16; i++) {
        left = 2 * left - code->count[i];
        if (left < 0) return false;
        if (code->count[i]) longest = i;
        if (i < 15) offset[i + 1] = offset[i] + code->count[i];
    }
    for (int i = 0; i < n; i++)
        if (lengths[i]) code->symbols[offset[lengths[i]]++] = i;
    bool allowed = kind == 'd' ? longest <= 1 : kind == 'l' && longest == 1;
    if (left > 0 && !allowed && r->incomplete_at == SIZE_MAX) r->incomplete_at = r->size;
    return true;
}

// The next symbol; -1 with r->end set.
static inline int reference_symbol(reference *r, const reference_code *code) {
    int value = 0, first = 0, index = 0;
    for (int length = 1; length < 16; length++) {
        value |= (int)reference_bits(r, 1);
        if (r->end == REFERENCE_CUT) return -1;
        if (value - first < code->count[length]) return code->symbols[index + value - first];
        index += code->count[length];
        first = (first + code->count[length]) << 1;
        value <<= 1;
    }
    r->end = REFERENCE_CORRUPT;
    return -1;
}

static inline bool reference_put(reference *r, uint8_t byte) {
    if (r->size == r->room) {
        r->end = REFERENCE_FULL;
        return false;
    }
    r->out[r->size++] = byte;
    return true;
}

static inline bool reference_corrupt(reference *r) {
    r->end = REFERENCE_CORRUPT;
    return false;
}

static inline bool reference_stored(reference *r) {
    r->bit = (r->bit + 7) / 8 * 8;
    unsigned length = reference_bits(r, 16), complement = reference_bits(r, 16);
    if (r->end == REFERENCE_CUT) return false;
    if (length != (complement ^ 0xFFFF)) return reference_corrupt(r);
    for (; length; length--) {
        unsigned byte = reference_bits(r, 8);
        if (r->end == REFERENCE_CUT || !reference_put(r, (uint8_t)byte)) return false;
    }
    return true;
}

static inline bool reference_match(reference *r, int symbol, const reference_code *distances) {
    static const int base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const int extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                  2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    if (symbol > 285) return reference_corrupt(r);
    int length = base[symbol - 257] + (int)reference_bits(r, extra[symbol - 257]);
    if (r->end == REFERENCE_CUT) return false;
    int d = reference_symbol(r, distances);
    if (d < 0) return false;
    if (d > 29) return reference_corrupt(r);
    int bits = d < 4 ? 0 : d / 2 - 1;
    size_t distance = d < 4 ? (size_t)d + 1 : ((size_t)(2 + (d & 1)) << bits) + 1;
    distance += reference_bits(r, bits);
    if (r->end == REFERENCE_CUT) return false;
    if (distance > r->size) return reference_corrupt(r);
    for (; length; length--)
        if (!reference_put(r, r->out[r->size - distance])) return false;
    return true;
}

static inline bool reference_coded(reference *r, const reference_code *literals, const reference_code *distances) {
    for (;;) {
        int symbol = reference_symbol(r, literals);
        if (symbol < 0) return false;
        if (symbol == 256) return true;
        if (symbol < 256 ? !reference_put(r, (uint8_t)symbol) : !reference_match(r, symbol, distances)) return false;
    }
}

static inline bool reference_dynamic(reference *r, reference_code *literals, reference_code *distances) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[320] = {0};
    int nlit = (int)reference_bits(r, 5) + 257, ndist = (int)reference_bits(r, 5) + 1;
    int ncode = (int)reference_bits(r, 4) + 4, n = 0;
    for (int i = 0; i < ncode; i++) lengths[order[i]] = (uint8_t)reference_bits(r, 3);
    if (r->end == REFERENCE_CUT) return false;
    if (nlit > 286 || ndist > 30 || !reference_build(r, lengths, 19, 'c', literals)) return reference_corrupt(r);
    memset(lengths, 0, sizeof lengths);
    while (n < nlit + ndist) {
        int symbol = reference_symbol(r, literals), times = 1, value = symbol;
        if (symbol < 0) return false;
        if (symbol == 16 && n == 0) return reference_corrupt(r);
        if (symbol == 16) value = lengths[n - 1];
        if (symbol > 16) value = 0;
        if (symbol >= 16)
            times = symbol == 16   ? 3 + (int)reference_bits(r, 2)
                    : symbol == 17 ? 3 + (int)reference_bits(r, 3)
                                   : 11 + (int)reference_bits(r, 7);
        if (r->end == REFERENCE_CUT) return false;
        if (times > nlit + ndist - n) return reference_corrupt(r);
        while (times--) lengths[n++] = (uint8_t)value;
    }
    if (!lengths[256] || !reference_build(r, lengths, nlit, 'l', literals) ||
        !reference_build(r, lengths + nlit, ndist, 'd', distances))
        return reference_corrupt(r);
    return true;
}

static inline void reference_fixed(reference *r, reference_code *literals, reference_code *distances) {
    uint8_t lengths[288];
    for (int i = 0; i < 288; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    reference_build(r, lengths, 288, 'l', literals);
    memset(lengths, 5, 32);
    reference_build(r, lengths, 32, 'd', distances);
}

// Fills r->out from r->in; r->end tells why it stopped.
static inline void reference_inflate(reference *r) {
    unsigned last = 0;
    r->bit = r->size = 0;
    r->incomplete_at = SIZE_MAX;
    r->end = REFERENCE_ENDED;
    while (!last) {
        reference_code literals, distances;
        last = reference_bits(r, 1);
        unsigned type = reference_bits(r, 2);
        bool going = r->end != REFERENCE_CUT;
        if (going && type == 0)
            going = reference_stored(r);
        else if (going && type == 3)
            going = reference_corrupt(r);
        else if (going) {
            if (type == 1) reference_fixed(r, &literals, &distances);
            going = type == 1 || reference_dynamic(r, &literals, &distances);
            if (going) going = reference_coded(r, &literals, &distances);
        }
        if (!going) return;
    }
}

// What a zlib stream comes to for a reader that needs `need` bytes and checks `excess` more (codec/inflate.h).
typedef struct reference_verdict {
    bool good, more;
    bool incomplete; // as zlib refuses it
    size_t size;     // bytes inflated: `need` and `excess` and one more, or up to the end or the damage
    size_t trailer;  // offset of the checksum of a whole stream, or 0
    uint32_t adler;  // as it ought to be
} reference_verdict;

// `out` has need + excess + 1 bytes. Where good, its first `need` are the bytes.
static inline reference_verdict reference_zlib(const uint8_t *in, size_t size, uint8_t *out, size_t need,
                                               size_t excess) {
    reference_verdict verdict = {false, false, false, 0, 0, 0};
    if (size < 2 || (in[0] & 15) != 8 || in[0] >> 4 > 7 || in[1] & 32 || (in[0] * 256 + in[1]) % 31) return verdict;
    reference r = {.in = in + 2, .in_bits = 8 * (size - 2), .out = out, .room = need + excess + 1};
    reference_inflate(&r);
    verdict.incomplete = r.incomplete_at <= need + excess;
    verdict.more = r.size > need;
    verdict.size = r.size;
    if (r.size > need + excess) verdict.good = true;
    if (r.size > need + excess || r.end != REFERENCE_ENDED || r.size < need) return verdict;
    size_t at = (r.bit + 7) / 8 + 2;
    if (size - at < 4) return verdict;
    verdict.trailer = at;
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < r.size; i++) {
        a = (a + out[i]) % 65521;
        b = (b + a) % 65521;
    }
    uint32_t stored = (uint32_t)in[at] << 24 | (uint32_t)in[at + 1] << 16 | (uint32_t)in[at + 2] << 8 | in[at + 3];
    verdict.adler = b << 16 | a;
    verdict.good = stored == verdict.adler;
    return verdict;
}

#endif
