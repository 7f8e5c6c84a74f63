#include "codec/inflate_segment.h"

enum {
    WINDOW_SYMBOLS_BYTES = GI_WINDOW_BYTES * (int)sizeof(uint16_t),
    MOST_TRIES = 8, // first blocks that turn out unsound: one is rare, more are made to take time
};

// True where a block begins that has codes of its own and is not the last; then *bit is moved into it.
static bool is_beginning(const gi_packed *in, uint64_t *bit) {
    gi_code_lengths lengths;
    if (*bit + 3 > 8 * (uint64_t)in->size || (gi_packed_bits(in, *bit) & 7) != 4) return false;
    *bit += 3;
    return gi_code_lengths_read(in, bit, &lengths);
}

// From now on bytes are written, if the last 32 KiB of the symbols are bytes.
static void leave_symbols(gi_segment *s) {
    enum { STEP = 256 };
    gi_block_io *io = &s->io;
    const uint8_t *end = s->symbols + s->symbol_count * sizeof(uint16_t);
    for (size_t known = STEP; known <= GI_WINDOW_BYTES; known += STEP) {
        uint32_t all = 0;
        const uint8_t *step = end - known * sizeof(uint16_t);
        for (size_t i = 0; i < STEP; i++) all |= gi_segment_symbol(step, i);
        if (all > 255) return;
    }
    if ((size_t)(io->end - io->out) < GI_WINDOW_BYTES) return;
    uint8_t *window = io->out;
    for (size_t i = 0; i < GI_WINDOW_BYTES; i++) window[i] = (uint8_t)gi_segment_symbol(end - WINDOW_SYMBOLS_BYTES, i);
    io->begin = window;
    io->out = window + GI_WINDOW_BYTES;
    io->wide = false;
    s->bytes = io->out;
}

// After a block. False: it was the last.
static bool end_block(gi_segment *s) {
    gi_block_io *io = &s->io;
    s->end = io->bit;
    if (io->wide)
        s->symbol_count = (size_t)(io->out - s->symbols) / sizeof(uint16_t);
    else
        s->byte_count = (size_t)(io->out - s->bytes);
    if (io->final) s->complete = s->final = true;
    if (io->wide) leave_symbols(s);
    return !io->final;
}

// Between blocks: goes to the next one that has symbols. False: the segment is over, or something is wrong.
static bool begin_block(gi_segment *s) {
    do {
        uint64_t bit = s->io.bit;
        if (atomic_load_explicit(s->stop, memory_order_relaxed)) return false;
        if (bit >= s->next && is_beginning(&s->in, &bit)) {
            s->complete = true;
            return false;
        }
        gi_block_begin(&s->io);
    } while (s->io.state == GI_BLOCK_OVER && end_block(s));
    return s->io.state == GI_BLOCK_SYMBOLS;
}

static void go_on(gi_segment *s) {
    if (s->io.state != GI_BLOCK_SYMBOLS) s->going = s->io.state == GI_BLOCK_OVER && end_block(s) && begin_block(s);
}

static void begin_segment(gi_segment *s, uint64_t begin) {
    s->found = s->complete = s->final = false;
    s->symbols = s->bytes = NULL;
    s->symbol_count = s->byte_count = 0;
    s->begin = s->end = begin;
    s->io = (gi_block_io){.in = s->in, .bit = begin, .begin = s->memory, .codes = &s->codes};
    s->io.end = s->memory + s->room;
}

void gi_segment_continue(gi_segment *segment, uint64_t begin, const uint8_t *window, size_t window_size) {
    begin_segment(segment, begin);
    if (window_size) memcpy(segment->memory, window, window_size);
    segment->bytes = segment->io.out = segment->memory + window_size;
    segment->found = true;
    segment->going = begin_block(segment);
}

void gi_segment_finish(gi_segment *segment, gi_segment *other) {
    while (other && segment->going && other->going) {
        gi_block_pair(&segment->io, &other->io);
        go_on(segment);
        go_on(other);
    }
    if (other && other->going) segment = other;
    while (segment->going) {
        gi_block_finish(&segment->io);
        go_on(segment);
    }
}

static void inflate_unknown(gi_segment *s, uint64_t begin) {
    begin_segment(s, begin);
    s->symbols = s->io.out = s->memory + WINDOW_SYMBOLS_BYTES;
    s->io.wide = true;
    s->going = begin_block(s);
    while (s->going && s->io.wide) {
        gi_block_finish(&s->io);
        go_on(s);
    }
    s->found = s->complete || s->end > begin;
}

// Which of the first 32 of these bits may begin a block that has codes of its own, is not the last, and has no more
// than 286 and 30 codes: about one of nine.
static uint32_t likely(uint64_t w) {
    uint64_t litlen = w >> 4 & w >> 5 & w >> 6 & w >> 7, distance = w >> 9 & w >> 10 & w >> 11 & w >> 12;
    return (uint32_t)(~w & ~(w >> 1) & w >> 2 & ~litlen & ~distance);
}

void gi_segment_search(gi_segment *segment) {
    enum { BITS = 32 };
    const gi_packed *in = &segment->in;
    begin_segment(segment, 0);
    segment->going = false;
    for (uint16_t i = 0; i < GI_WINDOW_BYTES; i++) {
        uint16_t symbol = (uint16_t)(256 + i);
        memcpy(segment->memory + i * sizeof symbol, &symbol, sizeof symbol);
    }
    int tries = 0;
    for (uint64_t at = 0; at < 8 * (uint64_t)in->size; at += BITS) {
        if (atomic_load_explicit(segment->stop, memory_order_relaxed)) return;
        for (uint32_t left = likely(gi_packed_bits(in, at)); left; left &= left - 1) {
            uint64_t begin = at + (uint64_t)__builtin_ctz(left), bit = begin;
            if (!is_beginning(in, &bit)) continue;
            inflate_unknown(segment, begin);
            if (segment->found || ++tries == MOST_TRIES) return;
        }
    }
}
