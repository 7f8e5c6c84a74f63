#include "run/fold.h"

#include <locale.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

// The locale that knows all letters, or 0: ASCII only then.
static locale_t unicode_locale;
static void make_locale(void) { unicode_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

// Decodes the UTF-8 sequence at p into *code and returns its length; 0 for an invalid or truncated one.
static int decode(const unsigned char *p, uint32_t *code) {
    int length = p[0] < 0x80             ? 1
                 : (p[0] & 0xE0) == 0xC0 ? 2
                 : (p[0] & 0xF0) == 0xE0 ? 3
                 : (p[0] & 0xF8) == 0xF0 ? 4
                                         : 0;
    static const uint32_t first_mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    *code = p[0] & first_mask[length];
    for (int i = 1; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (p[i] & 0x3F);
    }
    static const uint32_t shortest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (*code < shortest[length] || *code > 0x10FFFF) return 0;
    return length;
}

static size_t encode(uint32_t code, unsigned char *out) {
    int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first_bits[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int i = length - 1; i > 0; i--, code >>= 6) out[i] = (unsigned char)(0x80 | (code & 0x3F));
    out[0] = (unsigned char)(first_bits[length] | code);
    return (size_t)length;
}

char *gi_fold_case(const char *text) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    size_t length = strlen(text);
    // A lower-case letter takes at most half as many bytes again (U+023A: two bytes, its lower case three).
    unsigned char *folded = malloc(length + length / 2 + 5), *out = folded;
    if (!folded) return NULL;
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        uint32_t code = 0;
        int taken = decode(p, &code);
        if (taken == 0) {
            *out++ = *p++;
            continue;
        }
        if (code < 0x80)
            code = code >= 'A' && code <= 'Z' ? code + 32 : code;
        else if (unicode_locale)
            code = (uint32_t)towlower_l((wint_t)code, unicode_locale);
        out += encode(code, out);
        p += taken;
    }
    *out = '\0';
    return (char *)folded;
}
