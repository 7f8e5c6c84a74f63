// Streams whole, split, damaged and hostile through every library's inflater, against one that reads single bits.
#include "codec/inflate.h"
#include "codec_files.h"
#include "inflate_reference.h"
#include "inflate_spans.h"

static const gi_codec_choice choices[] = {GI_CODEC_AUTO, GI_CODEC_ZLIB, GI_CODEC_STB};
enum { CHOICES = 3, MAX_NEED = 300000 };

static uint32_t random_state = 1;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 1664525U + 1013904223U;
    return (uint32_t)((uint64_t)(random_state >> 4) * n >> 28);
}

// Inflates in parts of `part` bytes (0: all at once) and checks the guard behind them.
static gi_status inflate_by(gi_codec_choice codec, gi_bytes stream, size_t step, size_t part, size_t need, uint8_t *out,
                            bool *more, gi_error *err) {
    spans s = {stream, step, NULL};
    gi_inflate_source source = {next_span, &s, stream.size};
    gi_inflate *inflate = NULL;
    assert_int_equal(gi_inflate_open(&source, codec, need, &inflate, err), GI_OK);
    gi_status status = GI_OK;
    out[need] = 0xA5;
    for (size_t done = 0; done < need && status == GI_OK;) {
        size_t size = part && part < need - done ? part : need - done;
        status = gi_inflate_read(inflate, out + done, size, err);
        done += size;
    }
    if (status == GI_OK) status = gi_inflate_finish(inflate, more, err);
    gi_inflate_close(inflate);
    free(s.copy);
    assert_int_equal(out[need], 0xA5);
    return status;
}

static bool is_zlib(gi_codec_choice codec) {
#if defined(GPUIMG_HAVE_ISAL) && defined(GPUIMG_HAVE_ZLIB)
    return codec == GI_CODEC_ZLIB;
#elif defined(GPUIMG_HAVE_ZLIB)
    return codec != GI_CODEC_STB;
#else
    (void)codec;
    return false;
#endif
}

// Every library's verdict and bytes against the reference's.
static void check_stream(gi_bytes stream, size_t need, size_t step, size_t part) {
    static uint8_t expected[MAX_NEED + GI_INFLATE_EXCESS + 1], out[MAX_NEED + 1];
    reference_verdict verdict = reference_zlib(stream.data, stream.size, expected, need, GI_INFLATE_EXCESS);
    for (int i = 0; i < CHOICES; i++) {
        bool more = false, good = verdict.good && !(verdict.incomplete && is_zlib(choices[i]));
        gi_error err = {.text = ""};
        gi_status status = inflate_by(choices[i], stream, step, part, need, out, &more, &err);
        bool lax = !gi_inflate_is_streamed(choices[i]); // stb takes reserved symbols
        if (status == GI_OK && !good && lax) continue;
        if ((status == GI_OK) != good)
            fail_msg("codec %d, %zu bytes in spans of %zu, %zu wanted: %s (%s)", choices[i], stream.size, step, need,
                     good ? "refused" : "accepted", err.text);
        if (!good) {
            assert_int_equal(status, GI_ERR_FORMAT);
            assert_text_has(err.text, "damaged PNG: ");
            continue;
        }
        assert_int_equal(more, verdict.more);
        assert_memory_equal(out, expected, need);
    }
}

// ---- streams of random blocks -------------------------------------------------------------------------------------

typedef struct writer {
    made_file file;
    uint32_t bits, count;
    size_t written; // bytes that it inflates to
    uint8_t data[MAX_NEED];
} writer;

static void put_bits(writer *w, uint32_t value, int count) {
    for (int i = 0; i < count; i++) {
        w->bits |= (value >> i & 1) << w->count;
        if (++w->count < 8) continue;
        uint8_t byte = (uint8_t)w->bits;
        made_put(&w->file, &byte, 1);
        w->bits = w->count = 0;
    }
}

