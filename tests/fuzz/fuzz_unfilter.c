// Unfiltered rows: with every instruction set, and in waves, the bytes that the definition of the filters says, and
// nothing read or written outside the rows. The first bytes say pixel, width, rows and the gap between them; the others
// are the row above and the filtered rows, repeated as often as it takes.
#include <stdlib.h>
#include <string.h>

#include "codec/png_unfilter.h"
#include "codec/png_unfilter_wave.h"
#include "core/simd.h"
#include "tests/unit/png_unfilter_definition.h"

enum { HEAD = 5, GUARD = 0xA5 };

static uint8_t *make(size_t size) {
    uint8_t *memory = malloc(size ? size : 1);
    if (!memory) abort();
    return memory;
}

static void repeat(uint8_t *out, size_t size, const uint8_t *data, size_t have) {
    for (size_t i = 0; i < size; i++) out[i] = have ? data[i % have] : 0;
}

static void check(const gi_png_run *run, const uint8_t *expected, uint32_t good) {
    for (uint32_t y = 0; y < run->count; y++) {
        const uint8_t *row = run->out + y * run->pitch_bytes;
        if (y < good && memcmp(row, expected + y * run->size, run->size)) abort();
        for (size_t i = run->size; i < run->pitch_bytes; i++)
            if (row[i] != GUARD) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t pixels[] = {1, 2, 3, 4, 6, 8};
    if (size < HEAD) return 0;
    gi_png_run run = {.pixel = pixels[data[0] % sizeof pixels], .count = 1 + data[3] % 72U};
    run.size = (1 + (data[1] | (size_t)data[2] << 8) % 512) * run.pixel;
    run.pitch_bytes = run.size + data[4] % 32;
    data += HEAD, size -= HEAD;
    size_t filtered_bytes = run.count * (run.size + 1), out_bytes = run.count * run.pitch_bytes;
    uint8_t *filtered = make(filtered_bytes), *above = make(run.size), *expected = make(run.count * run.size);
    repeat(filtered, filtered_bytes, data, size);
    repeat(above, run.size, data, size);
    // One row in 256 has a filter that is none, rather than nearly all.
    for (uint32_t y = 0; y < run.count; y++)
        if (filtered[y * (run.size + 1)] != 255) filtered[y * (run.size + 1)] %= 5;
    run.filtered = filtered, run.above = above, run.out = make(out_bytes);
    uint32_t good = define_unfiltered(&run, expected);
    for (int level = GI_SIMD_PORTABLE; level <= GI_SIMD_AVX512; level++) {
        gi_simd_force((gi_simd)level);
        memset(run.out, GUARD, out_bytes);
        if (gi_png_unfilter_run(&run) != (good < run.count ? 255 : -1)) abort();
        check(&run, expected, good);
    }
    gi_png_run wave = run;
    if (wave.count > gi_png_wave_rows(run.pixel)) wave.count = gi_png_wave_rows(run.pixel);
    if (wave.count > good) wave.count = good;
    if (wave.count) {
        memset(run.out, GUARD, out_bytes);
        gi_png_unfilter_wave(&wave);
        check(&wave, expected, good);
    }
    free(run.out);
    free(expected);
    free(above);
    free(filtered);
    return 0;
}
