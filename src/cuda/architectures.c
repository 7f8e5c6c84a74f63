#include "cuda/architectures.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *word, size_t length, const char *suffix) {
    size_t n = strlen(suffix);
    return length >= n && memcmp(word + length - n, suffix, n) == 0;
}

static bool word_covers(const char *word, size_t length, int major, int minor) {
    char *end;
    long number = strtol(word, &end, 10);
    if (end == word) return true;
    int word_major = (int)(number / 10), word_minor = (int)(number % 10);
    bool same_major = word_major == major && word_minor <= minor;
    if (*end == 'a') return same_major && word_minor == minor;
    if (*end == 'f') return same_major;
    bool real = same_major && !ends_with(word, length, "-virtual");
    bool virtual = (word_major < major || same_major) && !ends_with(word, length, "-real");
    return real || virtual;
}

bool gi_cuda_architectures_cover(const char *list, int major, int minor) {
    for (const char *word = list + strspn(list, " "); *word;) {
        size_t length = strcspn(word, " ");
        if (word_covers(word, length, major, minor)) return true;
        word += length;
        word += strspn(word, " ");
    }
    return false;
}
