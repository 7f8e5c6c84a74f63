// libpng_pixels < NAMES: what libpng makes of PNG files, whose names stand a line each. For each on standard output a
// line, and what follows it: "WIDTH HEIGHT CHANNELS BITS" and the samples, palettes and fewer bits than 8 expanded, in
// the machine's byte order; or "0 0 0 0 REASON".
#include "tests/fuzz/libpng_reader.h"

static uint8_t *load(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*size + 1);
    if (data && fread(data, 1, *size, file) != *size) *size = 0;
    fclose(file);
    return data;
}

int main(void) {
    static char name[4096];
    static libpng_read r;
    while (fgets(name, sizeof name, stdin)) {
        size_t size = 0;
        name[strcspn(name, "\n")] = '\0';
        uint8_t *data = load(name, &size);
        if (!data) return 1;
        libpng_read_file((gi_bytes){data, size}, 0, UINT32_MAX, &r);
        if (r.refused)
            printf("0 0 0 0 %s\n", r.error);
        else
            printf("%u %u %d %d\n", r.shape.width, r.shape.height, r.shape.channels, r.shape.sample == GI_U16 ? 16 : 8);
        if (!r.refused) fwrite(r.pixels, 1, r.size, stdout);
        free(r.pixels);
        free(data);
    }
    return 0;
}
