// Encoders through their interface, read back by the decoders.
#include <pthread.h>

#include "codec/jpeg_check.h"
#include "codec/png_check.h"
#include "codec_files.h"

static const gi_encode_options png_defaults = {.format = GI_FORMAT_PNG, .quality = 90, .png_level = 6};
static const gi_encode_options jpeg_defaults = {
    .format = GI_FORMAT_JPEG, .quality = 90, .png_level = 6, .background = {255, 255, 255}};

// A smooth picture with some noise. u16 samples use all bits.
static uint8_t *picture(gi_shape shape) {
    size_t size;
    assert_int_equal(gi_shape_bytes(shape, &size, NULL), GI_OK);
    uint8_t *pixels = malloc(size);
    assert_non_null(pixels);
    uint32_t noise = 12345;
    size_t row = gi_row_bytes(shape.width, shape.channels, shape.sample);
    for (size_t i = 0; i < size; i++) {
        noise = noise * 1664525U + 1013904223U;
        pixels[i] = (uint8_t)(i % row * 200 / row + i / row + (noise >> 28));
    }
    return pixels;
}

// Encodes in bands of 5 rows.
static gi_status encode(gi_shape shape, const uint8_t *pixels, const gi_encode_options *options, const gi_sink *sink,
                        gi_error *err) {
    gi_encoder *encoder = NULL;
    gi_status status = gi_encoder_open(shape, options, sink, &encoder, err);
    gi_view all = gi_view_packed((void *)(uintptr_t)pixels, shape, GI_HOST);
    for (uint32_t y = 0; y < shape.height && status == GI_OK; y += 5) {
        gi_view part = gi_view_rows(&all, y, shape.height - y < 5 ? shape.height - y : 5);
        status = gi_encoder_rows(encoder, &part, err);
    }
    if (status == GI_OK) status = gi_encoder_finish(encoder, err);
    gi_encoder_close(encoder);
    return status;
}

static made_file encoded(gi_shape shape, const uint8_t *pixels, const gi_encode_options *options) {
    made_file file = {NULL, 0};
    gi_sink sink = made_sink(&file);
    gi_error err;
    if (encode(shape, pixels, options, &sink, &err) != GI_OK) fail_msg("%s", err.text);
    return file;
}

static void png_is_lossless(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {15, 1}, {1, 15}, {17, 31}, {200, 120}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int channels = 1; channels <= 4; channels++)
            for (int level = 0; level <= 9; level++) {
                gi_shape shape = {sizes[s][0], sizes[s][1], channels, GI_U8};
                uint8_t *pixels = picture(shape), *read;
                gi_encode_options options = png_defaults;
                options.png_level = level;
                made_file file = encoded(shape, pixels, &options);
                gi_decode_options strict = {.strict = true, .auto_orient = true};
                gi_header header;
                gi_error err;
                assert_int_equal(made_decode(made_bytes(&file), &strict, &header, &read, &err), GI_OK);
                assert_int_equal(header.shape.channels, channels);
                assert_memory_equal(read, pixels, (size_t)shape.width * shape.height * (size_t)channels);
                free(read);
                free(pixels);
                made_free(&file);
            }
}

static void png_of_16_bits(void **state) {
    (void)state;
    for (int channels = 1; channels <= 4; channels++)
        for (int level = 0; level <= 9; level += 3) {
            gi_shape shape = {19, 7, channels, GI_U16};
            uint8_t *pixels = picture(shape), *read;
            gi_encode_options encode = png_defaults;
            encode.png_level = level;
            made_file file = encoded(shape, pixels, &encode);
            gi_decode_options options = {.strict = true};
            gi_header header;
            gi_error err;
            size_t samples = (size_t)19 * 7 * (size_t)channels;
            assert_int_equal(made_decode(made_bytes(&file), &options, &header, &read, &err), GI_OK);
            assert_int_equal(header.bits, 16);
            assert_int_equal(header.shape.sample, GI_U16);
            assert_memory_equal(read, pixels, 2 * samples);
            free(read);
            options.depth = 8;
            assert_int_equal(made_decode(made_bytes(&file), &options, &header, &read, &err), GI_OK);
            assert_int_equal(header.bits, 16);
            assert_int_equal(header.shape.sample, GI_U8);
            for (size_t i = 0; i < samples; i++) {
                uint16_t value;
                memcpy(&value, pixels + 2 * i, 2);
                assert_int_equal(read[i], (value * 255U + 32767U) / 65535U);
            }
            free(read);
            free(pixels);
            made_free(&file);
        }
}

