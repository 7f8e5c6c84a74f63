// PNG files of many bands: the same bytes whatever the threads and the split of rows, small in memory, and clean when
// the sink fails.
#include <pthread.h>

#include "codec/png_check.h"
#include "codec_files.h"

static const gi_encode_options defaults = {.format = GI_FORMAT_PNG, .png_level = 6};

// Smooth in some rows, noise in others, so that bands differ.
static uint8_t *picture(gi_shape shape) {
    size_t size, row = gi_row_bytes(shape.width, shape.channels, shape.sample);
    assert_int_equal(gi_shape_bytes(shape, &size, NULL), GI_OK);
    uint8_t *pixels = malloc(size);
    assert_non_null(pixels);
    uint32_t noise = 12345;
    for (size_t i = 0; i < size; i++) {
        noise = noise * 1664525U + 1013904223U;
        size_t x = i % row, y = i / row;
        pixels[i] = (uint8_t)(x * 200 / row + y + (y % 300 < 40 ? noise >> 24 : noise >> 30));
    }
    return pixels;
}

// `split` rows at a time.
static gi_status encode(const gi_view *all, uint32_t split, const gi_encode_options *options, const gi_sink *sink,
                        gi_error *err) {
    gi_encoder *encoder = NULL;
    gi_status status = gi_encoder_open(gi_view_shape(all), options, sink, &encoder, err);
    for (uint32_t y = 0; y < all->height && status == GI_OK; y += split) {
        gi_view part = gi_view_rows(all, y, all->height - y < split ? all->height - y : split);
        status = gi_encoder_rows(encoder, &part, err);
    }
    if (status == GI_OK) status = gi_encoder_finish(encoder, err);
    gi_encoder_close(encoder);
    return status;
}

static made_file encoded(const gi_view *all, uint32_t split, const gi_encode_options *options) {
    made_file file = {NULL, 0};
    gi_sink sink = made_sink(&file);
    gi_error err;
    if (encode(all, split, options, &sink, &err) != GI_OK) fail_msg("%s", err.text);
    return file;
}

// The file's structure; also that it decodes to `all`, whose samples have 8 bits.
static gi_png_info read_back(const made_file *file, const gi_view *all) {
    gi_decode_options strict = {.strict = true};
    gi_header header;
    gi_error err;
    uint8_t *read;
    gi_png_info info;
    if (made_decode(made_bytes(file), &strict, &header, &read, &err) != GI_OK) fail_msg("%s", err.text);
    assert_int_equal(header.shape.width, all->width);
    assert_int_equal(header.shape.height, all->height);
    assert_int_equal(header.shape.channels, all->channels);
    assert_memory_equal(read, all->data, all->pitch_bytes * all->height);
    free(read);
    const gi_input input = made_input(file);
    assert_int_equal(gi_png_check(&input, &info, &err), GI_OK);
    return info;
}

static void bytes_do_not_depend_on_threads_and_splits(void **state) {
    (void)state;
    enum { REPEATS = 50 };
    gi_shape shape = {601, 3600, 1, GI_U8};
    uint8_t *pixels = picture(shape);
    gi_view all = gi_view_packed(pixels, shape, GI_HOST);
    const uint32_t splits[] = {1, 7, shape.height};
    gi_encode_options options = defaults;
    made_file expected = encoded(&all, 100, &options);
    gi_png_info info = read_back(&expected, &all);
    assert_in_range(info.idat_chunks, 3, 100); // else this tests nothing
    // Every split with 0 to 8 threads, then again as many times as it takes for threads to meet in another order.
    for (int i = 0; i < 9 * 3 + REPEATS; i++) {
        options.threads = i % 9;
        made_file file = encoded(&all, splits[i / 9 % 3], &options);
        assert_int_equal(file.size, expected.size);
        assert_memory_equal(file.data, expected.data, file.size);
        made_free(&file);
    }
    made_free(&expected);
    free(pixels);
}

