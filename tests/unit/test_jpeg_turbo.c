// JPEG reading by libjpeg-turbo against the library used directly, and against stb.
#include "codec_files.h"

#ifdef GPUIMG_HAVE_JPEG

#include "codec/jpeg_check.h"
#include "jpeg_library.h"

enum { GUARD = 0xC7 };

typedef struct reading {
    gi_decode_options options;
    uint32_t step; // rows at a time
} reading;

// Decodes into rows with guard bytes between them. Packed pixels, or NULL with *err.
static uint8_t *read_rows(gi_bytes bytes, const reading *how, gi_error *err) {
    gi_decoder *decoder = NULL;
    if (gi_decoder_open(bytes, &how->options, &decoder, err) != GI_OK) return NULL;
    gi_shape shape = gi_decoder_header(decoder)->shape;
    size_t row = gi_row_bytes(shape.width, shape.channels, shape.sample), pitch = row + 19;
    uint8_t *guarded = malloc(pitch * shape.height), *packed = malloc(row * shape.height);
    memset(guarded, GUARD, pitch * shape.height);
    gi_view all = {guarded, pitch, shape.width, shape.height, shape.channels, GI_U8, GI_HOST};
    gi_status status = GI_OK;
    for (uint32_t y = 0; y < shape.height && status == GI_OK; y += how->step) {
        gi_view part = gi_view_rows(&all, y, shape.height - y < how->step ? shape.height - y : how->step);
        status = gi_decoder_rows(decoder, &part, err);
    }
    for (uint32_t y = 0; y < shape.height; y++) {
        for (size_t i = row; i < pitch; i++) assert_int_equal(guarded[y * pitch + i], GUARD);
        memcpy(packed + y * row, guarded + y * pitch, row);
    }
    free(guarded);
    gi_decoder_close(decoder);
    if (status == GI_OK) return packed;
    free(packed);
    return NULL;
}

// Equal to what the library gives, whatever the calls.
static void assert_as_library(gi_bytes bytes, gi_shape shape, bool luma) {
    static const uint32_t steps[] = {1, 7, 1000};
    uint8_t *expected = library_decode(bytes, luma);
    size_t size = (size_t)shape.width * shape.height * (luma ? 1U : (size_t)shape.channels);
    for (size_t i = 0; i < 3; i++) {
        gi_error err;
        reading how = {{.strict = true, .jpeg_luma = luma}, steps[i]};
        uint8_t *pixels = read_rows(bytes, &how, &err);
        if (!pixels) fail_msg("%ux%u: %s", shape.width, shape.height, err.text);
        assert_memory_equal(pixels, expected, size);
        free(pixels);
    }
    free(expected);
}

static void every_small_size_and_subsampling(void **state) {
    (void)state;
    static const int factors[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};
    for (uint32_t side = 1; side <= 40; side++)
        for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++)
            for (int turned = 0; turned < 2; turned++) {
                uint32_t other = (side * 7 + (uint32_t)f) % 40 + 1;
                gi_shape shape = {turned ? other : side, turned ? side : other, 3, GI_U8};
                uint8_t *pixels = library_picture(shape);
                made_file file = library_encode(shape, pixels, (library_job){.h = factors[f][0], .v = factors[f][1]});
                assert_as_library(made_bytes(&file), shape, false);
                assert_as_library(made_bytes(&file), shape, true);
                made_free(&file);
                shape.channels = 1;
                file = library_encode(shape, pixels, (library_job){0});
                assert_as_library(made_bytes(&file), shape, false);
                made_free(&file);
                free(pixels);
            }
}

static void every_kind_of_scan(void **state) {
    (void)state;
    for (int channels = 1; channels <= 3; channels += 2)
        for (unsigned bits = 0; bits < 16; bits++) {
            library_job job = {.h = channels == 3 && bits & 8 ? 2 : 1,
                               .v = channels == 3 && bits & 8 ? 2 : 1,
                               .progressive = bits & 1,
                               .arithmetic = bits & 2,
                               .restart = bits & 4 ? 3 : 0};
            gi_shape shape = {131, 77, channels, GI_U8};
            uint8_t *pixels = library_picture(shape);
            made_file file = library_encode(shape, pixels, job);
            assert_as_library(made_bytes(&file), shape, false);
            if (channels == 3) assert_as_library(made_bytes(&file), shape, true);
            made_free(&file);
            free(pixels);
        }
}

