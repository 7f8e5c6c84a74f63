// The compressed bytes of a PNG, span by span: sound files, damaged ones, files that cannot be read or change
// meanwhile.
#include "codec/png_spans.h"

#include <stdio.h>

#include "codec_files.h"

enum { WIDTH = 700, HEIGHT = 900, ROW = 3 * WIDTH + 1, MOST_CHUNKS = 64 };

static const made_ihdr ihdr = {WIDTH, HEIGHT, 8, GI_PNG_RGB, 0};

// A file, the bytes that its IDAT chunks hold, and where each begins.
typedef struct sample {
    made_file file, stream;
    size_t at[MOST_CHUNKS], sizes[MOST_CHUNKS];
    int chunks;
} sample;

static uint8_t *noise(size_t size) {
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    srand(7);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(rand() >> 5);
    return bytes;
}

// Chunks of no, few and many bytes, of which some fill more than is read at once, and one that the image does not need.
static sample make(void) {
    static const size_t sizes[] = {1, 0, 1, 8, 0, 0, 3000, 131072, 131060, 5, 500000, 8192, 8192};
    sample s = {.chunks = 0};
    uint8_t *rows = noise((size_t)HEIGHT * ROW);
    for (size_t y = 0; y < HEIGHT; y++) rows[y * ROW] = 0;
    s.stream = made_zlib(rows, (size_t)HEIGHT * ROW);
    free(rows);
    made_put(&s.stream, "excess", 6);
    made_signature(&s.file);
    made_header(&s.file, ihdr);
    for (size_t done = 0, i = 0; done < s.stream.size; i++) {
        size_t left = s.stream.size - done - 6, size = i < sizeof sizes / sizeof *sizes ? sizes[i] : left;
        if (left == 0) size = 6;
        s.at[s.chunks] = s.file.size;
        s.sizes[s.chunks++] = size;
        made_chunk(&s.file, "IDAT", s.stream.data + done, size);
        done += size;
    }
    made_chunk(&s.file, "IEND", NULL, 0);
    return s;
}

static void sample_free(sample *s) {
    made_free(&s->file);
    made_free(&s->stream);
}

static gi_png_spans *open_spans(const sample *s, gi_png_info *info) {
    const gi_input input = made_input(&s->file);
    gi_png_spans *spans = NULL;
    assert_int_equal(gi_png_check(&input, info, NULL), GI_OK);
    assert_int_equal(gi_png_spans_open(&input, info, &spans, NULL), GI_OK);
    return spans;
}

static void sound_file(void **state) {
    (void)state;
    sample s = make();
    gi_png_info info;
    gi_png_spans *spans = open_spans(&s, &info);
    size_t done = 0;
    assert_int_equal(info.idat_chunks, s.chunks);
    assert_int_equal(info.idat_bytes, s.stream.size);
    for (gi_bytes span = gi_png_spans_next(spans); span.size; span = gi_png_spans_next(spans)) {
        assert_true(span.size <= s.stream.size - done);
        assert_memory_equal(span.data, s.stream.data + done, span.size);
        done += span.size;
    }
    assert_int_equal(done, s.stream.size);
    assert_int_equal(gi_png_spans_next(spans).size, 0);
    assert_int_equal(gi_png_spans_finish(spans, NULL), GI_OK);
    gi_png_spans_close(spans);
    spans = open_spans(&s, &info);
    gi_png_spans_next(spans);
    assert_int_equal(gi_png_spans_finish(spans, NULL), GI_OK);
    gi_png_spans_close(spans);
    gi_png_spans_close(NULL);
    sample_free(&s);
}

static gi_status decode(const gi_input *input, gi_codec_choice codec, int threads, gi_error *err) {
    const gi_decode_options options = {.codec = codec, .threads = threads};
    gi_decoder *decoder;
    uint8_t *pixels = malloc((size_t)HEIGHT * WIDTH * 3);
    gi_status status = gi_decoder_open_png(input, &options, &decoder, err);
    if (status == GI_OK) {
        gi_view all = gi_view_packed(pixels, gi_decoder_header(decoder)->shape, GI_HOST);
        status = gi_decoder_rows(decoder, &all, err);
        gi_decoder_close(decoder);
    }
    free(pixels);
    return status;
}

