#include "codec/checksum.h"

#include <pthread.h>

#include "codec/bytes.h"

enum { SLICES = 8 };

// table[k][b]: the CRC of byte b followed by k zero bytes, so that 8 bytes are looked up independently.
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

uint32_t gi_crc32(uint32_t crc, const void *data, size_t size) {
    pthread_once(&table_once, make_table);
    const uint8_t *p = data;
    crc = ~crc;
    for (; size >= SLICES; size -= SLICES, p += SLICES) {
        uint32_t low = gi_le32(p) ^ crc, high = gi_le32(p + 4);
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
              table[3][high & 255] ^ table[2][high >> 8 & 255] ^ table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
    while (size--) crc = crc >> 8 ^ table[0][(crc ^ *p++) & 255];
    return ~crc;
}

uint32_t gi_adler32(uint32_t adler, const void *data, size_t size) {
    // 5552 is the most bytes for which the second sum stays below 2^32 (RFC 1950).
    enum { MODULUS = 65521, RUN = 5552 };
    const uint8_t *p = data;
    uint32_t a = adler & 65535, b = adler >> 16;
    while (size) {
        size_t run = size < RUN ? size : RUN;
        for (size_t i = 0; i < run; i++) {
            a += p[i];
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
        p += run;
        size -= run;
    }
    return b << 16 | a;
}
