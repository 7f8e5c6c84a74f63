// Segments of a stream of common blocks: where one is found to begin is where the one before ends, and its bytes are
// those that were compressed, but for what is of the window.
#include "codec/inflate_segment.h"

#include "codec_files.h"

#ifdef GPUIMG_HAVE_ZLIB
#include <zlib.h>

enum { SIZE = 400000, STEP = 20000, ROOM = GI_SEGMENT_ROOM(8 * SIZE) };

static atomic_bool stop;
static uint8_t data[SIZE];
static made_file file; // without zlib's header, and with padding

static uint32_t random_state = 1;
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 1664525U + 1013904223U;
    return (uint32_t)((uint64_t)(random_state >> 4) * n >> 28);
}

static int make_stream(void **state) {
    (void)state;
    for (size_t i = 0; i < SIZE; i++) data[i] = (uint8_t)(random_below(8) + random_below(8) + random_below(8));
    uLongf size = compressBound(SIZE);
    file.data = calloc(1, size + GI_PACKED_PADDING);
    assert_int_equal(compress2(file.data, &size, data, SIZE, 6), Z_OK);
    memmove(file.data, file.data + 2, size - 2);
    file.size = size - 2;
    memset(file.data + file.size, 0, GI_PACKED_PADDING);
    return 0;
}

static int free_stream(void **state) {
    (void)state;
    made_free(&file);
    return 0;
}

static gi_segment *segment_from(size_t at) {
    gi_segment *s = calloc(1, sizeof *s);
    *s = (gi_segment){.in = {file.data + at, file.size - at}, .next = UINT64_MAX, .room = ROOM, .stop = &stop};
    s->memory = malloc(ROOM);
    return s;
}

static void segment_free(gi_segment *s) {
    free(s->memory);
    free(s);
}

// What the segment has inflated is data[at...].
static void check_bytes(const gi_segment *s, size_t at) {
    const uint8_t *expected = data + at;
    for (size_t i = 0; i < s->symbol_count; i++) {
        uint16_t symbol = gi_segment_symbol(s->symbols, i);
        const uint8_t *window = expected - GI_WINDOW_BYTES;
        assert_int_equal(symbol < 256 ? symbol : window[symbol - 256], expected[i]);
    }
    if (s->byte_count) assert_memory_equal(s->bytes, expected + s->symbol_count, s->byte_count);
}

static void segments_meet(void **state) {
    (void)state;
    for (size_t at = STEP; at + 2 * STEP < file.size; at += STEP) {
        gi_segment *all = segment_from(0), *one = segment_from(at), *other = segment_from(at);
        all->next = other->next = 8 * at;
        gi_segment_continue(all, 0, NULL, 0);
        gi_segment_finish(all, NULL);
        assert_true(all->complete && !all->final);
        check_bytes(all, 0);
        gi_segment_search(one);
        gi_segment_search(other); // and at once with another, of which the end is not the stream's
        other->next = 8 * STEP;
        gi_segment_finish(one, other);
        assert_true(one->found && one->complete && one->final && other->complete);
        assert_int_equal(one->begin + 8 * at, all->end);
        assert_int_equal(other->begin, one->begin);
        check_bytes(one, all->byte_count);
        check_bytes(other, all->byte_count);
        assert_int_equal(all->byte_count + one->symbol_count + one->byte_count, SIZE);
        segment_free(all);
        segment_free(one);
        segment_free(other);
    }
}

// In several parts, each with the window that the one before leaves.
static void too_little_room(void **state) {
    (void)state;
    gi_segment *s = segment_from(0);
    s->room = GI_SEGMENT_ROOM(0);
    uint8_t window[GI_WINDOW_BYTES];
    size_t done = 0, size = 0;
    uint64_t at = 0;
    int parts = 0;
    for (; !s->final; parts++) {
        gi_segment_continue(s, at, window, size);
        gi_segment_finish(s, NULL);
        assert_true(s->end > at || s->final);
        check_bytes(s, done);
        done += s->byte_count;
        at = s->end;
        size = sizeof window;
        memcpy(window, data + done - size, size);
    }
    assert_int_equal(done, SIZE);
    assert_true(parts > 3);
    segment_free(s);
}

// A segment that ends amid a block, or is damaged, ends before it; one that is stopped does nothing more.
static void not_to_the_end(void **state) {
    (void)state;
    gi_segment *s = segment_from(0);
    s->in.size = file.size / 2;
    uint8_t kept[GI_PACKED_PADDING];
    memcpy(kept, file.data + s->in.size, sizeof kept);
    memset(file.data + s->in.size, 0, sizeof kept);
    gi_segment_continue(s, 0, NULL, 0);
    gi_segment_finish(s, NULL);
    assert_true(!s->complete && s->end > 0 && s->end < 8 * s->in.size);
    check_bytes(s, 0);
    memcpy(file.data + s->in.size, kept, sizeof kept);
    atomic_store(&stop, true);
    gi_segment_continue(s, 0, NULL, 0);
    gi_segment_finish(s, NULL);
    assert_true(s->found && !s->complete && s->end == 0);
    gi_segment_search(s);
    gi_segment_finish(s, NULL);
    assert_false(s->found);
    atomic_store(&stop, false);
    segment_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_meet),
        cmocka_unit_test(too_little_room),
        cmocka_unit_test(not_to_the_end),
    };
    return cmocka_run_group_tests(tests, make_stream, free_stream);
}
#else
static void not_without_zlib(void **state) {
    (void)state;
    skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(not_without_zlib)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
