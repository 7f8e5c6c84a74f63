// Fewer bits a pixel: which form is chosen, what its bytes are, and that the decoded colours are those that were given.
#include "codec/png_reduce.h"
#include "codec_files.h"
#include "guarded_image.h"

static const uint32_t widths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 1001};
enum { WIDTHS = sizeof widths / sizeof widths[0] };

// Pixels drawn from `count` colours; `colours` holds them with `channels` samples each.
typedef struct drawing {
    gi_shape shape;
    const uint8_t *colours;
    uint32_t count;
} drawing;

static uint8_t *draw(const drawing *d, uint32_t seed) {
    size_t channels = (size_t)d->shape.channels, pixels = (size_t)d->shape.width * d->shape.height;
    uint8_t *image = malloc(pixels * channels);
    assert_non_null(image);
    for (size_t i = 0; i < pixels; i++) {
        // All colours once where they fit, then any.
        uint32_t k = i < d->count ? (uint32_t)i : next_random(&seed) % d->count;
        memcpy(image + i * channels, d->colours + k * channels, channels);
    }
    return image;
}

static made_file encoded(const gi_view *all, const gi_encode_options *options) {
    made_file file = {NULL, 0};
    gi_sink sink = made_sink(&file);
    gi_encoder *encoder = NULL;
    gi_error err;
    gi_view first = gi_view_rows(all, 0, all->height / 2);
    gi_view second = gi_view_rows(all, first.height, all->height - first.height);
    gi_status status = gi_encoder_open(gi_view_shape(all), options, &sink, &encoder, &err);
    if (status == GI_OK && first.height) status = gi_encoder_rows(encoder, &first, &err);
    if (status == GI_OK) status = gi_encoder_rows(encoder, &second, &err);
    if (status == GI_OK) status = gi_encoder_finish(encoder, &err);
    if (status != GI_OK) fail_msg("%s", err.text);
    gi_encoder_close(encoder);
    return file;
}

// Encodes, decodes, and compares colours; returns what the file is like.
static gi_png_info check(const gi_view *all, const gi_encode_options *options) {
    made_file file = encoded(all, options);
    gi_decode_options strict = {.strict = true};
    gi_header header;
    gi_error err;
    uint8_t *read;
    gi_png_info info;
    if (made_decode(made_bytes(&file), &strict, &header, &read, &err) != GI_OK) fail_msg("%s", err.text);
    const gi_input input = made_input(&file);
    assert_int_equal(gi_png_check(&input, &info, &err), GI_OK);
    assert_int_equal(header.shape.width, all->width);
    assert_int_equal(header.shape.height, all->height);
    for (size_t i = 0; i < (size_t)all->width * all->height; i++) {
        const uint8_t *given = (const uint8_t *)all->data + i * (size_t)all->channels;
        uint32_t expected = gi_png_colour(given, all->channels);
        uint32_t actual = gi_png_colour(read + i * (size_t)header.shape.channels, header.shape.channels);
        if (actual != expected) fail_msg("pixel %zu: %08x, expected %08x", i, actual, expected);
    }
    free(read);
    made_free(&file);
    return info;
}

static gi_encode_options options_of(gi_png_reduce reduce, bool binary) {
    return (gi_encode_options){.format = GI_FORMAT_PNG, .png_level = 6, .png_reduce = reduce, .binary = binary};
}

static const uint8_t binary_gray[] = {0, 255};
static const uint8_t binary_rgb[] = {0,   0, 0, 0,   0, 255, 0,   255, 0, 0,   255, 255,
                                     255, 0, 0, 255, 0, 255, 255, 255, 0, 255, 255, 255};

