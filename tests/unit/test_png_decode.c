// PNG to pixels: every colour type, depth, filter, interlacing and transparency against a decoder of a few lines that
// reads single bits, and the damage that only the pixels show.
#include "codec/inflate.h"
#include "codec/png_check.h"
#include "codec_files.h"

enum { MAX_BYTES = 200000 };

typedef struct kind {
    made_ihdr header;
    int palette;      // entries of PLTE
    int transparency; // bytes of tRNS
    int wanted;       // depth that is asked for
} kind;

static uint32_t random_state;
static uint8_t random_byte(void) {
    random_state = random_state * 1664525U + 1013904223U;
    return (uint8_t)(random_state >> 24);
}

static size_t samples_of(int colour) { return colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1; }

// Bytes of filtered rows for all passes, with random filters and contents. Their meaning is found by `unfiltered`.
static size_t random_rows(const kind *k, uint8_t *rows, size_t starts[7]) {
    gi_png_info info = {.width = k->header.width,
                        .height = k->header.height,
                        .depth = k->header.depth,
                        .colour = k->header.colour,
                        .interlaced = k->header.interlace};
    size_t at = 0;
    for (int i = 0; i < (info.interlaced ? 7 : 1); i++) {
        gi_png_pass pass = {info.width, info.height, 0, 0, 1, 1};
        if (info.interlaced) pass = gi_png_pass_of(&info, i);
        starts[i] = at;
        for (uint32_t y = 0; pass.width && y < pass.height; y++) {
            rows[at++] = random_byte() % 5;
            for (size_t n = gi_png_row_bytes(&info, pass.width); n > 0; n--) {
                // Few values, so that a colour key is met.
                uint8_t value = random_byte();
                rows[at++] = value & 0x11;
            }
        }
    }
    assert_true(at <= MAX_BYTES);
    return at;
}

// Undoes the filters of one pass in place, straight from the specification.
static void unfiltered(uint8_t *rows, size_t row_bytes, uint32_t height, size_t pixel) {
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = rows + y * (row_bytes + 1) + 1, *above = y ? row - row_bytes - 1 : NULL;
        for (size_t i = 0; i < row_bytes; i++) {
            int a = i >= pixel ? row[i - pixel] : 0, b = above ? above[i] : 0,
                c = above && i >= pixel ? above[i - pixel] : 0;
            int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
            int predicted[5] = {0, a, b, (a + b) / 2, pa <= pb && pa <= pc ? a : pb <= pc ? b : c};
            row[i] = (uint8_t)(row[i] + predicted[row[-1]]);
        }
    }
}

static unsigned sample_at(const uint8_t *row, size_t index, int depth) {
    unsigned value = 0;
    for (size_t bit = index * (size_t)depth; bit < (index + 1) * (size_t)depth; bit++)
        value = value << 1 | ((unsigned)row[bit / 8] >> (7 - bit % 8) & 1U);
    return value;
}

static const uint8_t palette[48] = {1, 2, 3, 40, 50, 60, 250, 251, 252, 9, 8, 7, 100, 101, 102};
static const uint8_t transparency[8] = {0, 0x11, 0x11, 0x10, 0x01, 0x00};

// Samples as they are delivered: of 16 bits only where they are stored so.
static void put_sample(const kind *k, uint64_t value, unsigned top, uint8_t *out, size_t index) {
    uint16_t word = (uint16_t)value;
    if (k->header.depth == 16 && k->wanted != 8)
        memcpy(out + 2 * index, &word, 2);
    else
        out[index] = (uint8_t)((2 * value * 255 + top) / (2 * top)); // rounded half up
}

static void expect_pixel(const kind *k, const uint8_t *row, size_t x, uint8_t out[8]) {
    int depth = k->header.depth;
    size_t samples = samples_of(k->header.colour);
    unsigned top = (1U << depth) - 1, values[4];
    bool keyed = k->transparency > 0;
    for (size_t s = 0; s < samples; s++) values[s] = sample_at(row, x * samples + s, depth);
    if (k->header.colour == 3) {
        memset(out, 0, 3);
        if ((int)values[0] < k->palette) memcpy(out, palette + 3 * values[0], 3);
        out[3] = (int)values[0] < k->transparency ? transparency[values[0]] : 255;
        return;
    }
    for (size_t s = 0; s < samples; s++) {
        put_sample(k, values[s], top, out, s);
        unsigned key = gi_be16(transparency + 2 * s) & top;
        keyed = keyed && values[s] == key;
    }
    if (k->transparency) put_sample(k, keyed ? 0 : top, top, out, samples);
}

