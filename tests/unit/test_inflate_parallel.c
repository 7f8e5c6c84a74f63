// Streams inflated in segments, by several threads, against the library alone: the same bytes, verdicts and reasons.
#include "codec/inflate.h"
#include "codec_files.h"
#include "inflate_reference.h"

typedef struct spans {
    gi_bytes left;
    size_t step;
} spans;

static gi_bytes next_span(void *context) {
    spans *s = context;
    gi_bytes span = {s->left.data, s->step < s->left.size ? s->step : s->left.size};
    s->left = (gi_bytes){s->left.data + span.size, s->left.size - span.size};
    return span;
}

#ifdef GPUIMG_HAVE_ZLIB
#include <zlib.h>

static const gi_codec_choice choices[] = {GI_CODEC_AUTO, GI_CODEC_ZLIB};

static uint32_t random_state = 1;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 1664525U + 1013904223U;
    return (uint32_t)((uint64_t)(random_state >> 4) * n >> 28);
}

// How a stream is inflated; threads 0: by the library alone.
typedef struct way {
    gi_codec_choice codec;
    int threads;
    size_t segment, overlap, step, part;
} way;

typedef struct result {
    gi_status status;
    gi_error err;
    bool more;
    size_t done;
    uint8_t *out;
} result;

static result inflate_by(way how, gi_bytes stream, size_t need) {
    spans s = {stream, how.step};
    gi_inflate_source source = {next_span, &s, stream.size};
    gi_inflate *inflate = NULL;
    result r = {.err = {.text = ""}, .out = malloc(need + 1)};
    r.out[need] = 0xA5;
    assert_int_equal(gi_inflate_open(&source, how.codec, need, &inflate, &r.err), GI_OK);
    if (how.threads) assert_true(gi_inflate_in_segments(inflate, how.threads, how.segment, how.overlap));
    while (r.done < need && r.status == GI_OK) {
        size_t size = how.part < need - r.done ? how.part : need - r.done;
        r.status = gi_inflate_read(inflate, r.out + r.done, size, &r.err);
        if (r.status == GI_OK) r.done += size;
    }
    if (r.status == GI_OK) r.status = gi_inflate_finish(inflate, &r.more, &r.err);
    gi_inflate_close(inflate);
    assert_int_equal(r.out[need], 0xA5);
    return r;
}

static void check_way(way how, gi_bytes stream, size_t need) {
    way alone = how;
    alone.threads = 0;
    result a = inflate_by(alone, stream, need), b = inflate_by(how, stream, need);
    if (a.status != b.status || strcmp(a.err.text, b.err.text) != 0 || (a.status == GI_OK && a.more != b.more))
        fail_msg("codec %d, %zu bytes, %d threads, segments of %zu + %zu, spans of %zu: %d %s %d; alone %d %s %d",
                 how.codec, stream.size, how.threads, how.segment, how.overlap, how.step, b.status, b.err.text, b.more,
                 a.status, a.err.text, a.more);
    if (a.status == GI_OK) {
        assert_true(a.done == need && b.done == need);
        assert_memory_equal(a.out, b.out, need);
        free(a.out);
        free(b.out);
        return;
    }
    // What follows damage, and is given before it is told, is anything.
    uint8_t *expected = malloc(need + GI_INFLATE_EXCESS + 1);
    size_t sound = reference_zlib(stream.data, stream.size, expected, need, GI_INFLATE_EXCESS).size;
    assert_memory_equal(b.out, expected, b.done < sound ? b.done : sound);
    free(expected);
    free(a.out);
    free(b.out);
}

static void check_stream(gi_bytes stream, size_t need) {
    static const size_t segments[] = {1, 60, 300, 1000, 5000, 40000}, overlaps[] = {0, 100, 1000, 10000, 100000};
    for (int i = 0; i < 2; i++) {
        way how = {choices[i],
                   2 + (int)random_below(4),
                   segments[random_below(6)],
                   overlaps[random_below(5)],
                   1 + random_below(random_below(2) ? 50 : 50000),
                   1 + random_below(random_below(2) ? 5000 : 500000)};
        if (how.segment < 60 && stream.size > 20000) how.segment = 60;
        check_way(how, stream, need);
    }
}

// ---- what is compressed -------------------------------------------------------------------------------------------