static void every_channel_count_and_level(void **state) {
    (void)state;
    for (int channels = 1; channels <= 4; channels++)
        for (int level = 0; level <= 9; level++) {
            gi_shape shape = {401, 801, channels, GI_U8};
            uint8_t *pixels = picture(shape);
            gi_view all = gi_view_packed(pixels, shape, GI_HOST);
            gi_encode_options options = defaults;
            options.png_level = level;
            options.threads = 1 + level % 3;
            made_file file = encoded(&all, 31, &options);
            gi_png_info info = read_back(&file, &all);
            assert_int_equal(info.depth, 8);
            if (level == 0) assert_in_range(file.size, all.pitch_bytes * shape.height, SIZE_MAX);
            made_free(&file);
            free(pixels);
        }
}

// Rows that fill a band each, bands that no row count divides, and images of one row or column.
static void every_shape(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},       {1, 3000},    {3000, 1},    {1400000, 3},
                                        {1048575, 2}, {1048576, 2}, {1, 2000000}, {3, 262144},
                                        {65535, 16},  {1023, 1024}, {1023, 1025}, {1023, 2049}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        gi_shape shape = {sizes[s][0], sizes[s][1], 1, GI_U8};
        uint8_t *pixels = picture(shape);
        gi_view all = gi_view_packed(pixels, shape, GI_HOST);
        gi_encode_options options = defaults;
        options.png_level = 1;
        options.threads = 2;
        made_file file = encoded(&all, 1000, &options);
        read_back(&file, &all);
        made_free(&file);
        free(pixels);
    }
}

static void words_are_big_endian(void **state) {
    (void)state;
    gi_shape shape = {300, 700, 3, GI_U16};
    uint8_t *pixels = picture(shape), *read;
    gi_view all = gi_view_packed(pixels, shape, GI_HOST);
    gi_encode_options options = defaults;
    options.threads = 3;
    made_file file = encoded(&all, 9, &options);
    gi_decode_options decode = {.strict = true};
    gi_header header;
    gi_error err;
    assert_int_equal(made_decode(made_bytes(&file), &decode, &header, &read, &err), GI_OK);
    assert_int_equal(header.bits, 16);
    assert_int_equal(header.shape.sample, GI_U16);
    assert_memory_equal(read, pixels, (size_t)300 * 700 * 3 * 2);
    free(read);
    free(pixels);
    made_free(&file);
}

// Takes `left` bytes and then fails. All calls must come from one thread.
typedef struct small_disk {
    size_t left;
    pthread_t thread;
    bool other_thread;
} small_disk;

static gi_status disk_write(void *context, const void *data, size_t size, gi_error *err) {
    (void)data;
    small_disk *disk = context;
    disk->other_thread = disk->other_thread || !pthread_equal(disk->thread, pthread_self());
    if (size > disk->left) {
        disk->left = 0;
        return gi_fail(err, GI_ERR_IO, "no space left");
    }
    disk->left -= size;
    return GI_OK;
}

static void a_full_disk_stops_all_threads(void **state) {
    (void)state;
    gi_shape shape = {500, 3000, 1, GI_U8};
    uint8_t *pixels = picture(shape);
    gi_view all = gi_view_packed(pixels, shape, GI_HOST);
    gi_encode_options options = defaults;
    made_file file = encoded(&all, 100, &options);
    const size_t rooms[] = {0, 7, 8, 33, 40, file.size / 3, file.size / 2, file.size - 13, file.size - 1};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        for (options.threads = 1; options.threads <= 4; options.threads++) {
            small_disk disk = {rooms[i], pthread_self(), false};
            gi_sink sink = {disk_write, &disk};
            gi_error err;
            assert_int_equal(encode(&all, 100, &options, &sink, &err), GI_ERR_IO);
            assert_string_equal(err.text, "no space left");
            assert_false(disk.other_thread);
        }
    small_disk disk = {file.size, pthread_self(), false};
    gi_sink sink = {disk_write, &disk};
    assert_int_equal(encode(&all, 100, &options, &sink, NULL), GI_OK);
    assert_int_equal(disk.left, 0);
    made_free(&file);
    free(pixels);
}

