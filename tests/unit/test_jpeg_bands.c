// JPEG writing by libjpeg-turbo, in one piece and in bands, against the library used directly.
#include "codec_files.h"

#ifdef GPUIMG_HAVE_JPEG

#include <pthread.h>

#include "codec/jpeg_turbo.h"
#include "jpeg_library.h"

static const gi_encode_options defaults = {.format = GI_FORMAT_JPEG, .quality = 90};

// Rows to a writer, `step` at a time, out of a buffer with bytes between rows.
static gi_status give_rows(gi_writer *writer, gi_shape shape, const uint8_t *pixels, uint32_t step, gi_error *err) {
    gi_view all = gi_view_packed((void *)(uintptr_t)pixels, shape, GI_HOST);
    gi_status status = GI_OK;
    for (uint32_t y = 0; y < shape.height && status == GI_OK; y += step) {
        gi_view part = gi_view_rows(&all, y, shape.height - y < step ? shape.height - y : step);
        status = writer->rows(writer, &part, err);
    }
    return status == GI_OK ? writer->finish(writer, err) : status;
}

// In bands, whatever the size.
static made_file in_bands(gi_shape shape, const uint8_t *pixels, const gi_encode_options *options, uint32_t step) {
    made_file file = {NULL, 0};
    gi_sink sink = made_sink(&file);
    gi_turbo_job job = {.shape = shape, .options = options};
    gi_writer *writer = NULL;
    gi_error err;
    if (gi_turbo_bands_open(&job, &sink, &writer, &err) != GI_OK) fail_msg("%s", err.text);
    if (give_rows(writer, shape, pixels, step, &err) != GI_OK) fail_msg("%s", err.text);
    writer->close(writer);
    return file;
}

// Through the encoder's interface. An empty file with *err on failure.
static made_file encoded(gi_shape shape, const uint8_t *pixels, const gi_encode_options *options, gi_error *err) {
    made_file file = {NULL, 0};
    gi_sink sink = made_sink(&file);
    gi_encoder *encoder = NULL;
    gi_status status = gi_encoder_open(shape, options, &sink, &encoder, err);
    gi_view all = gi_view_packed((void *)(uintptr_t)pixels, shape, GI_HOST);
    if (status == GI_OK) status = gi_encoder_rows(encoder, &all, err);
    if (status == GI_OK) status = gi_encoder_finish(encoder, err);
    gi_encoder_close(encoder);
    if (status != GI_OK) made_free(&file);
    return file;
}

// The restart interval that a file tells; 0: none.
static unsigned interval_of(const made_file *file) {
    gi_jpeg_segment segment = {0};
    size_t at = 0, skipped = 0;
    while (segment.code != GI_JPEG_SOS && gi_jpeg_next_segment(made_bytes(file), &at, &segment, &skipped))
        if (segment.code == GI_JPEG_DRI) return gi_be16(file->data + segment.offset + 2);
    return 0;
}

static library_job library_job_of(gi_subsampling subsampling, int channels) {
    bool colour = channels == 3;
    return (library_job){.h = colour && subsampling != GI_SUBSAMPLING_444 ? 2 : 1,
                         .v = colour && subsampling == GI_SUBSAMPLING_420 ? 2 : 1};
}

static void assert_same_file(const made_file *file, const made_file *expected, const char *what) {
    if (file->size != expected->size || memcmp(file->data, expected->data, file->size) != 0)
        fail_msg("%s: not the same %zu bytes", what, expected->size);
}

// Byte for byte what the library writes in one piece with that restart interval: chroma at the bands' borders, the
// markers' numbers, the odd rest.
static void bands_are_the_whole(void **state) {
    (void)state;
    for (uint32_t width = 1; width <= 40; width++)
        for (int kind = 0; kind < 4; kind++) { // gray, and RGB with each subsampling
            gi_encode_options options = defaults;
            int channels = kind == 3 ? 1 : 3;
            options.subsampling = kind == 3 ? GI_SUBSAMPLING_420 : (gi_subsampling)kind;
            uint32_t mcu = channels == 3 && options.subsampling != GI_SUBSAMPLING_444 ? 16 : 8;
            uint32_t band = (1 << 18) / ((width + mcu - 1) / mcu * mcu);
            gi_shape shape = {width, band + 8 + (width % 8 == 0 ? band : 0) + width * 5 % 17, channels, GI_U8};
            if (shape.height > 65500) shape.height = 65500 - width;
            uint8_t *pixels = library_picture(shape);
            made_file file = in_bands(shape, pixels, &options, 1000);
            library_job job = library_job_of(options.subsampling, channels);
            job.restart = interval_of(&file);
            assert_true(job.restart > 0);
            made_file expected = library_encode(shape, pixels, job);
            assert_same_file(&file, &expected, "bands");
            made_free(&expected);
            made_free(&file);
            free(pixels);
        }
}

