// JPEGs that a device has made, on their way to the sink: what is put in front of their tables, and what is refused.
#include "codec/codec.h"
#include "codec/metadata.h"
#include "codec_files.h"

// Segments as nvJPEG writes them: with JFIF's, or without; then a table and an image of no meaning.
static const uint8_t with_jfif[] = {0xFF, 0xD8, 0xFF, 0xE0, 0,    16, 'J', 'F', 'I',  'F',  0, 1, 2, 1, 0, 72,   0,
                                    72,   0,    0,    0xFF, 0xDB, 0,  3,   7,   0xFF, 0xDA, 0, 2, 1, 2, 3, 0xFF, 0xD9};
enum { HEAD = 20 };

static const gi_shape colours = {4, 3, 3, GI_U8};

static gi_status put(const uint8_t *data, size_t size, const gi_encode_options *options, made_file *file) {
    gi_error err = {.status = GI_OK};
    gi_sink sink = made_sink(file);
    *file = (made_file){NULL, 0};
    return gi_encode_made_jpeg((gi_bytes){data, size}, colours, options, &sink, &err);
}

static void check_tail(const made_file *file) {
    const size_t tail = sizeof with_jfif - HEAD;
    assert_true(file->size >= HEAD + tail);
    assert_memory_equal(file->data, "\xFF\xD8\xFF\xE0\0\x10JFIF\0\1\1", 13);
    assert_memory_equal(file->data + file->size - tail, with_jfif + HEAD, tail);
}

static void heads(void **state) {
    (void)state;
    const gi_encode_options plain = {.format = GI_FORMAT_JPEG};
    gi_encode_options turned = plain, told = plain;
    uint8_t without[2 + sizeof with_jfif - HEAD] = {0xFF, 0xD8};
    made_file file;
    memcpy(without + 2, with_jfif + HEAD, sizeof with_jfif - HEAD);
    assert_int_equal(put(with_jfif, sizeof with_jfif, &plain, &file), GI_OK);
    assert_int_equal(file.size, sizeof with_jfif);
    check_tail(&file);
    free(file.data);
    assert_int_equal(put(without, sizeof without, &plain, &file), GI_OK);
    assert_int_equal(file.size, sizeof with_jfif);
    check_tail(&file);
    free(file.data);
    turned.orientation = 6;
    assert_int_equal(put(with_jfif, sizeof with_jfif, &turned, &file), GI_OK);
    check_tail(&file);
    assert_memory_equal(file.data + HEAD + 4, "Exif", 4);
    free(file.data);
    told.metadata = gi_metadata_new();
    told.metadata->density = (gi_density){GI_DENSITY_INCH, 300, 150};
    assert_int_equal(put(with_jfif, sizeof with_jfif, &told, &file), GI_OK);
    check_tail(&file);
    assert_memory_equal(file.data + 13, "\1\1\x2C\0\x96", 5);
    free(file.data);
    gi_metadata_free(told.metadata);
}

static void no_jpeg(void **state) {
    (void)state;
    const gi_encode_options plain = {.format = GI_FORMAT_JPEG};
    made_file file;
    assert_int_equal(put((const uint8_t *)"\x89PNG\r\n\x1A\n", 8, &plain, &file), GI_ERR_FORMAT);
    assert_int_equal(put(with_jfif, 0, &plain, &file), GI_ERR_FORMAT);
    assert_int_equal(put(with_jfif, 3, &plain, &file), GI_ERR_FORMAT);
    assert_int_equal(put(with_jfif, sizeof with_jfif - 1, &plain, &file), GI_ERR_FORMAT); // cut
    assert_null(file.data);
}

static void what_it_cannot_write(void **state) {
    (void)state;
    gi_encode_options options = {.format = GI_FORMAT_JPEG};
    assert_null(gi_encode_device_reason(colours, &options));
    assert_null(gi_encode_device_reason((gi_shape){65500, 1, 1, GI_U8}, &options));
    assert_non_null(gi_encode_device_reason((gi_shape){65501, 1, 1, GI_U8}, &options));
    assert_non_null(gi_encode_device_reason((gi_shape){4, 3, 4, GI_U8}, &options));
    assert_non_null(gi_encode_device_reason((gi_shape){4, 3, 3, GI_U16}, &options));
    options.progressive = true;
    assert_non_null(gi_encode_device_reason(colours, &options));
    options = (gi_encode_options){.format = GI_FORMAT_PNG};
    assert_non_null(gi_encode_device_reason(colours, &options));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads), cmocka_unit_test(no_jpeg),
                                       cmocka_unit_test(what_it_cannot_write)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
