#include <string.h>

#include "core/stage_table.h"

enum { MAX_LENGTH = 63 }; // nothing in the table is longer; longer input is near to nothing

static char folded(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

// Damerau-Levenshtein distance in its restricted form (optimal string alignment: no part is edited twice): insertions,
// deletions, substitutions and swaps of neighbours, one each. Both lengths are at most MAX_LENGTH.
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    unsigned rows[3][MAX_LENGTH + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2]; // rows i - 2, i - 1 and i
    for (size_t j = 0; j <= b_length; j++) above[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            char p = folded(a[i - 1]), q = folded(b[j - 1]);
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (p != q));
            if (i > 1 && j > 1 && p == folded(b[j - 2]) && q == folded(a[i - 2]))
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        unsigned *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[b_length];
}

const char *gi_nearest_word(const char *typed, size_t length, const char *const *words, size_t count) {
    if (length == 0 || length > MAX_LENGTH) return NULL;
    const char *nearest = NULL;
    unsigned limit = (unsigned)(length + 2) / 3;
    for (size_t i = 0; i < count; i++) {
        size_t word_length = strlen(words[i]);
        if (word_length > MAX_LENGTH) continue;
        unsigned distance = edit_distance(typed, length, words[i], word_length);
        if (distance > limit || (nearest && distance == limit)) continue;
        nearest = words[i];
        limit = distance;
    }
    return nearest;
}
