// The marker walk on files of single segments, made by hand. All tables hold one code of one bit: a block of an image
// that is gray all over is two zero bits.
#include "codec/jpeg_check.h"
#include "codec_files.h"

#ifdef GPUIMG_HAVE_JPEG
enum { HAS_TURBO = 1 };
#else
enum { HAS_TURBO = 0 };
#endif

// Appends a marker segment with its length.
static void segment(made_file *file, int code, const void *body, size_t size) {
    uint8_t head[4] = {0xFF, (uint8_t)code};
    gi_put_be16(head + 2, (uint32_t)size + 2);
    made_put(file, head, 4);
    made_put(file, body, size);
}

static void marker(made_file *file, int code) { made_put(file, (uint8_t[]){0xFF, (uint8_t)code}, 2); }

static void dqt(made_file *file) {
    uint8_t table[65] = {0};
    memset(table + 1, 1, 64);
    segment(file, GI_JPEG_DQT, table, sizeof table);
}

static void dht(made_file *file, int class_and_id, int symbol) {
    uint8_t table[18] = {(uint8_t)class_and_id, 1};
    table[17] = (uint8_t)symbol;
    segment(file, GI_JPEG_DHT, table, sizeof table);
}

// 8 bits, components 1..count with the given sampling factors for the first.
static void sof(made_file *file, int code, const uint16_t size[2], const uint8_t *sampling, int count) {
    uint8_t body[6 + 12] = {
        8, (uint8_t)(size[1] >> 8), (uint8_t)size[1], (uint8_t)(size[0] >> 8), (uint8_t)size[0], (uint8_t)count};
    for (int i = 0; i < count; i++) {
        body[6 + 3 * i] = (uint8_t)(i + 1);
        body[7 + 3 * i] = sampling[i];
    }
    segment(file, code, body, 6 + 3 * (size_t)count);
}

static const uint8_t unsampled[4] = {0x11, 0x11, 0x11, 0x11};

// SOI and the tables.
static made_file begin(void) {
    made_file file = {NULL, 0};
    marker(&file, GI_JPEG_SOI);
    dqt(&file);
    dht(&file, 0x00, 0);
    dht(&file, 0x10, 0);
    return file;
}

// A scan header for components 1..count, then `bytes` zeros of data.
static void scan(made_file *file, int count, const uint8_t bands[3], size_t bytes) {
    uint8_t body[1 + 8 + 3] = {(uint8_t)count}, zeros[256] = {0};
    for (int i = 0; i < count; i++) body[1 + 2 * i] = (uint8_t)(i + 1);
    memcpy(body + 1 + 2 * count, bands, 3);
    segment(file, GI_JPEG_SOS, body, 4 + 2 * (size_t)count);
    made_put(file, zeros, bytes);
}

static const uint8_t sequential[3] = {0, 63, 0};

static made_file gray(uint16_t width, uint16_t height) {
    made_file file = begin();
    size_t blocks = (size_t)((width + 7) / 8) * (size_t)((height + 7) / 8);
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){width, height}, unsampled, 1);
    scan(&file, 1, sequential, (2 * blocks + 7) / 8);
    marker(&file, GI_JPEG_EOI);
    return file;
}

static gi_status check(const made_file *file, gi_jpeg_info *info, gi_error *err) {
    uint8_t *exact = malloc(file->size ? file->size : 1); // a sanitizer sees every byte read past it
    assert_non_null(exact);
    memcpy(exact, file->data, file->size);
    gi_status status = gi_jpeg_check((gi_bytes){exact, file->size}, false, info, err);
    free(exact);
    return status;
}

static void assert_fails(made_file file, gi_status expected, const char *reason) {
    gi_jpeg_info info;
    gi_error err = {.text = ""};
    gi_status status = check(&file, &info, &err);
    if (status != expected) fail_msg("%s: status %s, '%s'", reason, gi_status_name(status), err.text);
    assert_text_has(err.text, reason);
    made_free(&file);
}

