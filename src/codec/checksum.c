#include "codec/checksum.h"

#include <pthread.h>

#include "codec/bytes.h"
#include "core/simd.h"

uint32_t gi_crc32(uint32_t crc, const void *data, size_t size) {
#ifdef GPUIMG_HAVE_ISAL
    return gi_crc32_isal(crc, data, size);
#else
    return gi_crc32_portable(crc, data, size);
#endif
}

uint32_t gi_adler32(uint32_t adler, const void *data, size_t size) {
#ifdef GPUIMG_HAVE_ISAL
    return gi_adler32_isal(adler, data, size);
#else
    return gi_adler32_portable(adler, data, size);
#endif
}

// ---- CRC-32 -------------------------------------------------------------------------------------------------------

enum { SLICES = 16 };

// table[k][b]: the CRC of byte b followed by k zero bytes, so that 16 bytes are looked up independently.
static uint32_t table[SLICES][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void) {
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320U : crc >> 1;
        table[0][b] = crc;
    }
    for (int k = 1; k < SLICES; k++)
        for (int b = 0; b < 256; b++) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
}

// The CRC of four bytes followed by k zero bytes.
static inline uint32_t four(uint32_t bytes, int k) {
    return table[k + 3][bytes & 255] ^ table[k + 2][bytes >> 8 & 255] ^ table[k + 1][bytes >> 16 & 255] ^
           table[k][bytes >> 24];
}

uint32_t gi_crc32_portable(uint32_t crc, const void *data, size_t size) {
    pthread_once(&table_once, make_table);
    const uint8_t *p = data;
    crc = ~crc;
    for (; size >= SLICES; size -= SLICES, p += SLICES)
        crc = four(gi_le32(p) ^ crc, 12) ^ four(gi_le32(p + 4), 8) ^ four(gi_le32(p + 8), 4) ^ four(gi_le32(p + 12), 0);
    while (size--) crc = crc >> 8 ^ table[0][(crc ^ *p++) & 255];
    return ~crc;
}

// ---- Adler-32 -----------------------------------------------------------------------------------------------------

enum { MODULUS = 65521, LANES = 32 };

// Whole groups of LANES bytes, few enough for sums[1] to stay below 2^32. After a group the first sum has grown by its
// bytes; the second by LANES times the first as it was, and by each byte as often as it has been summed since.
GI_SIMD_BODY void groups_body(uint32_t *sums, const uint8_t *p, size_t groups) {
    uint32_t a = sums[0], b = sums[1];
    for (; groups; groups--, p += LANES) {
        uint32_t sum = 0, weighted = 0;
        for (uint32_t i = 0; i < LANES; i++) {
            sum += p[i];
            weighted += (LANES - i) * p[i];
        }
        b += LANES * a + weighted;
        a += sum;
    }
    sums[0] = a;
    sums[1] = b;
}
GI_SIMD_VARIANTS(add_groups, groups_body, (uint32_t * sums, const uint8_t *p, size_t groups), (sums, p, groups))

uint32_t gi_adler32_portable(uint32_t adler, const void *data, size_t size) {
    // 5552 is the most bytes for which the second sum stays below 2^32 (RFC 1950).
    enum { RUN = 5552 / LANES * LANES };
    const uint8_t *p = data;
    uint32_t sums[2] = {adler & 65535, adler >> 16};
    while (size) {
        size_t run = size < RUN ? size : RUN, groups = run / LANES;
        add_groups(sums, p, groups);
        for (size_t i = groups * LANES; i < run; i++) {
            sums[0] += p[i];
            sums[1] += sums[0];
        }
        sums[0] %= MODULUS;
        sums[1] %= MODULUS;
        p += run;
        size -= run;
    }
    return sums[1] << 16 | sums[0];
}

// With a = 1 + the sum of n bytes, b = the sum of a after each (RFC 1950): the second string's b counts its a from 1,
// and had it begun from the first's a instead, each of its steps would have had a - 1 more.
uint32_t gi_adler32_combine(uint32_t first, uint32_t second, uint64_t second_size) {
    uint32_t n = (uint32_t)(second_size % MODULUS), more = ((first & 65535) + MODULUS - 1) % MODULUS;
    uint32_t a = ((second & 65535) + more) % MODULUS;
    uint32_t b = (uint32_t)(((first >> 16) + (second >> 16) + (uint64_t)n * more) % MODULUS);
    return b << 16 | a;
}
