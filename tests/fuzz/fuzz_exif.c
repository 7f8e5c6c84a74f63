// EXIF blocks: never out of bounds, an orientation always 1..8; and brought in line with an image they stay so.
#include <stdlib.h>
#include <string.h>

#include "codec/exif.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, data, size);
    int orientation = gi_exif_orientation((gi_bytes){exact, size});
    if (orientation < 1 || orientation > 8) abort();
    gi_exif_state state = gi_exif_check((gi_bytes){exact, size});
    // In memory that ends where the block does, at every size that it may get.
    const gi_exif_now now = {3, 640, 480, size % 2 == 1};
    size_t settled = size;
    bool is_block = gi_exif_settle(exact, &settled, &now);
    if (is_block != (state != GI_EXIF_NONE)) abort();
    if (is_block) {
        if (settled > size) abort();
        uint8_t *again = malloc(settled);
        memcpy(again, exact, settled);
        size_t same = settled;
        if (!gi_exif_settle(again, &same, &now) || same > settled) abort();
        free(again);
    }
    free(exact);
    return 0;
}