static void assert_survives(made_file file, const char *damage) {
    gi_jpeg_info info;
    gi_error err = {.text = ""};
    if (check(&file, &info, &err) != GI_OK) fail_msg("%s: %s", damage, err.text);
    assert_text_has(info.damage, damage);
    // And it decodes, to pixels that are all defined.
    gi_header header;
    uint8_t *pixels;
    gi_decode_options options = {0};
    assert_int_equal(made_decode(made_bytes(&file), &options, &header, &pixels, &err), GI_OK);
    free(pixels);
    options.strict = true;
    assert_int_equal(made_decode(made_bytes(&file), &options, &header, &pixels, &err), GI_ERR_FORMAT);
    made_free(&file);
}

static void sound_files(void **state) {
    (void)state;
    made_file file = gray(20, 30);
    gi_jpeg_info info;
    assert_int_equal(check(&file, &info, NULL), GI_OK);
    assert_string_equal(info.damage, "");
    assert_int_equal(info.width, 20);
    assert_int_equal(info.height, 30);
    assert_int_equal(info.colour, GI_JPEG_GRAY);
    assert_int_equal(gi_jpeg_blocks(&info, 0), 12);
    assert_int_equal(gi_jpeg_check_plausible(&info, NULL), GI_OK);
    gi_header header;
    uint8_t *pixels;
    gi_decode_options options = {.strict = true};
    gi_error err;
    assert_int_equal(made_decode(made_bytes(&file), &options, &header, &pixels, &err), GI_OK);
    for (int i = 0; i < 600; i++) assert_int_equal(pixels[i], 128);
    free(pixels);
    made_free(&file);
}

static void cut_at_every_byte(void **state) {
    (void)state;
    made_file file = gray(16, 16);
    size_t whole = file.size, data = whole - 3;
    for (size_t size = 0; size < whole; size++) {
        gi_jpeg_info info;
        file.size = size;
        gi_status status = check(&file, &info, NULL);
        assert_int_equal(status, size >= data ? GI_OK : GI_ERR_FORMAT);
        if (status == GI_OK) assert_text_has(info.damage, "no EOI");
    }
    file.size = whole;
    made_free(&file);
}

// counts: how many codes of 1..16 bits.
static made_file with_counts(int class_and_id, const uint8_t counts[16], int symbol) {
    made_file file = begin();
    uint8_t table[17 + 4096] = {(uint8_t)class_and_id};
    size_t symbols = 0;
    memcpy(table + 1, counts, 16);
    for (int i = 0; i < 16; i++) symbols += counts[i];
    memset(table + 17, symbol, symbols);
    segment(&file, GI_JPEG_DHT, table, 17 + symbols);
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){8, 8}, unsampled, 1);
    scan(&file, 1, sequential, 1);
    marker(&file, GI_JPEG_EOI);
    return file;
}

// What CVE-2022-28042 needs: more codes than an array of 257 holds, or more than their lengths allow.
static void huffman_tables(void **state) {
    (void)state;
    uint8_t counts[16];
    memset(counts, 255, sizeof counts); // 4080 codes
    assert_fails(with_counts(0x10, counts, 0), GI_ERR_FORMAT, "more codes than their lengths allow");
    memset(counts, 0, sizeof counts);
    counts[15] = 255;
    counts[14] = 2; // 257 codes, not over-subscribed
    assert_fails(with_counts(0x10, counts, 0), GI_ERR_FORMAT, "over 256 symbols");
    memset(counts, 0, sizeof counts);
    counts[0] = 3;
    assert_fails(with_counts(0x10, counts, 0), GI_ERR_FORMAT, "more codes than their lengths allow");
    counts[0] = 0;
    assert_fails(with_counts(0x10, counts, 0), GI_ERR_FORMAT, "without codes");
    counts[1] = 1;
    assert_fails(with_counts(0x20, counts, 0), GI_ERR_FORMAT, "class over 1");
    assert_fails(with_counts(0x14, counts, 0), GI_ERR_FORMAT, "number over 3");
    assert_fails(with_counts(0x00, counts, 16), GI_ERR_FORMAT, "DC difference");
    made_file file = begin();
    segment(&file, GI_JPEG_DHT, "\0\1\0", 3);
    assert_fails(file, GI_ERR_FORMAT, "segment DHT at byte 115: a Huffman table is cut short");
    file = begin();
    uint8_t cut[17] = {0, 1};
    segment(&file, GI_JPEG_DHT, cut, sizeof cut);
    assert_fails(file, GI_ERR_FORMAT, "a Huffman table is cut short");
}