// The inks' way to RGB is ours: the greatest difference from stb's path must stay that of the two inverse transforms
// (and conversions from YCbCr), which round differently by one or two.
static void inks_become_rgb_as_by_stb(void **state) {
    (void)state;
    for (int ycck = 0; ycck < 2; ycck++) {
        gi_shape shape = {67, 45, 4, GI_U8};
        uint8_t *pixels = library_picture(shape);
        made_file file = library_encode(shape, pixels, (library_job){.ycck = ycck});
        gi_error err;
        reading turbo = {{.strict = true, .jpeg_luma = true}, 5}, stb = {{.strict = true, .codec = GI_CODEC_STB}, 5};
        uint8_t *ours = read_rows(made_bytes(&file), &turbo, &err), *theirs = read_rows(made_bytes(&file), &stb, &err);
        assert_non_null(ours);
        assert_non_null(theirs);
        for (size_t i = 0; i < 67 * 45 * 3; i++)
            if (abs(ours[i] - theirs[i]) > 3) fail_msg("%zu: %d, by stb %d", i, ours[i], theirs[i]);
        free(ours);
        free(theirs);
        free(pixels);
        made_free(&file);
    }
}

static void ahead_is_the_same(void **state) {
    (void)state;
    static const uint32_t steps[] = {1, 33, 100000};
    for (unsigned bits = 0; bits < 8; bits++) {
        gi_shape shape = {bits & 1 ? 9001 : 1003, bits & 1 ? 61 : 707, 3, GI_U8};
        uint8_t *pixels = library_picture(shape);
        made_file file = library_encode(shape, pixels, (library_job){.h = 2, .v = 2, .progressive = bits & 2});
        bool luma = bits & 4;
        uint8_t *expected = library_decode(made_bytes(&file), luma);
        size_t size = (size_t)shape.width * shape.height * (luma ? 1 : 3);
        for (size_t i = 0; i < 3; i++)
            for (int threads = 0; threads <= 4; threads += 2) {
                gi_error err;
                reading how = {{.strict = true, .jpeg_luma = luma, .threads = threads}, steps[i]};
                uint8_t *got = read_rows(made_bytes(&file), &how, &err);
                assert_non_null(got);
                assert_memory_equal(got, expected, size);
                free(got);
            }
        free(expected);
        free(pixels);
        made_free(&file);
    }
}

static void ahead_can_be_left(void **state) {
    (void)state;
    gi_shape shape = {1000, 700, 1, GI_U8};
    uint8_t *pixels = library_picture(shape);
    made_file file = library_encode(shape, pixels, (library_job){0});
    for (uint32_t rows = 0; rows <= 700; rows += 100) {
        gi_decode_options options = {.threads = 2};
        gi_decoder *decoder = NULL;
        assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, NULL), GI_OK);
        gi_view part = gi_view_packed(pixels, (gi_shape){1000, rows, 1, GI_U8}, GI_HOST);
        assert_int_equal(gi_decoder_rows(decoder, &part, NULL), GI_OK);
        gi_decoder_close(decoder);
    }
    made_free(&file);
    free(pixels);
}

