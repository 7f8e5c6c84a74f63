// The PNG reader by every library, with and without a thread, its rows asked for in any parts: the same pixels as by
// stb at once, and the same verdict on damage.
#include "codec/inflate.h"
#include "codec/png_check.h"
#include "codec_files.h"
#include "guarded_image.h"

static const gi_codec_choice choices[] = {GI_CODEC_AUTO, GI_CODEC_ZLIB, GI_CODEC_STB};

// The stream in chunks of `step` bytes, empty ones between some. made_chunk would copy the file for each.
static void put_idat(made_file *file, const made_file *stream, size_t step) {
    size_t room = file->size + stream->size + 24 * (stream->size / step + 1), chunk = 0;
    file->data = realloc(file->data, room);
    assert_non_null(file->data);
    for (size_t done = 0; done < stream->size; done += chunk) {
        chunk = step < stream->size - done ? step : stream->size - done;
        for (int empty = done % 3 == 0; empty >= 0; empty--) {
            size_t size = empty ? 0 : chunk;
            uint8_t *p = file->data + file->size;
            gi_put_be32(p, (uint32_t)size);
            memcpy(p + 4, "IDAT", 4);
            if (size) memcpy(p + 8, stream->data + done, size);
            gi_put_be32(p + 8 + size, gi_crc32(0, p + 4, size + 4));
            file->size += size + 12;
        }
    }
}

// A file of random rows. With few different bytes a colour key is met; the palette is too short for some indices.
static made_file random_file(made_ihdr h, bool keyed, size_t idat_bytes, uint32_t seed) {
    static const uint8_t palette[15] = {1, 2, 3, 40, 50, 60, 250, 251, 252, 9, 8, 7, 100, 101, 102};
    static const uint8_t transparency[6] = {0, 0x11, 0x11, 0x10, 0x01, 0x00};
    gi_png_info info = {h.width, h.height, h.depth, h.colour, h.interlace == 1, .idat = 0};
    size_t size, at = 0;
    assert_int_equal(gi_png_filtered_bytes(&info, &size, NULL), GI_OK);
    uint8_t *rows = malloc(size);
    assert_non_null(rows);
    for (int i = 0; i < (h.interlace ? 7 : 1); i++) {
        gi_png_pass pass = {h.width, h.height, 0, 0, 1, 1};
        if (h.interlace) pass = gi_png_pass_of(&info, i);
        for (uint32_t y = 0; pass.width && y < pass.height; y++) {
            rows[at++] = (uint8_t)(next_random(&seed) % 5);
            for (size_t n = gi_png_row_bytes(&info, pass.width); n; n--) rows[at++] = next_random(&seed) & 0x11;
        }
    }
    made_file file = {NULL, 0}, stream = made_zlib(rows, size);
    made_signature(&file);
    made_header(&file, h);
    size_t colours = h.depth == 1 ? 2 : 4, keys = h.colour == GI_PNG_GRAY ? 2 : h.colour == GI_PNG_RGB ? 6 : 1;
    if (h.colour == GI_PNG_PALETTE) made_chunk(&file, "PLTE", palette, 3 * colours);
    if (keyed) made_chunk(&file, "tRNS", transparency, keys);
    put_idat(&file, &stream, idat_bytes ? idat_bytes : stream.size);
    made_chunk(&file, "IEND", NULL, 0);
    made_free(&stream);
    free(rows);
    return file;
}