static void quantization_tables(void **state) {
    (void)state;
    static const uint8_t zeros[129];
    made_file file = begin();
    segment(&file, GI_JPEG_DQT, zeros, 64);
    assert_fails(file, GI_ERR_FORMAT, "cut short");
    file = begin();
    segment(&file, GI_JPEG_DQT, "\x20", 1);
    assert_fails(file, GI_ERR_FORMAT, "precision");
    file = begin();
    segment(&file, GI_JPEG_DQT, "\x04", 1);
    assert_fails(file, GI_ERR_FORMAT, "number over 3");
}

static made_file with_frame(int code, const void *body, size_t size) {
    made_file file = begin();
    segment(&file, code, body, size);
    scan(&file, 1, sequential, 1);
    marker(&file, GI_JPEG_EOI);
    return file;
}

static void frames(void **state) {
    (void)state;
    static const struct {
        int code;
        size_t size;
        uint8_t body[18];
        gi_status status;
        const char *reason;
    } cases[] = {
        {0xC0, 9, {12, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "12-bit"},
        {0xC0, 9, {7, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_FORMAT, "precision"},
        {0xC0, 9, {8, 0, 0, 0, 8, 1, 1, 0x11, 0}, GI_ERR_FORMAT, "height is 0"},
        {0xC0, 9, {8, 0, 8, 0, 0, 1, 1, 0x11, 0}, GI_ERR_FORMAT, "width is 0"},
        {0xC0, 9, {8, 0, 8, 0, 8, 0, 1, 0x11, 0}, GI_ERR_FORMAT, "number of components"},
        {0xC0, 12, {8, 0, 8, 0, 8, 2, 1, 0x11, 0, 2, 0x11, 0}, GI_ERR_UNSUPPORTED, "two-component"},
        {0xC0, 9, {8, 0, 8, 0, 8, 5, 1, 0x11, 0}, GI_ERR_FORMAT, "number of components"},
        {0xC0, 9, {8, 0, 8, 0, 8, 3, 1, 0x11, 0}, GI_ERR_FORMAT, "length is wrong"},
        {0xC0, 5, {8, 0, 8, 0, 8}, GI_ERR_FORMAT, "length is wrong"},
        {0xC0, 9, {8, 0, 8, 0, 8, 1, 1, 0x10, 0}, GI_ERR_FORMAT, "sampling factor"},
        {0xC0, 9, {8, 0, 8, 0, 8, 1, 1, 0x51, 0}, GI_ERR_FORMAT, "sampling factor"},
        {0xC0, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 4}, GI_ERR_FORMAT, "quantization table number"},
        {0xC0, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 1}, GI_ERR_FORMAT, "quantization table is not defined"},
        {0xC0, 15, {8, 0, 8, 0, 8, 3, 1, 0x11, 0, 1, 0x11, 0, 2, 0x11, 0}, GI_ERR_FORMAT, "one identifier"},
        {0xC0, 15, {8, 0, 8, 0, 8, 3, 1, 0x31, 0, 2, 0x21, 0, 3, 0x11, 0}, GI_ERR_UNSUPPORTED, "fractional"},
        {0xC0, 18, {8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0}, GI_ERR_UNSUPPORTED, "CMYK"},
        {0xC3, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "lossless"},
        {0xC5, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "hierarchical"},
        {0xC9, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "arithmetic"},
        {0xCA, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "arithmetic"},
        {0xCC, 2, {0, 0}, GI_ERR_UNSUPPORTED, "arithmetic"},
        {0xDE, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "hierarchical"},
        {0xBF, 2, {0, 0}, GI_ERR_FORMAT, "segment 0xBF at byte 115: an unknown marker"},
        {0xFE, 2, {0, 0}, GI_ERR_FORMAT, "segment SOS at byte 121: no frame header"},
        {0xDD, 1, {0}, GI_ERR_FORMAT, "length is not 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_fails(with_frame(cases[i].code, cases[i].body, cases[i].size), cases[i].status, cases[i].reason);
    made_file file = begin();
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){8, 8}, unsampled, 1);
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){16, 8}, unsampled, 1);
    assert_fails(file, GI_ERR_FORMAT, "a second frame");
    file = begin();
    marker(&file, GI_JPEG_SOI);
    assert_fails(file, GI_ERR_FORMAT, "a second SOI");
    file = begin();
    made_put(&file, "\xFF\xE1\0\1", 4);
    assert_fails(file, GI_ERR_FORMAT, "segment APP1 at byte 115: its length is under 2");
}