static void masks_take_a_bit(void **state) {
    (void)state;
    for (size_t w = 0; w < WIDTHS; w++) {
        drawing d = {{widths[w], 5, 1, GI_U8}, binary_gray, 2};
        uint8_t *image = draw(&d, 7);
        gi_view all = gi_view_packed(image, d.shape, GI_HOST);
        for (int codec = GI_CODEC_AUTO; codec <= GI_CODEC_STB; codec += GI_CODEC_STB)
            for (int reduce = GI_PNG_REDUCE_AUTO; reduce <= GI_PNG_REDUCE_OFF; reduce++)
                for (int told = 0; told < 2; told++) {
                    gi_encode_options options = options_of((gi_png_reduce)reduce, told);
                    options.codec = (gi_codec_choice)codec;
                    gi_png_info info = check(&all, &options);
                    assert_int_equal(info.colour, GI_PNG_GRAY);
                    if (reduce != GI_PNG_REDUCE_ON)
                        assert_int_equal(info.depth, reduce == GI_PNG_REDUCE_AUTO && told ? 1 : 8);
                }
        free(image);
    }
}

static void colour_masks_take_four_bits(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{201, 100}, {20, 20}, {20000, 1}, {1, 20000}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        drawing d = {{sizes[s][0], sizes[s][1], 3, GI_U8}, binary_rgb, 8};
        uint8_t *image = draw(&d, 8);
        gi_view all = gi_view_packed(image, d.shape, GI_HOST);
        gi_encode_options options = options_of(GI_PNG_REDUCE_AUTO, true);
        gi_png_info info = check(&all, &options);
        bool small = s == 1; // where the palette could cost more than it saves
        assert_int_equal(info.colour, small ? GI_PNG_RGB : GI_PNG_PALETTE);
        assert_int_equal(info.depth, small ? 8 : 4);
        assert_int_equal(info.palette_size, small ? 0 : 8);
        free(image);
    }
}

// The palette of the eight, built from their bits, is in the order that any palette has.
static void the_eight_are_sorted(void **state) {
    (void)state;
    gi_png_form form = gi_png_form_binary((gi_shape){1000, 1000, 3, GI_U8});
    gi_png_colours sorted = form.colours;
    assert_int_equal(sorted.count, 8);
    gi_png_colours_sort(&sorted);
    assert_memory_equal(sorted.colour, form.colours.colour, sizeof sorted.colour);
    for (int i = 0; i < 8; i++) assert_int_equal(gi_png_colours_find(&sorted, sorted.colour[i]), i);
}

static void not_reduced(void **state) {
    (void)state;
    for (int channels = 1; channels <= 4; channels++)
        for (int sample = GI_U8; sample <= GI_U16; sample++) {
            gi_shape shape = {1000, 100, channels, (gi_sample)sample};
            gi_png_form plain = gi_png_form_plain(shape), form = gi_png_form_binary(shape);
            bool alpha = channels == 2 || channels == 4;
            if (alpha || sample == GI_U16) assert_memory_equal(&form, &plain, sizeof form);
            assert_int_equal(plain.depth, sample == GI_U16 ? 16 : 8);
        }
    gi_shape words = {300, 2, 1, GI_U16};
    uint16_t levels[600] = {0};
    gi_view all = gi_view_packed(levels, words, GI_HOST);
    gi_encode_options options = options_of(GI_PNG_REDUCE_ON, true);
    made_file file = encoded(&all, &options);
    gi_png_info info;
    const gi_input input = made_input(&file);
    assert_int_equal(gi_png_check(&input, &info, NULL), GI_OK);
    assert_int_equal(info.depth, 16);
    made_free(&file);
}

typedef struct expected_form {
    int channels;
    const char *levels; // of gray: hexadecimal digits
    int colour, depth;
} expected_form;

