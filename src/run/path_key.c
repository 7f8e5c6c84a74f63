#include "run/path_key.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run/path.h"

char *gi_path_nearest(const char *path, char **rest) {
    struct stat st;
    char *now = strdup(path), *below = strdup("");
    while (now && below && stat(now, &st) != 0) {
        size_t length = 0;
        const char *last = gi_path_last(now, &length);
        if (length == 0 || strcmp(now, ".") == 0) break;
        char *longer = NULL, *parent = gi_path_parent(now);
        bool dot = length == 1 && last[0] == '.';
        if (asprintf(&longer, "%s%.*s%s", dot ? "" : "/", dot ? 0 : (int)length, last, below) < 0) longer = NULL;
        free(now);
        free(below);
        now = parent;
        below = longer;
    }
    if (now && below) {
        *rest = below;
        return now;
    }
    free(now);
    free(below);
    return NULL;
}

static char *directory_key(const char *path) {
    char *rest = NULL, *key = NULL;
    char *base = gi_path_nearest(path, &rest);
    struct stat st;
    if (!base) return NULL;
    if (stat(base, &st) != 0) st.st_dev = 0, st.st_ino = 0;
    if (asprintf(&key, "%" PRIxMAX ":%" PRIxMAX "%s", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino, rest) < 0) key = NULL;
    free(base);
    free(rest);
    return key;
}

char *gi_path_key(const char *path, gi_path_parents *cache) {
    char *target = NULL, *key = NULL;
    // A loop of links is nobody's file: it stands for itself, and fails when its turn comes.
    if (gi_path_follow(path, &target, NULL) != GI_OK && !(target = strdup(path))) return NULL;
    char *parent = gi_path_parent(target);
    if (parent && (!cache->parent || strcmp(cache->parent, parent) != 0)) {
        free(cache->parent);
        free(cache->key);
        cache->key = directory_key(parent);
        cache->parent = cache->key ? strdup(parent) : NULL;
    }
    size_t length = 0;
    const char *last = gi_path_last(target, &length);
    if (parent && cache->key && asprintf(&key, "%s/%.*s", cache->key, (int)length, last) < 0) key = NULL;
    free(parent);
    free(target);
    return key;
}

void gi_path_parents_free(gi_path_parents *cache) {
    free(cache->parent);
    free(cache->key);
    *cache = (gi_path_parents){NULL, NULL};
}