// What a decoder that can do arithmetic coding is allowed.
static void arithmetic_coding(void **state) {
    (void)state;
    static const struct {
        int code;
        size_t size;
        uint8_t body[9];
        gi_status status;
        const char *reason;
    } cases[] = {
        {0xC9, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_OK, ""},
        {0xCB, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "lossless"},
        {0xCD, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "hierarchical"},
        {0xCF, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "hierarchical"},
        {0xC8, 9, {8, 0, 8, 0, 8, 1, 1, 0x11, 0}, GI_ERR_UNSUPPORTED, "hierarchical"},
        {0xCC, 1, {0}, GI_ERR_FORMAT, "segment DAC at byte"},
        {0xCC, 2, {0x20, 0}, GI_ERR_FORMAT, "conditioning"},
        {0xCC, 2, {0x04, 0}, GI_ERR_FORMAT, "conditioning"},
        {0xCC, 2, {0x03, 0x12}, GI_ERR_FORMAT, "conditioning"},
        {0xCC, 4, {0x03, 0x22, 0x11, 64}, GI_ERR_FORMAT, "conditioning"},
        {0xCC, 4, {0x03, 0x22, 0x11, 0}, GI_ERR_FORMAT, "conditioning"},
        {0xCC, 4, {0x03, 0x22, 0x11, 63}, GI_ERR_FORMAT, "no frame header"}, // the segment itself is sound
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_file file = with_frame(cases[i].code, cases[i].body, cases[i].size);
        gi_jpeg_info info;
        gi_error err = {.text = ""};
        assert_int_equal(gi_jpeg_check(made_bytes(&file), true, &info, &err), cases[i].status);
        assert_text_has(err.text, cases[i].reason);
        if (cases[i].status == GI_OK) assert_true(info.arithmetic && !info.progressive);
        made_free(&file);
    }
    // No Huffman table is needed; and a flat image takes hardly any data.
    made_file file = {NULL, 0};
    gi_jpeg_info info;
    marker(&file, GI_JPEG_SOI);
    dqt(&file);
    sof(&file, GI_JPEG_SOF10, (uint16_t[]){30000, 30000}, unsampled, 1);
    scan(&file, 1, (uint8_t[]){0, 0, 0}, 60);
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){8, 8}, unsampled, 1); // damage that changes nothing of what is before it
    assert_int_equal(gi_jpeg_check(made_bytes(&file), true, &info, NULL), GI_OK);
    assert_text_has(info.damage, "a second frame");
    assert_true(info.arithmetic && info.progressive && info.width == 30000);
    assert_int_equal(gi_jpeg_check_plausible(&info, NULL), GI_OK);
    info.width = info.height = 65535;
    info.entropy_bytes = 100;
    assert_int_equal(gi_jpeg_check_plausible(&info, NULL), GI_ERR_FORMAT);
    made_free(&file);
}

// A three-component file with one scan of the given header.
static made_file with_scan(int frame, const void *body, size_t size) {
    made_file file = begin();
    sof(&file, frame, (uint16_t[]){8, 8}, unsampled, 3);
    segment(&file, GI_JPEG_SOS, body, size);
    made_put(&file, "\0\0", 2);
    marker(&file, GI_JPEG_EOI);
    return file;
}