// Decodes in parts of `step` rows, each into the same rows of memory.
static guarded_image decode_in_parts(gi_bytes file, const gi_decode_options *options, uint32_t step) {
    gi_decoder *decoder = NULL;
    gi_error err;
    if (gi_decoder_open(file, options, &decoder, &err) != GI_OK) fail_msg("%s", err.text);
    gi_shape shape = gi_decoder_header(decoder)->shape, part = shape;
    if (step > shape.height) step = shape.height;
    part.height = step;
    guarded_image image = guarded_image_make(shape, 5), band = guarded_image_make(part, 3);
    size_t row_bytes = gi_row_bytes(shape.width, shape.channels, shape.sample);
    for (uint32_t y = 0; y < shape.height; y += step) {
        gi_view rows = gi_view_rows(&band.view, 0, step < shape.height - y ? step : shape.height - y);
        if (gi_decoder_rows(decoder, &rows, &err) != GI_OK) fail_msg("row %u: %s", y, err.text);
        for (uint32_t r = 0; r < rows.height; r++) {
            memcpy(gi_view_row(&image.view, y + r), gi_view_row(&rows, r), row_bytes);
            memset(gi_view_row(&rows, r), 0x5A, row_bytes); // the reader may not count on them
        }
        assert_true(guards_are_whole(&band));
    }
    gi_decoder_close(decoder);
    guarded_image_free(&band);
    return image;
}

static const made_ihdr kinds[] = {{0, 0, 1, 0, 0},  {0, 0, 2, 0, 0}, {0, 0, 4, 0, 0},  {0, 0, 8, 0, 0},
                                  {0, 0, 16, 0, 0}, {0, 0, 8, 2, 0}, {0, 0, 16, 2, 0}, {0, 0, 1, 3, 0},
                                  {0, 0, 2, 3, 0},  {0, 0, 4, 3, 0}, {0, 0, 8, 3, 0},  {0, 0, 8, 4, 0},
                                  {0, 0, 16, 4, 0}, {0, 0, 8, 6, 0}, {0, 0, 16, 6, 0}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

// By all libraries, thread counts and steps; or every so many-th of these, which comes round to all over the files.
static void check_file(const made_file *file, const uint32_t *steps, int stride) {
    static int turn;
    gi_decode_options options = {.codec = GI_CODEC_STB};
    guarded_image expected = decode_in_parts(made_bytes(file), &options, UINT32_MAX);
    for (int i = 0; steps[i]; i++)
        for (int codec = 0; codec < 3; codec++)
            for (int threads = 1; threads <= 4; threads += 3) {
                if (turn++ % stride) continue;
                options = (gi_decode_options){.codec = choices[codec], .threads = threads};
                guarded_image image = decode_in_parts(made_bytes(file), &options, steps[i]);
                assert_memory_equal(image.memory, expected.memory, expected.size);
                guarded_image_free(&image);
            }
    guarded_image_free(&expected);
}

static void small_of_every_kind(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {17, 31}, {5, 40}, {40, 5}};
    static const uint32_t steps[] = {1, 3, 8, 13, UINT32_MAX, 0};
    for (int k = 0; k < 4 * KINDS * 4; k++) {
        made_ihdr h = kinds[k % KINDS];
        bool keyed = k / KINDS % 2;
        if (keyed && h.colour >= 4) continue;
        h.interlace = k / KINDS / 2 % 2;
        h.width = sizes[k / KINDS / 4][0];
        h.height = sizes[k / KINDS / 4][1];
        made_file file = random_file(h, keyed, 0, (uint32_t)k);
        check_file(&file, steps, 7);
        made_free(&file);
    }
}

// Of several blocks, and for a thread.
static void large_of_every_kind(void **state) {
    (void)state;
    static const uint32_t steps[] = {61, 97, UINT32_MAX, 0};
    for (int k = 0; k < 4 * KINDS; k++) {
        made_ihdr h = kinds[k % KINDS];
        bool keyed = k / KINDS % 2;
        if (keyed && h.colour >= 4) continue;
        h.interlace = k / KINDS / 2 % 2;
        h.width = h.depth < 4 ? 4001 : 901;
        h.height = 603;
        made_file file = random_file(h, keyed, 8192, (uint32_t)k);
        check_file(&file, steps, 7);
        made_free(&file);
    }
}

static void single_rows_of_a_large_file(void **state) {
    (void)state;
    static const uint32_t steps[] = {1, 7, 0};
    made_file file = random_file((made_ihdr){900, 700, 8, GI_PNG_RGB, 0}, false, 65536, 3);
    check_file(&file, steps, 5);
    made_free(&file);
}