// A file of 8 bits delivered in 16, whatever it is and however it lies: 257 times what it is in 8.
static void eight_bits_widen(void **state) {
    (void)state;
    for (int channels = 1; channels <= 4; channels++)
        for (int orientation = 1; orientation <= 8; orientation++)
            for (int jpeg = 0; jpeg < 2; jpeg++) {
                gi_shape shape = {37, 41, channels, GI_U8};
                uint8_t *pixels = picture(shape), *read, *wide;
                gi_encode_options encode = jpeg ? jpeg_defaults : png_defaults;
                encode.orientation = orientation;
                made_file file = encoded(shape, pixels, &encode);
                gi_decode_options options = {.strict = true, .auto_orient = true, .depth = 8};
                gi_header header, wider;
                gi_error err;
                assert_int_equal(made_decode(made_bytes(&file), &options, &header, &read, &err), GI_OK);
                options.depth = 16;
                assert_int_equal(made_decode(made_bytes(&file), &options, &wider, &wide, &err), GI_OK);
                assert_int_equal(header.shape.sample, GI_U8);
                assert_int_equal(wider.shape.sample, GI_U16);
                assert_int_equal(wider.bits, 8);
                assert_int_equal(wider.shape.width, header.shape.width);
                size_t samples = (size_t)37 * 41 * (size_t)header.shape.channels;
                for (size_t i = 0; i < samples; i++) {
                    uint16_t value;
                    memcpy(&value, wide + 2 * i, 2);
                    assert_int_equal(value, read[i] * 257);
                }
                free(wide);
                free(read);
                free(pixels);
                made_free(&file);
            }
}

// A JPEG of 16-bit samples is that of the same samples rounded to 8 bits; with alpha, composited before they are
// rounded, once.
static void jpeg_of_16_bits(void **state) {
    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        gi_shape shape = {19, 7, channels, GI_U16};
        uint8_t *pixels = picture(shape), *unaligned = malloc(19 * 7 * 8 + 1), flat[19 * 7 * 3];
        gi_encode_options encode = jpeg_defaults;
        memcpy(encode.background, (uint8_t[3]){10, 10, 10}, 3);
        int colours = channels <= 2 ? 1 : 3;
        for (size_t i = 0; i < 19 * 7; i++) {
            uint16_t pixel[4];
            memcpy(pixel, pixels + 2 * i * (size_t)channels, 2 * (size_t)channels);
            double alpha = channels % 2 == 0 ? pixel[channels - 1] / 65535.0 : 1;
            for (int c = 0; c < colours; c++)
                flat[i * (size_t)colours + (size_t)c] = (uint8_t)((pixel[c] * alpha + 2570 * (1 - alpha)) / 257 + 0.5);
        }
        made_log log = {{0}, ""};
        gi_messages messages = {made_say, &log};
        encode.messages = &messages;
        memcpy(unaligned + 1, pixels, (size_t)19 * 7 * 2 * (size_t)channels);
        made_file wide = encoded(shape, unaligned + 1, &encode);
        assert_int_equal(log.count[GI_NOTE], channels % 2 == 0 ? 2 : 1);
        encode.messages = NULL;
        made_file narrow = encoded((gi_shape){19, 7, colours, GI_U8}, flat, &encode);
        assert_int_equal(wide.size, narrow.size);
        assert_memory_equal(wide.data, narrow.data, wide.size);
        made_free(&wide);
        made_free(&narrow);
        free(unaligned);
        free(pixels);
    }
}

