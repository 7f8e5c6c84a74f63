// Bands of PNG rows made of any bytes: what is compressed decodes to them, within the bound, and a compressor used
// before gives the same as a new one.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/png_band_check.h"

enum { HEAD = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gi_png_compressor *open_for(const gi_png_compressor_options *options) {
    gi_png_compressor *compressor = NULL;
    if (gi_png_compressor_open(options, &compressor, NULL) != GI_OK) abort();
    return compressor;
}

// Level and codec, bytes of a pixel and whether there is a row above, the row's bytes (two bytes of the input); then
// rows.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const size_t pixels[] = {1, 2, 3, 4, 6, 8};
    if (size < HEAD + 2) return 0;
    size_t pixel = pixels[data[1] % 6], row_bytes = 1 + (size_t)(data[2] | data[3] << 8) % 700;
    row_bytes = (row_bytes + pixel - 1) / pixel * pixel;
    size_t bytes = size - HEAD;
    // What is left of the input, over and over, so that a small one makes a band of some size.
    uint32_t height = 1 + (uint32_t)(bytes / row_bytes) + data[0] / 40;
    test_band made = test_band_make(row_bytes, pixel, height, data[1] & 64);
    made.band.bits = data[1] & 128 && pixel == 1 ? 1 : 8;
    for (uint32_t y = 0; y < height; y++)
        for (size_t x = 0; x < row_bytes; x++) test_band_row(&made, y)[x] = data[HEAD + (y * row_bytes + x) % bytes];

    gi_png_compressor_options options = {data[0] % 10, (gi_codec_choice)(data[0] / 10 % 3), row_bytes, height};
    gi_png_compressor *compressor = open_for(&options);
    packed_band first = pack_band(compressor, &made.band);
    if (!first.data || !band_is_whole(&first, &made.band)) abort();
    gi_png_band part = made.band;
    part.height = 1 + height / 2;
    packed_band other = pack_band(compressor, &part), again = pack_band(compressor, &made.band);
    if (!other.data || !band_is_whole(&other, &part)) abort();
    if (again.size != first.size || memcmp(again.data, first.data, first.size) != 0) abort();
    gi_png_compressor_close(compressor);
    free(first.data), free(other.data), free(again.data), free(made.memory);
    return 0;
}