// One warning, however it is read; the pixels above the damage are those of the sound file.
static void damage_is_told_once(void **state) {
    (void)state;
    gi_shape shape = {1003, 707, 3, GI_U8};
    uint8_t *pixels = library_picture(shape);
    made_file file = library_encode(shape, pixels, (library_job){.h = 2, .v = 2});
    uint8_t *sound = library_decode(made_bytes(&file), false);
    memset(file.data + file.size * 3 / 4, 0, 20); // within the scan: the walk finds nothing
    memcpy(file.data + file.size * 7 / 8, "\xFF\xD9", 2);
    file.size = file.size * 7 / 8 + 2;
    static const uint32_t steps[] = {1, 33, 100000};
    for (size_t i = 0; i < 3; i++)
        for (int threads = 1; threads <= 2; threads++) {
            made_log log = {{0}, ""};
            gi_messages messages = {made_say, &log};
            gi_error err;
            reading how = {{.threads = threads, .messages = &messages}, steps[i]};
            uint8_t *got = read_rows(made_bytes(&file), &how, &err);
            assert_non_null(got);
            assert_int_equal(log.count[GI_WARNING], 1);
            assert_text_has(log.text, "damaged JPEG, decoded as far as it goes: the image data");
            assert_memory_equal(got, sound, (size_t)shape.width * 3 * 400);
            free(got);
            how.options.strict = true;
            assert_null(read_rows(made_bytes(&file), &how, &err));
            assert_int_equal(err.status, GI_ERR_FORMAT);
            assert_text_has(err.text, "damaged JPEG: the image data");
        }
    free(sound);
    free(pixels);
    made_free(&file);
}

// Segments that the library does not know, and those that gi_jpeg_check skips, never reach it.
static void what_does_not_take_part_is_skipped(void **state) {
    (void)state;
    gi_shape shape = {40, 30, 3, GI_U8};
    uint8_t *pixels = library_picture(shape);
    made_file file = library_encode(shape, pixels, (library_job){.h = 2, .v = 2, .progressive = true}), odd = {NULL, 0};
    uint8_t *expected = library_decode(made_bytes(&file), false);
    static const uint8_t extra[] = {0xFF, 0xF7, 0, 4, 1, 2, 0xFF, 0xFF, 0xD3, 0xFF, 0x01, 0xFF, 0xE2, 0, 3, 9};
    size_t at = 0, done = 0, skipped = 0;
    gi_jpeg_segment segment;
    while (gi_jpeg_next_segment(made_bytes(&file), &at, &segment, &skipped)) {
        if (segment.code == GI_JPEG_SOS) at = gi_jpeg_scan_end(made_bytes(&file), at);
        made_put(&odd, file.data + done, at - done);
        if (segment.code != GI_JPEG_EOI) made_put(&odd, extra, sizeof extra);
        done = at;
    }
    gi_error err;
    reading how = {{.strict = true}, 8};
    uint8_t *got = read_rows(made_bytes(&odd), &how, &err);
    if (!got) fail_msg("%s", err.text);
    assert_memory_equal(got, expected, 40 * 30 * 3);
    free(got);
    free(expected);
    free(pixels);
    made_free(&odd);
    made_free(&file);
}

static void stb_refuses_arithmetic_coding(void **state) {
    (void)state;
    gi_shape shape = {40, 30, 3, GI_U8};
    uint8_t *pixels = library_picture(shape);
    made_file file = library_encode(shape, pixels, (library_job){.arithmetic = true});
    gi_error err;
    reading how = {{.codec = GI_CODEC_STB}, 8};
    assert_null(read_rows(made_bytes(&file), &how, &err));
    assert_int_equal(err.status, GI_ERR_UNSUPPORTED);
    assert_text_has(err.text, "arithmetic");
    how.options.codec = GI_CODEC_ZLIB;
    uint8_t *got = read_rows(made_bytes(&file), &how, &err);
    assert_non_null(got);
    free(got);
    // The conditioning of tables is checked.
    for (size_t i = 0; i + 1 < file.size; i++)
        if (file.data[i] == 0xFF && file.data[i + 1] == GI_JPEG_DAC) file.data[i + 5] = 0x01; // L 1, U 0
    assert_null(read_rows(made_bytes(&file), &how, &err));
    assert_text_has(err.text, "conditioning");
    free(pixels);
    made_free(&file);
}

