// Reading numbers out of files: unaligned, in a stated byte order.
#ifndef GI_CODEC_BYTES_H
#define GI_CODEC_BYTES_H

#include <stdint.h>

static inline uint16_t gi_be16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static inline uint16_t gi_le16(const uint8_t *p) { return (uint16_t)(p[1] << 8 | p[0]); }
static inline uint32_t gi_be32(const uint8_t *p) { return (uint32_t)gi_be16(p) << 16 | gi_be16(p + 2); }
static inline uint32_t gi_le32(const uint8_t *p) { return (uint32_t)gi_le16(p + 2) << 16 | gi_le16(p); }

static inline void gi_put_be16(uint8_t *p, uint32_t value) {
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline void gi_put_be32(uint8_t *p, uint32_t value) {
    gi_put_be16(p, value >> 16);
    gi_put_be16(p + 2, value);
}

static inline void gi_put_le16(uint8_t *p, uint32_t value) {
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

#endif