// Rows wider than a block.
static void wide_rows(void **state) {
    (void)state;
    static const uint32_t steps[] = {1, 5, UINT32_MAX, 0};
    made_file file = random_file((made_ihdr){300001, 21, 8, GI_PNG_RGB, 0}, false, 65536, 4);
    check_file(&file, steps, 5);
    made_free(&file);
}

static void chunks_of_one_byte(void **state) {
    (void)state;
    static const uint32_t steps[] = {1, 3, UINT32_MAX, 0};
    for (int k = 0; k < 2 * KINDS; k++) {
        made_ihdr h = kinds[k % KINDS];
        h.width = 19;
        h.height = 23;
        h.interlace = k / KINDS;
        made_file file = random_file(h, false, 1, (uint32_t)k);
        check_file(&file, steps, 5);
        made_free(&file);
    }
}

static gi_status verdict(gi_bytes file, gi_codec_choice codec, int threads, made_log *log, gi_error *err) {
    gi_messages messages = {made_say, log};
    gi_decode_options options = {.codec = codec, .threads = threads, .messages = &messages};
    gi_header header;
    uint8_t *pixels;
    *log = (made_log){{0}, ""};
    gi_status status = made_decode(file, &options, &header, &pixels, err);
    free(pixels);
    return status;
}

// The same status, text and number of messages from all.
static void check_verdict(gi_bytes file, gi_status expected, const char *text) {
    for (int codec = 0; codec < 3; codec++)
        for (int threads = 1; threads <= 4; threads += 3) {
            made_log log;
            gi_error err = {.text = ""};
            gi_status status = verdict(file, choices[codec], threads, &log, &err);
            if (status != expected) fail_msg("codec %d: %s, %s", codec, gi_status_name(status), err.text);
            if (status == GI_OK) assert_int_equal(log.count[GI_FLAW], *text != '\0');
            assert_text_has(status == GI_OK ? log.text : err.text, text);
        }
}

// A gray file of 1000 rows around a stream.
static made_file around(const made_file *stream) {
    made_file file = {NULL, 0};
    made_signature(&file);
    made_header(&file, (made_ihdr){800, 1000, 8, GI_PNG_GRAY, 0});
    made_chunk(&file, "IDAT", stream->data, stream->size);
    made_chunk(&file, "IEND", NULL, 0);
    return file;
}