// 60000x60000 pixels of two zero bits a block: rows come without a buffer that grows with the height.
static void no_limit_for_rows(void **state) {
    (void)state;
    gi_shape shape = {8, 8, 1, GI_U8};
    uint8_t block[64];
    memset(block, 128, sizeof block);
    made_file file = library_encode(shape, block, (library_job){0});
    size_t at = 0, skipped = 0;
    gi_jpeg_segment segment = {0};
    while (segment.code != GI_JPEG_SOS) {
        assert_true(gi_jpeg_next_segment(made_bytes(&file), &at, &segment, &skipped));
        if (segment.code != GI_JPEG_SOF0) continue;
        gi_put_be16(file.data + segment.offset + 3, 60000);
        gi_put_be16(file.data + segment.offset + 5, 60000);
    }
    // The standard's tables: DC difference 0 is 00, end of block 1010.
    size_t bytes = (size_t)7500 * 7500 * 6 / 8;
    uint8_t *zeros = malloc(bytes);
    for (size_t i = 0; i < bytes; i += 3) memcpy(zeros + i, "\x28\xA2\x8A", bytes - i < 3 ? bytes - i : 3);
    file.size = at;
    made_put(&file, zeros, bytes);
    made_put(&file, "\xFF\xD9", 2);
    free(zeros);
    gi_decoder *decoder = NULL;
    gi_error err;
    gi_decode_options options = {.threads = 2, .codec = GI_CODEC_STB};
    assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "2^30");
    options.codec = GI_CODEC_AUTO;
    uint8_t *rows = malloc(100 * 60000);
    if (gi_decoder_open(made_bytes(&file), &options, &decoder, &err) != GI_OK) fail_msg("%s", err.text);
    gi_view part = gi_view_packed(rows, (gi_shape){60000, 100, 1, GI_U8}, GI_HOST);
    assert_int_equal(gi_decoder_rows(decoder, &part, &err), GI_OK);
    for (size_t i = 0; i < 100 * 60000; i++)
        if (rows[i] != 128) fail_msg("%zu is %d", i, rows[i]);
    gi_decoder_close(decoder);
    options.max_pixels = (uint64_t)1 << 30;
    assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err), GI_ERR_LIMIT);
    free(rows);
    made_free(&file);
}

// What the library refuses, stb decodes as before: here a side over its 65500 pixels.
static void stb_does_what_the_library_cannot(void **state) {
    (void)state;
    gi_shape shape = {65535, 1, 1, GI_U8};
    uint8_t *pixels = library_picture(shape);
    made_file file = {NULL, 0};
    gi_sink sink = made_sink(&file);
    gi_encode_options options = {.format = GI_FORMAT_JPEG, .quality = 100};
    gi_encoder *encoder = NULL;
    gi_error err;
    gi_view row = gi_view_packed(pixels, shape, GI_HOST);
    assert_int_equal(gi_encoder_open(shape, &options, &sink, &encoder, &err), GI_OK);
    assert_int_equal(gi_encoder_rows(encoder, &row, &err), GI_OK);
    assert_int_equal(gi_encoder_finish(encoder, &err), GI_OK);
    gi_encoder_close(encoder);
    reading how = {{.strict = true, .jpeg_luma = true}, 1}; // stb writes gray as YCbCr
    uint8_t *got = read_rows(made_bytes(&file), &how, &err);
    assert_non_null(got);
    for (size_t i = 0; i < 65535; i++)
        if (abs(got[i] - pixels[i]) > 3) fail_msg("%zu: %d for %d", i, got[i], pixels[i]);
    free(got);
    free(pixels);
    made_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_size_and_subsampling),
        cmocka_unit_test(every_kind_of_scan),
        cmocka_unit_test(inks_become_rgb_as_by_stb),
        cmocka_unit_test(ahead_is_the_same),
        cmocka_unit_test(ahead_can_be_left),
        cmocka_unit_test(damage_is_told_once),
        cmocka_unit_test(what_does_not_take_part_is_skipped),
        cmocka_unit_test(stb_refuses_arithmetic_coding),
        cmocka_unit_test(no_limit_for_rows),
        cmocka_unit_test(stb_does_what_the_library_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 77; } // nothing to test

#endif
