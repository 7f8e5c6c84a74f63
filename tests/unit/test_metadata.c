// Metadata from files made by hand through the decoder into the encoder and back, for every pair of formats, and what
// the fit drops.
#include "codec/metadata.h"

#include "codec/exif.h"
#include "codec/icc.h"
#include "codec/xmp.h"
#include "codec_files.h"

static const gi_shape colours = {4, 3, 3, GI_U8}, grays = {4, 3, 1, GI_U8};

static void fill_profile(gi_metadata *m, const char *space, size_t size) {
    m->icc.data = calloc(1, size);
    m->icc.size = size;
    gi_put_be32(m->icc.data, (uint32_t)size);
    memcpy(m->icc.data + 16, space, 4);
    memcpy(m->icc.data + 36, "acsp", 4);
    for (size_t i = 132; i < size; i++) m->icc.data[i] = (uint8_t)(i * i >> 3);
}

static gi_metadata *filled(void) {
    gi_metadata *m = gi_metadata_new();
    uint8_t exif[GI_EXIF_BYTES];
    gi_exif_write(6, exif);
    fill_profile(m, "RGB ", 70000);
    assert_int_equal(gi_blob_set(&m->exif, (gi_bytes){exif, sizeof exif}, NULL), GI_OK);
    assert_int_equal(gi_blob_set(&m->xmp, (gi_bytes){(const uint8_t *)"<tiff:Orientation>6<", 20}, NULL), GI_OK);
    assert_int_equal(gi_blob_set(&m->iptc, (gi_bytes){(const uint8_t *)"odd", 3}, NULL), GI_OK);
    m->gamma = (gi_small){4, {0, 0, 0xB1, 0x8F}};
    m->srgb = (gi_small){1, {2}};
    m->primaries = (gi_small){32, {1, 2, 3}};
    m->code_points = (gi_small){4, {9, 16, 0, 1}};
    m->density = (gi_density){GI_DENSITY_METRE, 11811, 2835};
    return m;
}

static made_file encoded(gi_shape shape, gi_format format, gi_metadata *metadata, int orientation) {
    static const uint8_t pixels[64];
    made_file file = {NULL, 0};
    gi_sink sink = made_sink(&file);
    gi_encode_options options = {.format = format, .quality = 90, .metadata = metadata, .orientation = orientation};
    gi_encoder *encoder = NULL;
    gi_view view = gi_view_packed((void *)(uintptr_t)pixels, shape, GI_HOST);
    assert_int_equal(gi_encoder_open(shape, &options, &sink, &encoder, NULL), GI_OK);
    assert_int_equal(gi_encoder_rows(encoder, &view, NULL), GI_OK);
    assert_int_equal(gi_encoder_finish(encoder, NULL), GI_OK);
    gi_encoder_close(encoder);
    return file;
}

static gi_metadata *decoded(const made_file *file, bool auto_orient) {
    gi_decode_options options = {.metadata = true, .auto_orient = auto_orient};
    gi_decoder *decoder = NULL;
    assert_int_equal(gi_decoder_open(made_bytes(file), &options, &decoder, NULL), GI_OK);
    gi_metadata *m = gi_decoder_take_metadata(decoder);
    assert_non_null(m);
    assert_null(gi_decoder_take_metadata(decoder)); // once
    gi_decoder_close(decoder);
    return m;
}

static void assert_blob(const gi_blob *a, const gi_blob *b) {
    assert_int_equal(a->size, b->size);
    if (a->size) assert_memory_equal(a->data, b->data, a->size);
}