static void neither_threads_nor_calls_matter(void **state) {
    (void)state;
    static const uint32_t steps[] = {1, 13, 128, 100000};
    for (int kind = 0; kind < 4; kind++) {
        gi_shape shape = {1711, 1303, kind == 3 ? 1 : 3, GI_U8};
        gi_encode_options options = defaults;
        options.subsampling = kind == 3 ? GI_SUBSAMPLING_420 : (gi_subsampling)kind;
        uint8_t *pixels = library_picture(shape);
        made_file expected = encoded(shape, pixels, &options, NULL);
        assert_true(interval_of(&expected) > 0);
        for (int threads = 1; threads <= 8; threads++)
            for (size_t i = 0; i < 4; i++) {
                if (threads > 2 && i != (size_t)(threads + kind) % 4) continue; // in turn
                options.threads = threads;
                made_file file = in_bands(shape, pixels, &options, steps[i]);
                assert_same_file(&file, &expected, "threads");
                made_free(&file);
            }
        gi_decode_options strict = {.strict = true};
        gi_header header;
        uint8_t *read;
        assert_int_equal(made_decode(made_bytes(&expected), &strict, &header, &read, NULL), GI_OK);
        assert_int_equal(header.shape.height, 1303);
        free(read);
        strict.codec = GI_CODEC_STB;
        assert_int_equal(made_decode(made_bytes(&expected), &strict, &header, &read, NULL), GI_OK);
        free(read);
        free(pixels);
        made_free(&expected);
    }
}

// Up to 2 Mpixel the file is what the library writes, as it is with tables of its own and in scans.
static void one_piece_is_the_library(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {15, 1}, {1, 15}, {17, 31}, {333, 222}, {2048, 1024}, {2050, 1024}};
    gi_error err;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int kind = 0; kind < 16; kind++) {
            if (sizes[s][0] > 2000 && kind % 4 > 0 && kind != 3) continue; // each, but not each with each
            gi_encode_options options = defaults;
            options.threads = 2;
            options.subsampling = kind % 4 == 3 ? GI_SUBSAMPLING_420 : (gi_subsampling)(kind % 4);
            options.optimize = kind & 4;
            options.progressive = kind & 8;
            gi_shape shape = {sizes[s][0], sizes[s][1], kind % 4 == 3 ? 1 : 3, GI_U8};
            uint8_t *pixels = library_picture(shape);
            made_file file = encoded(shape, pixels, &options, &err);
            library_job job = library_job_of(options.subsampling, shape.channels);
            job.optimize = options.optimize;
            job.progressive = options.progressive;
            job.restart = interval_of(&file);
            assert_int_equal(job.restart != 0, sizes[s][0] == 2050 && !job.optimize && !job.progressive);
            made_file expected = library_encode(shape, pixels, job);
            assert_same_file(&file, &expected, "one piece");
            made_free(&expected);
            made_free(&file);
            free(pixels);
        }
}

// The library's tables for each quality.
static void every_quality(void **state) {
    (void)state;
    gi_shape shape = {64, 48, 3, GI_U8};
    uint8_t *pixels = library_picture(shape);
    size_t size = 0;
    for (int quality = 1; quality <= 100; quality++) {
        gi_encode_options options = defaults;
        options.quality = quality;
        made_file file = encoded(shape, pixels, &options, NULL);
        assert_true(file.size >= size); // of this picture
        size = file.size;
        uint8_t *read = library_decode(made_bytes(&file), false);
        free(read);
        made_free(&file);
    }
    free(pixels);
}

// Takes `left` bytes and then fails; remembers who called.
typedef struct narrow_sink {
    size_t left, calls;
    pthread_t thread;
    bool other_thread;
} narrow_sink;

static gi_status narrow_write(void *context, const void *data, size_t size, gi_error *err) {
    (void)data;
    narrow_sink *sink = context;
    sink->calls++;
    sink->other_thread = sink->other_thread || !pthread_equal(sink->thread, pthread_self());
    if (size > sink->left) return gi_fail(err, GI_ERR_IO, "no space left");
    sink->left -= size;
    return GI_OK;
}

