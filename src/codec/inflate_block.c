#include "codec/inflate_block.h"

#include "codec/bytes.h"
#include "core/simd.h"

enum {
    COPY_BYTES = 16,                                // copied at once, also past a match's end
    LONGEST = 258,                                  // symbols of a match
    ENTRIES = 4,                                    // of literals between two fills: of 48 bits at most
    LITERALS = 2 * ENTRIES + 2,                     // at most so many between two looks at how much room is left
    MOST_SYMBOLS = LITERALS + LONGEST + COPY_BYTES, // of one round of the loop
    MARGIN_BYTES = MOST_SYMBOLS * (int)sizeof(uint16_t) + COPY_BYTES,
};

static inline uint64_t load(const uint8_t *in) {
    const gi_packed here = {in, 8};
    return gi_packed_bits(&here, 0);
}

// Writes `size` bytes, and up to COPY_BYTES more, that repeat those `distance` bytes before.
GI_SIMD_BODY void copy_match(uint8_t *out, size_t distance, size_t size) {
    // The largest multiples of each distance that are at most COPY_BYTES.
    static const uint8_t steps[COPY_BYTES] = {0, 16, 16, 15, 16, 15, 12, 14, 16, 9, 10, 11, 12, 13, 14, 15};
    const uint8_t *from = out - distance;
    size_t i = 0, step = COPY_BYTES;
    if (distance < COPY_BYTES) {
        for (; i < COPY_BYTES; i++) out[i] = from[i];
        i = step = steps[distance];
        from = out - step;
    }
    for (; i < size; i += step) memmove(out + i, from + i, COPY_BYTES);
}

// Writes an entry's one or two literals, of which the second may be none.
GI_SIMD_BODY uint8_t *put_literals(uint8_t *out, uint32_t entry, bool wide) {
    uint32_t count = entry >> 6 & 3;
    if (wide) {
        uint16_t symbols[2] = {(uint8_t)(entry >> 16), (uint8_t)(entry >> 24)};
        memcpy(out, symbols, sizeof symbols);
        return out + 2 * count;
    }
    gi_put_le16(out, entry >> 16);
    return out + count;
}

// The bits that were taken from the input and not used; at least 56 after a fill.
typedef struct bits {
    uint64_t word;
    uint32_t count; // bits above are ones of the input, too
    const uint8_t *in;
} bits;

GI_SIMD_BODY void fill(bits *b) {
    b->word |= load(b->in) << b->count;
    b->in += (63 - b->count) / 8;
    b->count |= 56;
}

GI_SIMD_BODY void drop(bits *b, uint32_t count) {
    b->word >>= count;
    b->count -= count;
}

GI_SIMD_BODY uint32_t take_value(bits *b, uint32_t entry) {
    drop(b, entry & GI_ENTRY_BITS);
    uint32_t extra = entry >> 8 & 15, value = (entry >> 16) + (uint32_t)(b->word & ((1U << extra) - 1));
    drop(b, extra);
    return value;
}

GI_SIMD_BODY uint32_t litlen_at(const bits *b, const gi_codes *codes) {
    return codes->litlen[b->word & ((1 << GI_LITLEN_BITS) - 1)];
}

// A block's symbols while they are decoded.
typedef struct flow {
    bits bits;
    uint8_t *out;
    const uint8_t *in_end, *out_end;
    const gi_codes *codes;
    gi_block_io *io;
} flow;

GI_SIMD_BODY flow begin_flow(gi_block_io *io) {
    flow f = {.out = io->out, .codes = io->codes, .io = io};
    f.in_end = io->in.data + io->in.size + 8;
    f.out_end = io->end - MARGIN_BYTES;
    f.bits.word = gi_packed_bits(&io->in, io->bit) & UINT64_MAX >> (8 + io->bit % 8);
    f.bits.count = 56 - (uint32_t)(io->bit % 8);
    f.bits.in = io->in.data + io->bit / 8 + 7;
    return f;
}

// Notes how far it has come; out of room is bad.
GI_SIMD_BODY void end_flow(const flow *f) {
    gi_block_io *io = f->io;
    io->out = f->out;
    io->bit = 8 * (uint64_t)(f->bits.in - io->in.data) - f->bits.count;
    bool is_room = f->bits.in <= f->in_end && f->out <= f->out_end;
    if ((io->state == GI_BLOCK_SYMBOLS && !is_room) || io->bit > 8 * (uint64_t)io->in.size) io->state = GI_BLOCK_BAD;
}

GI_SIMD_BODY bool goes_on(const flow *f) {
    return f->bits.in <= f->in_end && f->out <= f->out_end && f->io->state == GI_BLOCK_SYMBOLS;
}

// An entry of literals.
GI_SIMD_BODY uint32_t put_entry(flow *f, uint32_t entry, bool wide) {
    f->out = put_literals(f->out, entry, wide);
    drop(&f->bits, entry & GI_ENTRY_BITS);
    return litlen_at(&f->bits, f->codes);
}