static void forms_of_gray_levels(void **state) {
    (void)state;
    static const expected_form forms[] = {
        {1, "00", GI_PNG_GRAY, 1},         {1, "ff", GI_PNG_GRAY, 1},           {1, "00ff", GI_PNG_GRAY, 1},
        {1, "55", GI_PNG_PALETTE, 1},      {1, "0055aa", GI_PNG_GRAY, 2},       {1, "0055aaff", GI_PNG_GRAY, 2},
        {1, "1180", GI_PNG_PALETTE, 1},    {1, "1122", GI_PNG_PALETTE, 1},      {1, "112233", GI_PNG_PALETTE, 2},
        {1, "1122334455", GI_PNG_GRAY, 4}, {1, "1122334456", GI_PNG_PALETTE, 4}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        uint8_t pixels[64];
        size_t count = strlen(forms[i].levels) / 2;
        for (size_t k = 0; k < sizeof pixels; k++) {
            char digits[3] = {0};
            memcpy(digits, forms[i].levels + k % count * 2, 2);
            pixels[k] = (uint8_t)strtoul(digits, NULL, 16);
        }
        gi_view view = gi_view_packed(pixels, (gi_shape){64, 1, 1, GI_U8}, GI_HOST);
        gi_png_form form = gi_png_form_fewest(&view, false);
        assert_int_equal(form.colour, forms[i].colour);
        assert_int_equal(form.depth, forms[i].depth);
    }
}

// Every number of colours, of every kind of pixel, through the encoder and back.
static void any_number_of_colours(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 4, 5, 16, 17, 255, 256, 257, 300};
    for (int channels = 1; channels <= 4; channels++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (int alike = 0; alike < 2; alike++) { // RGB that is gray
                uint8_t colours[300 * 4];
                uint32_t seed = 5;
                for (size_t i = 0; i < 300; i++)
                    for (size_t k = 0; k < (size_t)channels; k++) // distinct by the first sample, or the last
                        colours[i * (size_t)channels + k] = (uint8_t)(k == 0 || (alike && k < 3) ? i
                                                                      : i < 256                  ? next_random(&seed)
                                                                                                 : 1);
                drawing d = {{counts[c] > 100 ? 1601 : 37, 23, channels, GI_U8}, colours, counts[c]};
                uint8_t *image = draw(&d, 3);
                gi_view all = gi_view_packed(image, d.shape, GI_HOST);
                gi_encode_options options = options_of(GI_PNG_REDUCE_ON, false);
                gi_png_info info = check(&all, &options);
                gi_png_form form = gi_png_form_fewest(&all, false);
                if (info.colour == GI_PNG_PALETTE) assert_int_equal(info.palette_size, form.colours.count);
                if (counts[c] <= 256 && channels == 3) assert_true(gi_png_form_bits(&form) <= 8);
                if (counts[c] > 256 && (channels == 2 || channels == 4) && !alike)
                    assert_int_equal(form.colour, gi_png_form_plain(d.shape).colour);
                free(image);
            }
}

static void rgb_that_is_gray(void **state) {
    (void)state;
    uint8_t ramp[256 * 4];
    for (size_t i = 0; i < sizeof ramp; i++) ramp[i] = (uint8_t)(i % 4 == 3 ? 255 : i / 4);
    gi_view view = gi_view_packed(ramp, (gi_shape){256, 1, 4, GI_U8}, GI_HOST);
    gi_png_form form = gi_png_form_fewest(&view, false);
    assert_int_equal(form.colour, GI_PNG_GRAY);
    assert_int_equal(form.depth, 8);
    ramp[3] = 254; // one pixel that is not opaque
    form = gi_png_form_fewest(&view, false);
    assert_int_equal(form.colour, GI_PNG_PALETTE);
    assert_int_equal(form.colours.count, 256);
}

// The smaller file: a palette of 200 colours is more than a gradient compresses to.
static void a_palette_must_pay(void **state) {
    (void)state;
    static uint8_t rows[16][200][3];
    for (size_t y = 0; y < 16; y++)
        for (size_t x = 0; x < 200; x++) memcpy(rows[y][x], (uint8_t[]){(uint8_t)x, (uint8_t)(x + 3), 9}, 3);
    gi_view all = gi_view_packed(rows, (gi_shape){200, 16, 3, GI_U8}, GI_HOST);
    gi_encode_options on = options_of(GI_PNG_REDUCE_ON, false), off = options_of(GI_PNG_REDUCE_OFF, false);
    for (on.png_level = off.png_level = 0; on.png_level <= 9; on.png_level = ++off.png_level) {
        made_file reduced = encoded(&all, &on), plain = encoded(&all, &off);
        assert_true(reduced.size <= plain.size);
        check(&all, &on);
        made_free(&reduced);
        made_free(&plain);
    }
}