// Huffman codes by their lengths (RFC 1951, 3.2.2).
typedef struct code {
    int count;
    uint8_t lengths[288];
    uint16_t codes[288];
} code;

static void assign(code *c) {
    uint16_t next = 0;
    for (int length = 1; length < 16; length++, next = (uint16_t)(next << 1))
        for (int i = 0; i < c->count; i++)
            if (c->lengths[i] == length) c->codes[i] = next++;
}

static void put_code(writer *w, const code *c, int symbol) {
    for (int i = c->lengths[symbol] - 1; i >= 0; i--) put_bits(w, c->codes[symbol] >> i & 1U, 1);
}

// A complete code of n symbols, by splitting leaves at random.
static void random_code(code *c, int n) {
    c->count = n;
    c->lengths[0] = c->lengths[1] = 1;
    for (int made = 2; made < n;) {
        int i = (int)random_below((uint32_t)made);
        if (c->lengths[i] < 15) c->lengths[made++] = ++c->lengths[i];
    }
    assign(c);
}

static void fixed_codes(code *literals, code *distances) {
    for (int i = 0; i < 288; i++) literals->lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(distances->lengths, 5, 32);
    literals->count = 288;
    distances->count = 32;
    assign(literals);
    assign(distances);
}

// A dynamic block's codes and its header. The lengths are sent as they are: 13 of the 19 codes for lengths have 4 bits,
// 6 have 5, which fills the code.
static void dynamic_codes(writer *w, code *literals, code *distances) {
    code lengths = {.count = 19};
    for (int i = 0; i < 19; i++) lengths.lengths[i] = i < 13 ? 4 : 5;
    assign(&lengths);
    random_code(literals, 286);
    random_code(distances, 30);
    put_bits(w, 29 | 29 << 5 | 15 << 10, 14);
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    for (int i = 0; i < 19; i++) put_bits(w, lengths.lengths[order[i]], 3);
    for (int i = 0; i < 286; i++) put_code(w, &lengths, literals->lengths[i]);
    for (int i = 0; i < 30; i++) put_code(w, &lengths, distances->lengths[i]);
}

static void put_byte(writer *w, uint8_t byte) {
    assert_true(w->written < MAX_NEED);
    w->data[w->written++] = byte;
}

static void put_match(writer *w, const code *literals, const code *distances) {
    // The lengths that have no extra bits.
    int length = random_below(4) ? 3 + (int)random_below(8) : 258, d = 29;
    size_t most = w->written < 32768 ? w->written : 32768, distance = 1 + random_below((uint32_t)most), base;
    for (;; d--) {
        base = d < 4 ? (size_t)d + 1 : ((size_t)(2 + (d & 1)) << (d / 2 - 1)) + 1;
        if (base <= distance) break;
    }
    put_code(w, literals, length == 258 ? 285 : 254 + length);
    put_code(w, distances, d);
    put_bits(w, (uint32_t)(distance - base), d < 4 ? 0 : d / 2 - 1);
    for (; length; length--) put_byte(w, w->data[w->written - distance]);
}

static void put_tokens(writer *w, const code *literals, const code *distances, int count) {
    for (int i = 0; i < count; i++) {
        if (w->written && random_below(3) == 0) {
            put_match(w, literals, distances);
            continue;
        }
        uint8_t byte = (uint8_t)random_below(256);
        put_code(w, literals, byte);
        put_byte(w, byte);
    }
    put_code(w, literals, 256);
}

static void put_stored(writer *w, size_t size) {
    while (w->count) put_bits(w, 0, 1);
    put_bits(w, (uint32_t)size, 16);
    put_bits(w, ~(uint32_t)size, 16);
    for (; size; size--) {
        uint8_t byte = (uint8_t)random_below(256);
        put_bits(w, byte, 8);
        put_byte(w, byte);
    }
}