// Runs of what photographs, text, flat areas and noise are like.
static void make_data(uint8_t *data, size_t size) {
    for (size_t i = 0; i < size;) {
        size_t run = 1 + random_below(random_below(3) ? 3000 : 60000), end = run < size - i ? i + run : size;
        uint32_t kind = random_below(5), back = 1 + random_below(i && i < 40000 ? (uint32_t)i : 40000);
        for (; i < end; i++) {
            if (kind == 0) data[i] = (uint8_t)(random_below(8) + random_below(8) + random_below(8));
            if (kind == 1) data[i] = (uint8_t) "the quick brown fox jumps"[random_below(25)];
            if (kind == 2) data[i] = 7;
            if (kind == 3) data[i] = (uint8_t)random_below(256);
            if (kind == 4) data[i] = i >= back && random_below(9) ? data[i - back] : (uint8_t)i;
        }
    }
}

typedef struct compression {
    int level, window_bits, memory, strategy;
    int flushes; // one of so many pieces is followed by one; 0: none
} compression;

static made_file compress_by(compression how, const uint8_t *data, size_t size) {
    static const int flushes[] = {Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data};
    assert_int_equal(deflateInit2(&z, how.level, Z_DEFLATED, how.window_bits, how.memory, how.strategy), Z_OK);
    size_t room = size + size / 2 + 200000;
    made_file file = {malloc(room), 0};
    z.next_out = file.data;
    z.avail_out = (uInt)room;
    for (int told = Z_OK; told != Z_STREAM_END;) {
        size_t left = size - z.total_in, piece = how.flushes ? 1 + random_below(9000) : left;
        z.avail_in = (uInt)(piece < left ? piece : left);
        int flush = piece >= left                         ? Z_FINISH
                    : random_below((uint32_t)how.flushes) ? Z_NO_FLUSH
                                                          : flushes[random_below(4)];
        told = deflate(&z, flush);
        assert_true(told == Z_OK || told == Z_STREAM_END);
    }
    file.size = z.total_out;
    deflateEnd(&z);
    return file;
}

static compression any_compression(void) {
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
    return (compression){(int)random_below(10), 9 + (int)random_below(7), 1 + (int)random_below(9),
                         strategies[random_below(5)], random_below(3) ? 0 : 1 + (int)random_below(6)};
}

enum { MOST = 400000 };

static void whole_streams(void **state) {
    (void)state;
    uint8_t *data = malloc(MOST);
    for (int round = 0; round < 150; round++) {
        size_t size = random_below(random_below(3) ? MOST : 5000);
        make_data(data, size);
        made_file file = compress_by(any_compression(), data, size);
        check_stream(made_bytes(&file), size);
        check_stream(made_bytes(&file), size / 2 + 1 < size ? size / 2 + 1 : size); // more than is needed
        made_put(&file, "behind the stream", 17);
        check_stream(made_bytes(&file), size);
        made_free(&file);
    }
    free(data);
}

static void damaged_streams(void **state) {
    (void)state;
    uint8_t *data = malloc(MOST);
    for (int round = 0; round < 600; round++) {
        size_t size = 1 + random_below(random_below(4) ? 50000 : MOST);
        make_data(data, size);
        made_file file = compress_by(any_compression(), data, size);
        if (random_below(3) == 0) file.size = random_below((uint32_t)file.size);
        for (uint32_t n = random_below(4); n && file.size; n--)
            file.data[random_below((uint32_t)file.size)] ^= (uint8_t)(1U << random_below(8));
        check_stream(made_bytes(&file), random_below(2) ? size : 1 + random_below((uint32_t)size));
        made_free(&file);
    }
    free(data);
}

// A stream within a stream, stored: all of its blocks look like the outer one's.
static void false_blocks(void **state) {
    (void)state;
    uint8_t *data = malloc(MOST);
    for (int round = 0; round < 40; round++) {
        make_data(data, MOST / 2);
        made_file inner = compress_by((compression){6, 15, 1 + (int)random_below(9), 0, 0}, data, MOST / 2);
        made_put(&inner, data, 30000);
        compression how = {round % 2 ? 0 : 6, 15, 8, 0, 5};
        made_file outer = compress_by(how, inner.data, inner.size);
        check_stream(made_bytes(&outer), inner.size);
        made_free(&inner);
        made_free(&outer);
    }
    free(data);
}