// What is no literal of a short code.
GI_SIMD_BODY void put_other(flow *f, bool wide) {
    const gi_codes *codes = f->codes;
    bits *b = &f->bits;
    fill(b);
    uint32_t entry = litlen_at(b, codes);
    if (entry & GI_ENTRY_LONG) entry = gi_long_entry(&codes->litlen_order, b->word, GI_LITLEN_BITS);
    if (entry & GI_ENTRY_LITERAL) {
        put_entry(f, entry, wide);
        return;
    }
    f->io->state = entry & GI_ENTRY_END ? GI_BLOCK_OVER : GI_BLOCK_BAD;
    if (entry & (GI_ENTRY_END | GI_ENTRY_BAD)) {
        drop(b, entry & GI_ENTRY_BITS);
        return;
    }
    size_t unit = wide ? 2 : 1, length = take_value(b, entry) * unit;
    entry = codes->distance[b->word & ((1 << GI_DISTANCE_BITS) - 1)];
    if (entry & GI_ENTRY_LONG) entry = gi_long_entry(&codes->distance_order, b->word, GI_DISTANCE_BITS);
    if (entry & GI_ENTRY_BAD) return;
    size_t distance = take_value(b, entry) * unit;
    if (distance > (size_t)(f->out - f->io->begin)) return;
    copy_match(f->out, distance, length);
    f->out += length;
    f->io->state = GI_BLOCK_SYMBOLS;
}

GI_SIMD_BODY void symbols_body(gi_block_io *io, bool wide) {
    flow f = begin_flow(io);
    while (goes_on(&f)) {
        fill(&f.bits);
        uint32_t entry = litlen_at(&f.bits, f.codes);
        int n = 0;
        for (; n < ENTRIES && entry & GI_ENTRY_LITERAL; n++) entry = put_entry(&f, entry, wide);
        if (n < ENTRIES) put_other(&f, wide);
    }
    end_flow(&f);
}

GI_SIMD_BODY void one_body(gi_block_io *io) {
    if (io->wide)
        symbols_body(io, true);
    else
        symbols_body(io, false);
}
GI_SIMD_VARIANTS(decode_one, one_body, (gi_block_io * io), (io))

GI_SIMD_BODY void pair_body(gi_block_io *one, gi_block_io *other) {
    flow f = begin_flow(one), g = begin_flow(other);
    while (goes_on(&f) && goes_on(&g)) {
        fill(&f.bits);
        fill(&g.bits);
        uint32_t a = litlen_at(&f.bits, f.codes), b = litlen_at(&g.bits, g.codes);
        int n = 0;
        for (; n < ENTRIES && a & b & GI_ENTRY_LITERAL; n++) {
            a = put_entry(&f, a, false);
            b = put_entry(&g, b, false);
        }
        if (n == ENTRIES) continue;
        if (!(a & GI_ENTRY_LITERAL)) put_other(&f, false);
        if (!(b & GI_ENTRY_LITERAL)) put_other(&g, false);
    }
    end_flow(&f);
    end_flow(&g);
}
GI_SIMD_VARIANTS(decode_pair, pair_body, (gi_block_io * one, gi_block_io *other), (one, other))

void gi_block_finish(gi_block_io *io) { decode_one(io); }

void gi_block_pair(gi_block_io *one, gi_block_io *other) { decode_pair(one, other); }

static bool copy_stored(gi_block_io *io) {
    uint64_t byte = (io->bit + 7) / 8;
    if (byte > io->in.size || io->in.size - byte < 4) return false;
    const uint8_t *in = io->in.data + byte;
    size_t size = (size_t)(in[0] | in[1] << 8), unit = io->wide ? 2 : 1;
    if ((size ^ (size_t)(in[2] | in[3] << 8)) != 0xFFFF) return false;
    if (io->in.size - byte - 4 < size || (size_t)(io->end - io->out) < size * unit + MARGIN_BYTES) return false;
    in += 4;
    if (io->wide) {
        for (size_t i = 0; i < size; i++) {
            uint16_t symbol = in[i];
            memcpy(io->out + 2 * i, &symbol, sizeof symbol);
        }
    } else if (size) {
        memcpy(io->out, in, size);
    }
    io->out += size * unit;
    io->bit = 8 * (byte + 4 + size);
    return true;
}

void gi_block_begin(gi_block_io *io) {
    io->state = GI_BLOCK_BAD;
    if (io->bit + 3 > 8 * (uint64_t)io->in.size || io->end - io->out < MARGIN_BYTES) return;
    uint64_t head = gi_packed_bits(&io->in, io->bit);
    int type = head >> 1 & 3;
    io->final = head & 1;
    io->bit += 3;
    if (type == 0 && copy_stored(io)) io->state = GI_BLOCK_OVER;
    if (type == 1) {
        gi_codes_fixed(io->codes);
        io->state = GI_BLOCK_SYMBOLS;
    }
    gi_code_lengths lengths;
    if (type == 2 && gi_code_lengths_read(&io->in, &io->bit, &lengths)) {
        gi_codes_make(&lengths, io->codes);
        io->state = GI_BLOCK_SYMBOLS;
    }
}