// Whatever a chunk's damage does to its data, and also where the image does not need them.
static void crc_of_every_chunk(void **state) {
    (void)state;
    sample s = make();
    const gi_input input = made_input(&s.file);
    for (int codec = GI_CODEC_AUTO; codec <= GI_CODEC_STB; codec++)
        for (int threads = 1; threads <= 2; threads++)
            for (int i = 0; i < s.chunks; i++)
                for (int part = s.sizes[i] ? 0 : 1; part < 2; part++) {
                    uint8_t *byte = s.file.data + s.at[i] + GI_PNG_CHUNK_HEAD + s.sizes[i] - !part;
                    char text[100];
                    gi_error err;
                    *byte ^= 0x10;
                    assert_int_equal(decode(&input, (gi_codec_choice)codec, threads, &err), GI_ERR_FORMAT);
                    snprintf(text, sizeof text, "chunk IDAT at byte %zu: its CRC does not match", s.at[i]);
                    assert_text_has(err.text, text);
                    *byte ^= 0x10;
                }
    gi_error err;
    assert_int_equal(decode(&input, GI_CODEC_AUTO, 1, &err), GI_OK);
    // Damage that the CRC knows is the compressed data's own.
    s.file.data[s.at[0] + GI_PNG_CHUNK_HEAD] ^= 0x80;
    gi_put_be32(s.file.data + s.at[0] + 9, gi_crc32(0, s.file.data + s.at[0] + 4, 5));
    assert_int_equal(decode(&input, GI_CODEC_AUTO, 1, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "compressed data is corrupt");
    sample_free(&s);
}

typedef struct failing {
    made_file *file;
    int left; // reads that succeed
} failing;

static gi_status fails_later(void *context, size_t at, void *to, size_t size, gi_error *err) {
    failing *f = context;
    if (f->left-- <= 0) return gi_fail(err, GI_ERR_IO, "cannot read: a bad sector");
    return made_read(f->file, at, to, size, err);
}

static void every_read_fails_once(void **state) {
    (void)state;
    sample s = make();
    for (int codec = GI_CODEC_AUTO; codec <= GI_CODEC_STB; codec++)
        for (int threads = 1; threads <= 2; threads++) {
            gi_status status = GI_ERR_IO;
            for (int reads = 0; status != GI_OK; reads++) {
                failing f = {&s.file, reads};
                const gi_input input = {s.file.size, fails_later, &f};
                gi_error err;
                assert_true(reads < 200);
                status = decode(&input, (gi_codec_choice)codec, threads, &err);
                if (status == GI_OK) break;
                assert_int_equal(status, GI_ERR_IO);
                assert_text_has(err.text, "a bad sector");
            }
        }
    sample_free(&s);
}

// The heads of chunks become others after they were counted: nothing is read past the last, nor more given than was
// announced.
static void file_changes_meanwhile(void **state) {
    (void)state;
    sample s = make();
    for (int chunk = 0; chunk < 13; chunk++)
        for (int byte = 0; byte < GI_PNG_CHUNK_HEAD; byte++)
            for (int value = 0; value < 256; value += 15) {
                gi_png_info info;
                gi_error err;
                gi_png_spans *spans = open_spans(&s, &info);
                uint8_t *changed = s.file.data + s.at[chunk] + byte;
                uint8_t before = *changed;
                bool same = before == value;
                *changed = (uint8_t)value;
                size_t given = 0;
                for (gi_bytes span = gi_png_spans_next(spans); span.size; span = gi_png_spans_next(spans))
                    given += span.size;
                assert_true(given <= info.idat_bytes);
                assert_int_equal(gi_png_spans_finish(spans, &err), same ? GI_OK : GI_ERR_FORMAT);
                if (!same && byte >= 4) assert_text_has(err.text, "it was changed at byte");
                gi_png_spans_close(spans);
                *changed = before;
            }
    sample_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_file),
        cmocka_unit_test(crc_of_every_chunk),
        cmocka_unit_test(every_read_fails_once),
        cmocka_unit_test(file_changes_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
