#include "codec/orient.h"
#include "codec_files.h"

// Where stored pixel (x, y) of a w x h image is shown, by the words of the EXIF standard: which side of the scene the
// stored first row and first column are.
static void shown_at(int orientation, uint32_t w, uint32_t h, const uint32_t from[2], uint32_t to[2]) {
    uint32_t x = from[0], y = from[1], right = w - 1 - x, bottom = h - 1 - y;
    switch (orientation) {
    case 1: to[0] = x, to[1] = y; break;          // row: top, column: left
    case 2: to[0] = right, to[1] = y; break;      // top, right
    case 3: to[0] = right, to[1] = bottom; break; // bottom, right
    case 4: to[0] = x, to[1] = bottom; break;     // bottom, left
    case 5: to[0] = y, to[1] = x; break;          // left, top
    case 6: to[0] = bottom, to[1] = x; break;     // right, top
    case 7: to[0] = bottom, to[1] = right; break; // right, bottom
    default: to[0] = y, to[1] = right; break;     // left, bottom
    }
}

static void check(gi_shape shape, int orientation, uint32_t band) {
    enum { GUARD = 5 };
    size_t pixel = gi_row_bytes(1, shape.channels, shape.sample), in_pitch = shape.width * pixel + 3;
    uint8_t *in = malloc(in_pitch * shape.height);
    for (size_t i = 0; i < in_pitch * shape.height; i++) in[i] = (uint8_t)(i * 7 + i / 251);
    gi_shape turned = shape;
    if (gi_orient_transposes(orientation)) turned.width = shape.height, turned.height = shape.width;
    size_t out_pitch = turned.width * pixel + GUARD;
    uint8_t *out = malloc(out_pitch * turned.height);
    memset(out, 0xEE, out_pitch * turned.height);
    gi_view from = {in, in_pitch, shape.width, shape.height, shape.channels, shape.sample, GI_HOST};
    gi_view to = {out, out_pitch, turned.width, turned.height, shape.channels, shape.sample, GI_HOST};
    for (uint32_t y = 0; y < turned.height; y += band) {
        gi_view part = gi_view_rows(&to, y, turned.height - y < band ? turned.height - y : band);
        gi_orient_rows(&from, orientation, y, &part);
    }
    for (uint32_t y = 0; y < shape.height; y++)
        for (uint32_t x = 0; x < shape.width; x++) {
            uint32_t at[2];
            shown_at(orientation, shape.width, shape.height, (uint32_t[2]){x, y}, at);
            assert_memory_equal(in + y * in_pitch + x * pixel, out + at[1] * out_pitch + at[0] * pixel, pixel);
        }
    for (uint32_t y = 0; y < turned.height; y++)
        for (int i = 0; i < GUARD; i++) assert_int_equal(out[y * out_pitch + turned.width * pixel + (size_t)i], 0xEE);
    free(in);
    free(out);
}

static void every_orientation_size_and_sample(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {15, 1}, {1, 15}, {17, 31}, {2, 2}, {130, 67}, {65, 33}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int orientation = 1; orientation <= 8; orientation++)
            for (int channels = 1; channels <= 4; channels++)
                for (int sample = GI_U8; sample <= GI_U16; sample++) {
                    gi_shape shape = {sizes[s][0], sizes[s][1], channels, (gi_sample)sample};
                    check(shape, orientation, 1000);
                    check(shape, orientation, 7);
                }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_orientation_size_and_sample)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