static void an_image_may_be_abandoned(void **state) {
    (void)state;
    gi_shape shape = {700, 4000, 1, GI_U8};
    uint8_t *pixels = picture(shape);
    gi_view all = gi_view_packed(pixels, shape, GI_HOST);
    for (int reduce = GI_PNG_REDUCE_AUTO; reduce <= GI_PNG_REDUCE_OFF; reduce++)
        for (int threads = 0; threads <= 4; threads++)
            for (uint32_t rows = 0; rows <= shape.height; rows += 800) {
                made_file file = {NULL, 0};
                gi_sink sink = made_sink(&file);
                gi_encoder *encoder = NULL;
                gi_encode_options options = defaults;
                options.threads = threads;
                options.png_reduce = (gi_png_reduce)reduce;
                options.png_level = 1;
                gi_view part = gi_view_rows(&all, 0, rows);
                assert_int_equal(gi_encoder_open(shape, &options, &sink, &encoder, NULL), GI_OK);
                assert_int_equal(gi_encoder_rows(encoder, &part, NULL), GI_OK);
                gi_encoder_close(encoder);
                made_free(&file);
            }
    free(pixels);
}

// The chunks of a large image come while its rows are given: no more than a few bands are held.
static void chunks_leave_as_rows_come(void **state) {
    (void)state;
    gi_shape shape = {4000, 100000, 1, GI_U8}; // 400 MB, given again and again from the same rows
    uint8_t *rows = picture((gi_shape){4000, 100, 1, GI_U8});
    gi_view part = gi_view_packed(rows, (gi_shape){4000, 100, 1, GI_U8}, GI_HOST);
    for (int threads = 1; threads <= 3; threads += 2) {
        small_disk disk = {SIZE_MAX, pthread_self(), false};
        gi_sink sink = {disk_write, &disk};
        gi_encode_options options = {.format = GI_FORMAT_PNG, .png_level = 0, .threads = threads};
        gi_encoder *encoder = NULL;
        assert_int_equal(gi_encoder_open(shape, &options, &sink, &encoder, NULL), GI_OK);
        for (size_t given = part.pitch_bytes * 100, i = 0; i < 40; i++, given += part.pitch_bytes * 100) {
            assert_int_equal(gi_encoder_rows(encoder, &part, NULL), GI_OK);
            assert_in_range(given - (given < SIZE_MAX - disk.left ? given : SIZE_MAX - disk.left), 0, 5 << 20);
        }
        gi_encoder_close(encoder);
    }
    free(rows);
}

static gi_status open_only(gi_shape shape, gi_encode_options options, gi_error *err) {
    gi_encoder *encoder = NULL;
    made_file file = {NULL, 0};
    gi_sink sink = made_sink(&file);
    gi_status status = gi_encoder_open(shape, &options, &sink, &encoder, err);
    gi_encoder_close(encoder);
    return status;
}

static void limits(void **state) {
    (void)state;
    gi_error err;
    gi_shape giga = {40000, 40000, 1, GI_U8}, wide = {0x20000000, 1, 3, GI_U8}, high = {1, 0x80000000, 1, GI_U8};
    gi_encode_options stb = defaults, held = defaults;
    stb.codec = GI_CODEC_STB;
    held.png_reduce = GI_PNG_REDUCE_ON;
    assert_int_equal(open_only(giga, defaults, &err), GI_OK);
    assert_int_equal(open_only(giga, stb, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "2^30");
    assert_int_equal(open_only(wide, defaults, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "2^30");
    assert_int_equal(open_only(high, defaults, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "2^31");
    assert_int_equal(open_only((gi_shape){0x7FFFFFFF, 0x7FFFFFFF, 4, GI_U8}, held, &err), GI_ERR_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_do_not_depend_on_threads_and_splits),
        cmocka_unit_test(every_channel_count_and_level),
        cmocka_unit_test(every_shape),
        cmocka_unit_test(words_are_big_endian),
        cmocka_unit_test(a_full_disk_stops_all_threads),
        cmocka_unit_test(an_image_may_be_abandoned),
        cmocka_unit_test(chunks_leave_as_rows_come),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