static void put_block(writer *w, bool last) {
    code literals, distances;
    uint32_t type = random_below(3);
    put_bits(w, last, 1);
    put_bits(w, type, 2);
    if (type == 0) {
        put_stored(w, random_below(4) ? random_below(300) : random_below(65536));
        return;
    }
    if (type == 1)
        fixed_codes(&literals, &distances);
    else
        dynamic_codes(w, &literals, &distances);
    put_tokens(w, &literals, &distances, (int)random_below(random_below(4) ? 100 : 2000));
}

static writer *random_stream(int blocks) {
    writer *w = calloc(1, sizeof *w);
    assert_non_null(w);
    made_put(&w->file, "\x78\x9C", 2);
    for (int i = 0; i < blocks; i++) put_block(w, i == blocks - 1);
    while (w->count) put_bits(w, 0, 1);
    uint8_t adler[4];
    gi_put_be32(adler, gi_adler32(1, w->data, w->written));
    made_put(&w->file, adler, 4);
    return w;
}

static void stream_free(writer *w) {
    made_free(&w->file);
    free(w);
}

static void whole_streams_in_any_pieces(void **state) {
    (void)state;
    static uint8_t out[MAX_NEED + 1];
    static const size_t steps[] = {0, 1, 2, 3, 7, 8, 9, 64, 1000};
    for (int round = 0; round < 60; round++) {
        writer *w = random_stream(1 + round % 4);
        gi_bytes stream = made_bytes(&w->file);
        for (int i = 0; i < CHOICES; i++) {
            bool more = true;
            gi_error err;
            size_t step = steps[random_below(9)], part = random_below(3) ? 1 + random_below(2000) : 0;
            gi_status status = inflate_by(choices[i], stream, step, part, w->written, out, &more, &err);
            if (status != GI_OK) fail_msg("codec %d, spans of %zu: %s", choices[i], step, err.text);
            assert_false(more);
            assert_memory_equal(out, w->data, w->written);
        }
        check_stream(stream, w->written, steps[random_below(9)], 0);
        check_stream(stream, w->written / 2, steps[random_below(9)], 0);
        stream_free(w);
    }
}

static void cut_at_every_byte(void **state) {
    (void)state;
    for (int round = 0; round < 6; round++) {
        writer *w = random_stream(2);
        size_t whole = w->file.size, begin = whole > 700 ? whole - 700 : 0;
        for (size_t size = 0; size <= whole; size++) {
            if (size > 400 && size < begin) continue;
            gi_bytes stream = {w->file.data, size};
            check_stream(stream, w->written, random_below(2) ? 0 : 5, 0);
            check_stream(stream, w->written / 3, 0, 0);
        }
        stream_free(w);
    }
}

static void damaged_anywhere(void **state) {
    (void)state;
    for (int round = 0; round < 1500; round++) {
        writer *w = random_stream(1 + round % 3);
        uint8_t *data = w->file.data;
        for (uint32_t n = 1 + random_below(3); n; n--) {
            size_t reach = random_below(2) ? w->file.size : w->file.size < 100 ? w->file.size : 100;
            data[random_below((uint32_t)reach)] ^= (uint8_t)(1U << random_below(8));
        }
        check_stream(made_bytes(&w->file), random_below(2) ? w->written : w->written / 2, random_below(3) ? 0 : 11, 0);
        stream_free(w);
    }
}

