#include "codec/md5.h"

#include <string.h>

#include "codec/bytes.h"

enum { BLOCK = 64, LENGTH = 8 };

// RFC 1321, 3.4: floor(2^32 * abs(sin(i + 1))).
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
static const uint8_t turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static void put_le32(uint8_t *p, uint32_t value) {
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> 8 * i);
}

static void add_block(uint32_t sum[4], const uint8_t *block) {
    uint32_t a = sum[0], b = sum[1], c = sum[2], d = sum[3];
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t round = i / 16;
        const uint32_t mixed[4] = {(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)};
        const uint32_t word[4] = {i, 5 * i + 1, 3 * i + 5, 7 * i};
        uint32_t f = a + mixed[round] + sines[i] + gi_le32(block + 4 * (word[round] % 16));
        const int turn = turns[round][i % 4];
        a = d;
        d = c;
        c = b;
        b += f << turn | f >> (32 - turn);
    }
    sum[0] += a;
    sum[1] += b;
    sum[2] += c;
    sum[3] += d;
}

void gi_md5(gi_bytes bytes, uint8_t hex[GI_MD5_HEX]) {
    uint32_t sum[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const size_t whole = bytes.size / BLOCK * BLOCK, left = bytes.size - whole;
    for (size_t at = 0; at < whole; at += BLOCK) add_block(sum, bytes.data + at);
    // The rest, a one bit, zeros, and the number of bits.
    uint8_t last[2 * BLOCK] = {0};
    const size_t end = left < BLOCK - LENGTH ? BLOCK : 2 * BLOCK;
    if (left) memcpy(last, bytes.data + whole, left);
    last[left] = 0x80;
    put_le32(last + end - LENGTH, (uint32_t)(bytes.size << 3));
    put_le32(last + end - LENGTH / 2, (uint32_t)((uint64_t)bytes.size >> 29));
    for (size_t at = 0; at < end; at += BLOCK) add_block(sum, last + at);
    for (int i = 0; i < GI_MD5_HEX; i++)
        hex[i] = (uint8_t) "0123456789ABCDEF"[sum[i / 8] >> (8 * (i % 8 / 2) + (i % 2 ? 0 : 4)) & 15];
}