// What the palette tells does not depend on where its colours come first; nor do the bytes on threads.
static void palettes_are_the_same_for_the_same_colours(void **state) {
    (void)state;
    static uint8_t pixels[2][256 * 3];
    uint32_t seed = 11;
    for (size_t i = 0; i < sizeof pixels[0]; i++) pixels[0][i] = (uint8_t)next_random(&seed);
    for (size_t i = 0; i < 256; i++) memcpy(pixels[1] + 3 * i, pixels[0] + 3 * (255 - i), 3);
    gi_png_form forms[2];
    for (int i = 0; i < 2; i++) {
        gi_view view = gi_view_packed(pixels[i], (gi_shape){256, 1, 3, GI_U8}, GI_HOST);
        forms[i] = gi_png_form_fewest(&view, false);
    }
    assert_int_equal(forms[0].colours.count, forms[1].colours.count);
    assert_memory_equal(forms[0].colours.colour, forms[1].colours.colour, sizeof forms[0].colours.colour);

    drawing d = {{900, 1500, 3, GI_U8}, pixels[0], 256};
    uint8_t *image = draw(&d, 1);
    gi_view all = gi_view_packed(image, d.shape, GI_HOST);
    gi_encode_options options = options_of(GI_PNG_REDUCE_ON, false);
    made_file expected = encoded(&all, &options);
    for (options.threads = 2; options.threads <= 5; options.threads++) {
        made_file file = encoded(&all, &options);
        assert_int_equal(file.size, expected.size);
        assert_memory_equal(file.data, expected.data, file.size);
        made_free(&file);
    }
    made_free(&expected);
    free(image);
}

// Bit by bit, against the rule of the PNG specification: the leftmost pixel in the highest bits, unused bits zero.
static void rows_are_packed_as_the_specification_says(void **state) {
    (void)state;
    for (size_t w = 0; w < WIDTHS; w++)
        for (int depth = 1; depth <= 8; depth *= 2)
            for (int channels = 1; channels <= 4; channels++) {
                gi_shape shape = {widths[w], 1, channels, GI_U8};
                uint32_t levels = 1U << depth, step = 255 / (levels - 1), seed = 9;
                gi_png_form form = {.colour = GI_PNG_GRAY, .depth = depth};
                size_t bytes = gi_png_form_row_bytes(&form, shape.width);
                uint8_t *row = malloc((size_t)shape.width * (size_t)channels), *out = malloc(bytes + 16);
                memset(row, 255, (size_t)shape.width * (size_t)channels);
                memset(out, 0xA5, bytes + 16);
                for (size_t x = 0; x < shape.width; x++)
                    for (int c = 0; c < gi_colour_channels(channels); c++)
                        row[x * (size_t)channels + (size_t)c] =
                            (uint8_t)(c ? row[x * (size_t)channels] : next_random(&seed) % levels * step);
                gi_png_store_row(&form, shape, row, out);
                for (size_t bit = 0; bit < 8 * bytes; bit++) {
                    size_t x = bit / (size_t)depth, shift = (size_t)depth - 1 - bit % (size_t)depth;
                    unsigned level = x < shape.width ? row[x * (size_t)channels] / step : 0;
                    assert_int_equal(out[bit / 8] >> (7 - bit % 8) & 1, level >> shift & 1);
                }
                for (size_t i = 0; i < 16; i++) assert_int_equal(out[bytes + i], 0xA5);
                free(row);
                free(out);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_take_a_bit),
        cmocka_unit_test(colour_masks_take_four_bits),
        cmocka_unit_test(the_eight_are_sorted),
        cmocka_unit_test(not_reduced),
        cmocka_unit_test(forms_of_gray_levels),
        cmocka_unit_test(any_number_of_colours),
        cmocka_unit_test(rgb_that_is_gray),
        cmocka_unit_test(a_palette_must_pay),
        cmocka_unit_test(palettes_are_the_same_for_the_same_colours),
        cmocka_unit_test(rows_are_packed_as_the_specification_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