static made_file file_of(const kind *k, const uint8_t *rows, size_t size) {
    made_file file = {NULL, 0}, stream = made_zlib(rows, size);
    made_signature(&file);
    made_header(&file, k->header);
    if (k->palette) made_chunk(&file, "PLTE", palette, 3 * (size_t)k->palette);
    if (k->transparency) made_chunk(&file, "tRNS", transparency, (size_t)k->transparency);
    // Several chunks, one of them empty.
    size_t third = stream.size / 3;
    made_chunk(&file, "IDAT", stream.data, third);
    made_chunk(&file, "IDAT", NULL, 0);
    made_chunk(&file, "IDAT", stream.data + third, stream.size - third);
    made_chunk(&file, "IEND", NULL, 0);
    made_free(&stream);
    return file;
}

static void check_kind(const kind *k) {
    static uint8_t rows[MAX_BYTES];
    size_t starts[7], size = random_rows(k, rows, starts);
    made_file file = file_of(k, rows, size);
    gi_png_info info = {.width = k->header.width,
                        .height = k->header.height,
                        .depth = k->header.depth,
                        .colour = k->header.colour,
                        .interlaced = k->header.interlace};
    gi_decode_options options = {.auto_orient = true, .depth = k->wanted};
    gi_header header;
    gi_error err;
    uint8_t *pixels;
    gi_status status = made_decode(made_bytes(&file), &options, &header, &pixels, &err);
    if (status != GI_OK) fail_msg("%s", err.text);
    size_t channels = k->header.colour == 3 ? 3 : samples_of(k->header.colour);
    if (k->transparency) channels++;
    bool words = k->header.depth == 16 && k->wanted != 8;
    assert_int_equal(header.shape.sample, words ? GI_U16 : GI_U8);
    assert_int_equal(header.shape.channels, channels);
    assert_int_equal(header.bits, k->header.depth);
    for (int i = 0; i < (info.interlaced ? 7 : 1); i++) {
        gi_png_pass pass = {info.width, info.height, 0, 0, 1, 1};
        if (info.interlaced) pass = gi_png_pass_of(&info, i);
        if (!pass.width) continue;
        size_t row_bytes = gi_png_row_bytes(&info, pass.width);
        size_t pixel = (samples_of(info.colour) * (size_t)info.depth + 7) / 8;
        unfiltered(rows + starts[i], row_bytes, pass.height, pixel);
        for (uint32_t y = 0; y < pass.height; y++)
            for (uint32_t x = 0; x < pass.width; x++) {
                uint8_t expected[10];
                expect_pixel(k, rows + starts[i] + y * (row_bytes + 1) + 1, x, expected);
                size_t at = (size_t)(pass.y0 + y * pass.dy) * info.width + pass.x0 + x * pass.dx;
                assert_memory_equal(pixels + (at * channels << words), expected, channels << words);
            }
    }
    free(pixels);
    made_free(&file);
}

static void every_kind(void **state) {
    (void)state;
    static const uint8_t colours[5] = {0, 2, 3, 4, 6}, depths[5] = {1, 2, 4, 8, 16};
    static const uint32_t sizes[][2] = {{1, 1}, {15, 1}, {1, 15}, {17, 31}, {5, 5}, {2, 9}};
    random_state = 20240601;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int c = 0; c < 5; c++)
            for (int d = 0; d < 5; d++)
                for (int interlace = 0; interlace < 2; interlace++)
                    for (int keyed = 0; keyed < 2; keyed++) {
                        int colour = colours[c], depth = depths[d];
                        if (depth < 8 && colour != 0 && colour != 3) continue;
                        if (depth == 16 && colour == 3) continue;
                        if (keyed && colour >= 4) continue;
                        kind k = {{sizes[s][0], sizes[s][1], depth, colour, interlace}, 0, 0, 0};
                        if (colour == 3) k.palette = 2; // indices past it are met: they are black and opaque
                        if (keyed) k.transparency = colour == 0 ? 2 : colour == 2 ? 6 : 1;
                        check_kind(&k);
                        k.wanted = 8;
                        if (depth == 16) check_kind(&k);
                    }
}