static void headers(void **state) {
    (void)state;
    made_file stream = made_zlib((const uint8_t *)"some text", 9);
    for (unsigned header = 0; header < 65536; header++) {
        if (header % 31 && header % 257) continue; // all whose check is right, some whose check is wrong
        stream.data[0] = (uint8_t)(header >> 8);
        stream.data[1] = (uint8_t)header;
        check_stream(made_bytes(&stream), 9, 0, 0);
    }
    uint8_t out[10];
    bool more;
    gi_error err;
    static const struct {
        uint8_t cmf, flags;
        const char *reason;
    } cases[] = {{0x79, 0x9C, "bad zlib header"},
                 {0x78, 0xBB, "no preset dict"},
                 {0x79, 0x18, "bad compression"},
                 {0x88, 0x1C, "bad window size"}};
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < CHOICES; i++) {
            stream.data[0] = cases[c].cmf;
            stream.data[1] = cases[c].flags;
            assert_int_equal(inflate_by(choices[i], made_bytes(&stream), 1, 0, 9, out, &more, &err), GI_ERR_FORMAT);
            assert_text_has(err.text, "damaged PNG: compressed data is corrupt (");
            assert_text_has(err.text, cases[c].reason);
        }
    made_free(&stream);
}

// More data than is needed, up to the limit of what is checked and past it, with right and wrong checksums.
static void excess(void **state) {
    (void)state;
    static uint8_t data[GI_INFLATE_EXCESS + 20000];
    static const size_t sizes[] = {100,   101,   1000,  59999, 60000, 60001, 65535, 65536,
                                   65537, 65635, 65636, 65637, 65638, 70000, 80000, sizeof data};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int damage = 0; damage < 4; damage++) {
            made_file stream = made_zlib(data, sizes[i]);
            if (damage == 1) stream.data[stream.size - 1] ^= 1;
            if (damage == 2) stream.size -= 5;
            if (damage == 3 && stream.size > 60007) stream.data[60007] = 7; // the second block's type
            check_stream(made_bytes(&stream), 100, 0, 0);
            check_stream(made_bytes(&stream), 100, 4096, 33);
            made_free(&stream);
        }
}

// More than 32 bits can count: a fixed block's matches of 258 bytes at distance 1, 13 bits each, the same span again
// and again.
typedef struct endless {
    gi_bytes begin, matches;
    bool begun;
} endless;

static gi_bytes next_matches(void *context) {
    endless *e = context;
    gi_bytes span = e->begun ? e->matches : e->begin;
    e->begun = true;
    return span;
}

static void more_than_4_gib(void **state) {
    (void)state;
    enum { PART = 1 << 20 };
    const size_t need = (size_t)5 << 30;
    if (!gi_inflate_is_streamed(GI_CODEC_AUTO)) return;
    writer *begin = calloc(1, sizeof *begin), *matches = calloc(1, sizeof *matches);
    code literals, distances;
    fixed_codes(&literals, &distances);
    made_put(&begin->file, "\x78\x9C", 2);
    put_bits(begin, 3, 3);
    for (int i = 0; i < 5; i++) put_code(begin, &literals, 200); // of 9 bits: whole bytes with the 3 above
    assert_int_equal(begin->count, 0);
    for (int i = 0; i < 8 * 8192; i++) {
        put_code(matches, &literals, 285);
        put_code(matches, &distances, 0);
    }
    endless e = {made_bytes(&begin->file), made_bytes(&matches->file), false};
    gi_inflate_source source = {next_matches, &e, SIZE_MAX};
    gi_inflate *inflate = NULL;
    gi_error err;
    bool more = false;
    uint8_t *out = malloc(PART), *expected = malloc(PART);
    memset(expected, 200, PART);
    assert_int_equal(gi_inflate_open(&source, GI_CODEC_AUTO, need, &inflate, &err), GI_OK);
    for (size_t done = 0; done < need; done += PART) {
        if (gi_inflate_read(inflate, out, PART, &err) != GI_OK) fail_msg("at %zu: %s", done, err.text);
        assert_int_equal(memcmp(out, expected, PART), 0);
    }
    assert_int_equal(gi_inflate_finish(inflate, &more, &err), GI_OK);
    assert_true(more);
    gi_inflate_close(inflate);
    free(out);
    free(expected);
    stream_free(begin);
    stream_free(matches);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_streams_in_any_pieces),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(damaged_anywhere),
        cmocka_unit_test(headers),
        cmocka_unit_test(excess),
        cmocka_unit_test(more_than_4_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