static void assert_small(const gi_small *a, const gi_small *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static void round_trips(void **state) {
    (void)state;
    static const gi_format formats[2] = {GI_FORMAT_PNG, GI_FORMAT_JPEG};
    for (int first = 0; first < 2; first++)
        for (int second = 0; second < 2; second++) {
            gi_metadata *m = filled();
            made_file a = encoded(colours, formats[first], m, 6); // fits m
            gi_metadata *between = decoded(&a, false);
            assert_int_equal(between->turned, 1);
            assert_int_equal(gi_exif_orientation(gi_blob_bytes(&between->exif)), 6);
            assert_blob(&between->icc, &m->icc);
            assert_blob(&between->xmp, &m->xmp);
            made_file b = encoded(colours, formats[second], between, 6);
            gi_metadata *last = decoded(&b, true);
            assert_int_equal(last->turned, 6);
            assert_blob(&last->icc, &m->icc);
            assert_blob(&last->exif, &m->exif);
            assert_blob(&last->xmp, &m->xmp);
            assert_int_equal(last->iptc.size,
                             formats[first] == GI_FORMAT_JPEG && formats[second] == GI_FORMAT_JPEG ? 3 : 0);
            if (first + second == 0) {
                assert_small(&last->gamma, &m->gamma);
                assert_small(&last->srgb, &m->srgb);
                assert_small(&last->primaries, &m->primaries);
                assert_small(&last->code_points, &m->code_points);
            }
            // 300 and 72 dots an inch, whatever counts them.
            gi_density d = last->density;
            bool inch = d.unit == GI_DENSITY_INCH;
            assert_true(inch || d.unit == GI_DENSITY_METRE);
            assert_int_equal(d.x, inch ? 300 : 11811);
            assert_int_equal(d.y, inch ? 72 : 2835);
            gi_metadata_free(last);
            gi_metadata_free(between);
            gi_metadata_free(m);
            made_free(&a);
            made_free(&b);
        }
}

static void an_orientation_alone(void **state) {
    (void)state;
    for (int format = GI_FORMAT_PNG; format <= GI_FORMAT_JPEG; format++) {
        made_file file = encoded(grays, (gi_format)format, NULL, 8);
        gi_metadata *m = decoded(&file, false);
        assert_int_equal(m->exif.size, GI_EXIF_BYTES);
        assert_int_equal(gi_exif_orientation(gi_blob_bytes(&m->exif)), 8);
        assert_true(!m->icc.size && !m->xmp.size && !m->density.unit);
        gi_metadata_free(m);
        made_free(&file);
        file = encoded(grays, (gi_format)format, NULL, 1);
        m = decoded(&file, false);
        assert_int_equal(m->exif.size, 0);
        gi_metadata_free(m);
        made_free(&file);
    }
}

static void fit(gi_metadata *m, gi_format format, gi_shape shape, int orientation, made_log *log) {
    gi_messages messages = {made_say, log};
    gi_metadata_use use = {format, shape, orientation, &messages, "a"};
    *log = (made_log){{0}, ""};
    assert_int_equal(gi_metadata_fit(m, &use, NULL), GI_OK);
}

static void what_does_not_fit(void **state) {
    (void)state;
    made_log log;
    gi_metadata *m = filled();
    m->turned = 6;
    fit(m, GI_FORMAT_PNG, grays, 1, &log);
    assert_int_equal(log.count[GI_NOTE], 3); // profile, primaries, IPTC
    assert_true(!m->icc.size && !m->primaries.size && m->gamma.size && m->srgb.size && m->code_points.size);
    assert_int_equal(m->density.x, 2835); // turned
    assert_int_equal(gi_exif_orientation(gi_blob_bytes(&m->exif)), 1);
    assert_memory_equal(m->xmp.data, "<tiff:Orientation>1<", 20);
    fit(m, GI_FORMAT_PNG, grays, 1, &log); // as it is now
    assert_int_equal(log.count[GI_NOTE], 0);
    assert_int_equal(m->density.x, 2835);
    fit(m, GI_FORMAT_JPEG, grays, 1, &log);
    assert_text_has(log.text, "cICP");
    m->code_points.size = m->srgb.size = 0;
    fit(m, GI_FORMAT_JPEG, grays, 1, &log);
    assert_text_has(log.text, "gAMA");
    fill_profile(m, "GRAY", 500);
    fit(m, GI_FORMAT_JPEG, grays, 1, &log); // the profile says more
    assert_int_equal(log.count[GI_NOTE], 0);
    m->exif.data[0] = 'X';
    fit(m, GI_FORMAT_JPEG, grays, 3, &log);
    assert_text_has(log.text, "EXIF is damaged");
    assert_int_equal(gi_exif_orientation(gi_blob_bytes(&m->exif)), 3);
    gi_metadata_free(m);
    gi_metadata_free(NULL);
}

// A JPEG's head passes in pieces of any size.
// A packet whose name for what there is more lies within what is changed: nothing is left that nobody names.
static void hostile_names(void **state) {
    (void)state;
    made_log log;
    static const char *const packets[] = {"<xmpGImg:image>xmpNote:HasExtendedXMP>0123456789ABCDEF0123456789ABCDEF<",
                                          "xmpNote:HasExtendedXMP='0123456789 tiff:Orientation='6' '",
                                          "xmpNote:HasExtendedXMP='01234567 tiff:XResolution 012345'"};
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++) {
        gi_metadata *m = filled();
        const gi_bytes text = {(const uint8_t *)packets[i], strlen(packets[i])};
        gi_blob_free(&m->xmp);
        assert_int_equal(gi_blob_set(&m->xmp, text, NULL), GI_OK);
        m->xmp_more.size = GI_XMP_GUID + 1;
        m->xmp_more.data = calloc(1, m->xmp_more.size);
        memcpy(m->xmp_more.data, gi_xmp_guid(text), GI_XMP_GUID);
        m->turned = 6;
        fit(m, GI_FORMAT_JPEG, colours, 1, &log);
        assert_true(m->xmp.size > 0);
        assert_int_equal(m->xmp_more.size, 0);
        gi_metadata_free(m);
    }
}

static void heads_in_pieces(void **state) {
    (void)state;
    for (int codec = GI_CODEC_AUTO; codec <= GI_CODEC_STB; codec += GI_CODEC_STB) {
        static const uint8_t pixels[64];
        gi_metadata *m = filled();
        made_file file = {NULL, 0};
        gi_sink sink = made_sink(&file);
        gi_encode_options options = {
            .format = GI_FORMAT_JPEG, .quality = 90, .metadata = m, .codec = (gi_codec_choice)codec};
        gi_encoder *encoder = NULL;
        assert_int_equal(gi_encoder_open(colours, &options, &sink, &encoder, NULL), GI_OK);
        for (uint32_t y = 0; y < 3; y++) {
            gi_view row = gi_view_packed((void *)(uintptr_t)pixels, (gi_shape){4, 1, 3, GI_U8}, GI_HOST);
            assert_int_equal(gi_encoder_rows(encoder, &row, NULL), GI_OK);
        }
        assert_int_equal(gi_encoder_finish(encoder, NULL), GI_OK);
        gi_encoder_close(encoder);
        gi_metadata *read = decoded(&file, true);
        assert_blob(&read->icc, &m->icc);
        assert_blob(&read->exif, &m->exif);
        assert_int_equal(read->density.x, 300);
        gi_metadata_free(read);
        gi_metadata_free(m);
        made_free(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trips), cmocka_unit_test(an_orientation_alone),
                                       cmocka_unit_test(what_does_not_fit), cmocka_unit_test(hostile_names),
                                       cmocka_unit_test(heads_in_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