static void scans(void **state) {
    (void)state;
    static const struct {
        int frame;
        size_t size;
        uint8_t body[10];
        const char *reason; // NULL: sound
    } cases[] = {
        {0xC0, 10, {3, 1, 0, 2, 0, 3, 0, 0, 63, 0}, NULL},
        {0xC0, 10, {3, 1, 0, 2, 0, 3, 0, 0, 0, 0}, NULL}, // some encoders leave the last band 0
        {0xC0, 10, {3, 1, 0, 2, 0, 4, 0, 0, 63, 0}, "a component that the frame does not have"},
        {0xC0, 10, {3, 1, 0, 2, 0, 2, 0, 0, 63, 0}, "a component twice"},
        {0xC0, 10, {3, 1, 0, 3, 0, 2, 0, 0, 63, 0}, "components in another order"},
        {0xC0, 10, {3, 3, 0, 2, 0, 1, 0, 0, 63, 0}, "components in another order"},
        {0xC0, 8, {2, 3, 0, 1, 0, 0, 63, 0}, "components in another order"},
        {0xC0, 8, {2, 3, 0, 2, 0, 0, 63, 0}, NULL},
        {0xC0, 10, {0, 1, 0, 2, 0, 3, 0, 0, 63, 0}, "number of components"},
        {0xC0, 10, {4, 1, 0, 2, 0, 3, 0, 0, 63, 0}, "number of components"},
        {0xC0, 9, {3, 1, 0, 2, 0, 3, 0, 0, 63}, "length is wrong"},
        {0xC0, 0, {0}, "length is wrong"},
        {0xC0, 10, {3, 1, 0x40, 2, 0, 3, 0, 0, 63, 0}, "table number over 3"},
        {0xC0, 10, {3, 1, 0x04, 2, 0, 3, 0, 0, 63, 0}, "table number over 3"},
        {0xC0, 10, {3, 1, 0x10, 2, 0, 3, 0, 0, 63, 0}, "DC Huffman table is not defined"},
        {0xC0, 10, {3, 1, 0x01, 2, 0, 3, 0, 0, 63, 0}, "AC Huffman table is not defined"},
        {0xC0, 10, {3, 1, 0, 2, 0, 3, 0, 1, 63, 0}, "bands of a sequential scan"},
        {0xC0, 10, {3, 1, 0, 2, 0, 3, 0, 0, 63, 1}, "bands of a sequential scan"},
        {0xC2, 10, {3, 1, 0, 2, 0, 3, 0, 0, 0, 0}, NULL},
        {0xC2, 10, {3, 1, 0x03, 2, 0, 3, 0, 0, 0, 0}, NULL},    // no AC table is needed
        {0xC2, 10, {3, 1, 0x30, 2, 0, 3, 0, 0, 0, 0x10}, NULL}, // no table at all
        {0xC2, 10, {3, 1, 0x10, 2, 0, 3, 0, 0, 0, 0}, "DC Huffman table is not defined"},
        {0xC2, 10, {3, 1, 0, 2, 0, 3, 0, 0, 63, 0}, "DC and AC coefficients in one"},
        {0xC2, 10, {3, 1, 0, 2, 0, 3, 0, 1, 63, 0}, "several components"},
        {0xC2, 6, {1, 2, 0, 1, 63, 0}, NULL},
        {0xC2, 6, {1, 2, 0x01, 1, 63, 0}, "AC Huffman table is not defined"},
        {0xC2, 6, {1, 2, 0, 5, 4, 0}, "spectral selection"},
        {0xC2, 6, {1, 2, 0, 1, 64, 0}, "spectral selection"},
        {0xC2, 6, {1, 2, 0, 200, 255, 0}, "spectral selection"},
        {0xC2, 6, {1, 2, 0, 1, 63, 0x0D}, NULL},
        {0xC2, 6, {1, 2, 0, 1, 63, 0x0E}, "successive approximation"}, // CVE-2022-28048: a shift by that
        {0xC2, 6, {1, 2, 0, 1, 63, 0xDC}, NULL},
        {0xC2, 6, {1, 2, 0, 1, 63, 0xED}, "successive approximation"},
        {0xC2, 6, {1, 2, 0, 1, 63, 0x11}, "successive approximation"},
        {0xC2, 6, {1, 2, 0, 1, 63, 0x20}, "successive approximation"},
        {0xC2, 6, {1, 2, 0, 1, 63, 0xFE}, "successive approximation"},
        {0xC2, 6, {1, 2, 0, 1, 63, 0x10}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_file file = with_scan(cases[i].frame, cases[i].body, cases[i].size);
        gi_jpeg_info info;
        gi_error err = {.text = "sound"};
        gi_status status = check(&file, &info, &err);
        if ((status == GI_OK) != (cases[i].reason == NULL)) fail_msg("case %zu: %s", i, err.text);
        if (cases[i].reason) assert_text_has(err.text, cases[i].reason);
        made_free(&file);
    }
}

static void colour_is_decided_as_libjpeg_does(void **state) {
    (void)state;
    static const struct {
        const char *ids;
        size_t jfif; // bytes of it
        int adobe;   // -1: none
        gi_jpeg_colour colour;
    } cases[] = {
        {"\1\2\3", 0, -1, GI_JPEG_YCC}, {"RGB", 0, -1, GI_JPEG_RGB},      {"RGB", 14, -1, GI_JPEG_YCC},
        {"\1\2\3", 0, 0, GI_JPEG_RGB},  {"\1\2\3", 0, 1, GI_JPEG_YCC},    {"\1\2\3", 14, 0, GI_JPEG_YCC},
        {"RGB", 0, 1, GI_JPEG_YCC},     {"\1\2\3\4", 0, 0, GI_JPEG_CMYK}, {"\1\2\3\4", 14, 2, GI_JPEG_YCCK},
        {"\1\2\3", 13, 0, GI_JPEG_RGB}, {"RGB", 13, -1, GI_JPEG_RGB}, // too short to be one
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_file file = begin();
        int count = (int)strlen(cases[i].ids);
        uint8_t adobe[12] = {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, (uint8_t)cases[i].adobe};
        if (cases[i].jfif) segment(&file, GI_JPEG_APP0, "JFIF\0\1\1\0\0\1\0\1\0\0", cases[i].jfif);
        if (cases[i].adobe >= 0) segment(&file, GI_JPEG_APP14, adobe, sizeof adobe);
        sof(&file, GI_JPEG_SOF0, (uint16_t[]){8, 8}, unsampled, count);
        size_t ids = file.size - 3 * (size_t)count;
        for (int c = 0; c < count; c++) file.data[ids + 3 * (size_t)c] = (uint8_t)cases[i].ids[c];
        uint8_t header[6] = {1, (uint8_t)cases[i].ids[0], 0, 0, 63, 0};
        segment(&file, GI_JPEG_SOS, header, sizeof header);
        made_put(&file, "\0", 1);
        marker(&file, GI_JPEG_EOI);
        gi_jpeg_info info;
        assert_int_equal(check(&file, &info, NULL), GI_OK);
        assert_int_equal(info.colour, cases[i].colour);
        assert_text_has(info.damage, count > 1 ? "a colour component has no scan" : "");
        made_free(&file);
    }
}

// As it does for what is kept, and for others who read it.
static void first_exif_counts(void **state) {
    (void)state;
    uint8_t exif[32] = {'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 1};
    for (int first = 1; first <= 6; first += 5) {
        made_file file = begin();
        gi_jpeg_info info;
        exif[25] = (uint8_t)first;
        segment(&file, GI_JPEG_APP1, exif, sizeof exif);
        exif[25] = 3;
        segment(&file, GI_JPEG_APP1, exif, sizeof exif);
        sof(&file, GI_JPEG_SOF0, (uint16_t[]){8, 8}, unsampled, 1);
        scan(&file, 1, sequential, 1);
        marker(&file, GI_JPEG_EOI);
        assert_int_equal(check(&file, &info, NULL), GI_OK);
        assert_int_equal(info.orientation, first);
        made_free(&file);
    }
}

static void damage_that_still_decodes(void **state) {
    (void)state;
    made_file file = gray(64, 64);
    file.size -= 2;
    assert_survives(file, "cut short");

    file = begin();
    made_put(&file, "junk", 4);
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){8, 8}, unsampled, 1);
    scan(&file, 1, sequential, 1);
    marker(&file, GI_JPEG_EOI);
    assert_survives(file, "bytes between the segments");

    // A stuffed zero is data, and no marker's code, behind fill bytes, too.
    for (int fill = 1; fill <= 3; fill++) {
        file = begin();
        made_put(&file, "\xFF\xFF\xFF", (size_t)fill);
        made_put(&file, "\0\0\2", 3);
        sof(&file, GI_JPEG_SOF0, (uint16_t[]){8, 8}, unsampled, 1);
        scan(&file, 1, sequential, 1);
        marker(&file, GI_JPEG_EOI);
        assert_survives(file, "bytes between the segments");
    }

    // Whatever follows the first scan and is wrong ends the image there.
    file = gray(8, 8);
    file.size -= 2;
    segment(&file, GI_JPEG_DHT, "\x77", 1);
    marker(&file, GI_JPEG_EOI);
    assert_survives(file, "segment DHT at byte");

    file = begin();
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){8, 8}, unsampled, 3);
    scan(&file, 3, sequential, 2);
    segment(&file, GI_JPEG_SOS, (uint8_t[]){3, 1, 0, 3, 0, 2, 0, 0, 63, 0}, 10);
    made_put(&file, "\0\0", 2);
    marker(&file, GI_JPEG_EOI);
    assert_survives(file, "components in another order");

    file = begin();
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){8, 8}, unsampled, 3);
    scan(&file, 1, sequential, 1);
    marker(&file, GI_JPEG_EOI);
    assert_survives(file, "no scan");
}