static void jpeg_is_close(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {15, 1}, {1, 15}, {17, 31}, {200, 120}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int channels = 1; channels <= 3; channels += 2)
            for (int quality = 1; quality <= 100; quality += 33) {
                gi_shape shape = {sizes[s][0], sizes[s][1], channels, GI_U8};
                uint8_t *pixels = picture(shape), *read;
                gi_encode_options options = jpeg_defaults;
                options.quality = quality;
#ifdef GPUIMG_HAVE_JPEG
                if (quality > 90) options.subsampling = GI_SUBSAMPLING_444; // as stb does by itself
#endif
                made_file file = encoded(shape, pixels, &options);
                gi_decode_options strict = {.strict = true, .jpeg_luma = channels == 1};
                gi_header header;
                gi_error err;
                assert_int_equal(made_decode(made_bytes(&file), &strict, &header, &read, &err), GI_OK);
                assert_int_equal(header.shape.width, shape.width);
                assert_int_equal(header.shape.height, shape.height);
                assert_int_equal(header.shape.channels, channels);
                double sum = 0;
                size_t count = (size_t)shape.width * shape.height * (size_t)channels;
                for (size_t i = 0; i < count; i++) sum += abs(read[i] - pixels[i]);
                // Gray at the best quality is near exact; three noisy channels share subsampled chroma.
                double bound = quality == 100 ? (channels == 1 ? 1.0 : 4.0) : 60.0;
                if (!(sum / (double)count <= bound))
                    fail_msg("quality %d: mean error %g", quality, sum / (double)count);
                free(read);
                free(pixels);
                made_free(&file);
            }
}

static void orientation_is_kept(void **state) {
    (void)state;
    gi_shape shape = {16, 8, 3, GI_U8};
    uint8_t *pixels = picture(shape), *read;
    for (int format = GI_FORMAT_PNG; format <= GI_FORMAT_JPEG; format++)
        for (int orientation = 0; orientation <= 8; orientation++) {
            gi_encode_options options = format == GI_FORMAT_PNG ? png_defaults : jpeg_defaults;
            options.orientation = orientation;
            made_file file = encoded(shape, pixels, &options);
            gi_header header;
            gi_error err;
            gi_decode_options as_stored = {.strict = true}, upright = {.strict = true, .auto_orient = true};
            assert_int_equal(made_decode(made_bytes(&file), &as_stored, &header, &read, &err), GI_OK);
            assert_int_equal(header.orientation, orientation ? orientation : 1);
            assert_int_equal(header.shape.width, 16);
            free(read);
            assert_int_equal(made_decode(made_bytes(&file), &upright, &header, &read, &err), GI_OK);
            assert_int_equal(header.shape.width, orientation >= 5 ? 8 : 16);
            free(read);
            made_free(&file);
        }
    free(pixels);
}

// All pairs of colour and alpha over a background, against the rational number.
static void alpha_into_jpeg_is_composited_exactly(void **state) {
    (void)state;
    gi_shape shape = {256, 256, 4, GI_U8};
    uint8_t *pixels = malloc(256 * 256 * 4), *flat = malloc(256 * 256 * 3);
    const uint8_t background[3] = {255, 0, 77};
    for (unsigned alpha = 0; alpha < 256; alpha++)
        for (unsigned value = 0; value < 256; value++) {
            size_t i = alpha * 256 + value;
            memset(pixels + 4 * i, (int)value, 3);
            pixels[4 * i + 3] = (uint8_t)alpha;
            for (size_t c = 0; c < 3; c++) {
                unsigned numerator = value * alpha + background[c] * (255 - alpha);
                flat[3 * i + c] = (uint8_t)((2 * numerator + 255) / 510);
            }
        }
    made_log log = {{0}, ""};
    gi_messages messages = {made_say, &log};
    gi_encode_options options = jpeg_defaults;
    options.messages = &messages;
    memcpy(options.background, background, 3);
    made_file with_alpha = encoded(shape, pixels, &options);
    assert_int_equal(log.count[GI_NOTE], 1);
    assert_text_has(log.text, "background 255,0,77");
    shape.channels = 3;
    made_file without = encoded(shape, flat, &options);
    assert_int_equal(log.count[GI_NOTE], 1);
    assert_int_equal(with_alpha.size, without.size);
    assert_memory_equal(with_alpha.data, without.data, without.size);
    made_free(&with_alpha);
    made_free(&without);

    // Gray and alpha: one channel on a gray background, three on a coloured one.
    shape = (gi_shape){1, 1, 2, GI_U8};
    gi_header header;
    gi_error err;
    gi_decode_options decode = {0};
    uint8_t *read, half[2] = {0, 128};
    with_alpha = encoded(shape, half, &options);
    assert_int_equal(made_decode(made_bytes(&with_alpha), &decode, &header, &read, &err), GI_OK);
    assert_true(abs(read[0] - 127) < 6 && read[1] < 6 && abs(read[2] - 38) < 6);
    free(read);
    made_free(&with_alpha);
    free(pixels);
    free(flat);
}

