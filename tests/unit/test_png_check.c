#include "codec/exif.h"
#include "codec/png_check.h"
#include "codec_files.h"

static const made_ihdr gray2x2 = {2, 2, 8, GI_PNG_GRAY, 0};
static const uint8_t rows2x2[6] = {0, 10, 20, 0, 30, 40};

static gi_status check(made_file *file, gi_png_info *info, gi_error *err) {
    const gi_input input = made_input(file);
    return gi_png_check(&input, info, err);
}

static void assert_damaged(made_file file, const char *reason) {
    gi_png_info info;
    gi_error err;
    assert_int_equal(check(&file, &info, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, reason);
    made_free(&file);
}

static void sound_file(void **state) {
    (void)state;
    made_file file = made_png(gray2x2, rows2x2, sizeof rows2x2);
    gi_png_info info;
    assert_int_equal(check(&file, &info, NULL), GI_OK);
    assert_int_equal(info.width, 2);
    assert_int_equal(info.idat, 33);
    assert_int_equal(info.idat_chunks, 1);
    assert_int_equal(info.trailing_bytes, 0);
    made_put(&file, "junk", 4);
    assert_int_equal(check(&file, &info, NULL), GI_OK);
    assert_int_equal(info.trailing_bytes, 4);
    made_free(&file);
}

static void cut_at_every_byte(void **state) {
    (void)state;
    made_file file = made_png(gray2x2, rows2x2, sizeof rows2x2);
    size_t whole = file.size;
    for (size_t size = 0; size < whole; size++) {
        gi_png_info info;
        gi_error err;
        file.size = size;
        assert_int_equal(check(&file, &info, &err), GI_ERR_FORMAT);
        if (size >= 8) assert_text_has(err.text, "damaged PNG: ");
    }
    made_free(&file);
}

// Any byte of the chunks is covered by a CRC, or breaks the structure; of the image data (41 to 62) it is told later.
static void every_flipped_bit_is_found(void **state) {
    (void)state;
    made_file file = made_png(gray2x2, rows2x2, sizeof rows2x2);
    for (size_t bit = 0; bit < 8 * file.size; bit++) {
        gi_png_info info;
        bool of_data = bit / 8 >= 41 && bit / 8 < file.size - 12;
        file.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(check(&file, &info, NULL), of_data ? GI_OK : GI_ERR_FORMAT);
        file.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    file.data[20] ^= 1;
    assert_damaged(file, "chunk IHDR at byte 8: its CRC does not match");
}

static void every_colour_type_and_depth(void **state) {
    (void)state;
    for (int colour = 0; colour < 256; colour++)
        for (int depth = 0; depth < 20; depth++) {
            bool low = depth == 1 || depth == 2 || depth == 4, byte = depth == 8, wide = depth == 16;
            bool legal = colour == 0   ? low || byte || wide
                         : colour == 3 ? low || byte
                                       : (colour == 2 || colour == 4 || colour == 6) && (byte || wide);
            made_file file = {NULL, 0};
            gi_png_info info;
            made_signature(&file);
            made_header(&file, (made_ihdr){1, 1, depth, colour, 0});
            if (colour == 3) made_chunk(&file, "PLTE", "abc", 3);
            made_chunk(&file, "IDAT", "12345", 5);
            made_chunk(&file, "IEND", NULL, 0);
            assert_int_equal(check(&file, &info, NULL), legal ? GI_OK : GI_ERR_FORMAT);
            made_free(&file);
        }
}

// IHDR with byte `at` set to `value`.
static made_file with_ihdr_byte(size_t at, uint8_t value) {
    made_file file = made_png(gray2x2, rows2x2, sizeof rows2x2);
    file.data[16 + at] = value;
    gi_put_be32(file.data + 29, gi_crc32(0, file.data + 12, 17));
    return file;
}

static void header_fields(void **state) {
    (void)state;
    assert_damaged(with_ihdr_byte(3, 0), "width or height is 0");
    assert_damaged(with_ihdr_byte(7, 0), "width or height is 0");
    assert_damaged(with_ihdr_byte(0, 0x80), "over 2^31-1");
    assert_damaged(with_ihdr_byte(10, 1), "compression");
    assert_damaged(with_ihdr_byte(11, 1), "filter");
    assert_damaged(with_ihdr_byte(12, 2), "interlace");
    assert_damaged(with_ihdr_byte(9, 3), "chunk IDAT at byte 33: no PLTE");
    gi_png_info info;
    made_file file = with_ihdr_byte(12, 1);
    assert_int_equal(check(&file, &info, NULL), GI_OK);
    assert_true(info.interlaced);
    made_free(&file);
}

// A file of the named chunks, one letter each: H IHDR, h IHDR of 12 bytes, P PLTE, T tRNS, D IDAT, E IEND, e IEND with
// a body, a ancillary, C critical, x a name that is none.
static made_file of_chunks(const char *letters, int colour, size_t plte, size_t trns) {
    static const uint8_t zeros[800];
    made_file file = {NULL, 0};
    made_signature(&file);
    for (; *letters; letters++) switch (*letters) {
        case 'H': made_header(&file, (made_ihdr){1, 1, 8, colour, 0}); break;
        case 'h': made_chunk(&file, "IHDR", zeros, 12); break;
        case 'P': made_chunk(&file, "PLTE", zeros, plte); break;
        case 'T': made_chunk(&file, "tRNS", zeros, trns); break;
        case 'D': made_chunk(&file, "IDAT", zeros, 5); break;
        case 'E': made_chunk(&file, "IEND", NULL, 0); break;
        case 'e': made_chunk(&file, "IEND", zeros, 1); break;
        case 'a': made_chunk(&file, "teXt", zeros, 7); break;
        case 'C': made_chunk(&file, "CgBI", zeros, 4); break;
        default: made_chunk(&file, "ab1d", zeros, 4); break;
        }
    return file;
}

static void order_and_sizes(void **state) {
    (void)state;
    static const struct {
        const char *letters;
        int colour;
        size_t plte, trns;
        const char *reason; // NULL: sound
    } cases[] = {
        {"HDE", 0, 0, 0, NULL},
        {"HaDDDaE", 2, 0, 0, NULL},
        {"HPDE", 2, 3, 0, NULL},
        {"HPTDE", 3, 9, 3, NULL},
        {"HPTDE", 3, 768, 256, NULL},
        {"HTDE", 0, 0, 2, NULL},
        {"HTDE", 2, 0, 6, NULL},
        {"hDE", 0, 0, 0, "chunk IHDR at byte 8: its length is not 13"},
        {"DHE", 0, 0, 0, "the first chunk is not IHDR"},
        {"CHDE", 0, 0, 0, "chunk CgBI at byte 8: the first chunk is not IHDR"},
        {"HHDE", 0, 0, 0, "chunk IHDR at byte 33: a second IHDR"},
        {"HDaDE", 0, 0, 0, "chunk IDAT at byte 69: image data is not consecutive"},
        {"HE", 0, 0, 0, "no IDAT"},
        {"HD", 0, 0, 0, "without an IEND"},
        {"HDe", 0, 0, 0, "chunk IEND at byte 50: its length is not 0"},
        {"HCDE", 0, 0, 0, "chunk CgBI at byte 33: an unknown critical chunk"},
        {"HxDE", 0, 0, 0, "chunk ab1d at byte 33: no valid chunk name"},
        {"HDE", 3, 0, 0, "no PLTE"},
        {"HDPE", 3, 3, 0, "no PLTE"},
        {"HPPDE", 3, 3, 0, "a second palette"},
        {"HDPE", 2, 3, 0, "a palette after the image data"},
        {"HPDE", 3, 4, 0, "3 bytes for 1 to 256 colours"},
        {"HPDE", 3, 0, 0, "3 bytes for 1 to 256 colours"},
        {"HPDE", 3, 771, 0, "3 bytes for 1 to 256 colours"},
        {"HPDE", 0, 3, 0, "a palette in a gray image"},
        {"HTPDE", 3, 3, 1, "transparency before the palette"},
        {"HTPDE", 2, 3, 6, "a palette after tRNS"},
        {"HPTDE", 3, 3, 2, "1 to the number of colours"},
        {"HPTDE", 3, 3, 0, "1 to the number of colours"},
        {"HTDE", 0, 0, 1, "its length is not 2"},
        {"HTDE", 2, 0, 2, "its length is not 6"},
        {"HTDE", 4, 0, 2, "in an image with alpha"},
        {"HTDE", 6, 0, 6, "in an image with alpha"},
        {"HTTDE", 0, 0, 2, "a second tRNS"},
        {"HDTE", 0, 0, 2, "transparency after the image data"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_file file = of_chunks(cases[i].letters, cases[i].colour, cases[i].plte, cases[i].trns);
        gi_png_info info;
        gi_error err = {.text = ""};
        gi_status status = check(&file, &info, &err);
        if ((status == GI_OK) != (cases[i].reason == NULL)) fail_msg("%s: %s", cases[i].letters, err.text);
        if (cases[i].reason) assert_text_has(err.text, cases[i].reason);
        made_free(&file);
    }
}

static void length_past_the_end(void **state) {
    (void)state;
    static const uint32_t lengths[] = {18, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF4};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        made_file file = of_chunks("HDE", 0, 0, 0);
        gi_put_be32(file.data + 33, lengths[i]);
        assert_damaged(file, "chunk IDAT at byte 33: ");
    }
}

typedef struct counted_input {
    made_file file;
    size_t reads, bytes;
} counted_input;

static gi_status counted_read(void *context, size_t at, void *to, size_t size, gi_error *err) {
    counted_input *counted = context;
    counted->reads++;
    counted->bytes += size;
    return made_read(&counted->file, at, to, size, err);
}

// However small the chunks are, and however many.
static void reads_do_not_grow_with_chunks(void **state) {
    (void)state;
    enum { CHUNKS = 10000 };
    static const char *const names[] = {"teSt", "IDAT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t size = 0; size < 3; size++) {
            counted_input counted = {.file = {NULL, 0}};
            made_signature(&counted.file);
            made_header(&counted.file, gray2x2);
            for (int k = 0; k < CHUNKS; k++) made_chunk(&counted.file, names[i], "ab", size);
            made_chunk(&counted.file, "IDAT", "12345", 5);
            made_chunk(&counted.file, "IEND", NULL, 0);
            gi_png_info info;
            gi_input input = {counted.file.size, counted_read, &counted};
            assert_int_equal(gi_png_check(&input, &info, NULL), GI_OK);
            assert_true(counted.reads <= 10 + counted.file.size / 2048);
            assert_true(counted.bytes <= 2 * counted.file.size);
            made_free(&counted.file);
        }
}

static void orientation_of_exif_chunk(void **state) {
    (void)state;
    static const uint8_t tiff[26] = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 5};
    static const uint8_t another[26] = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6};
    made_file file = {NULL, 0};
    gi_png_info info;
    made_signature(&file);
    made_header(&file, gray2x2);
    made_chunk(&file, "eXIf", tiff, sizeof tiff);
    made_chunk(&file, "eXIf", another, sizeof another); // the first counts, as it does for what is kept
    made_chunk(&file, "IDAT", "12345", 5);
    made_chunk(&file, "IEND", NULL, 0);
    assert_int_equal(check(&file, &info, NULL), GI_OK);
    assert_int_equal(info.orientation, 5);
    made_free(&file);
}