// 8 blocks in a row, an interval of 2, so 3 restart markers of the given numbers.
static made_file with_restarts(const char *numbers) {
    made_file file = begin();
    segment(&file, GI_JPEG_DRI, "\0\2", 2);
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){64, 8}, unsampled, 1);
    scan(&file, 1, sequential, 1);
    for (; *numbers; numbers++) {
        marker(&file, GI_JPEG_RST0 + *numbers - '0');
        made_put(&file, "\0", 1);
    }
    marker(&file, GI_JPEG_EOI);
    return file;
}

static void restart_markers(void **state) {
    (void)state;
    gi_jpeg_info info;
    made_file file = with_restarts("012");
    assert_int_equal(check(&file, &info, NULL), GI_OK);
    assert_string_equal(info.damage, "");
    made_free(&file);
    assert_survives(with_restarts("01"), "restart markers");
    assert_survives(with_restarts("021"), "restart markers");
    assert_survives(with_restarts("01234"), "restart markers");
    assert_survives(with_restarts(""), "restart markers");
}

static void scan_data_short_long_and_wrong(void **state) {
    (void)state;
    gi_error err;
    gi_header header;
    uint8_t *pixels;
    static const struct {
        size_t bytes;       // of data; 64 blocks need 16
        const char *tail;   // more
        const char *damage; // NULL: sound
        const char *stb;    // in stb's eyes
    } cases[] = {{16, "", NULL, NULL},
                 {15, "", "ends early", "ends early"},
                 // libjpeg-turbo has up to 8 bytes in hand, and does not tell what it leaves of them.
                 {16, "xyz", HAS_TURBO ? NULL : "not used", "not used"},
                 {16, "more than those", "not used", "not used"},
                 {18, "", NULL, NULL},
                 {66, "", NULL, NULL},
                 // Nor does it know a code to be invalid before it has seen 17 bits.
                 {15, "\xC0", HAS_TURBO ? "ends early" : "invalid code", "invalid code"},
                 {8, "ones in each of these bytes", "invalid code", "invalid code"}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        size_t k = i / 2;
        const char *damage = i % 2 ? cases[k].stb : cases[k].damage;
        made_file file = begin();
        sof(&file, GI_JPEG_SOF0, (uint16_t[]){64, 64}, unsampled, 1);
        scan(&file, 1, sequential, cases[k].bytes);
        made_put(&file, cases[k].tail, strlen(cases[k].tail));
        marker(&file, GI_JPEG_EOI);
        made_log log = {{0}, ""};
        gi_messages messages = {made_say, &log};
        gi_decode_options options = {.messages = &messages, .codec = i % 2 ? GI_CODEC_STB : GI_CODEC_AUTO};
        assert_int_equal(made_decode(made_bytes(&file), &options, &header, &pixels, &err), GI_OK);
        assert_int_equal(log.count[GI_WARNING], damage ? 1 : 0);
        if (damage) assert_text_has(log.text, damage);
        for (int p = 0; p < 64 * 64; p++) assert_int_equal(pixels[p], 128);
        free(pixels);
        options.strict = true;
        gi_status status = made_decode(made_bytes(&file), &options, &header, &pixels, &err);
        assert_int_equal(status, damage ? GI_ERR_FORMAT : GI_OK);
        free(pixels);
        made_free(&file);
    }
}

