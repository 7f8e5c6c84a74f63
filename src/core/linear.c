// Tables of the gray mix in linear light. Source of the curve: IEC 61966-2-1 (sRGB); of the weights: ITU-R BT.709.
#include <math.h>
#include <pthread.h>

#include "core/point.h"

enum { LEVELS_U8 = 256, LEVELS_U16 = 65536 };

// In static memory, touched when first used: 5 KiB and 1 MiB that need no freeing and cannot run out.
static uint32_t red_u8[LEVELS_U8], green_u8[LEVELS_U8], blue_u8[LEVELS_U8], threshold_u8[LEVELS_U8];
static uint32_t red_u16[LEVELS_U16], green_u16[LEVELS_U16], blue_u16[LEVELS_U16], threshold_u16[LEVELS_U16];
static uint16_t coarse_u8[GI_LINEAR_COARSE_COUNT], coarse_u16[GI_LINEAR_COARSE_COUNT];

static const long double unit = 1073741824.0L; // 2^30: linear light 1.0

// sRGB decoding of x in [0, 1].
static long double decode(long double x) { return x <= 0.04045L ? x / 12.92L : powl((x + 0.055L) / 1.055L, 2.4L); }

static uint32_t rounded(long double x) { return (uint32_t)floorl(x + 0.5L); }

typedef struct table_set {
    uint32_t *red, *green, *blue, *threshold;
    uint16_t *coarse;
} table_set;

static void build(const table_set *t, uint32_t max) {
    for (uint32_t v = 0; v <= max; v++) {
        long double light = decode((long double)v / max) * unit;
        t->red[v] = rounded(0.2126L * light);
        t->green[v] = rounded(0.7152L * light);
        t->blue[v] = rounded(0.0722L * light);
        t->threshold[v] = v == 0 ? 0 : rounded(decode(((long double)v - 0.5L) / max) * unit);
    }
    uint32_t code = 0;
    for (uint32_t i = 0; i < GI_LINEAR_COARSE_COUNT; i++) {
        while (code < max && t->threshold[code + 1] <= i << GI_LINEAR_COARSE_SHIFT) code++;
        t->coarse[i] = (uint16_t)code;
    }
}

static void build_u8(void) {
    table_set tables = {red_u8, green_u8, blue_u8, threshold_u8, coarse_u8};
    build(&tables, LEVELS_U8 - 1);
}

static void build_u16(void) {
    table_set tables = {red_u16, green_u16, blue_u16, threshold_u16, coarse_u16};
    build(&tables, LEVELS_U16 - 1);
}

const gi_linear_tables *gi_linear_tables_get(gi_sample sample) {
    static const gi_linear_tables u8 = {red_u8, green_u8, blue_u8, threshold_u8, coarse_u8};
    static const gi_linear_tables u16 = {red_u16, green_u16, blue_u16, threshold_u16, coarse_u16};
    static pthread_once_t once_u8 = PTHREAD_ONCE_INIT, once_u16 = PTHREAD_ONCE_INIT;
    if (sample == GI_U8) return pthread_once(&once_u8, build_u8) == 0 ? &u8 : NULL;
    if (sample == GI_U16) return pthread_once(&once_u16, build_u16) == 0 ? &u16 : NULL;
    return NULL;
}