// The seven passes cover every pixel exactly once.
static void passes_cover_the_image(void **state) {
    (void)state;
    for (uint32_t width = 1; width <= 18; width++)
        for (uint32_t height = 1; height <= 18; height++) {
            gi_png_info info = {.width = width, .height = height, .depth = 8, .colour = GI_PNG_RGB, .interlaced = true};
            uint8_t seen[18][18] = {{0}};
            size_t bytes = 0, filtered;
            for (int i = 0; i < 7; i++) {
                gi_png_pass pass = gi_png_pass_of(&info, i);
                if (pass.width) bytes += pass.height * (1 + 3 * (size_t)pass.width);
                for (uint32_t y = 0; y < pass.height; y++)
                    for (uint32_t x = 0; x < pass.width; x++) seen[pass.y0 + y * pass.dy][pass.x0 + x * pass.dx]++;
            }
            for (uint32_t y = 0; y < height; y++)
                for (uint32_t x = 0; x < width; x++) assert_int_equal(seen[y][x], 1);
            assert_int_equal(gi_png_filtered_bytes(&info, &filtered, NULL), GI_OK);
            assert_int_equal(filtered, bytes);
        }
}

// A million zero bytes deflate to about a thousand; no fewer can be honest.
static void plausible_sizes(void **state) {
    (void)state;
    gi_png_info info = {.width = 30000, .height = 30000, .depth = 8, .colour = GI_PNG_RGB, .idat_bytes = 50};
    gi_error err;
    assert_int_equal(gi_png_check_plausible(&info, &err), GI_ERR_FORMAT);
    assert_text_has(err.text, "ends early");
    info.idat_bytes = 30000ULL * 90001 / 1032;
    assert_int_equal(gi_png_check_plausible(&info, &err), GI_OK);
    info.width = info.height = 0x7FFFFFFF;
    info.depth = 16;
    info.colour = GI_PNG_RGBA;
    assert_int_equal(gi_png_check_plausible(&info, &err), GI_ERR_LIMIT);
}