static void all_16_bit_values_round_correctly(void **state) {
    (void)state;
    static uint8_t rows[256 * 513];
    for (unsigned v = 0; v < 65536; v++) gi_put_be16(rows + v / 256 * 513 + 1 + v % 256 * 2, v);
    made_file file = made_png((made_ihdr){256, 256, 16, GI_PNG_GRAY, 0}, rows, sizeof rows);
    made_log log = {{0}, ""};
    gi_messages messages = {made_say, &log};
    gi_decode_options options = {.depth = 8, .messages = &messages};
    gi_header header;
    uint8_t *pixels;
    assert_int_equal(made_decode(made_bytes(&file), &options, &header, &pixels, NULL), GI_OK);
    assert_int_equal(header.shape.sample, GI_U8);
    for (unsigned v = 0; v < 65536; v++) assert_int_equal(pixels[v], (v * 255U + 32767U) / 65535U);
    assert_int_equal(log.count[GI_NOTE], 1);
    assert_text_has(log.text, "16-bit");
    free(pixels);
    made_free(&file);
}

static void palette_index_past_plte(void **state) {
    (void)state;
    static const uint8_t rows[] = {0, 0, 1, 5, 0, 200, 2, 0};
    kind k = {{3, 2, 8, GI_PNG_PALETTE, 0}, 3, 2, 0};
    made_file file = file_of(&k, rows, sizeof rows);
    made_log log = {{0}, ""};
    gi_messages messages = {made_say, &log};
    gi_decode_options options = {.messages = &messages};
    gi_header header;
    gi_error err;
    uint8_t *pixels;
    assert_int_equal(made_decode(made_bytes(&file), &options, &header, &pixels, &err), GI_OK);
    assert_int_equal(log.count[GI_WARNING], 1); // once, though two rows have such an index
    assert_text_has(log.text, "palette index 5");
    static const uint8_t black[4] = {0, 0, 0, 255};
    assert_memory_equal(pixels + 8, black, 4);
    assert_memory_equal(pixels + 12, black, 4);
    free(pixels);
    options.strict = true;
    assert_int_equal(made_decode(made_bytes(&file), &options, &header, &pixels, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "PLTE has 3 colours");
    made_free(&file);
}

// A 4x4 gray file around a zlib stream.
static gi_status decode_stream(const made_file *stream, made_log *log, gi_error *err) {
    made_file file = {NULL, 0};
    made_signature(&file);
    made_header(&file, (made_ihdr){4, 4, 8, GI_PNG_GRAY, 0});
    made_chunk(&file, "IDAT", stream->data, stream->size);
    made_chunk(&file, "IEND", NULL, 0);
    gi_messages messages = {made_say, log};
    gi_decode_options options = {.messages = &messages};
    gi_header header;
    uint8_t *pixels;
    gi_status status = made_decode(made_bytes(&file), &options, &header, &pixels, err);
    free(pixels);
    made_free(&file);
    return status;
}

static void streams_short_long_and_wrong(void **state) {
    (void)state;
    static uint8_t rows[100000]; // 20 bytes are needed
    made_log log = {{0}, ""};
    gi_error err;
    made_file stream = made_zlib(rows, 20);
    assert_int_equal(decode_stream(&stream, &log, &err), GI_OK);
    for (size_t cut = 1; cut < stream.size; cut++) {
        stream.size -= cut;
        assert_int_equal(decode_stream(&stream, &log, &err), GI_ERR_FORMAT);
        if (stream.size > 2) assert_text_has(err.text, "ends early");
        stream.size += cut;
    }
    stream.data[stream.size - 1] ^= 1;
    assert_int_equal(decode_stream(&stream, &log, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "Adler-32");
    made_free(&stream);

    stream = made_zlib(rows, 19);
    assert_int_equal(decode_stream(&stream, &log, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "compressed data ends early");
    made_free(&stream);

    static const size_t longer[] = {21, 1000, 60000, 100000};
    for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++) {
        log = (made_log){{0}, ""};
        stream = made_zlib(rows, longer[i]);
        assert_int_equal(decode_stream(&stream, &log, &err), GI_OK);
        assert_int_equal(log.count[GI_FLAW], 1);
        made_free(&stream);
    }

    stream = made_zlib(rows, 20);
    stream.data[2] = 7; // block type 3
    assert_int_equal(decode_stream(&stream, &log, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "corrupt");
    stream.data[2] = 1;
    made_put(&stream, "behind the stream", 17);
    assert_int_equal(decode_stream(&stream, &log, &err), GI_OK);
    stream.data[0] = 0x79; // no deflate
    assert_int_equal(decode_stream(&stream, &log, &err), GI_ERR_FORMAT);
    made_free(&stream);
}

static void unknown_filter(void **state) {
    (void)state;
    static const uint8_t rows[] = {0, 1, 2, 5, 3, 4};
    made_file file = made_png((made_ihdr){2, 2, 8, GI_PNG_GRAY, 0}, rows, sizeof rows);
    gi_decode_options options = {0};
    gi_header header;
    gi_error err;
    uint8_t *pixels;
    assert_int_equal(made_decode(made_bytes(&file), &options, &header, &pixels, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "no row filter 5");
    made_free(&file);
}

static gi_status open_size(made_ihdr h, gi_codec_choice codec, uint64_t max_pixels, gi_error *err) {
    static const uint8_t rows[8];
    made_file file = made_png(h, rows, sizeof rows);
    gi_decode_options options = {.max_pixels = max_pixels, .codec = codec};
    gi_decoder *decoder = NULL;
    gi_status status = gi_decoder_open(made_bytes(&file), &options, &decoder, err);
    gi_decoder_close(decoder);
    made_free(&file);
    return status;
}

static void bombs_are_refused_from_the_header(void **state) {
    (void)state;
    gi_error err;
    assert_int_equal(open_size((made_ihdr){60000, 60000, 8, GI_PNG_RGB, 0}, GI_CODEC_AUTO, 1 << 30, &err),
                     GI_ERR_LIMIT);
    assert_text_has(err.text, "60000x60000 is 3600000000 pixels, more than the limit of 1073741824");
    // What needs the whole image in one buffer has a limit of its own; elsewhere it is the data that are too few.
    assert_int_equal(open_size((made_ihdr){60000, 60000, 8, GI_PNG_RGB, 0}, GI_CODEC_STB, 0, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "2^30 bytes");
    if (gi_inflate_is_streamed(GI_CODEC_AUTO)) {
        assert_int_equal(open_size((made_ihdr){60000, 60000, 8, GI_PNG_RGB, 0}, GI_CODEC_AUTO, 0, &err), GI_ERR_FORMAT);
        assert_text_has(err.text, "compressed data ends early");
    }
    assert_int_equal(open_size((made_ihdr){0x7FFFFFFF, 0x7FFFFFFF, 16, GI_PNG_RGBA, 1}, GI_CODEC_AUTO, 0, &err),
                     GI_ERR_LIMIT);
    assert_int_equal(open_size((made_ihdr){30000, 30000, 8, GI_PNG_GRAY, 0}, GI_CODEC_AUTO, 1 << 30, &err),
                     GI_ERR_FORMAT);
    assert_text_has(err.text, "compressed data ends early");
    assert_int_equal(open_size((made_ihdr){2, 2, 8, GI_PNG_GRAY, 0}, GI_CODEC_AUTO, 3, &err), GI_ERR_LIMIT);
    assert_int_equal(open_size((made_ihdr){2, 2, 8, GI_PNG_GRAY, 0}, GI_CODEC_AUTO, 4, &err), GI_OK);
}

static void rows_are_counted(void **state) {
    (void)state;
    static const uint8_t rows[] = {0, 1, 2, 0, 3, 4};
    made_file file = made_png((made_ihdr){2, 2, 8, GI_PNG_GRAY, 0}, rows, sizeof rows);
    gi_decode_options options = {0};
    gi_decoder *decoder = NULL;
    gi_error err;
    uint8_t pixels[8];
    assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err), GI_OK);
    gi_view view = {pixels, 2, 2, 3, 1, GI_U8, GI_HOST};
    assert_int_equal(gi_decoder_rows(decoder, &view, &err), GI_ERR_USAGE);
    view.height = 0;
    assert_int_equal(gi_decoder_rows(decoder, &view, &err), GI_OK);
    view.height = 2;
    view.channels = 3;
    assert_int_equal(gi_decoder_rows(decoder, &view, &err), GI_ERR_USAGE);
    view.channels = 1;
    assert_int_equal(gi_decoder_rows(decoder, &view, &err), GI_OK);
    view.height = 1;
    assert_int_equal(gi_decoder_rows(decoder, &view, &err), GI_ERR_USAGE);
    assert_memory_equal(pixels, "\1\2\3\4", 4);
    gi_decoder_close(decoder);
    made_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(all_16_bit_values_round_correctly),
        cmocka_unit_test(palette_index_past_plte),
        cmocka_unit_test(streams_short_long_and_wrong),
        cmocka_unit_test(unknown_filter),
        cmocka_unit_test(bombs_are_refused_from_the_header),
        cmocka_unit_test(rows_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
