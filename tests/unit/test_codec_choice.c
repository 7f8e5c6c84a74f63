// The libraries of the build, and what is refused without them.
#include "codec_files.h"

static const gi_codec_library *find(const char *name) {
    const gi_codec_library *library;
    for (int i = 0; (library = gi_codec_library_at(i)) != NULL; i++)
        if (strcmp(library->name, name) == 0) return library;
    fail_msg("no library is called %s", name);
    return NULL;
}

static void libraries_are_named(void **state) {
    (void)state;
    const gi_codec_library *library;
    int count = 0;
    for (; (library = gi_codec_library_at(count)) != NULL; count++) {
        assert_true(*library->name && *library->work && *library->package);
        if (library->version) assert_in_range(library->version[0], '0', '9');
        if (!library->version) assert_true(*library->without);
    }
    assert_int_equal(count, 5);
    assert_null(gi_codec_library_at(-1));
    assert_non_null(find("stb_image")->version);
    assert_non_null(find("stb_image_write")->version);
}

static void zlib_alone_can_be_missing(void **state) {
    (void)state;
    gi_error err = {0};
    assert_int_equal(gi_codec_check(GI_CODEC_AUTO, &err), GI_OK);
    assert_int_equal(gi_codec_check(GI_CODEC_STB, &err), GI_OK);
    bool has = find("zlib")->version;
    assert_int_equal(gi_codec_check(GI_CODEC_ZLIB, &err), has ? GI_OK : GI_ERR_UNSUPPORTED);
    if (!has) assert_text_has(err.text, "zlib1g-dev");
}

// Each of these needs libjpeg-turbo.
static void jpeg_options(void **state) {
    (void)state;
    static const struct {
        gi_encode_options options;
        const char *told;
    } cases[] = {{{.optimize = true}, "optimized JPEG"},
                 {{.progressive = true}, "progressive JPEG"},
                 {{.subsampling = GI_SUBSAMPLING_422}, "4:2:2"},
                 {{.subsampling = GI_SUBSAMPLING_444}, "4:4:4"}};
    gi_error err = {0};
    bool has = find("libjpeg-turbo")->version;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gi_encode_options options = cases[i].options;
        assert_int_equal(gi_encode_options_check(&options, &err), has ? GI_OK : GI_ERR_UNSUPPORTED);
        if (!has) assert_text_has(err.text, "libjpeg-dev");
        options.codec = GI_CODEC_STB;
        assert_int_equal(gi_encode_options_check(&options, &err), GI_ERR_UNSUPPORTED);
        assert_text_has(err.text, cases[i].told);
        assert_text_has(err.text, "libjpeg-turbo");
    }
    const gi_encode_options plain = {.codec = GI_CODEC_STB};
    assert_int_equal(gi_encode_options_check(&plain, &err), GI_OK);
    assert_int_equal(gi_codec_check_turbo(GI_CODEC_AUTO, "it", &err), has ? GI_OK : GI_ERR_UNSUPPORTED);
    assert_int_equal(gi_codec_check_turbo(GI_CODEC_STB, "it", &err), GI_ERR_UNSUPPORTED);
}

static gi_status nowhere(void *context, const void *data, size_t size, gi_error *err) {
    (void)context, (void)data, (void)size, (void)err;
    return GI_OK;
}

static void an_encoder_asks(void **state) {
    (void)state;
    gi_error err = {0};
    gi_encoder *encoder = NULL;
    const gi_sink sink = {nowhere, NULL};
    gi_encode_options options = {
        .format = GI_FORMAT_JPEG, .codec = GI_CODEC_STB, .quality = 90, .png_level = GI_PNG_LEVEL, .progressive = true};
    const gi_shape shape = {3, 2, 3, GI_U8};
    assert_int_equal(gi_encoder_open(shape, &options, &sink, &encoder, &err), GI_ERR_UNSUPPORTED);
    assert_null(encoder);
    options.format = GI_FORMAT_PNG; // to which it says nothing
    assert_int_equal(gi_encoder_open(shape, &options, &sink, &encoder, &err), GI_OK);
    gi_encoder_close(encoder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(libraries_are_named),
                                       cmocka_unit_test(zlib_alone_can_be_missing), cmocka_unit_test(jpeg_options),
                                       cmocka_unit_test(an_encoder_asks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