static void damage_anywhere_in_a_large_file(void **state) {
    (void)state;
    enum { NEED = 801 * 1000 };
    static uint8_t rows[NEED + 100000];
    static const struct {
        size_t size; // bytes in the stream
        size_t at;   // a byte of it set to `value`, or none: 0
        int value;
        size_t cut; // bytes off its end
        gi_status status;
        const char *text;
    } cases[] = {
        {NEED, 0, 0, 0, GI_OK, ""},
        {NEED, 0, 0, 1, GI_ERR_FORMAT, "compressed data ends early"},
        {NEED, 0, 0, 4, GI_ERR_FORMAT, "compressed data ends early"},
        {NEED, 0, 0, 9, GI_ERR_FORMAT, "compressed data ends early"},
        {NEED, 0, 0, 500000, GI_ERR_FORMAT, "compressed data ends early"},
        {NEED - 1, 0, 0, 0, GI_ERR_FORMAT, "compressed data ends early"},
        {NEED, 2 + 60005 * 7, 7, 0, GI_ERR_FORMAT, "compressed data is corrupt"},
        {NEED, 2 + 60005 * 7 + 1, 9, 0, GI_ERR_FORMAT, "compressed data is corrupt"},
        {NEED, 100, 9, 0, GI_ERR_FORMAT, "Adler-32"},
        {NEED, 2 + 5 + 801 * 50, 5, 0, GI_ERR_FORMAT, "no row filter 5"},
        {NEED + 1, 0, 0, 0, GI_OK, "more compressed data"},
        {NEED + 60000, 100, 9, 0, GI_ERR_FORMAT, "Adler-32"},
        {NEED + 60000, 0, 0, 7, GI_ERR_FORMAT, "compressed data ends early"},
        {NEED + 100000, 100, 9, 7, GI_OK, "more compressed data"},
        {NEED, 0, 0x79, 0, GI_ERR_FORMAT, "compressed data is corrupt (bad zlib header)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_file stream = made_zlib(rows, cases[i].size);
        if (cases[i].at || cases[i].value) stream.data[cases[i].at] = (uint8_t)cases[i].value;
        stream.size -= cases[i].cut;
        made_file file = around(&stream);
        check_verdict(made_bytes(&file), cases[i].status, cases[i].text);
        made_free(&file);
        made_free(&stream);
    }
}

// Each byte of the stream left out from there on: a small file, all of it.
static void cut_at_every_byte(void **state) {
    (void)state;
    static const uint8_t rows[23];
    for (int interlace = 0; interlace < 2; interlace++) {
        made_file stream = made_zlib(rows, interlace ? 23 : 20); // 4x4 pixels in 4 or 7 rows
        for (size_t size = 0; size <= stream.size; size++) {
            made_file file = {NULL, 0};
            made_signature(&file);
            made_header(&file, (made_ihdr){4, 4, 8, GI_PNG_GRAY, interlace});
            made_chunk(&file, "IDAT", stream.data, size);
            made_chunk(&file, "IEND", NULL, 0);
            check_verdict(made_bytes(&file), size == stream.size ? GI_OK : GI_ERR_FORMAT,
                          size == stream.size ? "" : "compressed data ends early");
            made_free(&file);
        }
        made_free(&stream);
    }
}

static void closed_early(void **state) {
    (void)state;
    made_file file = random_file((made_ihdr){900, 900, 8, GI_PNG_RGBA, 0}, false, 8192, 9);
    for (int codec = 0; codec < 3; codec++)
        for (uint32_t rows = 0; rows < 900; rows += 130) {
            gi_decode_options options = {.codec = choices[codec], .threads = 2};
            gi_decoder *decoder = NULL;
            gi_error err;
            uint8_t *pixels = malloc(900 * 4 * 900);
            gi_view view = {pixels, 900 * 4, 900, rows, 4, GI_U8, GI_HOST};
            assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err), GI_OK);
            if (rows) assert_int_equal(gi_decoder_rows(decoder, &view, &err), GI_OK);
            gi_decoder_close(decoder);
            free(pixels);
        }
    made_free(&file);
}

// Rows before the damage are delivered; afterwards it is told, and stays so.
static void rows_before_the_damage(void **state) {
    (void)state;
    static uint8_t rows[801 * 1000];
    if (!gi_inflate_is_streamed(GI_CODEC_AUTO)) return;
    for (int threads = 1; threads <= 4; threads += 3) {
        made_file stream = made_zlib(rows, sizeof rows);
        stream.data[stream.size - 1] ^= 1;
        made_file file = around(&stream);
        gi_decode_options options = {.threads = threads};
        gi_decoder *decoder = NULL;
        gi_error err;
        uint8_t pixels[800];
        gi_view view = {pixels, 800, 800, 1, 1, GI_U8, GI_HOST};
        assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err), GI_OK);
        uint32_t good = 0;
        while (gi_decoder_rows(decoder, &view, &err) == GI_OK) good++;
        assert_true(good >= 500 && good < 1000);
        assert_text_has(err.text, "Adler-32");
        assert_int_equal(gi_decoder_rows(decoder, &view, &err), GI_ERR_USAGE);
        gi_decoder_close(decoder);
        made_free(&file);
        made_free(&stream);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_of_every_kind),         cmocka_unit_test(large_of_every_kind),
        cmocka_unit_test(single_rows_of_a_large_file), cmocka_unit_test(wide_rows),
        cmocka_unit_test(chunks_of_one_byte),          cmocka_unit_test(damage_anywhere_in_a_large_file),
        cmocka_unit_test(cut_at_every_byte),           cmocka_unit_test(closed_early),
        cmocka_unit_test(rows_before_the_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