// Distances that lead back to before the stream's beginning, from a stream that had a dictionary.
static void too_far_back(void **state) {
    (void)state;
    enum { SIZE = 30000 };
    uint8_t *data = malloc(MOST);
    for (int round = 0; round < 60; round++) {
        make_data(data, SIZE);
        memcpy(data + SIZE, data, SIZE);
        z_stream z = {.avail_in = 0};
        made_file file = {malloc(MOST), 2};
        memcpy(file.data, "\x78\x9C", 2);
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 1 + (int)random_below(9), 0), Z_OK);
        z.next_out = file.data + 2;
        z.avail_out = MOST - 2;
        z.avail_in = random_below(2) ? random_below(SIZE) : 0; // the dictionary comes into use behind them
        z.next_in = data + SIZE / 2;
        uInt before = z.avail_in;
        if (before) assert_int_equal(deflate(&z, Z_FULL_FLUSH), Z_OK);
        assert_int_equal(deflateSetDictionary(&z, data, SIZE), Z_OK);
        z.next_in = data + SIZE;
        z.avail_in = SIZE;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        file.size = 2 + z.total_out;
        deflateEnd(&z);
        check_stream(made_bytes(&file), SIZE + before);
        made_free(&file);
    }
    free(data);
}

static void closed_early(void **state) {
    (void)state;
    uint8_t *data = malloc(MOST), out[1000];
    make_data(data, MOST);
    made_file file = compress_by((compression){6, 15, 8, 0, 0}, data, MOST);
    for (int reads = 0; reads < 60; reads++) {
        spans s = {made_bytes(&file), 4096};
        gi_inflate_source source = {next_span, &s, file.size};
        gi_inflate *inflate = NULL;
        assert_int_equal(gi_inflate_open(&source, GI_CODEC_AUTO, MOST, &inflate, NULL), GI_OK);
        assert_true(gi_inflate_in_segments(inflate, 3, 3000, 20000));
        for (int i = 0; i < reads; i++)
            assert_int_equal(gi_inflate_read(inflate, out, 1 + random_below(1000), NULL), GI_OK);
        gi_inflate_close(inflate);
    }
    made_free(&file);
    free(data);
}

// As it is used: only a large stream that is compressed little is inflated in segments.
static void by_itself(void **state) {
    (void)state;
    enum { SIZE = 18 << 20 };
    uint8_t *data = malloc(SIZE), *out = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++) data[i] = (uint8_t)(random_below(8) + random_below(8) + random_below(8));
    made_file file = compress_by((compression){6, 15, 8, 0, 0}, data, SIZE);
    assert_true(file.size > 8 << 20);
    for (int threads = 0; threads < 20; threads += 6) {
        spans s = {made_bytes(&file), 131072};
        gi_inflate_source source = {next_span, &s, file.size};
        gi_inflate *inflate = NULL;
        bool more = true;
        assert_int_equal(gi_inflate_open(&source, GI_CODEC_AUTO, SIZE, &inflate, NULL), GI_OK);
        gi_inflate_use_threads(inflate, threads);
        assert_int_equal(gi_inflate_read(inflate, out, SIZE, NULL), GI_OK);
        assert_int_equal(gi_inflate_finish(inflate, &more, NULL), GI_OK);
        assert_false(more);
        assert_memory_equal(out, data, SIZE);
        gi_inflate_close(inflate);
    }
    made_free(&file);
    free(data);
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_streams), cmocka_unit_test(damaged_streams), cmocka_unit_test(false_blocks),
        cmocka_unit_test(too_far_back),  cmocka_unit_test(closed_early),    cmocka_unit_test(by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
// There is no library then that could go on.
static void not_without_a_library(void **state) {
    (void)state;
    made_file stream = made_zlib((const uint8_t *)"some text", 9);
    spans s = {made_bytes(&stream), 100};
    gi_inflate_source source = {next_span, &s, stream.size};
    gi_inflate *inflate = NULL;
    assert_int_equal(gi_inflate_open(&source, GI_CODEC_STB, 9, &inflate, NULL), GI_OK);
    assert_false(gi_inflate_in_segments(inflate, 2, 100, 100));
    gi_inflate_close(inflate);
    made_free(&stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(not_without_a_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
