// The EXIF parser: never out of bounds, always 1..8.
#include <stdlib.h>
#include <string.h>

#include "codec/exif.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, data, size);
    int orientation = gi_exif_orientation((gi_bytes){exact, size});
    if (orientation < 1 || orientation > 8) abort();
    free(exact);
    return 0;
}