static void failing_sinks_stop_it(void **state) {
    (void)state;
    gi_shape shape = {1711, 1303, 3, GI_U8};
    uint8_t *pixels = library_picture(shape);
    for (int kind = 0; kind < 3; kind++) {
        gi_encode_options options = defaults;
        options.optimize = kind == 1;
        options.progressive = kind == 2;
        made_file whole = encoded(shape, pixels, &options, NULL);
        const size_t rooms[] = {0, 100, 5000, whole.size / 2, whole.size - 1, whole.size};
        for (int threads = 1; threads <= 4; threads += 3)
            for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
                narrow_sink narrow = {.left = rooms[i], .thread = pthread_self()};
                gi_sink sink = {narrow_write, &narrow};
                gi_writer *writer = NULL;
                gi_error err = {.text = ""};
                options.threads = threads;
                assert_int_equal(gi_turbo_writer_open(shape, &options, &sink, &writer, &err), GI_OK);
                gi_status status = give_rows(writer, shape, pixels, 50, &err);
                writer->close(writer);
                assert_int_equal(status, rooms[i] == whole.size ? GI_OK : GI_ERR_IO);
                assert_string_equal(err.text, status == GI_OK ? "" : "no space left");
                assert_false(narrow.other_thread);
            }
        made_free(&whole);
    }
    free(pixels);
}

static void it_can_be_left(void **state) {
    (void)state;
    gi_shape shape = {1711, 1303, 3, GI_U8};
    uint8_t *pixels = library_picture(shape);
    for (int threads = 1; threads <= 4; threads += 3)
        for (uint32_t rows = 0; rows <= 1303; rows += 150) {
            narrow_sink narrow = {.left = SIZE_MAX, .thread = pthread_self()};
            gi_sink sink = {narrow_write, &narrow};
            gi_encode_options options = defaults;
            options.threads = threads;
            gi_writer *writer = NULL;
            assert_int_equal(gi_turbo_writer_open(shape, &options, &sink, &writer, NULL), GI_OK);
            gi_view part = gi_view_packed(pixels, (gi_shape){1711, rows, 3, GI_U8}, GI_HOST);
            assert_int_equal(writer->rows(writer, &part, NULL), GI_OK);
            writer->close(writer);
        }
    free(pixels);
}

// Bytes leave while rows come, so that no file lies in memory.
static void bytes_stream(void **state) {
    (void)state;
    gi_shape shape = {1711, 1303, 3, GI_U8};
    uint8_t *pixels = library_picture(shape);
    made_file whole = encoded(shape, pixels, &defaults, NULL);
    for (int threads = 1; threads <= 2; threads++) {
        narrow_sink narrow = {.left = whole.size, .thread = pthread_self()};
        gi_sink sink = {narrow_write, &narrow};
        gi_encode_options options = defaults;
        options.threads = threads;
        gi_writer *writer = NULL;
        assert_int_equal(gi_turbo_writer_open(shape, &options, &sink, &writer, NULL), GI_OK);
        gi_view part = gi_view_packed(pixels, shape, GI_HOST);
        assert_int_equal(writer->rows(writer, &part, NULL), GI_OK);
        assert_true(narrow.calls > 3 && narrow.left < whole.size / 2);
        writer->close(writer);
    }
    made_free(&whole);
    free(pixels);
}

// Sides that the library refuses are stb's.
static void the_longest_sides(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{65500, 3}, {3, 65500}, {65501, 3}, {3, 65501},
                                        {65535, 1}, {1, 65535}, {65500, 40}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        gi_shape shape = {sizes[s][0], sizes[s][1], 1, GI_U8};
        uint8_t *pixels = library_picture(shape), *read;
        gi_error err;
        made_file file = encoded(shape, pixels, &defaults, &err);
        if (!file.data) fail_msg("%ux%u: %s", shape.width, shape.height, err.text);
        gi_decode_options strict = {.strict = true, .jpeg_luma = true};
        gi_header header;
        assert_int_equal(made_decode(made_bytes(&file), &strict, &header, &read, NULL), GI_OK);
        assert_int_equal(header.shape.width, shape.width);
        assert_int_equal(header.shape.height, shape.height);
        free(read);
        // But not what stb cannot do.
        gi_encode_options options = defaults;
        options.progressive = true;
        made_free(&file);
        file = encoded(shape, pixels, &options, &err);
        bool held = shape.width <= 65500 && shape.height <= 65500;
        assert_int_equal(file.size > 0, held);
        if (!held) assert_int_equal(err.status, GI_ERR_LIMIT);
        free(pixels);
        made_free(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_are_the_whole),
        cmocka_unit_test(neither_threads_nor_calls_matter),
        cmocka_unit_test(one_piece_is_the_library),
        cmocka_unit_test(every_quality),
        cmocka_unit_test(failing_sinks_stop_it),
        cmocka_unit_test(it_can_be_left),
        cmocka_unit_test(bytes_stream),
        cmocka_unit_test(the_longest_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 77; } // nothing to test

#endif