static void too_many_scans(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        made_file file = begin();
        gi_jpeg_info info;
        gi_error err;
        sof(&file, GI_JPEG_SOF2, (uint16_t[]){8, 8}, unsampled, 1);
        for (int i = 0; i < GI_JPEG_MAX_SCANS + more; i++) scan(&file, 1, (uint8_t[]){0, 0, 0}, 1);
        marker(&file, GI_JPEG_EOI);
        assert_int_equal(check(&file, &info, &err), more ? GI_ERR_LIMIT : GI_OK);
        if (more) assert_text_has(err.text, "more than 100 scans");
        made_free(&file);
    }
}

static void bombs_are_refused_from_the_header(void **state) {
    (void)state;
    made_file file = begin();
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){60000, 60000}, unsampled, 1);
    scan(&file, 1, sequential, 100);
    marker(&file, GI_JPEG_EOI);
    gi_decode_options options = {.max_pixels = 1 << 30, .codec = GI_CODEC_STB};
    gi_decoder *decoder = NULL;
    gi_error err;
    assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "60000x60000 is 3600000000 pixels");
    options.max_pixels = 0;
    assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "2^30");
    // Without a limit of the library's it is still refused.
    options.codec = GI_CODEC_AUTO;
    assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err),
                     HAS_TURBO ? GI_ERR_FORMAT : GI_ERR_LIMIT);
    assert_text_has(err.text, "60000x60000");
    made_free(&file);
    // Many scans need the whole image's coefficients.
    file = begin();
    sof(&file, GI_JPEG_SOF2, (uint16_t[]){60000, 60000}, unsampled, 1);
    scan(&file, 1, (uint8_t[]){0, 0, 0}, 100);
    marker(&file, GI_JPEG_EOI);
    assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err), GI_ERR_LIMIT);
    assert_text_has(err.text, "2^30");
    made_free(&file);
    file = begin();
    sof(&file, GI_JPEG_SOF0, (uint16_t[]){30000, 30000}, unsampled, 1);
    scan(&file, 1, sequential, 100);
    marker(&file, GI_JPEG_EOI);
    assert_int_equal(gi_decoder_open(made_bytes(&file), &options, &decoder, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "cannot hold 30000x30000 pixels");
    made_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_files),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(huffman_tables),
        cmocka_unit_test(quantization_tables),
        cmocka_unit_test(frames),
        cmocka_unit_test(arithmetic_coding),
        cmocka_unit_test(scans),
        cmocka_unit_test(colour_is_decided_as_libjpeg_does),
        cmocka_unit_test(first_exif_counts),
        cmocka_unit_test(damage_that_still_decodes),
        cmocka_unit_test(restart_markers),
        cmocka_unit_test(scan_data_short_long_and_wrong),
        cmocka_unit_test(too_many_scans),
        cmocka_unit_test(bombs_are_refused_from_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
