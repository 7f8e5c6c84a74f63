#include "codec/depth.h"

#include <string.h>

#include "core/simd.h"

GI_SIMD_BODY void widen_body(const uint8_t *restrict in, size_t samples, uint8_t *restrict out) {
    for (size_t i = 0; i < samples; i++) {
        uint16_t word = gi_depth_up(in[i]);
        memcpy(out + 2 * i, &word, sizeof word);
    }
}
GI_SIMD_VARIANTS(widen, widen_body, (const uint8_t *in, size_t samples, uint8_t *out), (in, samples, out))

GI_SIMD_BODY void narrow_body(const uint8_t *restrict in, size_t samples, uint8_t *restrict out) {
    for (size_t i = 0; i < samples; i++) {
        uint16_t word;
        memcpy(&word, in + 2 * i, sizeof word);
        out[i] = gi_depth_down(word);
    }
}
GI_SIMD_VARIANTS(narrow, narrow_body, (const uint8_t *in, size_t samples, uint8_t *out), (in, samples, out))

void gi_depth_widen(const uint8_t *in, size_t samples, void *out) { widen(in, samples, out); }

void gi_depth_narrow(const void *in, size_t samples, uint8_t *out) { narrow(in, samples, out); }