// eXIf with its directory so far behind its header, in either byte order; the rest is zeros.
static made_file with_exif(size_t at, bool big, int orientation) {
    static const uint8_t little[] = {1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    made_file file = {NULL, 0};
    size_t size = at + GI_EXIF_BYTES;
    uint8_t *tiff = calloc(1, size);
    assert_non_null(tiff);
    uint8_t block[GI_EXIF_BYTES];
    gi_exif_write(orientation, block); // big endian: its header of 8 bytes, then the directory
    memcpy(tiff, big ? "MM\0*" : "II*\0", 4);
    for (int i = 0; i < 4; i++) tiff[big ? 7 - i : 4 + i] = (uint8_t)(at >> 8 * i);
    memcpy(tiff + at, big ? block + 8 : little, 18);
    if (!big) tiff[at + 10] = (uint8_t)orientation;
    made_signature(&file);
    made_header(&file, gray2x2);
    made_chunk(&file, "IDAT", "12345", 5);
    made_chunk(&file, "eXIf", tiff, size);
    made_chunk(&file, "IEND", NULL, 0);
    free(tiff);
    return file;
}

static void orientation_wherever_it_stands(void **state) {
    (void)state;
    static const size_t places[] = {8, 1000, 32768, 65000, 65520, 65536, 70000, 1000000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int big = 0; big < 2; big++) {
            gi_png_info info;
            made_file file = with_exif(places[i], big, 6);
            assert_int_equal(check(&file, &info, NULL), GI_OK);
            assert_int_equal(info.orientation, 6);
            made_free(&file);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_file),
        cmocka_unit_test(orientation_wherever_it_stands),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(every_colour_type_and_depth),
        cmocka_unit_test(header_fields),
        cmocka_unit_test(order_and_sizes),
        cmocka_unit_test(length_past_the_end),
        cmocka_unit_test(reads_do_not_grow_with_chunks),
        cmocka_unit_test(orientation_of_exif_chunk),
        cmocka_unit_test(passes_cover_the_image),
        cmocka_unit_test(plausible_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
