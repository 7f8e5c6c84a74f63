#include "codec/jpeg_quality.h"

#include <stdlib.h>

// ITU-T T.81, annex K.1, in rows.
static const uint8_t standard[2][64] = {
    {16, 11,  10,  16, 24, 40, 51, 61, 12,  12,  14,  19,  26, 58, 60, 55,  14,  13,  16,  24, 40, 57,
     69, 56,  14,  17, 22, 29, 51, 87, 80,  62,  18,  22,  37, 56, 68, 109, 103, 77,  24,  35, 55, 64,
     81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98,  112, 100, 103, 99},
    {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
     99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
     99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99}};

// The place in rows of entry i as a file has it.
static const uint8_t zigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                   12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                   35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                   58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// jpeg_set_quality's scaling, for baseline files.
static int scaled(int entry, int quality) {
    int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality, value = (entry * scale + 50) / 100;
    return value < 1 ? 1 : value > 255 ? 255 : value;
}

static long distance(const gi_jpeg_info *info, int quality, int tables) {
    long sum = 0;
    for (int t = 0; t < tables; t++) {
        const uint16_t *table = info->tables[info->component[t].quantization];
        for (int i = 0; i < 64; i++) sum += labs((long)table[i] - scaled(standard[t][zigzag[i]], quality));
    }
    return sum;
}

int gi_jpeg_quality(const gi_jpeg_info *info, bool *exact) {
    int best = 0, tables = info->components >= 3 && info->colour != GI_JPEG_RGB ? 2 : 1;
    long least = 0;
    *exact = false;
    if (info->tables[info->component[0].quantization][0] == 0) return 0;
    for (int quality = 100; quality >= 1; quality--) {
        long sum = distance(info, quality, tables);
        if (best && sum >= least) continue;
        best = quality;
        least = sum;
    }
    *exact = least == 0;
    return best;
}