// A sink that takes `left` bytes and then fails.
static gi_status failing_write(void *context, const void *data, size_t size, gi_error *err) {
    (void)data;
    size_t *left = context;
    if (size > *left) {
        *left = 0;
        return gi_fail(err, GI_ERR_IO, "no space left");
    }
    *left -= size;
    return GI_OK;
}

static void failures_of_the_sink_surface(void **state) {
    (void)state;
    gi_shape shape = {600, 300, 3, GI_U8};
    uint8_t *pixels = picture(shape);
    for (int format = GI_FORMAT_PNG; format <= GI_FORMAT_JPEG; format++)
        for (int level = 0; level <= 6; level += 6) {
            gi_encode_options options = format == GI_FORMAT_PNG ? png_defaults : jpeg_defaults;
            options.png_level = level;
            options.quality = 100;
            made_file file = encoded(shape, pixels, &options);
            const size_t rooms[] = {0, 1, 7, 8, 100, file.size / 2, file.size - 13, file.size - 1};
            for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
                size_t left = rooms[i];
                gi_sink sink = {failing_write, &left};
                gi_error err;
                assert_int_equal(encode(shape, pixels, &options, &sink, &err), GI_ERR_IO);
                assert_string_equal(err.text, "no space left");
            }
            size_t left = file.size;
            gi_sink sink = {failing_write, &left};
            gi_error err;
            assert_int_equal(encode(shape, pixels, &options, &sink, &err), GI_OK);
            made_free(&file);
        }
    free(pixels);
}

static gi_status open_only(gi_shape shape, const gi_encode_options *options, gi_error *err) {
    gi_encoder *encoder = NULL;
    size_t left = 0;
    gi_sink sink = {failing_write, &left};
    gi_status status = gi_encoder_open(shape, options, &sink, &encoder, err);
    gi_encoder_close(encoder);
    return status;
}

static void limits_and_wrong_requests(void **state) {
    (void)state;
    gi_error err;
    gi_shape wide = {65536, 1, 1, GI_U8}, large = {40000, 40000, 1, GI_U8}, small = {2, 2, 1, GI_U8};
    assert_int_equal(open_only(wide, &jpeg_defaults, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "65535");
    assert_int_equal(open_only(wide, &png_defaults, &err), GI_OK);
    assert_int_equal(open_only(large, &png_defaults, &err), GI_OK);
    gi_encode_options by_stb = jpeg_defaults;
    by_stb.codec = GI_CODEC_STB;
    assert_int_equal(open_only(large, &by_stb, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "2^30");
    gi_shape huge = {0xFFFFFFFF, 0xFFFFFFFF, 4, GI_U16};
    assert_int_equal(open_only(huge, &png_defaults, &err), GI_ERR_LIMIT);
    gi_shape empty = {0, 1, 1, GI_U8}, floats = {1, 1, 1, GI_F32}, five = {1, 1, 5, GI_U8};
    assert_int_equal(open_only(empty, &png_defaults, &err), GI_ERR_USAGE);
    assert_int_equal(open_only(five, &png_defaults, &err), GI_ERR_USAGE);
    assert_int_equal(open_only(floats, &png_defaults, &err), GI_ERR_UNSUPPORTED);
    gi_encode_options wrong = png_defaults;
    wrong.format = GI_FORMAT_UNKNOWN;
    assert_int_equal(open_only(small, &wrong, &err), GI_ERR_USAGE);
    wrong = png_defaults;
    wrong.png_level = 10;
    assert_int_equal(open_only(small, &wrong, &err), GI_ERR_USAGE);
    wrong = jpeg_defaults;
    wrong.quality = 0;
    assert_int_equal(open_only(small, &wrong, &err), GI_ERR_USAGE);
    gi_encoder_close(NULL);
}

static void rows_are_counted(void **state) {
    (void)state;
    gi_shape shape = {2, 2, 1, GI_U8};
    made_file file = {NULL, 0};
    gi_sink sink = made_sink(&file);
    gi_encoder *encoder = NULL;
    gi_error err;
    uint8_t pixels[8] = {0};
    assert_int_equal(gi_encoder_open(shape, &png_defaults, &sink, &encoder, &err), GI_OK);
    gi_view view = {pixels, 2, 2, 1, 1, GI_U8, GI_HOST};
    assert_int_equal(gi_encoder_rows(encoder, &view, &err), GI_OK);
    assert_int_equal(gi_encoder_finish(encoder, &err), GI_ERR_USAGE);
    assert_text_has(err.text, "only 1 of 2 rows");
    view.height = 2;
    assert_int_equal(gi_encoder_rows(encoder, &view, &err), GI_ERR_USAGE);
    view.height = 1;
    view.width = 1;
    assert_int_equal(gi_encoder_rows(encoder, &view, &err), GI_ERR_USAGE);
    view.width = 2;
    assert_int_equal(gi_encoder_rows(encoder, &view, &err), GI_OK);
    assert_int_equal(gi_encoder_finish(encoder, &err), GI_OK);
    assert_int_equal(gi_encoder_finish(encoder, &err), GI_ERR_USAGE); // once
    gi_encoder_close(encoder);
    made_free(&file);
}

typedef struct worker {
    pthread_t thread;
    int level;
    made_file expected;
    bool same;
} worker;

static const gi_shape worker_shape = {90, 70, 3, GI_U8};

// No cmocka here: its assertions belong to the main thread.
static void *work(void *context) {
    worker *w = context;
    gi_encode_options options = w->level < 10 ? png_defaults : jpeg_defaults;
    if (w->level < 10) options.png_level = w->level;
    uint8_t *pixels = picture(worker_shape);
    w->same = true;
    for (int i = 0; i < 20; i++) {
        made_file file = {NULL, 0};
        gi_sink sink = made_sink(&file);
        gi_status status = encode(worker_shape, pixels, &options, &sink, NULL);
        w->same = w->same && status == GI_OK && file.size == w->expected.size &&
                  memcmp(file.data, w->expected.data, file.size) == 0;
        gi_decode_options decode = {.strict = true};
        gi_header header;
        uint8_t *read;
        status = made_decode(made_bytes(&file), &decode, &header, &read, NULL);
        w->same = w->same && status == GI_OK;
        free(read);
        made_free(&file);
    }
    free(pixels);
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state) {
    (void)state;
    worker workers[8];
    uint8_t *pixels = picture(worker_shape);
    for (int i = 0; i < 8; i++) {
        gi_encode_options options = i < 6 ? png_defaults : jpeg_defaults;
        workers[i].level = i < 6 ? 2 * i - (i == 5) : 10;
        options.png_level = workers[i].level % 10;
        workers[i].expected = encoded(worker_shape, pixels, &options);
    }
    for (int i = 0; i < 8; i++) assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_true(workers[i].same);
        made_free(&workers[i].expected);
    }
    free(pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(png_is_lossless),
        cmocka_unit_test(png_of_16_bits),
        cmocka_unit_test(eight_bits_widen),
        cmocka_unit_test(jpeg_of_16_bits),
        cmocka_unit_test(jpeg_is_close),
        cmocka_unit_test(orientation_is_kept),
        cmocka_unit_test(alpha_into_jpeg_is_composited_exactly),
        cmocka_unit_test(failures_of_the_sink_surface),
        cmocka_unit_test(limits_and_wrong_requests),
        cmocka_unit_test(rows_are_counted),
        cmocka_unit_test(threads_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
